// Functions that are exact or have a reference in <cmath>, against plain C++.
#include "ir/evaluate.h"

#include "tests/ir/random_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace weft::ir {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

template <class Result, class... Args>
Result call(Op op, Args... args) {
  const std::array<Bits, sizeof...(Args)> bits{[](auto arg) {
    Bits result;
    std::memcpy(static_cast<void*>(&result), &arg, sizeof arg);
    return result;
  }(args)...};
  const DType dtype = dtype_of<std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>>;
  const Bits result = evaluate({.op = op, .dtype = dtype}, bits, dtype);
  Result value;
  std::memcpy(static_cast<void*>(&value), &result, sizeof value);
  return value;
}

template <class T>
T any_number(Random& random) {
  const Bits bits = random_bits(random, dtype_of<T>);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
void check_frexp() {
  Random random(41);
  for (int i = 0; i < 20000; ++i) {
    const T x = any_number<T>(random);
    int exponent = 0;
    const T mantissa = std::frexp(x, &exponent);
    if (!std::isfinite(x)) exponent = 0;
    const T actual = call<T>(Op::frexp_mantissa, x);
    ASSERT_TRUE(actual == mantissa || (x != x && actual != actual)) << x;
    ASSERT_EQ(call<std::int32_t>(Op::frexp_exponent, x), exponent) << x;
  }
}

TEST(Pointwise, FrexpTakesAFloatApart) {
  check_frexp<float>();
  check_frexp<double>();
  EXPECT_EQ(call<f16>(Op::frexp_mantissa, f16{0x4a00}).bits, 0x3a00);  // 12 = 0.75 * 2^4
  EXPECT_EQ(call<std::int32_t>(Op::frexp_exponent, f16{0x4a00}), 4);
}

TEST(Pointwise, LdexpScales) {
  for (int n = -126; n <= 127; ++n)
    EXPECT_EQ(call<float>(Op::ldexp, 1.5f, static_cast<float>(n)), std::ldexp(1.5f, n)) << n;
}

TEST(Pointwise, PowersOfTwoAreExact) {
  for (int n = -149; n <= 127; ++n)
    EXPECT_EQ(call<float>(Op::exp2, static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
  for (int n = -1022; n <= 1023; ++n)
    EXPECT_EQ(call<double>(Op::exp2, static_cast<double>(n)), std::ldexp(1.0, n)) << n;
}

template <class T>
void check_divisors() {
  Random random(42);
  for (int i = 0; i < 5000; ++i) {
    const T x = any_number<T>(random), y = any_number<T>(random);
    const auto divisor = std::gcd(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y));
    ASSERT_EQ(call<T>(Op::gcd, x, y), static_cast<T>(divisor)) << int(x) << ' ' << int(y);
  }
  EXPECT_EQ(call<T>(Op::gcd, T(0), T(0)), T(0));
  EXPECT_EQ(call<T>(Op::lcm, T(4), T(6)), T(12));
  EXPECT_EQ(call<T>(Op::lcm, T(0), T(6)), T(0));
}

TEST(Pointwise, GreatestCommonDivisors) {
  check_divisors<std::int8_t>();
  check_divisors<std::uint8_t>();
  check_divisors<std::int32_t>();
  check_divisors<std::uint32_t>();
  EXPECT_EQ(call<std::int16_t>(Op::lcm, std::int16_t{-4}, std::int16_t{6}), 12);
  EXPECT_EQ(call<std::uint64_t>(Op::gcd, std::uint64_t{1} << 63, std::uint64_t{3} << 40),
            std::uint64_t{1} << 40);
}

TEST(Pointwise, SpecialNumbers) {
  EXPECT_TRUE(call<bool>(Op::isposinf, infinity));
  EXPECT_FALSE(call<bool>(Op::isposinf, -infinity));
  EXPECT_TRUE(call<bool>(Op::isneginf, -infinity));
  EXPECT_FALSE(call<bool>(Op::isneginf, nan));
  EXPECT_FALSE(call<bool>(Op::isposinf, std::int32_t{3}));
  EXPECT_EQ(call<float>(Op::nan_to_num, nan, 1.0f, 2.0f, 3.0f), 1);
  EXPECT_EQ(call<float>(Op::nan_to_num, infinity, 1.0f, 2.0f, 3.0f), 2);
  EXPECT_EQ(call<float>(Op::nan_to_num, -infinity, 1.0f, 2.0f, 3.0f), 3);
  EXPECT_EQ(call<float>(Op::nan_to_num, 7.0f, 1.0f, 2.0f, 3.0f), 7);
  EXPECT_EQ(call<float>(Op::masked_fill, true, nan, 5.0f), 5);
  EXPECT_EQ(call<float>(Op::masked_fill, false, 4.0f, nan), 4);
}

TEST(Pointwise, Complex) {
  EXPECT_EQ(call<c64>(Op::complex, 1.5f, -2.0f), c64(1.5f, -2));
  EXPECT_EQ(call<c128>(Op::complex, 1.5, -2.0), c128(1.5, -2));
  EXPECT_LT(std::abs(call<c64>(Op::polar, 2.0f, 0.75f) - std::polar(2.0f, 0.75f)), 1e-6f);
  EXPECT_EQ(call<c64>(Op::sgn, c64(3, -4)), c64(0.6f, -0.8f));
  EXPECT_EQ(call<c64>(Op::sgn, c64(0, 0)), c64(0, 0));
  EXPECT_EQ(call<float>(Op::sgn, -3.0f), -1);
  EXPECT_EQ(call<std::int8_t>(Op::sgn, std::int8_t{-3}), -1);
}

TEST(Pointwise, Rounding) {
  EXPECT_EQ(call<float>(Op::round_decimals, 2.345f, 2.0f), std::nearbyint(2.345f * 100) / 100);
  EXPECT_EQ(call<float>(Op::round_decimals, 1250.0f, -2.0f), 1200);
  EXPECT_EQ(call<double>(Op::round_decimals, 1e22 + 3e6, -22.0), 1e22);
}

TEST(Pointwise, Activations) {
  EXPECT_EQ(call<float>(Op::add_scaled, 1.0f, 2.0f, 3.0f), 7);
  EXPECT_EQ(call<std::int32_t>(Op::sub_scaled, 1, 2, 3), -5);
  EXPECT_EQ(call<float>(Op::threshold, 1.0f, 1.0f, 20.0f), 20);
  EXPECT_EQ(call<float>(Op::threshold, 1.5f, 1.0f, 20.0f), 1.5f);
  EXPECT_EQ(call<float>(Op::hardtanh, -3.0f, -1.0f, 1.0f), -1);
  EXPECT_EQ(call<float>(Op::softshrink, 0.75f, 0.5f), 0.25f);
  EXPECT_EQ(call<float>(Op::hardshrink, -0.5f, 0.5f), 0);
  EXPECT_FLOAT_EQ(call<float>(Op::selu, -1.0f),
                  1.0507009873554805f * 1.6732632423543772f * std::expm1(-1.0f));
  EXPECT_FLOAT_EQ(call<float>(Op::celu, -1.0f, 2.0f), 2 * std::expm1(-0.5f));
  EXPECT_FLOAT_EQ(call<float>(Op::softplus_beta, 0.5f, 2.0f, 20.0f),
                  std::log1p(std::exp(1.0f)) / 2);
  EXPECT_EQ(call<float>(Op::softplus_beta, 11.0f, 2.0f, 20.0f), 11);
  EXPECT_FLOAT_EQ(call<float>(Op::logit_eps, 0.0f, 0.25f), std::log(1.0f / 3));
  EXPECT_DOUBLE_EQ(call<double>(Op::logaddexp2, 3.0, 3.0), 4);
}

TEST(Pointwise, InverseErf) {
  Random random(43);
  for (int i = 0; i < 2000; ++i) {
    const double x = static_cast<double>(random()) * 0x1p-63 - 1;
    EXPECT_NEAR(std::erf(call<double>(Op::erfinv, x)), x, 4e-16) << x;
  }
  EXPECT_NEAR(call<double>(Op::erfinv, 1 - 0x1p-53), 5.8635847487551678, 3e-15);
  EXPECT_EQ(call<float>(Op::erfinv, 1.0f), infinity);
  EXPECT_EQ(call<float>(Op::erfinv, -1.0f), -infinity);
  EXPECT_TRUE(std::isnan(call<float>(Op::erfinv, 1.5f)));
  EXPECT_EQ(call<float>(Op::erfinv, 1e-20f), static_cast<float>(1e-20f * 0.88622692545275801));
}

TEST(Pointwise, ActivationsAtTheEnds) {
  for (const Op op : {Op::gelu, Op::gelu_tanh, Op::mish, Op::silu}) {
    EXPECT_EQ(call<float>(op, infinity), infinity) << name(op);
    EXPECT_TRUE(std::isnan(call<float>(op, -infinity))) << name(op);
    EXPECT_TRUE(std::isnan(call<float>(op, nan))) << name(op);
    EXPECT_EQ(call<float>(op, 3e38f), 3e38f) << name(op);
    EXPECT_EQ(call<float>(op, -3e38f), 0) << name(op);
    EXPECT_EQ(call<float>(op, 0.0f), 0) << name(op);
    EXPECT_FALSE(std::signbit(call<float>(op, 0.0f))) << name(op);
    EXPECT_TRUE(std::signbit(call<float>(op, -0.0f))) << name(op);
  }
  // Results below the normal numbers, rounded once.
  EXPECT_EQ(call<float>(Op::gelu, -13.5f), -75326 * 0x1p-149f);
  EXPECT_EQ(call<float>(Op::mish, -100.0f), -2655 * 0x1p-149f);
}

TEST(Pointwise, GammaFunctions) {
  EXPECT_NEAR(call<double>(Op::digamma, 1.0), -0.57721566490153286, 1e-15);
  EXPECT_NEAR(call<double>(Op::digamma, -0.5), 0.03648997397857652, 1e-14);
  // 2.4e-10 from a root: what is left of two halves of the size of 4.
  EXPECT_EQ(call<float>(Op::digamma, -0x1.0b2f02p+6f), -0x1.cb2708p-28f);
  EXPECT_EQ(call<double>(Op::digamma, -1e-310), infinity);
  EXPECT_EQ(call<float>(Op::digamma, infinity), infinity);
  EXPECT_TRUE(std::isnan(call<float>(Op::digamma, -infinity)));
  EXPECT_EQ(call<float>(Op::digamma, 0.0f), -infinity);
  EXPECT_EQ(call<float>(Op::digamma, -0.0f), infinity);
  EXPECT_TRUE(std::isnan(call<float>(Op::digamma, -2.0f)));
  EXPECT_EQ(call<float>(Op::lgamma, -2.0f), infinity);
  EXPECT_DOUBLE_EQ(call<double>(Op::lgamma, 10.5), std::lgamma(10.5));
}

TEST(Pointwise, PowersHaveTheSpecialCasesOfC) {
  const float values[] = {0.0f, -0.0f,  1,       -1,       2,        -2,
                          3,    -3,     0.5f,    -0.5f,    infinity, -infinity,
                          nan,  1e-45f, -1e-45f, 16777216, -16777215};
  for (const float x : values)
    for (const float y : values) {
      const float expected = std::pow(x, y), actual = call<float>(Op::pow, x, y);
      EXPECT_TRUE((actual == expected && std::signbit(actual) == std::signbit(expected)) ||
                  (actual != actual && expected != expected))
          << x << " ^ " << y << " = " << actual << ", not " << expected;
    }
}

}  // namespace
}  // namespace weft::ir
