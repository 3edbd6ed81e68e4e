// Functions as PyTorch spells them: keywords, defaults, words, other names.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

using matchers::HasSubstr;

Expr parse(std::string_view text) {
  static const std::vector<std::pair<std::string, Tensor>> names{
      {"a", new_tensor({3}, DType::f32)},
      {"b", new_tensor({3}, DType::f32)},
      {"i", new_tensor({3}, DType::i32)},
      {"h", new_tensor({3}, DType::f16)},
      {"m", new_tensor({3}, DType::boolean)}};
  return parse_expr(text, names);
}

TEST(CallSpelling, ReadsKeywordsDefaultsAndOtherNames) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"add(a, b)", "a + b"},
      {"add(a, b, alpha=2)", "add_scaled(a, b, 2)"},
      {"add(a, other=b, alpha=0.5)", "add_scaled(a, b, 0.5)"},
      {"add(alpha=2, other=b, input=a)", "add_scaled(a, b, 2)"},
      {"sub(a, b, alpha=i)", "sub_scaled(a, b, i)"},
      {"rsub(a, b)", "b - a"},
      {"rsub(a, b, alpha=3)", "sub_scaled(b, a, 3)"},
      {"div(a, b)", "a / b"},
      {"div(a, b, rounding_mode=None)", "a / b"},
      {"div(a, b, rounding_mode='floor')", "a // b"},
      {"div(a + 1, b, rounding_mode=\"trunc\")", "div_trunc(a + 1, b)"},
      {"div(a, div(a, b, rounding_mode='floor'), rounding_mode='floor')", "a // (a // b)"},
      {"clamp(a, min=0)", "clamp_min(a, 0)"},
      {"clamp(a, max=b + 1)", "clamp_max(a, b + 1)"},
      {"clamp(a, None, 1)", "clamp_max(a, 1)"},
      {"clamp(a, 0, 1)", "clamp(a, 0, 1)"},
      {"clip(a, min=-1, max=1)", "clamp(a, -1, 1)"},
      {"float_power(i, exponent=2)", "square(cast(i, f64))"},
      {"float_power(a, 2j)", "cast(a, c128) ** 2.0j"},
      {"round(a)", "round(a)"},
      {"round(a, decimals=2)", "round_decimals(a, 2)"},
      {"round(a, decimals=-2)", "round_decimals(a, -2)"},
      {"logit(a)", "logit(a)"},
      {"logit(a, eps=1e-6)", "logit_eps(a, 1e-06)"},
      {"logit(a, None)", "logit(a)"},
      {"nan_to_num(a, nan=None, posinf=1, neginf=2)", "nan_to_num(a, 0.0, 1, 2)"},
      {"masked_fill(a, m, 0)", "masked_fill(a, m, 0)"},
      {"masked_fill(a, mask=~m, value=-inf)", "masked_fill(a, ~m, -inf)"},
      {"gelu(a)", "gelu(a)"},
      {"gelu(a, approximate='tanh')", "gelu_tanh(a)"},
      {"gelu(a, 'none')", "gelu(a)"},
      {"softplus(a)", "softplus(a)"},
      {"softplus(a, 2)", "softplus_beta(a, 2, 20)"},
      {"softplus(a, threshold=30)", "softplus_beta(a, 1, 30)"},
      {"elu(a)", "elu(a, 1)"},
      {"celu(a, alpha=0.5)", "celu(a, 0.5)"},
      {"leaky_relu(a)", "leaky_relu(a, 0.01)"},
      {"leaky_relu(a, negative_slope=0.2)", "leaky_relu(a, 0.2)"},
      {"hardtanh(a)", "hardtanh(a, -1, 1)"},
      {"hardtanh(a, max_val=6)", "hardtanh(a, -1, 6)"},
      {"hardshrink(a)", "hardshrink(a, 0.5)"},
      {"softshrink(a, lambd=1)", "softshrink(a, 1)"},
      {"threshold(a, 0.1, value=20)", "threshold(a, 0.1, 20)"},
      {"addcmul(a, a, b)", "addcmul(a, a, b, 1)"},
      {"addcdiv(a, a, b, value=2)", "addcdiv(a, a, b, 2)"},
      {"lerp(a, b, weight=0.5)", "lerp(a, b, 0.5)"},
      {"multiply(subtract(a, b), 2)", "(a - b) * 2"},
      {"less_equal(arctan2(a, b), 0)", "atan2(a, b) <= 0"},
      {"floor_divide(i, 2)", "i // 2"},
      {"logsigmoid(a)", "log_sigmoid(a)"},
  };
  for (const auto& [written, meant] : rows) EXPECT_EQ(text(parse(written)), meant) << written;
}

// A keyword and the first argument of a call behind it have the same place.
TEST(CallSpelling, KeywordsBelongToTheCallTheyAreWrittenIn) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"clamp(a, max=exp(b))", "clamp_max(a, exp(b))"},
      {"clamp(a, max=((exp(b))))", "clamp_max(a, exp(b))"},
      {"clamp(a, max=exp(b) + 1)", "clamp_max(a, exp(b) + 1)"},
      {"clamp(a, max=copy(b))", "clamp_max(a, b)"},
      {"clamp(a, max=cast(i, f32))", "clamp_max(a, cast(i, f32))"},
      {"clamp(a, max=sum(b, dims=[0], keepdim=true))",
       "clamp_max(a, sum(b, dims=[0], keepdim=true))"},
      {"hardtanh(a, max_val=abs(b))", "hardtanh(a, -1, abs(b))"},
      {"softplus(a, threshold=abs(-3))", "softplus_beta(a, 1, 3)"},
      {"clamp(a, max=clamp(b, max=3))", "clamp_max(a, clamp_max(b, 3))"},
      {"clamp(a, max=None, min=abs(b))", "clamp_min(a, abs(b))"},
      {"clamp(min=clamp(max=3, input=b), input=a)", "clamp_min(a, clamp_max(b, 3))"},
      {"add(a, other=sub(b, other=a), alpha=2)", "add_scaled(a, b - a, 2)"},
      {"div(abs(a), rounding_mode='floor', other=div(abs(b), rounding_mode='trunc', other=a))",
       "abs(a) // div_trunc(abs(b), a)"},
      {"maximum(a, other=exp(input=b))", "maximum(a, exp(b))"},
      {"pow(input=a, exponent=b)", "a ** b"},
      {"where(condition=m, input=a, other=b)", "where(m, a, b)"},
      {"heaviside(input=a, values=b)", "heaviside(a, b)"},
      {"clamp_max(a, max=b)", "clamp_max(a, b)"},
      {"sum(input=a, dim=0)", "sum(a, dims=[0])"},
  };
  for (const auto& [written, read] : rows) EXPECT_EQ(text(parse(written)), read) << written;
}

TEST(CallSpelling, TextIsReadBackAsItIs) {
  for (const char* written : {"masked_fill(a, m, 3)", "softplus_beta(a, 2, 20)", "a // b"})
    EXPECT_EQ(text(parse(text(parse(written)))), text(parse(written)));
}

TEST(CallSpelling, SaysWhatTheFunctionTakes) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"add(a)", "add takes 2 arguments or more, got 1, and 'other' is missing"},
      {"add(a, b, 1, 2)", "add takes 3 arguments, got 4: add(input, other, alpha=1)"},
      {"add(a, b, scale=2)", "add has no parameter 'scale': add(input, other, alpha=1)"},
      {"add(a, b, other=b)", "add: other is given twice"},
      {"add(a, alpha=2, b)", "a positional argument follows a keyword"},
      {"add(a, None)", "add: other must not be None"},
      {"add(a, b, alpha=None)", "add: alpha must not be None"},
      {"elu(a, None)", "elu: alpha must not be None"},
      {"gelu(a, approximate=None)", "gelu: approximate must not be None"},
      {"add(a, alpha=)", "expected a value"},
      {"add(a, other=alpha=b)", "expected a value"},
      {"div(a, b, rounding_mode='up')", "one of None, 'trunc', or 'floor' but found 'up'"},
      {"div(a, b, rounding_mode=2)", "rounding_mode is a text in quotes"},
      {"div(a, b, rounding_mode='floor' + 1)", "expected ',' or ')'"},
      {"div(a, b, rounding_mode='floor", "never ends"},
      {"gelu(a, approximate='erf')", "approximate is 'none' or 'tanh', not 'erf'"},
      {"clamp(a)", "At least one of 'min' or 'max' must not be None"},
      {"clamp(a, min='x')", "min is a value and no text"},
      {"exp(x=a)", "the only keyword argument here is 'input', in PyTorch's order"},
      {"maximum(other=a, input=b)",
       "the only keyword argument here is 'input', in PyTorch's order"},
      {"maximum(input=input=a, b)", "expected a value"},
      {"maximum(a, other=)", "expected a value"},
      {"round(i, decimals=1)", "round() does not take i32"},
      {"softplus(i, beta=2)", "softplus() does not take i32"},
      {"sub(i, i, alpha=3000000000)", "sub(): value cannot be converted to type i32"},
      {"add(i, 18446744073709551615, alpha=2)", "add(): value cannot be converted to type i32"},
      {"exp(a, other=b)", "exp has no argument 'other' here"},
      {"exp(a, dtype=f32)", "exp has no argument 'dtype' here"},
      {"sum(dim=[0], input=a)", "the value comes first, and then what has a name: sum(input, "},
      {"sum(a, dtype='f64')", "expected a dtype, found the text 'f64'"},
      {"cast(a, 'f32')", "expected a dtype, found the text 'f32'"},
      {"sum", "the function of this name is called with arguments in brackets"},
      {"clamp", "the function of this name is called with arguments in brackets"},
      {"std(a, unbiased=false, correction=1)", "unbiased is given already"},
      {"var(a, correction=0, unbiased=true)", "correction is given already"},
      {"exp(None)", "takes no text and no None"},
      {"exp('a')", "takes no text and no None"},
      {"'floor'", "only an argument of a function"},
      {"a + 'floor'", "only an argument of a function"},
      {"masked_fill(a, m)", "'value' is missing: masked_fill(input, mask, value)"},
      {"treshold(a)", "threshold"},
  };
  for (const auto& [written, fragment] : rows) {
    try {
      parse(written);
      ADD_FAILURE() << written << " was accepted";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(fragment)) << written;
    }
  }
}

TEST(CallSpelling, NanToNumFillsInTheDtypesLargestNumbers) {
  Engine engine;
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor x = tensor_of<float>({std::nanf(""), infinity, -infinity, 2});
  const Tensor result = engine.eval(ops::nan_to_num(Expr(x)));
  EXPECT_EQ(result.dtype(), DType::f32);
  EXPECT_EQ(get<float>(result, 0), 0);
  EXPECT_EQ(get<float>(result, 1), std::numeric_limits<float>::max());
  EXPECT_EQ(get<float>(result, 2), std::numeric_limits<float>::lowest());
  EXPECT_EQ(get<float>(result, 3), 2);
  EXPECT_EQ(get<float>(engine.eval(ops::nan_to_num(Expr(x), 7.0, 8.0)), 1), 8);
  EXPECT_EQ(text(parse("nan_to_num(h, posinf=1)")), "nan_to_num(h, 0.0, 1, -65504.0)");
  EXPECT_EQ(parse("nan_to_num(i)").dtype(), DType::i32);
  EXPECT_EQ(parse("nan_to_num(m)").dtype(), DType::boolean);
}

TEST(CallSpelling, CxxFunctionsTakeTheSameArguments) {
  Engine engine;
  const Tensor x = tensor_of<float>({-2, 0.5f, 3.25f});
  const auto first = [&](const Expr& expr) { return get<float>(engine.eval(expr), 0); };
  const auto last = [&](const Expr& expr) { return get<float>(engine.eval(expr), 2); };
  EXPECT_EQ(first(ops::add(Expr(x), Expr(x), 3)), -8);
  EXPECT_EQ(last(ops::sub(x, 1, 2)), 1.25f);
  EXPECT_EQ(first(ops::clamp(x, 0)), 0);
  EXPECT_EQ(last(ops::clamp(x, 0, 3)), 3);
  EXPECT_EQ(first(ops::leaky_relu(x, 0.5)), -1);
  EXPECT_EQ(last(ops::round(x, 1)), 3.2f);
  EXPECT_EQ(first(ops::masked_fill(x, Expr(x) < 0, 9)), 9);
  EXPECT_EQ(last(ops::masked_fill(x, Expr(x) < 0, 9)), 3.25f);
  EXPECT_EQ(first(ops::threshold(x, 0, 4)), 4);
  EXPECT_THROW(ops::exp(x, x), ArgumentError);
  EXPECT_THROW(ops::softplus(x, 1, 2, 3), ArgumentError);
}

TEST(CallSpelling, AnotherNumberCompilesNothing) {
  const std::pair<std::string_view, std::function<Expr(const Expr&, double)>> rows[] = {
      {"add", [](const Expr& x, double n) { return ops::add(x, x, n); }},
      {"clamp", [](const Expr& x, double n) { return ops::clamp(x, -n, n); }},
      {"clamp_min", [](const Expr& x, double n) { return ops::clamp(x, n); }},
      {"round", [](const Expr& x, double n) { return ops::round(x, static_cast<int>(n)); }},
      {"logit", [](const Expr& x, double n) { return ops::logit(x, n / 100); }},
      {"masked_fill", [](const Expr& x, double n) { return ops::masked_fill(x, x < n, n); }},
      {"nan_to_num", [](const Expr& x, double n) { return ops::nan_to_num(x, n); }},
      {"softplus", [](const Expr& x, double n) { return ops::softplus(x, n, 20); }},
      {"elu", [](const Expr& x, double n) { return ops::elu(x, n); }},
      {"celu", [](const Expr& x, double n) { return ops::celu(x, n); }},
      {"leaky_relu", [](const Expr& x, double n) { return ops::leaky_relu(x, n); }},
      {"threshold", [](const Expr& x, double n) { return ops::threshold(x, n, -n); }},
      {"hardtanh", [](const Expr& x, double n) { return ops::hardtanh(x, -n, n); }},
      {"hardshrink", [](const Expr& x, double n) { return ops::hardshrink(x, n); }},
      {"softshrink", [](const Expr& x, double n) { return ops::softshrink(x, n); }},
      {"addcmul", [](const Expr& x, double n) { return ops::addcmul(x, x, x, n); }},
      {"lerp", [](const Expr& x, double n) { return ops::lerp(x, x, n); }},
      {"pow", [](const Expr& x, double n) { return ops::pow(x, n); }},
  };
  const Tensor x = tensor_of<float>({-2, 0.5f, 3.25f});
  for (const auto& [name, function] : rows) {
    Engine engine;
    for (int n = 4; n < 9; ++n) engine.eval(function(x, n));  // powers of 2 and 3 are other ops
    EXPECT_EQ(engine.stats().kernel_misses, 1u) << name;
    EXPECT_EQ(engine.stats().plan_misses, 1u) << name;
  }
}

}  // namespace
}  // namespace weft::testing
