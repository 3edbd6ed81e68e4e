// Functions of complex numbers of two f32 against the C library's of long double, and their special
// values against its own of float.
#include "ir/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>

namespace weft::ir {
namespace {

using Complex = std::complex<float>;
using Long = std::complex<long double>;

struct Function {
  std::string name;
  Op op;
  Long (*exact)(Long);
  Complex (*library)(Complex);
};

#define WEFT_FUNCTION(name)                                                                      \
  Function {                                                                                     \
#name, Op::name, [](Long z) { return std::name(z); }, [](Complex z) { return std::name(z); } \
  }

Complex evaluated(Op op, Complex z) {
  const Bits bits{std::bit_cast<std::uint64_t>(z), 0};
  const Bits result = evaluate({.op = op, .dtype = DType::c64}, std::span(&bits, 1), DType::c64);
  return std::bit_cast<Complex>(result.lo);
}

class ComplexFunctions : public testing::TestWithParam<Function> {};

/// Of one part, in units in the last place of the exact one.
double error_ulp(float found, long double exact) {
  const long double largest = std::numeric_limits<float>::max();
  if (std::fabs(exact) >= largest) return std::fabs(found) >= largest ? 0 : HUGE_VAL;
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return static_cast<double>(std::fabs(found - exact) / std::ldexp(1.0L, exponent - 23));
}

TEST_P(ComplexFunctions, RoundOnce) {
  std::mt19937 random(6);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  const auto check = [&](Complex z) {
    const Complex found = evaluated(GetParam().op, z);
    const Long exact = GetParam().exact(Long(z.real(), z.imag()));
    const double error =
        std::max(error_ulp(found.real(), exact.real()), error_ulp(found.imag(), exact.imag()));
    EXPECT_LT(error, 0.51) << GetParam().name << z << " = " << found;
  };
  for (int round = 0; round < 100000 && !HasFailure(); ++round) {
    const auto part = [&] {
      return std::ldexp(mantissa(random), static_cast<int>(random() % 30) - 22);
    };
    check({part(), part()});
    // Around a size of 1, and where one part is the other's unit in the last place.
    const float angle = 4 * mantissa(random),
                near = 1 + mantissa(random) * std::exp2(-static_cast<float>(random() % 24));
    check({near * std::cos(angle), near * std::sin(angle)});
    check({near, std::ldexp(mantissa(random), -12)});
    check({mantissa(random) * 90, mantissa(random) * 90});
  }
}

TEST_P(ComplexFunctions, HaveTheSpecialValuesOfC) {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const float parts[] = {0, -0.0F, 1, -1, 2.5F, -2.5F, 200, -200, inf, -inf, nan, 1e-40F, 3e38F};
  const auto is_same = [](float found, float expected) {
    if (std::isnan(expected)) return std::isnan(found);
    if (std::isinf(expected) || expected == 0) return std::fabs(found) == std::fabs(expected);
    return std::abs(found - expected) <= 1e-6F * std::abs(expected) + 1e-44F;
  };
  for (const float re : parts)
    for (const float im : parts) {
      const Complex z(re, im), found = evaluated(GetParam().op, z),
                               expected = GetParam().library(z);
      EXPECT_TRUE(is_same(found.real(), expected.real()) && is_same(found.imag(), expected.imag()))
          << GetParam().name << z << " = " << found << ", not " << expected;
      // C leaves signs open beside NaN, and where no part has a size.
      if (std::isnan(expected.real()) || std::isnan(expected.imag())) continue;
      if (!std::isfinite(re) && !std::isfinite(im)) continue;
      EXPECT_EQ(std::signbit(found.real()), std::signbit(expected.real())) << GetParam().name << z;
      EXPECT_EQ(std::signbit(found.imag()), std::signbit(expected.imag())) << GetParam().name << z;
    }
}

INSTANTIATE_TEST_SUITE_P(Of, ComplexFunctions,
                         testing::Values(WEFT_FUNCTION(exp), WEFT_FUNCTION(log), WEFT_FUNCTION(sin),
                                         WEFT_FUNCTION(cos), WEFT_FUNCTION(sinh),
                                         WEFT_FUNCTION(cosh), WEFT_FUNCTION(log10)),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft::ir
