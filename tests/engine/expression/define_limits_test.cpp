// Expressions of sizes that nobody should write: results or errors, not crashes.
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;

constexpr int many = 10000;

template <class ErrorType, class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const ErrorType& error) {
    return error.what();
  } catch (const Error& error) {
    return detail::concat("another class: ", error.kind(), ": ", error.what());
  }
  return "no error";
}

Expr nested(const Expr& a, int depth) {
  Expr result = a;
  for (int i = 0; i < depth; ++i) result = ops::floor(result) + Expr(i % 7);
  return result;
}

TEST(Limits, DeepExpressionsAreComputed) {
  Engine engine;
  const Tensor a = arange(Scalar(0.0), Scalar(8.0));
  const Expr deep = nested(a, many);
  float expected = 3;
  for (int i = 0; i < many; ++i) expected += static_cast<float>(i % 7);
  EXPECT_EQ(engine.eval(deep).data_as<float>()[3], expected);
  Expr unary(a);
  for (int i = 0; i < many; ++i) unary = ops::neg(unary);
  EXPECT_EQ(engine.eval(unary).data_as<float>()[3], 3.0F);
  EXPECT_FALSE(engine.explain(unary).passes.empty());
}

TEST(Limits, ExpressionsThatGrowInThePassesAreComputed) {
  Engine engine;
  Expr value(arange(Scalar(0.0), Scalar(8.0)));
  Tensor expected = engine.eval(value);
  for (int i = 0; i < 2000; ++i) {
    value = ops::gelu(value);
    expected = engine.unary(Op::gelu, expected);
  }
  const Tensor result = engine.eval(value);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(result.data_as<float>()[i], expected.data_as<float>()[i]);
}

TEST(Limits, LongExpressionsThatFitAreComputed) {
  EngineOptions options;
  options.backend = "interp";
  Engine engine(options);
  const Tensor a = arange(Scalar(0.0), Scalar(8.0));
  Expr value(a);
  for (int i = 0; i < 2000; ++i) value = ops::neg(value);
  const Tensor result = engine.eval(value);
  EXPECT_EQ(result.data_as<float>()[3], 3.0F);
}

TEST(Limits, ManyOperands) {
  Engine engine;
  Expr sum(arange(Scalar(0.0), Scalar(8.0)));
  for (int i = 0; i < many; ++i) sum = sum + Expr(arange(Scalar(0.0), Scalar(8.0)));
  EXPECT_EQ(engine.eval(sum).data_as<float>()[3], 3.0F * (many + 1));
}

TEST(Limits, ParsesDeepText) {
  const std::vector<std::pair<std::string, Tensor>> names{{"a", arange(Scalar(3))}};
  const std::string brackets = detail::concat(std::string(many, '('), "a", std::string(many, ')'));
  EXPECT_EQ(text(parse_expr(brackets, names)), "a");
  std::string calls;
  for (int i = 0; i < many; ++i) calls += "abs(";
  calls += "a";
  calls.append(many, ')');
  EXPECT_EQ(parse_expr(calls, names).dtype(), DType::i64);
  EXPECT_THAT(message_of<ArgumentError>([&] { parse_expr(calls + ")", names); }),
              HasSubstr("closes nothing"));
}

TEST(Limits, OneOutputForTwoResults) {
  Engine engine;
  const Tensor a = arange(Scalar(0.0), Scalar(8.0));
  const Tensor out = empty_like(a);
  const std::vector<Expr> exprs{Expr(a) + Expr(1), Expr(a) * Expr(2)};
  EXPECT_THAT(message_of<ArgumentError>([&] {
                engine.eval(exprs, std::vector<Tensor>{out, out});
              }),
              matchers::Not(matchers::AnyOf(HasSubstr("another class"), HasSubstr("no error"))));
}

TEST(Limits, OutputsThatAreEachOthersInputs) {
  Engine engine;
  const Tensor a = arange(Scalar(0.0), Scalar(4.0));
  const Tensor b = arange(Scalar(10.0), Scalar(14.0));
  const std::vector<Expr> exprs{Expr(a) + Expr(1), Expr(b) + Expr(1)};
  engine.eval(exprs, std::vector<Tensor>{b, a});  // all is read before anything is written
  EXPECT_EQ(a.data_as<float>()[0], 11.0F);
  EXPECT_EQ(b.data_as<float>()[3], 4.0F);
}

}  // namespace
}  // namespace weft
