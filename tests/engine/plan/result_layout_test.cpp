// Strides of what one kernel computes of a whole expression: those that PyTorch, operator by
// operator, gives the last result.
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace weft::testing {
namespace {

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

constexpr int most_deep = 2;
/// An expression of random operators and leaves, and the same computed one by one.
std::pair<Expr, Tensor> random_value(Engine& engine, const Sizes& sizes, int depth,
                                     Random& random) {
  const std::size_t choice = depth == 0           ? 0
                             : depth == most_deep ? 1 + ir::pick(random, 5)
                                                  : ir::pick(random, 6);
  if (choice == 0) {
    const Tensor leaf = random_operand(sizes, DType::f32, random);
    return {Expr(leaf), leaf};
  }
  const auto [x, x_value] = random_value(engine, sizes, depth - 1, random);
  if (choice == 1) return {x * 2, engine.eval(Expr(x_value) * 2)};
  if (choice == 2 && x.dtype() == DType::f32)
    return {cast(x, DType::f64), engine.to(x_value, DType::f64)};
  const auto [y, y_value] = random_value(engine, sizes, depth - 1, random);
  if (choice == 3) {
    const auto [z, z_value] = random_value(engine, sizes, depth - 1, random);
    return {ops::addcmul(x, y, z), engine.eval(ops::addcmul(x_value, y_value, z_value))};
  }
  return {x + y, engine.binary(Op::add, x_value, y_value)};
}

TEST(ResultLayout, IsThatOfOneOperatorAfterTheOther) {
  Engine engine({.backend = "interp"});
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    Sizes sizes;
    for (std::size_t dim = ir::pick(random, 4) + 1; dim > 0; --dim)
      sizes.push_back(static_cast<std::int64_t>(ir::pick(random, 4)) + 1);
    const auto [expr, value] = random_value(engine, sizes, most_deep, random);
    SCOPED_TRACE(text(expr));
    const Tensor result = engine.eval(expr);
    EXPECT_EQ(strides_of(result), strides_of(value));
    EXPECT_EQ(engine.infer(expr).strides, strides_of(value));
  }
}

}  // namespace
}  // namespace weft::testing
