// Bare numbers in expressions: functions of nothing but numbers, integers that i64 can't hold,
// divisors.
#include "engine/expression/expr_node.h"
#include "tests/engine/support/elements.h"
#include "tests/engine/support/engines.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/naive.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

using matchers::ElementsAreArray;
using matchers::HasSubstr;

class BareNumbers : public ::testing::Test {
 protected:
  Expr parse(const char* text) const { return parse_expr(text, names_); }
  Tensor eval(const char* text) { return engine_.eval(parse(text)); }
  template <class ErrorType>
  std::string refusal(const char* text) {
    try {
      eval(text);
    } catch (const ErrorType& error) {
      return error.what();
    }
    return "nothing is thrown";
  }

  Engine engine_;
  std::vector<std::pair<std::string, Tensor>> names_{{"a", tensor_of<double>({1, -3})},
                                                     {"i", tensor_of<std::int32_t>({7, -7})},
                                                     {"u", tensor_of<std::uint8_t>({7, 200})},
                                                     {"w", tensor_of<std::uint64_t>({1})}};
};

TEST_F(BareNumbers, FunctionsOfThemAreAsPreciseAsTheyAre) {
  EXPECT_EQ(get<double>(eval("a * sqrt(2)"), 0), std::sqrt(2.0));
  EXPECT_EQ(get<double>(eval("a * (1 + maximum(0.1, 0.2))"), 0), 1.2);
  EXPECT_NEAR(get<double>(eval("a * exp(log(3))"), 0), 3, 1e-15);
  const Tensor a = names_[0].second;
  EXPECT_EQ(get<double>(engine_.eval(ops::sqrt(Expr(2)) * a), 0), std::sqrt(2.0));
  EXPECT_EQ(get<double>(engine_.eval(Expr(1) / Expr(3) * a), 0), 1.0 / 3);
}

// Python's results of the same texts.
TEST_F(BareNumbers, OperatorsAreThoseOfPython) {
  const auto number = [&](const char* text) { return parse(text).node().scalar; };
  const double inf = HUGE_VAL;
  for (const auto& [text, value] : std::vector<std::pair<const char*, double>>{
           {"4503599627370497.0 // 1.0", 4503599627370497.0},
           {"9007199254740991.0 // 1.0", 9007199254740991.0},
           {"-1.0 // inf", -1.0},
           {"-0.0 // 1.0", -0.0},
           {"0.0 // -1.0", -0.0},
           {"7.5 // -2.0", -4.0},
           {"1.0 // 0.1", 9.0},
           {"inf // -inf", std::nan("")},
           {"9007199254740993 / 3", 3002399751580331.0},
           {"-9007199254740993 / 3", -3002399751580331.0},
           {"1 / 18446744073709551615", 0x1p-64},
           {"18446744073709551615 / 18446744073709551614", 1.0},
           {"18446744073709551615 / 1", 0x1p64},
           {"9007199254740993 / 9007199254740992", 1.0},
           {"0 / -5", -0.0},
           {"0 / 5", 0.0},
           {"(-inf) ** 0.1", inf},
           {"(-inf) ** -1.5", 0.0},
           {"0 ** -inf", inf},
           {"-1e308 // 1e-308", -inf}}) {
    const double given = number(text).as_double();
    EXPECT_TRUE(std::isnan(value) ? std::isnan(given)
                                  : given == value && std::signbit(given) == std::signbit(value))
        << text << " is " << given;
  }
  for (const auto& [text, value] : std::vector<std::pair<const char*, std::complex<double>>>{
           {"0j ** 0", 1.0},
           {"0 ** 0j", 1.0},
           {"inf ** 0j", 1.0},
           {"0j ** 2", 0.0},
           {"(1+1j) ** 2", {0, 2}},
           {"(1+1j) ** 4", {-4, 0}},
           {"2j ** -2", -0.25},
           {"(1+2j) / 1e-308", {1e308, HUGE_VAL}}})
    EXPECT_EQ(number(text).as_complex(), value) << text;
  EXPECT_TRUE(std::isnan(number("(1e200+1e200j) * (1e200-1e200j)").as_complex().imag()));
  for (const char* text : {"0j ** -1", "0 ** 1j", "0j ** (1+1j)"})
    EXPECT_THAT(refusal<ArgumentError>(text), HasSubstr("by zero")) << text;
  for (const char* text :
       {"9007199254740993 != 9007199254740992.0", "9007199254740993 > 9007199254740992.0",
        "18446744073709551615 < 18446744073709551616.0", "9007199254740992 == 9007199254740992.0"})
    EXPECT_EQ(number(text), Scalar(true)) << text;
}

TEST_F(BareNumbers, ResultsHaveTheDtypesOfNumbers) {
  const Tensor root = eval("sqrt(2)");
  EXPECT_EQ(root.dtype(), DType::f32);
  EXPECT_EQ(get<float>(root, 0), std::sqrt(2.0F));
  EXPECT_EQ(eval("abs(-3)").item(), Scalar(3));
  EXPECT_EQ(eval("abs(-3) * i").dtype(), DType::i32);
  EXPECT_EQ(eval("minimum(2, 3)").dtype(), DType::i64);
  EXPECT_EQ(eval("isnan(nan)").item(), Scalar(true));
  EXPECT_EQ(eval("where(true, 1, 2.5)").dtype(), DType::f32);
  EXPECT_EQ(eval("complex(1.0, 2.0)").dtype(), DType::c64);
  EXPECT_EQ(eval("frexp_exponent(8.0)").dtype(), DType::i32);
  // A neighbour is one of the dtype.
  EXPECT_EQ(eval("nextafter(1.0, 2.0)").item(), Scalar(1.0 + std::ldexp(1.0, -23)));
  EXPECT_THAT(refusal<ArithmeticError>("fmod(5, 0)"), HasSubstr("ZeroDivisionError"));
}

TEST_F(BareNumbers, IntegersThatOnlyU64HoldsAreNoResults) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(eval("copy(5)").item(), Scalar(5));  // whose plan must not serve the others
    EXPECT_THAT(refusal<ArgumentError>("copy(9223372036854775808)"),
                HasSubstr("value cannot be converted to type i64 without overflow: "
                          "9223372036854775808"));
    EXPECT_THAT(refusal<ArgumentError>("sum(18446744073709551615)"),
                HasSubstr("cannot be converted to type i64 without overflow"));
  }
  const Tensor wide = names_[3].second;
  engine_.eval(Expr(std::numeric_limits<std::uint64_t>::max()), wide);
  EXPECT_EQ(get<std::uint64_t>(wide, 0), std::numeric_limits<std::uint64_t>::max());
}

TEST_F(BareNumbers, DivisorsThatAreNotZeroNeedNoLook) {
  const PreparedPlan thirds = engine_.prepare(parse("i // 3"));
  put<std::int32_t>(names_[1].second, 0, 10);
  thirds.run();
  EXPECT_THAT(elements<std::int32_t>(thirds.outputs()[0]), ElementsAreArray({3, -3}));
  EXPECT_NO_THROW(engine_.prepare(parse("sum(i % 2) + i")));
  EXPECT_THROW(engine_.prepare(parse("i // i")), UnsupportedError);
  EXPECT_THROW(engine_.prepare(parse("i % 0")), ArithmeticError);
  // One plan must not serve the other, whichever comes first.
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_THAT(elements<std::uint8_t>(eval("u // 2")), ElementsAreArray({3, 100}));
    EXPECT_THAT(refusal<ArithmeticError>("u // 0"), HasSubstr("ZeroDivisionError"));
    EXPECT_THAT(refusal<ArithmeticError>("u // 256"), HasSubstr("ZeroDivisionError"));
  }
  const std::uint64_t hits = engine_.stats().plan_hits;
  eval("u // 2");
  EXPECT_EQ(engine_.stats().plan_hits, hits + 1);
}

TEST_F(BareNumbers, LiteralsNextToZeroAreTheNearestNumber) {
  const auto number = [&](const char* text) { return parse(text).node().scalar.as_double(); };
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("2e-324"), 0);
  EXPECT_EQ(number("3e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number("0.1e-99999999999999999999"), 0);
  EXPECT_EQ(parse("1e-400j").node().scalar.as_complex(), 0.0);
  EXPECT_THAT(refusal<ArgumentError>("1e400"), HasSubstr("does not fit f64"));
}

// PyTorch's kernels of these take them as f32.
TEST_F(BareNumbers, KeepTheirDigitsAsParametersOfSmallFloats) {
  Random random(8);
  for (const DType dtype : {DType::bf16, DType::f16, DType::f8e5m2}) {
    const std::string type(name(dtype));
    std::vector<std::pair<std::string, Tensor>> named;
    for (const char* each : {"x", "y", "z"}) {
      named.emplace_back(each, new_tensor({500}, dtype));
      randomise(named.back().second, random);
    }
    for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
             {"leaky_relu(", ", 0.01)"},
             {"elu(", ", 0.1)"},
             {"celu(", ", 0.3)"},
             {"softplus(", ", 0.3, 3.1)"},
             {"softshrink(", ", 0.1)"},
             {"addcmul(cast(z, f32), ", ", cast(y, f32), value=0.3)"},
             {"addcdiv(cast(z, f32), ", ", cast(y, f32), value=0.3)"},
             {"lerp(", ", cast(y, f32), 0.3)"}}) {
      const std::string in_f32 = "cast(" + before + "cast(x, f32)" + after + ", " + type + ")";
      std::string in_dtype = before + "x" + after;
      for (std::size_t at; (at = in_dtype.find("cast(")) != in_dtype.npos;)
        in_dtype.replace(at, 12, in_dtype.substr(at + 5, 1));
      for (const Numerics numerics : {Numerics::standard, Numerics::strict})
        for (const auto& engine :
             engines({"interp", "xbyak", "llvm", "auto"}, {.numerics = numerics}))
          EXPECT_TRUE(same_tensor(engine->eval(parse_expr(in_dtype, named)),
                                  engine->eval(parse_expr(in_f32, named))))
              << in_dtype << " of " << type << ", " << engine->options().backend;
      const Tensor out = new_tensor({500}, dtype);
      naive_eval(parse_expr(in_dtype, named), out);
      EXPECT_TRUE(same_tensor(out, engine_.eval(parse_expr(in_f32, named)))) << in_dtype;
    }
  }
}

TEST_F(BareNumbers, AreLimitedByTheDtypeTheyComputeIn) {
  EXPECT_EQ(get<double>(eval("a * clamp(0.5, max=1e300)"), 0), 0.5);
  EXPECT_EQ(get<double>(eval("a * leaky_relu(-0.5, 1e300)"), 0), -0.5e300);
  // Those that small floats don't round are limited by f32.
  for (const char* text : {"leaky_relu(cast(a, f16), 1e5)", "lerp(cast(a, bf16), 1, 3.4e38)",
                           "softplus(cast(a, f8e4m3fn), 1, 500)"})
    EXPECT_NO_THROW(eval(text)) << text;
  EXPECT_THAT(refusal<ArgumentError>("leaky_relu(cast(a, f16), 1e39)"),
              HasSubstr("to type f32 without overflow: 1e+39"));
  EXPECT_THAT(refusal<ArgumentError>("clamp(cast(a, f16), max=1e5)"),
              HasSubstr("to type f16 without overflow"));
  EXPECT_THAT(refusal<ArgumentError>("clamp(cast(a, f32), max=1e300)"),
              HasSubstr("without overflow: 1e+300"));
}

TEST_F(BareNumbers, MasksAreNoNumbers) {
  EXPECT_THAT(refusal<ArgumentError>("masked_fill(a, a, 9)"),
              HasSubstr("masked_fill(): expected mask dtype to be bool, but got f64"));
  EXPECT_THAT(elements<double>(eval("masked_fill(a, a < 0, 9)")), ElementsAreArray({1, 9}));
  EXPECT_THAT(elements<double>(eval("masked_fill(a, u, 9)")), ElementsAreArray({9, 9}));
}

}  // namespace
}  // namespace weft::testing
