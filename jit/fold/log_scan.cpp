#include "jit/fold/log_scan.h"

#include "ir/evaluate.h"
#include "ir/vector_math.h"
#include "jit/fold/isa.h"
#include "jit/fold/scan_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace weft::jit {
namespace {

/// exp(largest) * (1 + rest): of no elements at all 0.
struct LogSum {
  double largest = -std::numeric_limits<double>::infinity();
  double rest = -1;
};
static_assert(sizeof(LogSum) == ScanParts::bytes_a_row);
static_assert(sizeof(LogSum) == sizeof(BlockScan::Kept));

/// Numbers of an array on the stack, and rows that fit one.
constexpr std::int64_t tile = 512;
/// Rows that are read together, and blocks of one row.
constexpr std::int64_t rows_together = scan_blocks_together;

/// The rest of a sum that an element joins.  `beyond`: by how much that is larger than the largest
/// before; `power`: exp(-|beyond|).
double joined(double rest, double beyond, double power) {
  return beyond > 0 ? (rest + 1) * power : rest + power;
}
/// 0 of equal infinities too.
double difference(double x, double y) { return x == y ? 0 : x - y; }

/// Elements of some rows, [element][row]: leaves how far each is beyond the largest before, and in
/// its own place the largest so far.  What is known of one row stays in a register.
void follow_largest(double* largest, double* x, double* beyond, std::int64_t num_elements,
                    std::int64_t num_rows) {
  const auto next = [&](double& before, std::int64_t k) {
    beyond[k] = difference(x[k], before);
    x[k] = before = x[k] > before ? x[k] : before;
  };
  if (num_rows == 1) {
    double before = *largest;
    for (std::int64_t i = 0; i < num_elements; ++i) next(before, i);
    *largest = before;
    return;
  }
  for (std::int64_t i = 0; i < num_elements; ++i)
    for (std::int64_t row = 0; row < num_rows; ++row) next(largest[row], i * num_rows + row);
}
/// Leaves the rests of the sums so far.
void add_powers(double* rests, double* sums, const double* beyond, const double* powers,
                std::int64_t num_elements, std::int64_t num_rows) {
  if (num_rows == 1) {
    double rest = *rests;
    for (std::int64_t i = 0; i < num_elements; ++i)
      sums[i] = rest = joined(rest, beyond[i], powers[i]);
    *rests = rest;
    return;
  }
  for (std::int64_t i = 0; i < num_elements; ++i)
    for (std::int64_t row = 0; row < num_rows; ++row) {
      const std::int64_t k = i * num_rows + row;
      sums[k] = rests[row] = joined(rests[row], beyond[k], powers[k]);
    }
}
void call(const ArrayFunction& function, double* out, double* x, std::int64_t count) {
  for (std::int64_t k = count; k % ArrayFunction::unit != 0; ++k) x[k] = 0;
  function(out, x, count);
}

/// Elements of an operand, and where their numbers lie in an array: along memory, the inner loop
/// where they are closer.
struct Walk {
  struct Loop {
    std::int64_t extent, stride_bytes, step;
  };
  std::byte* data;
  Loop outer, inner;

  /// Numbers are [element][row].
  Walk(const ScanOperand& operand, std::int64_t num_elements, std::int64_t num_rows)
      : data(operand.data),
        outer{num_rows, operand.row_stride_bytes, 1},
        inner{num_elements, operand.stride_bytes, num_rows} {
    if (std::abs(outer.stride_bytes) < std::abs(inner.stride_bytes)) std::swap(outer, inner);
  }

  template <class T, class Function>
  void each(const Function& function) const {
    for (std::int64_t i = 0; i < outer.extent; ++i)
      for (std::int64_t j = 0; j < inner.extent; ++j)
        function(reinterpret_cast<T*>(data + i * outer.stride_bytes + j * inner.stride_bytes),
                 i * outer.step + j * inner.step);
  }
};

template <class T>
void read_numbers(double* to, const Walk& from) {
  from.each<T>([&](const T* x, std::int64_t k) { to[k] = static_cast<double>(element_at(x)); });
}
template <class T>
void write_sums(const Walk& to, const double* x, const double* y) {
  to.each<T>([&](T* result, std::int64_t k) { put_at(result, static_cast<T>(x[k] + y[k])); });
}

/// Some rows that are scanned together, a tile at a time.
class LogRows {
 public:
  /// 0 < num_rows <= tile; `sums`: what comes before, if anything does.
  LogRows(DType dtype, const LogMath& math, const LogSum* sums, std::int64_t num_rows)
      : read_(dtype == DType::f32 ? read_numbers<float> : read_numbers<double>),
        write_(dtype == DType::f32 ? write_sums<float> : write_sums<double>),
        math_(math),
        num_rows_(num_rows),
        elements_at_once_(tile / num_rows) {
    for (std::int64_t row = 0; row < num_rows; ++row) {
      const LogSum sum = sums == nullptr ? LogSum() : sums[row];
      largest_[row] = sum.largest;
      rest_[row] = sum.rest;
    }
  }

  /// Where `to` is null, nothing is written.  Whether it came to the end.
  bool run(const ScanOperand* to, const ScanOperand& from, std::int64_t count,
           const CancellationToken* token);

  void keep(LogSum* sums) const {
    for (std::int64_t row = 0; row < num_rows_; ++row) sums[row] = {largest_[row], rest_[row]};
  }

 private:
  void (*const read_)(double* to, const Walk& from);
  void (*const write_)(const Walk& to, const double* x, const double* y);
  const LogMath& math_;
  const std::int64_t num_rows_, elements_at_once_;
  double largest_[tile], rest_[tile];  // NOLINT: uninitialised, as the others
  double so_far_[tile], beyond_[tile], powers_[tile], sums_[tile];  // NOLINT
};

bool LogRows::run(const ScanOperand* to, const ScanOperand& from, std::int64_t count,
                  const CancellationToken* token) {
  const std::int64_t num_tiles = (count + elements_at_once_ - 1) / elements_at_once_;
  return for_each_step(0, num_tiles, elements_a_look / tile, token, [&](std::int64_t number) {
    const std::int64_t first = number * elements_at_once_;
    const std::int64_t num_elements = std::min(elements_at_once_, count - first);
    const std::int64_t num = num_elements * num_rows_;
    const auto walk = [&](ScanOperand operand) {
      operand.data += first * operand.stride_bytes;
      return Walk(operand, num_elements, num_rows_);
    };
    read_(so_far_, walk(from));
    follow_largest(largest_, so_far_, beyond_, num_elements, num_rows_);
    for (std::int64_t k = 0; k < num; ++k) sums_[k] = -std::abs(beyond_[k]);
    call(math_.exp, powers_, sums_, num);
    add_powers(rest_, sums_, beyond_, powers_, num_elements, num_rows_);
    if (to == nullptr) return;
    call(math_.log1p, powers_, sums_, num);
    write_(walk(*to), so_far_, powers_);
  });
}

void run_log_scan(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
                  std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
                  const CancellationToken* token) {
  const bool are_neighbours = std::abs(from.row_stride_bytes) < std::abs(from.stride_bytes);
  // Short rows fill a tile together.
  const std::int64_t together =
      are_neighbours ? tile
                     : std::clamp(tile / std::max<std::int64_t>(count, 1), rows_together, tile);
  for (std::int64_t first = 0; first < num_rows; first += together) {
    const std::int64_t rows = std::min(together, num_rows - first);
    ScanOperand in = from, out = to;
    in.data += first * in.row_stride_bytes;
    out.data += first * out.row_stride_bytes;
    auto* const kept = reinterpret_cast<LogSum*>(slot_of(parts, first));
    LogRows scanned(scan.dtype, *scan.math, parts.is_first ? nullptr : kept, rows);
    if (!scanned.run(&out, in, count, token)) return;
    if (kept != nullptr) scanned.keep(kept);
  }
}

/// Some blocks at a time, from `before` or from nothing; either `to` or `totals` is wanted.
void run_blocks(const BlockScan& scan, const BlockScan::Kept* before, const ScanOperand* to,
                const ScanOperand& from, BlockScan::Kept* totals, std::int64_t num_blocks,
                std::int64_t count) {
  for (std::int64_t block = 0; block < num_blocks; block += rows_together) {
    const std::int64_t num = std::min(rows_together, num_blocks - block);
    LogSum sums[rows_together];  // NOLINT: as above
    for (std::int64_t i = 0; before != nullptr && i < num; ++i)
      sums[i] = std::bit_cast<LogSum>(before[block + i]);
    ScanOperand in = from, out = to == nullptr ? from : *to;
    in.data += block * in.row_stride_bytes;
    out.data += block * out.row_stride_bytes;
    LogRows rows(scan.dtype, *scan.math, sums, num);
    rows.run(to == nullptr ? nullptr : &out, in, count, nullptr);
    rows.keep(sums);
    for (std::int64_t i = 0; totals != nullptr && i < num; ++i)
      totals[block + i] = std::bit_cast<BlockScan::Kept>(sums[i]);
  }
}

void log_block_totals(const BlockScan& scan, BlockScan::Kept* totals, const ScanOperand& from,
                      std::int64_t num_blocks, std::int64_t count) {
  run_blocks(scan, nullptr, nullptr, from, totals, num_blocks, count);
}
void run_log_blocks(const BlockScan& scan, const BlockScan::Kept* before, const ScanOperand& to,
                    const ScanOperand& from, std::int64_t num_blocks, std::int64_t count) {
  run_blocks(scan, before, &to, from, nullptr, num_blocks, count);
}

BlockScan::Kept combine_log_sums(const BlockScan& scan, const BlockScan::Kept& a,
                                 const BlockScan::Kept& b) {
  const auto x = std::bit_cast<LogSum>(a), y = std::bit_cast<LogSum>(b);
  const double beyond = difference(y.largest, x.largest);
  double apart[ArrayFunction::unit] = {-std::abs(beyond)};  // NOLINT: a vector's worth
  double power[ArrayFunction::unit];                        // NOLINT
  scan.math->exp(power, apart, 1);
  // The smaller of both is brought to the larger's scale.
  return std::bit_cast<BlockScan::Kept>(beyond > 0
                                            ? LogSum{y.largest, (x.rest + 1) * power[0] + y.rest}
                                            : LogSum{x.largest, x.rest + (y.rest + 1) * power[0]});
}

/// ArrayFunction::apply for a row of the op table.
void call_row(const void* function, double* out, const double* x, std::int64_t count) {
  const void* const args[] = {x};
  const auto row = reinterpret_cast<ir::BlockFunction>(reinterpret_cast<std::uintptr_t>(function));
  row(out, args, static_cast<std::size_t>(count));
}

ArrayFunction array_function(Op op, [[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  const int lanes = isa == Isa::avx512 ? 8 : isa == Isa::avx2 ? 4 : 1;
  const void* const function = lanes == 1 ? nullptr : ir::sleef_function(op, DType::f64, lanes);
  if (function != nullptr) return {lanes == 8 ? call_vectors_avx512 : call_vectors_avx2, function};
#endif
  return {call_row, reinterpret_cast<const void*>(ir::block_function(op, DType::f64))};
}

LogMath find_log_math(Isa isa) {
  return {array_function(Op::library_exp, isa), array_function(Op::library_log1p, isa)};
}

}  // namespace

const LogMath& log_math(Isa isa) {
  static const LogMath generic = find_log_math(Isa::generic), avx2 = find_log_math(Isa::avx2),
                       avx512 = find_log_math(Isa::avx512);
  return isa == Isa::avx512 ? avx512 : isa == Isa::avx2 ? avx2 : generic;
}

Scan::Run log_scan(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 ? run_log_scan : nullptr;
}

BlockScan log_block_scan(DType dtype, Isa isa) {
  if (log_scan(dtype) == nullptr) return {};
  return {std::bit_cast<BlockScan::Kept>(LogSum()),
          log_block_totals,
          run_log_blocks,
          combine_log_sums,
          dtype,
          &log_math(isa)};
}

}  // namespace weft::jit
