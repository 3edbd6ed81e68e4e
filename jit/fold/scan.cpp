#include "jit/fold/scan.h"

#include "jit/fold/isa.h"
#include "jit/fold/ordered.h"
#include "jit/fold/scan_steps.h"

#include <weft/cancel.h>

#include <complex>
#include <cstring>
#include <type_traits>

namespace weft::jit {
namespace {

template <class T>
T& element(const ScanOperand& operand, std::int64_t row, std::int64_t i) {
  return *reinterpret_cast<T*>(operand.data + row * operand.row_stride_bytes +
                               i * operand.stride_bytes);
}

/// Where what is kept of a row lies; null if rows are whole.
std::byte* slot_of(const ScanParts& parts, std::int64_t row) {
  return parts.kept == nullptr ? nullptr : parts.kept + row * ScanParts::bytes_a_row;
}

/// Takes up what is kept of a row.
template <class K>
void resume(K& kept, const ScanParts& parts, std::int64_t row) {
  static_assert(sizeof kept <= ScanParts::bytes_a_row);
  if (!parts.is_first) std::memcpy(&kept, slot_of(parts, row), sizeof kept);
}
template <class K>
void keep(const K& kept, const ScanParts& parts, std::int64_t row) {
  if (parts.kept != nullptr) std::memcpy(slot_of(parts, row), &kept, sizeof kept);
}

/// Complex numbers, whose partial results are kept in doubles.
template <class T, bool is_sum>
void run_complex(const Scan&, const ScanOperand& to, const ScanOperand& from, std::int64_t num_rows,
                 std::int64_t count, const ScanParts& parts, const CancellationToken* token) {
  for (std::int64_t row = 0; row < num_rows; ++row) {
    std::complex<double> kept = is_sum ? 0 : 1;
    resume(kept, parts, row);
    const auto next = [&](std::int64_t i) {
      const std::complex<double> x = element<T>(from, row, i);
      kept = is_sum ? kept + x : kept * x;
      element<T>(to, row, i) = T(kept);
    };
    if (!for_each_step(0, count, elements_a_look, token, next)) return;
    keep(kept, parts, row);
  }
}

/// By the op's row of the table, element by element.
void run_plain(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
               std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
               const CancellationToken* token) {
  const std::size_t itemsize = itemsize_bytes(scan.dtype);
  for (std::int64_t row = 0; row < num_rows; ++row) {
    std::byte* out = to.data + row * to.row_stride_bytes;
    const std::byte* in = from.data + row * from.row_stride_bytes;
    const std::byte* before = slot_of(parts, row);
    const auto next = [&](std::int64_t) {
      const void* const args[] = {before, in};
      scan.combine(out, args, 1);
      before = out;
      out += to.stride_bytes;
      in += from.stride_bytes;
    };
    if (parts.is_first) {
      std::memcpy(out, in, itemsize);
      before = out;
      out += to.stride_bytes;
      in += from.stride_bytes;
    }
    if (!for_each_step(parts.is_first ? 1 : 0, count, elements_a_look, token, next)) return;
    if (parts.kept != nullptr) std::memcpy(slot_of(parts, row), before, itemsize);
  }
}

template <class T, bool is_maximum>
void run_places(const ScanOperand& to, const ScanOperand& from, std::int64_t num_rows,
                std::int64_t count, std::int64_t first, std::int64_t step, const ScanParts& parts,
                const CancellationToken* token) {
  struct Found {
    T best;
    std::int64_t place;
  };
  for (std::int64_t row = 0; row < num_rows; ++row) {
    Found found{element<T>(from, row, 0), first};
    resume(found, parts, row);
    const auto next = [&](std::int64_t i) {
      const T x = element<T>(from, row, i);
      const bool is_later = is_maximum ? x >= found.best : x <= found.best;
      if (x != x || is_later) found = {x, first + i * step};
      element<std::int64_t>(to, row, i) = found.place;
    };
    if (!for_each_step(0, count, elements_a_look, token, next)) return;
    keep(found, parts, row);
  }
}

/// Complex sums and products.
Scan::Run complex_scan(Op op, DType dtype) {
  if ((op != Op::add && op != Op::mul) || (dtype != DType::c64 && dtype != DType::c128))
    return nullptr;
  if (dtype == DType::c64) return op == Op::add ? run_complex<c64, true> : run_complex<c64, false>;
  return op == Op::add ? run_complex<c128, true> : run_complex<c128, false>;
}

}  // namespace

bool is_scan_cancelled(const CancellationToken* token) {
  return token != nullptr && token->is_cancelled();
}

Scan make_scan(Op op, DType dtype, Isa isa) {
  const auto find = isa == Isa::avx512 ? scan_avx512 : isa == Isa::avx2 ? scan_avx2 : scan_generic;
  const char* const vectors = "run_scan of jit/fold/scans.h";
  Scan scan{op, dtype, ir::block_function(op, dtype), find(op, dtype), isa, vectors, false};
  if (scan.run != nullptr) return scan;
  scan.isa = Isa::generic;
  scan.run = extremum_scan(op, dtype);
  if (scan.run != nullptr) return scan;
  scan.run = complex_scan(op, dtype);
  scan.source = "run_complex of jit/fold/scan.cpp";
  if (scan.run != nullptr) return scan;
  scan.run = run_plain;
  scan.source = "run_plain of jit/fold/scan.cpp";
  scan.calls_row = true;
  return scan;
}

PlaceScan make_place_scan(Op op, DType dtype) {
  return visit_ordered(dtype, [&]<class T>(std::type_identity<T>) -> PlaceScan {
    return op == Op::maximum ? &run_places<T, true> : &run_places<T, false>;
  });
}

}  // namespace weft::jit
