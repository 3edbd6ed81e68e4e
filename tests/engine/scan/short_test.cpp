// Scans of short rows and of few neighbours, in any layout: against plain loops.
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace weft::testing {
namespace {

struct Case {
  Tensor x;
  int dim;
  bool is_reverse;
};

/// Rows of few elements, most of them, whose neighbours are few as well.
Case random_case(DType dtype, Random& random) {
  constexpr std::array<std::int64_t, 14> extents{1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 70};
  Sizes sizes(1 + ir::pick(random, 4));
  for (std::int64_t& size : sizes) size = extents[ir::pick(random, extents.size())];
  const Tensor x = random_layout(sizes, dtype, random);
  return {x, static_cast<int>(ir::pick(random, sizes.size())), ir::pick(random, 4) == 0};
}

/// As PyTorch has it: f32 is kept in f64, and integers wrap around.
template <class T>
Tensor scanned(const Case& with, bool is_sum) {
  using Kept = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  const Tensor result = empty(with.x.sizes(), {dtype_of<T>});
  const std::int64_t count = with.x.size(with.dim);
  std::int64_t step = 1;
  for (int dim = with.dim + 1; dim < with.x.dim(); ++dim) step *= with.x.size(dim);
  for (std::int64_t row = 0; row < with.x.numel() / count; ++row) {
    Kept kept = is_sum ? 0 : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = with.is_reverse ? count - 1 - i : i;
      const std::int64_t at = row / step * step * count + place * step + row % step;
      const auto next = static_cast<Kept>(get<T>(with.x, at));
      kept = is_sum ? kept + next : kept * next;
      put(result, at, static_cast<T>(kept));
    }
  }
  return result;
}

template <class T>
class ShortScan : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::int64_t>;
TYPED_TEST_SUITE(ShortScan, Types);

TYPED_TEST(ShortScan, IsThatOfPlainLoops) {
  Random random(11);
  Engine one(EngineOptions{.num_threads = 1}), several(EngineOptions{.num_threads = 3});
  for (int i = 0; i < 600; ++i) {
    const Case with = random_case(dtype_of<TypeParam>, random);
    for (std::int64_t k = 0; k < with.x.numel(); ++k) {
      const auto number = static_cast<TypeParam>(ir::pick(random, 9)) - 4;
      put(with.x, k, std::is_integral_v<TypeParam> ? number : -number / 3);
    }
    const bool is_sum = i % 3 != 0;
    const Expr scan = reduce(is_sum ? Reduction::cumsum : Reduction::cumprod, Expr(with.x),
                             {.dims = {with.dim}, .reverse = with.is_reverse});
    const Tensor expected = scanned<TypeParam>(with, is_sum);
    ASSERT_TRUE(same_tensor(one.eval(scan), expected)) << text(scan) << ", case " << i;
    const Sizes sizes(expected.sizes().begin(), expected.sizes().end());
    const Tensor given = random_layout(sizes, expected.dtype(), random);
    several.eval(scan, given);
    ASSERT_TRUE(same_tensor(given, expected)) << text(scan) << ", given, case " << i;
  }
}

TEST(ShortScans, AreToldFromOthers) {
  const auto loops = [](const char* layout, int num_threads) {
    Engine engine(EngineOptions{.num_threads = num_threads});
    const Expr scan = ops::cumsum(Expr::named("a", parse_layout(layout)), {.dims = {1}});
    std::vector<std::string> names;
    for (const auto& loop : engine.explain(scan, {}, {}).precompiled)
      names.push_back(loop.name.substr(0, loop.name.find(' ')));
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(loops("f64[1000,5]", 1), Names{"scan_each_row"});
  EXPECT_EQ(loops("f64[1000,50]", 1), Names{"run_scan"});
  EXPECT_EQ(loops("f32[10,1000,3]", 1), Names{"scan_each_row"});
  // Blocks of integers are for threads that share a row.
  EXPECT_EQ(loops("i64[4,100000]", 1), Names{"run_scan"});
  EXPECT_EQ(loops("i64[4,100000]", 8),
            (Names{"run_scan", "BlockLoops::run", "BlockLoops::totals"}));
  EXPECT_EQ(loops("f64[4,100000]", 1), (Names{"BlockLoops::run", "BlockLoops::totals"}));
}

}  // namespace
}  // namespace weft::testing
