// The loops of reductions: vectors, the op table's rows and plain C++ give the same bits.
#include "jit/fold/fold.h"
#include "jit/fold/scan.h"
#include "tests/ir/random_kernel.h"
#include "tests/jit/calls.h"
#include "tests/jit/xbyak/harness.h"

#include "ir/combine.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace weft::jit {
namespace {

using ir::Random;
using test::GuardedBytes;

std::vector<Isa> usable_isas() {
  std::vector<Isa> result{Isa::generic};
  if (host_features().isa >= Isa::avx2) result.push_back(Isa::avx2);
  if (host_features().isa >= Isa::avx512) result.push_back(Isa::avx512);
  return result;
}

/// Elements of any kind, infinities and NaN among them.
std::vector<std::byte> random_elements(DType dtype, std::int64_t count, Random& random) {
  const std::size_t itemsize = itemsize_bytes(dtype);
  std::vector<std::byte> result(static_cast<std::size_t>(count) * itemsize);
  for (std::int64_t i = 0; i < count; ++i) {
    // Mostly ordinary numbers: a NaN early on would hide everything behind it.
    const bool is_ordinary = !is_integral(dtype) && ir::pick(random, 200) != 0;
    const Bits bits =
        is_ordinary ? Scalar(static_cast<double>(ir::pick(random, 2001)) / 777 - 1.3).bits(dtype)
                    : ir::random_bits(random, dtype);
    std::memcpy(result.data() + static_cast<std::size_t>(i) * itemsize, &bits, itemsize);
  }
  return result;
}

/// A copy of `bytes` on guarded memory.
class Guarded {
 public:
  Guarded(std::span<const std::byte> bytes, GuardedBytes::Side side)
      : size_bytes_(bytes.size()), memory_(bytes.size(), side) {
    std::ranges::copy(bytes, memory_.data());
  }
  Guarded(std::int64_t size_bytes, GuardedBytes::Side side)
      : Guarded(std::vector<std::byte>(static_cast<std::size_t>(size_bytes)), side) {}
  ~Guarded() { EXPECT_EQ(memory_.damage(), std::nullopt) << "of " << size_bytes_ << " bytes"; }
  std::byte* data() const { return memory_.data(); }
  std::span<const std::byte> bytes() const { return {data(), size_bytes_}; }

 private:
  std::size_t size_bytes_;
  GuardedBytes memory_;
};

/// The columns of four groups of rows, which only some loops fold side by side.
void fold_groups_of_columns(const Fold& fold, std::byte* to, const std::byte* data,
                            std::int64_t num_rows, std::int64_t count) {
  const std::int64_t row_bytes = count * fold.itemsize();
  if (fold.loops.narrow_columns != nullptr)
    return fold.loops.narrow_columns(fold, to, data, num_rows * row_bytes, row_bytes, num_rows,
                                     count);
  fold.clear(to, FoldLoops::blocks_together * count);
  for (int group = 0; group < FoldLoops::blocks_together; ++group)
    fold.loops.columns(fold, to + group * row_bytes, data + group * num_rows * row_bytes, row_bytes,
                       num_rows, count);
}

/// Everything that the loops of a fold make of some data.
std::vector<std::byte> all_results(const Fold& fold, const std::vector<std::byte>& given,
                                   std::int64_t num_rows, std::int64_t count,
                                   GuardedBytes::Side side) {
  const std::int64_t itemsize = fold.itemsize();
  const Guarded data(given, side);
  std::vector<std::byte> result;
  const auto append = [&](const Guarded& to) {
    result.insert(result.end(), to.bytes().begin(), to.bytes().end());
  };
  const Guarded lanes(Fold::lanes_bytes, side), last(itemsize, side);
  fold.clear(lanes.data(), fold.num_lanes());
  fold.loops.lanes(fold, lanes.data(), data.data(), 0, 1, num_rows * count);
  append(lanes);
  fold.loops.lanes(fold, lanes.data(), data.data(), count * itemsize, num_rows, count);
  append(lanes);
  fold.finish(last.data(), lanes.data());
  append(last);
  const Guarded columns(count * itemsize, side);
  fold.clear(columns.data(), count);
  fold.loops.columns(fold, columns.data(), data.data(), count * itemsize, num_rows, count);
  append(columns);
  const Guarded rows(num_rows * itemsize, side);
  fold.loops.rows(fold, rows.data(), itemsize, data.data(), count * itemsize, num_rows, count);
  append(rows);
  const Guarded tree(Fold::lanes_bytes, side);
  const std::int64_t block = (count + fold.num_lanes() - 1) / fold.num_lanes() * fold.num_lanes();
  fold.loops.tree(fold, tree.data(), data.data(), num_rows * count, block);
  append(tree);
  // Each row a block of its own.
  const Guarded blocks(num_rows * Fold::lanes_bytes, side);
  fold.loops.start_blocks(fold, blocks.data(), num_rows);
  for (std::int64_t row = 0; row < num_rows; ++row)
    fold.loops.lanes(fold, blocks.data() + row * Fold::lanes_bytes,
                     data.data() + row * count * itemsize, 0, 1, count);
  fold.loops.combine_blocks(fold, blocks.data(), Fold::lanes_bytes, num_rows);
  result.insert(result.end(), blocks.data(), blocks.data() + Fold::lanes_bytes);
  if (const std::int64_t row_bytes = count * itemsize; row_bytes <= FoldLoops::most_narrow_bytes) {
    const Guarded groups(FoldLoops::blocks_together * row_bytes, side);
    fold_groups_of_columns(fold, groups.data(), data.data(), num_rows / FoldLoops::blocks_together,
                           count);
    append(groups);
  }
  // Four blocks apart, which only some loops read side by side.
  const std::int64_t whole = count / fold.num_lanes() * fold.num_lanes();
  if (whole == 0) return result;
  if (fold.reads_side_by_side())
    fold.loops.tree_of_blocks(fold, tree.data(), data.data(), whole * itemsize, whole);
  else
    fold.loops.tree(fold, tree.data(), data.data(), FoldLoops::blocks_together * whole, whole);
  append(tree);
  EXPECT_TRUE(std::ranges::equal(data.bytes(), given)) << "what is folded changed";
  return result;
}

TEST(Fold, LoopsGiveTheBitsOfTheOpTable) {
  Random random(testing::seed());
  for (const Op op : all_ops())
    for (const DType dtype : all_dtypes) {
      const OpInfo& row = info(op);
      if (!ir::identity_of(op, dtype) || !computes_in(row.domain, row.result, dtype)) continue;
      for (const std::int64_t count : {1, 3, 6, 8, 12, 16, 63, 64, 65, 200, 517}) {
        const std::int64_t num_rows =
            FoldLoops::blocks_together + static_cast<std::int64_t>(ir::pick(random, 40));
        const auto data = random_elements(dtype, num_rows * count, random);
        const auto expected = all_results(make_plain_fold(op, dtype), data, num_rows, count,
                                          GuardedBytes::Side::upper);
        for (const Isa isa : usable_isas()) {
          SCOPED_TRACE(detail::concat(name(op), " ", name(dtype), " ", name(isa), " ", num_rows,
                                      " rows of ", count));
          Fold fold = make_fold(op, dtype, isa);
          fold.rows_at_once =
              ir::pick(random, 3) == 0 ? 8 : 1 + static_cast<std::int64_t>(ir::pick(random, 40));
          fold.prefetches = ir::pick(random, 2) == 0;
          fold.columns_ahead_bytes = fold.prefetches ? 1024 : 0;
          fold.in_order = ir::pick(random, 2) == 0;
          for (const GuardedBytes::Side side : test::both_sides)
            EXPECT_TRUE(test::same_elements(all_results(fold, data, num_rows, count, side),
                                            expected, dtype));
        }
      }
    }
}

TEST(Fold, SumsThroughLanesThatAreCombinedByHalves) {
  Random random(testing::seed());
  for (const std::int64_t count : {1, 5, 64, 100, 1000}) {
    std::vector<float> data(static_cast<std::size_t>(count));
    for (float& x : data) x = static_cast<float>(ir::pick(random, 1000)) / 7;
    std::array<float, 64> lanes{};
    for (std::size_t i = 0; i < data.size(); ++i) lanes[i % 64] += data[i];
    for (std::size_t width = 32; width > 0; width /= 2)
      for (std::size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
    for (const Isa isa : usable_isas()) {
      const Fold fold = make_fold(Op::add, DType::f32, isa);
      for (const GuardedBytes::Side side : test::both_sides) {
        const Guarded from(std::as_bytes(std::span(data)), side);
        float sum = 0;
        fold.loops.rows(fold, reinterpret_cast<std::byte*>(&sum), 0, from.data(), 0, 1, count);
        EXPECT_EQ(sum, lanes[0]) << count << ' ' << name(isa);
      }
    }
  }
}

TEST(Fold, IdentitiesChangeNothing) {
  Random random(testing::seed());
  for (const Op op : all_ops())
    for (const DType dtype : {DType::boolean, DType::u8, DType::i16, DType::i64, DType::f32}) {
      const auto identity = ir::identity_of(op, dtype);
      const OpInfo& row = info(op);
      if (!identity || !computes_in(row.domain, row.result, dtype)) continue;
      for (int i = 0; i < 20; ++i) {
        const Bits x =
            is_floating(dtype) ? Scalar(0.5 + i).bits(dtype) : ir::random_bits(random, dtype);
        // The identities of gcd and hypot leave the size of a number, not its sign.
        if (op == Op::gcd && is_signed(dtype)) continue;
        const std::array args{*identity, x};
        const ir::Inst inst{.op = op, .dtype = dtype};
        EXPECT_EQ(ir::evaluate(inst, args, dtype), x) << name(op) << ' ' << name(dtype);
      }
    }
}

/// Whether `a` comes before `b` as an extremum: NaN before all.
template <class T>
bool is_before(Op op, T a, T b) {
  if (a != a || b != b) return a != a && b == b;
  return op == Op::maximum ? a > b : a < b;
}

template <class T>
void check_columns(Op op, const std::vector<T>& data, std::size_t num_columns, Isa isa,
                   GuardedBytes::Side side) {
  const auto row_bytes = static_cast<std::int64_t>(num_columns * sizeof(T));
  const Guarded from(std::as_bytes(std::span(data)), side), values(row_bytes, side);
  const Guarded rows(static_cast<std::int64_t>(num_columns * sizeof(std::int64_t)), side);
  auto* const places = reinterpret_cast<std::int64_t*>(rows.data());
  extremum_loops(op, dtype_of<T>, isa)
      .columns(values.data(), places, from.data(), row_bytes,
               static_cast<std::int64_t>(data.size() / num_columns),
               static_cast<std::int64_t>(num_columns), 7, 3);
  for (std::size_t column = 0; column < num_columns; ++column) {
    std::size_t best = column;
    for (std::size_t i = column; i < data.size(); i += num_columns)
      if (is_before(op, data[i], data[best])) best = i;
    EXPECT_EQ(places[column], 7 + 3 * static_cast<std::int64_t>(best / num_columns));
  }
}

template <class T>
void check_find(Op op, const std::vector<T>& data, Isa isa, GuardedBytes::Side side) {
  const Guarded from(std::as_bytes(std::span(data)), side);
  const ExtremumLoops loops = extremum_loops(op, dtype_of<T>, isa);
  for (const T& wanted : data) {
    const auto found = loops.find(from.data(), static_cast<std::int64_t>(data.size()),
                                  reinterpret_cast<const std::byte*>(&wanted));
    std::size_t expected = 0;
    while (!(data[expected] == wanted || (data[expected] != data[expected] && wanted != wanted)))
      ++expected;
    ASSERT_EQ(found, static_cast<std::int64_t>(expected));
  }
}

template <class T>
void check_extrema(Op op, Random& random) {
  const std::size_t num_rows = 1 + ir::pick(random, max_extremum_rows);
  const std::size_t num_columns = 1 + ir::pick(random, 100);
  std::vector<T> data(num_rows * num_columns);
  for (T& x : data) {
    x = static_cast<T>(ir::pick(random, 5));
    if constexpr (std::is_floating_point_v<T>)
      if (ir::pick(random, 50) == 0) x = std::numeric_limits<T>::quiet_NaN();
  }
  for (const Isa isa : usable_isas())
    for (const GuardedBytes::Side side : test::both_sides) {
      SCOPED_TRACE(detail::concat(name(op), " ", name(dtype_of<T>), " ", name(isa)));
      check_columns(op, data, num_columns, isa, side);
      check_find(op, data, isa, side);
    }
}

TEST(Fold, ExtremaAreTheFirstAndNaNComesBeforeAll) {
  Random random(testing::seed());
  for (int i = 0; i < 5; ++i)
    for (const Op op : {Op::maximum, Op::minimum}) {
      check_extrema<std::uint8_t>(op, random);
      check_extrema<std::int8_t>(op, random);
      check_extrema<std::int16_t>(op, random);
      check_extrema<std::uint32_t>(op, random);
      check_extrema<std::int64_t>(op, random);
      check_extrema<float>(op, random);
      check_extrema<double>(op, random);
    }
}

/// As explain() does for other machines.  Sanitizers compile without optimisation, where code of
/// another instruction set would begin with its instructions.
TEST(Fold, LoopsOfEveryInstructionSetAreFoundOnEveryMachine) {
  for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512}) {
    for (const DType dtype : {DType::u8, DType::i64, DType::f32, DType::f64}) {
      const Fold fold = make_fold(Op::add, dtype, isa);
      EXPECT_NE(fold.loops.rows, nullptr);
      EXPECT_EQ(fold.isa, dtype == DType::u8 ? Isa::generic : isa) << name(dtype);
      EXPECT_NE(extremum_loops(Op::minimum, dtype, isa).merge, nullptr);
      EXPECT_EQ(extremum_loops(Op::minimum, dtype, isa).isa, isa);
    }
    EXPECT_EQ(make_scan(Op::mul, DType::f32, isa).isa, isa);
    EXPECT_NE(make_scan(Op::mul, DType::f32, isa).run, nullptr);
    EXPECT_TRUE(make_fold(Op::hypot, DType::f32, isa).calls_row);
  }
}

}  // namespace
}  // namespace weft::jit
