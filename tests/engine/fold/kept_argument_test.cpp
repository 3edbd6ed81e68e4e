// What folds read and what is around them reads too: computed once where that is dear, with the
// bits that it has when it is computed for each.
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>
#include <weft/expr.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kept = "which is read again";

std::vector<std::string> passes_of(const Expr& expr) { return Engine().explain(expr).passes; }

/// Numbers around 0, laid out like `layout`.
Tensor numbers(const std::string& layout, Random& random) {
  const Tensor shape = parse_layout(layout);
  const Tensor result = empty_strided(shape.sizes(), shape.strides(), {shape.dtype()});
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_as<float>()[i] = static_cast<float>(random() % 4'001) / 1000 - 2;
  return result;
}

TEST(KeptArgument, IsToldOf) {
  const Tensor a = empty({64, 128}, DType::f32);
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  // Written twice it is the same.
  const Expr softmax = parse_expr(
      "exp(a - amax(a, dims=[1], keepdim=true)) /"
      " sum(exp(a - amax(a, dims=[1], keepdim=true)), dims=[1], keepdim=true)",
      names);
  const std::vector<std::string> passes = passes_of(softmax);
  ASSERT_EQ(passes.size(), 3U);
  EXPECT_EQ(passes[1], "elementwise f32[64, 128]: exp(a - t0), which is read again");
}

TEST(KeptArgument, IsLeftToEachWhereThatTakesLess) {
  const auto ratio = [](const Expr& x) { return x / ops::sum(x, {.dims = {1}, .keepdim = true}); };
  const Tensor a = empty({64, 128}, DType::f32);
  EXPECT_THAT(passes_of(ratio(ops::exp(a))), Contains(HasSubstr(kept)));
  for (const Expr& x : {ops::square(a), ops::exp(empty({8, 16}, DType::f32)),
                        ops::exp(empty({64, 128}, DType::f16)), ops::exp(a.t())})
    EXPECT_THAT(passes_of(ratio(x)), Each(Not(HasSubstr(kept)))) << text(x);
  // Nothing is around the fold.
  EXPECT_THAT(passes_of(ops::sum(ops::exp(a), {.dims = {1}})), Each(Not(HasSubstr(kept))));
}

TEST(KeptArgument, ChangesNoBits) {
  Random random(7);
  const struct {
    const char* a;
    const char* b;
    std::vector<std::int64_t> dims;
  } cases[] = {
      {"f32[64,128]", "f32[64,1]", {1}},         {"f32[64,128]", "f32[128]", {0}},
      {"f32[64,128]", "f32[64,128]", {0, 1}},    {"f32[64,128]{1,64}", "f32[64,1]", {1}},
      {"f32[64,128]{1,64}", "f32[1]", {0, 1}},   {"f32[20,30,40]", "f32[20,1,40]", {1, 2}},
      {"f32[20,30,40]", "f32[30,1]{1,30}", {0}}, {"f32[20,30,40]{1,800,20}", "f32[40]", {0, 2}},
      {"f32[30,40]", "f32[20,30,40]", {0, 1}},   {"f32[20,1,40]", "f32[30,1]", {0, 1}},
  };
  for (const auto& [a_layout, b_layout, dims] : cases) {
    const Expr a(numbers(a_layout, random)), b(numbers(b_layout, random));
    const Expr x = ops::exp(a - b);
    const ReduceOptions options{.dims = dims, .keepdim = true};
    // What is around the fold adds nothing to its value, but reads what it reads.
    Engine engine;
    const Tensor sum = engine.eval(ops::sum(x, options));
    const Tensor expected = engine.eval(Expr(sum) + x * 0.0);
    for (int call = 0; call < 3; ++call)
      EXPECT_TRUE(same_tensor(engine.eval(ops::sum(x, options) + x * 0.0), expected))
          << a_layout << " and " << b_layout;
    Engine interp(EngineOptions{.backend = "interp"});
    EXPECT_TRUE(
        same_tensor(interp.eval(x / ops::sum(x, options)), engine.eval(x / ops::sum(x, options))));
  }
}

/// Dimensions of equal extents that the operands lie along in turn.
TEST(KeptArgument, HasTheOrderOfTheFoldAlone) {
  Random random(9);
  const Expr a(numbers("f32[96,1,1]", random)), b(numbers("f32[1,3,1]", random)),
      c(numbers("f32[1,1,96]", random));
  const Expr x = ops::exp(a * b * c);
  const ReduceOptions options{.dims = {0, 2}, .keepdim = true};
  Engine engine;
  const Tensor sum = engine.eval(ops::sum(x, options));
  const Tensor expected = engine.eval(x / Expr(sum));
  EXPECT_TRUE(same_tensor(engine.eval(x / ops::sum(x, options)), expected));
}

TEST(KeptArgument, TakesTheNumbersOfEachCall) {
  Random random(8);
  const Tensor a = numbers("f32[64,128]", random);
  Engine engine;
  const ReduceOptions options{.dims = {1}, .keepdim = true};
  for (const double factor : {1.0, 1.0, 0.5, -2.0, 1.0}) {
    const auto scaled = [&] { return ops::exp(Expr(a) * factor); };
    const Tensor x = engine.eval(scaled());
    const Tensor expected = engine.eval(Expr(x) / ops::sum(x, options));
    const Expr one = scaled();
    EXPECT_TRUE(same_tensor(engine.eval(one / ops::sum(one, options)), expected)) << factor;
    // Two numbers that are equal now need not be so the next time.
    EXPECT_TRUE(same_tensor(engine.eval(scaled() / ops::sum(scaled(), options)), expected));
    const Tensor other = engine.eval(Expr(x) / ops::sum(ops::exp(Expr(a) * 3.0), options));
    EXPECT_TRUE(
        same_tensor(engine.eval(scaled() / ops::sum(ops::exp(Expr(a) * 3.0), options)), other));
  }
}

}  // namespace
}  // namespace weft::testing
