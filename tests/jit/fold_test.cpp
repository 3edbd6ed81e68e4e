// The loops of reductions: vectors, the op table's rows and plain C++ give the same bits.
#include "jit/fold/fold.h"
#include "jit/fold/scan.h"
#include "tests/ir/random_kernel.h"
#include "tests/jit/xbyak_harness.h"

#include "ir/combine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace weft::jit {
namespace {

using ir::Random;

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

bool same_elements(const std::vector<std::byte>& a, const std::vector<std::byte>& b, DType dtype) {
  const DType part = real_dtype(dtype);
  const std::size_t size = itemsize_bytes(part);
  const auto is_nan = [&](const std::byte* at) {
    if (part == DType::f32) {
      float x;
      std::memcpy(&x, at, sizeof x);
      return std::isnan(x);
    }
    double x = 0;
    if (part == DType::f64) std::memcpy(&x, at, sizeof x);
    return std::isnan(x);
  };
  for (std::size_t at = 0; at < a.size(); at += size)
    if (std::memcmp(&a[at], &b[at], size) != 0 && !(is_nan(&a[at]) && is_nan(&b[at]))) return false;
  return true;
}

/// Everything that the loops of a fold make of some data.
std::vector<std::byte> all_results(const Fold& fold, const std::vector<std::byte>& data,
                                   std::int64_t num_rows, std::int64_t count) {
  const std::int64_t itemsize = fold.itemsize();
  std::vector<std::byte> result(static_cast<std::size_t>(
      2 * Fold::lanes_bytes + 2 * count * itemsize + num_rows * itemsize + itemsize));
  std::byte* to = result.data();
  fold.clear(to, fold.num_lanes());
  fold.loops.lanes(fold, to, data.data(), num_rows * count);
  std::vector<std::byte> lanes(to, to + Fold::lanes_bytes);
  to += Fold::lanes_bytes;
  fold.finish(to, lanes.data());
  to += itemsize;
  fold.clear(to, count);
  fold.loops.columns(fold, to, data.data(), count * itemsize, num_rows, count);
  to += count * itemsize;
  fold.loops.rows(fold, to, itemsize, data.data(), count * itemsize, num_rows, count);
  to += num_rows * itemsize;
  fold.tree_of_blocks(to, data.data(), count * itemsize,
                      count / fold.num_lanes() * fold.num_lanes());
  return result;
}

TEST(Fold, LoopsGiveTheBitsOfTheOpTable) {
  Random random(testing::seed());
  for (const Op op : all_ops())
    for (const DType dtype : all_dtypes) {
      const OpInfo& row = info(op);
      if (!ir::identity_of(op, dtype) || !computes_in(row.domain, row.result, dtype)) continue;
      for (const std::int64_t count : {1, 3, 16, 63, 64, 65, 200, 517}) {
        const std::int64_t num_rows =
            FoldLoops::blocks_together + static_cast<std::int64_t>(ir::pick(random, 40));
        const auto data = random_elements(dtype, num_rows * count, random);
        const auto expected = all_results(make_plain_fold(op, dtype), data, num_rows, count);
        for (const Isa isa : usable_isas()) {
          Fold fold = make_fold(op, dtype, isa);
          fold.rows_at_once = 1 + static_cast<std::int64_t>(ir::pick(random, 40));
          const auto actual = all_results(fold, data, num_rows, count);
          EXPECT_TRUE(same_elements(actual, expected, dtype))
              << name(op) << ' ' << name(dtype) << ' ' << name(isa) << ' ' << num_rows
              << " rows of " << count;
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
      float sum = 0;
      fold.loops.rows(fold, reinterpret_cast<std::byte*>(&sum), 0,
                      reinterpret_cast<const std::byte*>(data.data()), 0, 1, count);
      EXPECT_EQ(sum, lanes[0]) << count << ' ' << name(isa);
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

template <class T>
void check_extrema(Op op, DType dtype, Random& random) {
  const std::int64_t num_rows = 1 + static_cast<std::int64_t>(ir::pick(random, max_extremum_rows));
  const std::int64_t num_columns = 1 + static_cast<std::int64_t>(ir::pick(random, 100));
  std::vector<T> data(static_cast<std::size_t>(num_rows * num_columns));
  for (T& x : data) {
    x = static_cast<T>(ir::pick(random, 5));
    if constexpr (std::is_floating_point_v<T>)
      if (ir::pick(random, 50) == 0) x = std::numeric_limits<T>::quiet_NaN();
  }
  const auto is_before = [&](T a, T b) {
    if (a != a || b != b) return a != a && b == b;
    return op == Op::maximum ? a > b : a < b;
  };
  for (const Isa isa : usable_isas()) {
    const ExtremumLoops loops = extremum_loops(op, dtype, isa);
    std::vector<T> values(static_cast<std::size_t>(num_columns));
    std::vector<std::int64_t> rows(values.size());
    const auto* const bytes = reinterpret_cast<const std::byte*>(data.data());
    loops.columns(reinterpret_cast<std::byte*>(values.data()), rows.data(), bytes,
                  num_columns * static_cast<std::int64_t>(sizeof(T)), num_rows, num_columns);
    for (std::size_t column = 0; column < values.size(); ++column) {
      std::size_t best = column;
      for (std::size_t i = column; i < data.size(); i += values.size())
        if (is_before(data[i], data[best])) best = i;
      EXPECT_EQ(rows[column], static_cast<std::int64_t>(best / values.size()))
          << name(op) << ' ' << name(dtype) << ' ' << name(isa);
    }
    for (const T& wanted : data) {
      const auto found = loops.find(bytes, static_cast<std::int64_t>(data.size()),
                                    reinterpret_cast<const std::byte*>(&wanted));
      std::size_t expected = 0;
      while (!(data[expected] == wanted || (data[expected] != data[expected] && wanted != wanted)))
        ++expected;
      ASSERT_EQ(found, static_cast<std::int64_t>(expected)) << name(dtype) << ' ' << name(isa);
    }
  }
}

TEST(Fold, ExtremaAreTheFirstAndNaNComesBeforeAll) {
  Random random(testing::seed());
  for (int i = 0; i < 5; ++i)
    for (const Op op : {Op::maximum, Op::minimum}) {
      check_extrema<std::uint8_t>(op, DType::u8, random);
      check_extrema<std::int8_t>(op, DType::i8, random);
      check_extrema<std::int16_t>(op, DType::i16, random);
      check_extrema<std::uint32_t>(op, DType::u32, random);
      check_extrema<std::int64_t>(op, DType::i64, random);
      check_extrema<float>(op, DType::f32, random);
      check_extrema<double>(op, DType::f64, random);
    }
}

}  // namespace
}  // namespace weft::jit
