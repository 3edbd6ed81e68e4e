// Strides of what one kernel computes of a whole expression: those that PyTorch, operator by
// operator, gives the last result.
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"
#include "tests/message_of.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

using matchers::HasSubstr;

Sizes strides_of(const Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}

// As recorded from PyTorch 1.13.
TEST(ResultLayout, WhatBroadcastOperandsBecomeIsDense) {
  Engine engine;
  const Tensor a = ones({2, 1}), b = ones({1, 3}), c = ones({3, 2}).t();
  EXPECT_EQ(strides_of(engine.eval(Expr(a) * b * c)), (Sizes{3, 1}));
  EXPECT_EQ(strides_of(engine.eval(Expr(c) * (Expr(a) * b))), (Sizes{1, 2}));
  EXPECT_EQ(engine.infer(Expr(a) * b * c).strides, (Sizes{3, 1}));
  const Tensor s = ones({1, 3, 1, 1}), m = ones({4, 1, 1, 5});
  const Tensor x = engine.contiguous(ones({4, 3, 2, 5}), MemoryFormat::channels_last);
  EXPECT_EQ(strides_of(engine.eval((Expr(s) + m) * x)), (Sizes{30, 5, 15, 1}));
  const Tensor expanded = ones({1, 3}).expand({2, 3});
  EXPECT_EQ(strides_of(engine.eval((Expr(expanded) + 1) * c)), (Sizes{3, 1}));
  EXPECT_EQ(strides_of(engine.eval(cast(Expr(expanded), DType::f64) * c)), (Sizes{3, 1}));
}

TEST(ResultLayout, OfSeveralResultsEachHasItsOwn) {
  Engine engine;
  const Tensor a = ones({2, 3}), c = ones({3, 2}).t();
  const std::vector<Expr> exprs{Expr(a) + 1, Expr(c) * 2, Expr(a) + c};
  const std::vector<Tensor> results = engine.eval(exprs);
  EXPECT_EQ(strides_of(results[0]), (Sizes{3, 1}));
  EXPECT_EQ(strides_of(results[1]), (Sizes{1, 2}));
  EXPECT_EQ(strides_of(results[2]), (Sizes{3, 1}));
}

TEST(ResultLayout, OfATensorIsThatOfACopy) {
  Engine engine;
  const Tensor expanded = ones({1, 3}).expand({2, 3}), a = ones({2, 3});
  EXPECT_EQ(strides_of(engine.eval(cast(Expr(expanded), DType::f32))), (Sizes{3, 1}));
  for (const Tensor& leaf : {expanded, ones({2, 6}).slice(1, 0, 6, 2), a.flip({1})})
    for (const Expr& result : {Expr(leaf), cast(Expr(leaf), DType::f32)}) {
      const std::vector<Tensor> results = engine.eval(std::vector<Expr>{result, Expr(a) + 1});
      EXPECT_EQ(strides_of(results[0]), (Sizes{3, 1}));
      EXPECT_EQ(results[0].storage()->size_bytes(), 24u);
    }
}

TEST(ResultLayout, WhatIsTooLargeIsRefusedWithoutBytesToo) {
  Engine engine;
  const std::int64_t many = std::int64_t{1} << 61, half = std::int64_t{1} << 30;
  const Expr bytes(unbacked({many}, {1}, DType::u8));
  EXPECT_THROW(engine.infer(cast(bytes, DType::f64)), ArgumentError);
  const Expr column(unbacked({half, 1}, {1, 1}, DType::f64));
  const Expr row(unbacked({1, half}, {half, 1}, DType::f32));
  EXPECT_THROW(engine.infer((column + row) * Expr(ones({1}))), ArgumentError);
}

TEST(ResultLayout, WhatIsNewBesideAGivenOutputHasItsOwn) {
  Engine engine;
  const Tensor a = ones({2, 3}), c = ones({2, 3}), out = empty({3, 2}).t();
  const std::vector<Expr> exprs{Expr(a) * 2, Expr(a) + c};
  const std::vector<Tensor> results = engine.eval(exprs, std::vector<Tensor>{Tensor(), out});
  EXPECT_EQ(strides_of(results[0]), (Sizes{3, 1}));
  EXPECT_EQ(strides_of(results[1]), (Sizes{1, 2}));
}

TEST(ResultLayout, OutputsThatAreResizedFollowAllLeaves) {
  Engine engine;
  const Tensor c = ones({3, 2}).t(), out = empty({7});
  const std::vector<Expr> exprs{Expr(ones({2, 1})) * Expr(ones({1, 3})), Expr(c) + 1};
  engine.eval(exprs, std::vector<Tensor>{Tensor(), out});
  EXPECT_EQ(strides_of(out), (Sizes{1, 2}));
}

constexpr int most_deep = 2;
/// An expression of random operators and leaves, and the same computed one by one.
std::pair<Expr, Tensor> random_value(Engine& engine, const Sizes& sizes, int depth,
                                     Random& random) {
  const std::size_t choice = depth == 0           ? 0
                             : depth == most_deep ? 1 + ir::pick(random, 8)
                                                  : ir::pick(random, 9);
  if (choice == 0) {
    const Tensor leaf = random_operand(sizes, DType::f32, random);
    return {Expr(leaf), leaf};
  }
  const auto [x, x_value] = random_value(engine, sizes, depth - 1, random);
  switch (choice) {
    case 1: return {x * 2, engine.eval(Expr(x_value) * 2)};
    case 2: return {cast(x, DType::f64), engine.to(x_value, DType::f64)};
    case 3: return {1 - x, engine.eval(1 - Expr(x_value))};
    case 4: return {-x, engine.unary(Op::neg, x_value)};
    case 5: return {x + ones({}), engine.binary(Op::add, x_value, ones({}))};
    default: break;
  }
  const auto [y, y_value] = random_value(engine, sizes, depth - 1, random);
  if (choice == 6) {
    const auto [z, z_value] = random_value(engine, sizes, depth - 1, random);
    return {ops::addcmul(x, y, z), engine.eval(ops::addcmul(x_value, y_value, z_value))};
  }
  if (choice == 7)
    return {ops::where(x < y, x, y),
            engine.eval(ops::where(engine.binary(Op::lt, x_value, y_value), x_value, y_value))};
  return {x + y, engine.binary(Op::add, x_value, y_value)};
}

Sizes random_sizes(Random& random) {
  Sizes sizes;
  for (std::size_t dim = ir::pick(random, 4) + 1; dim > 0; --dim)
    sizes.push_back(static_cast<std::int64_t>(ir::pick(random, 4)) + 1);
  if (ir::pick(random, 10) == 0) sizes[ir::pick(random, sizes.size())] = 0;
  return sizes;
}

TEST(ResultLayout, IsThatOfOneOperatorAfterTheOther) {
  Engine engine({.backend = "interp"});
  Random random(7);
  for (int i = 0; i < 4000; ++i) {
    const auto [expr, value] = random_value(engine, random_sizes(random), most_deep, random);
    SCOPED_TRACE(text(expr));
    ASSERT_EQ(strides_of(engine.eval(expr)), strides_of(value));
    ASSERT_EQ(engine.infer(expr).strides, strides_of(value));
  }
}

TEST(ResultLayout, OfSeveralResultsIsThatOfEach) {
  Engine engine({.backend = "interp"});
  Random random(8);
  for (int i = 0; i < 1000; ++i) {
    const Sizes sizes = random_sizes(random);
    const auto [x, x_value] = random_value(engine, sizes, most_deep, random);
    const auto [y, y_value] = random_value(engine, sizes, most_deep, random);
    if (!std::ranges::equal(x_value.sizes(), y_value.sizes())) continue;
    SCOPED_TRACE(text(x) + ", " + text(y));
    const std::vector<Tensor> results = engine.eval(std::vector<Expr>{x, y});
    ASSERT_EQ(strides_of(results[0]), strides_of(x_value));
    ASSERT_EQ(strides_of(results[1]), strides_of(y_value));
  }
}

/// Where nothing is left, what is elementwise around a reduction follows the iterator, and what a
/// reduction itself makes of its folds is contiguous.  These are PyTorch's.
TEST(ResultLayout, WithoutElementsReductionsAreContiguousAndWhatIsAroundThemIsNot) {
  Engine engine;
  const ReduceOptions last{.dims = {-1}, .keepdim = true};
  struct Case {
    Sizes sizes, twice_the_sum, variance;
  };
  for (const Case& each : {Case{{0, 3}, {1, 0}, {1, 1}}, Case{{2, 0, 3}, {0, 1, 0}, {1, 1, 1}}}) {
    const Tensor a = empty(IntSpan(each.sizes));
    const Expr sum = ops::sum(a, last) * Expr(2), variance = ops::var(a, last);
    EXPECT_EQ(strides_of(engine.eval(sum)), each.twice_the_sum);
    EXPECT_EQ(engine.infer(sum).strides, each.twice_the_sum);
    EXPECT_EQ(strides_of(engine.eval(variance)), each.variance);
    EXPECT_EQ(engine.infer(variance).strides, each.variance);
  }
}

// As recorded from PyTorch 1.13: where nothing is left, too, beside folds of the same tensor.
TEST(ResultLayout, BesideFoldsFollowsTheTensor) {
  Engine engine;
  const Tensor x = empty_strided({0, 3, 5, 4}, {3, 1, 12, 3}, {DType::f32, {}});
  const Expr beside = ops::sum(x, {.dims = {2, 3}, .keepdim = true}) + Expr(x);
  EXPECT_EQ(strides_of(engine.eval(beside)), (Sizes{3, 1, 0, 0}));
  EXPECT_EQ(engine.infer(beside).strides, (Sizes{3, 1, 0, 0}));
}

TEST(ResultLayout, ErrorsAreAboutTheCallersTensors) {
  Engine engine;
  const Expr x = Expr::named("x", full({4}, 1, DType::f32)),
             y = Expr::named("y", full({5}, 1, DType::f32));
  const auto said = [](const auto& call) { return test::message_of<ArgumentError>(call); };
  EXPECT_THAT(said([&] { engine.eval(x * 2 + y); }), HasSubstr("input 1 `y` is f32[5]"));
  EXPECT_THAT(said([&] { engine.infer(cast(x, DType::f64) * y); }),
              HasSubstr("input 1 `y` is f32[5]"));
}

}  // namespace
}  // namespace weft::testing
