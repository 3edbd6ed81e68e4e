// Functions of complex numbers against the C library's of long double, and their special values
// against its own of the same parts.
#include "ir/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace weft::ir {
namespace {

using Long = std::complex<long double>;

template <class Part>
struct Function {
  using Complex = std::complex<Part>;

  std::string name;
  Op op;
  Long (*exact)(Long);
  Complex (*library)(Complex);
};

template <class Part>
std::complex<Part> evaluated(Op op, std::complex<Part> z) {
  constexpr DType dtype = sizeof(Part) == sizeof(float) ? DType::c64 : DType::c128;
  Bits bits{};
  std::memcpy(&bits, &z, sizeof(z));
  const Bits result = evaluate({.op = op, .dtype = dtype}, std::span(&bits, 1), dtype);
  std::memcpy(&z, &result, sizeof(z));
  return z;
}

/// Of one part, in units in the last place of the exact one.
template <class Part>
double error_ulp(Part found, long double exact) {
  using Limits = std::numeric_limits<Part>;
  const long double largest = Limits::max();
  if (std::fabs(exact) >= largest)
    return std::fabs(found) >= largest && std::signbit(found) == std::signbit(exact) ? 0 : HUGE_VAL;
  constexpr int least = Limits::min_exponent - 1;
  const int exponent = exact == 0 ? least : std::max(std::ilogb(exact), least);
  return static_cast<double>(std::fabs(found - exact) /
                             std::ldexp(1.0L, exponent - Limits::digits + 1));
}

template <class Part>
void expect_error_below(double bound, const Function<Part>& function) {
  using Complex = std::complex<Part>;
  constexpr int digits = std::numeric_limits<Part>::digits;
  std::mt19937_64 random(6);
  std::uniform_real_distribution<Part> mantissa(-1, 1);
  const auto part_below = [&](int exponents, int most) {
    const auto less = static_cast<int>(random() % static_cast<unsigned>(exponents));
    return std::ldexp(mantissa(random), most - less);
  };
  const auto check = [&](Complex z) {
    const Complex found = evaluated(function.op, z);
    const Long exact = function.exact(Long(z.real(), z.imag()));
    EXPECT_LT(error_ulp(found.real(), exact.real()), bound) << function.name << z << " = " << found;
    EXPECT_LT(error_ulp(found.imag(), exact.imag()), bound) << function.name << z << " = " << found;
  };
  const bool is_double = digits > 24;
  for (int round = 0; round < 100000 && !testing::Test::HasFailure(); ++round) {
    check({part_below(30, 7), part_below(30, 7)});
    // Around a size of 1, and where one part is the other's unit in the last place.
    const Part angle = 4 * mantissa(random), near = 1 + part_below(digits, 0);
    check({near * std::cos(angle), near * std::sin(angle)});
    check({near, std::ldexp(mantissa(random), -digits / 2)});
    // To the ends of the range of exponentials, and of numbers.
    const Part most = is_double ? 712 : 90;
    check({mantissa(random) * most, mantissa(random) * most});
    if (!is_double) continue;
    check({mantissa(random) * 1400, mantissa(random) * most});
    check({part_below(2098, 1024), part_below(2098, 1024)});
    check({part_below(30, 1024), part_below(60, -500)});
  }
}

template <class Part>
void expect_special_values_of_c(const Function<Part>& function) {
  using Complex = std::complex<Part>;
  using Limits = std::numeric_limits<Part>;
  const Part inf = Limits::infinity(), nan = Limits::quiet_NaN();
  const Part parts[] = {0,
                        Part(-0.0),
                        1,
                        -1,
                        Part(2.5),
                        Part(-2.5),
                        200,
                        -200,
                        2000,
                        inf,
                        -inf,
                        nan,
                        -2000,
                        Limits::min() / 100,
                        Limits::max() * Part(0.9)};
  const auto is_same = [](Part found, Part expected) {
    if (std::isnan(expected)) return std::isnan(found);
    if (std::isinf(expected) || expected == 0) return std::fabs(found) == std::fabs(expected);
    return std::abs(found - expected) <= 1e-6 * std::abs(expected) + 4 * Limits::denorm_min();
  };
  for (const Part re : parts)
    for (const Part im : parts) {
      const Complex z(re, im), found = evaluated(function.op, z), expected = function.library(z);
      EXPECT_TRUE(is_same(found.real(), expected.real()) && is_same(found.imag(), expected.imag()))
          << function.name << z << " = " << found << ", not " << expected;
      // C leaves signs open beside NaN, and where no part has a size.
      if (std::isnan(expected.real()) || std::isnan(expected.imag())) continue;
      if (!std::isfinite(re) && !std::isfinite(im)) continue;
      EXPECT_EQ(std::signbit(found.real()), std::signbit(expected.real())) << function.name << z;
      EXPECT_EQ(std::signbit(found.imag()), std::signbit(expected.imag())) << function.name << z;
    }
}

class ComplexFunctionsOfSingles : public testing::TestWithParam<Function<float>> {};
TEST_P(ComplexFunctionsOfSingles, RoundOnce) { expect_error_below(0.51, GetParam()); }
TEST_P(ComplexFunctionsOfSingles, HaveTheSpecialValuesOfC) {
  expect_special_values_of_c(GetParam());
}

class ComplexFunctionsOfDoubles : public testing::TestWithParam<Function<double>> {};
TEST_P(ComplexFunctionsOfDoubles, AreWithinTwoAndAHalfUnits) {
  expect_error_below(2.5, GetParam());
}
TEST_P(ComplexFunctionsOfDoubles, HaveTheSpecialValuesOfC) {
  expect_special_values_of_c(GetParam());
}

#define WEFT_FUNCTION(name)                                                                     \
  Function<Part> {                                                                              \
#name, Op::name,                                                                            \
        [](Long z) { return std::name(z); }, [](std::complex <Part> z) { return std::name(z); } \
  }
template <class Part>
auto functions() {
  return testing::Values(WEFT_FUNCTION(sqrt), WEFT_FUNCTION(exp), WEFT_FUNCTION(log),
                         WEFT_FUNCTION(sin), WEFT_FUNCTION(cos), WEFT_FUNCTION(sinh),
                         WEFT_FUNCTION(cosh), WEFT_FUNCTION(log10));
}
const auto name_of = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Of, ComplexFunctionsOfSingles, functions<float>(), name_of);
INSTANTIATE_TEST_SUITE_P(Of, ComplexFunctionsOfDoubles, functions<double>(), name_of);

}  // namespace
}  // namespace weft::ir
