// Lengths of pairs against long double, which holds squares of f64 to 64 bits and of any exponent.
#include "ir/composites.h"
#include "ir/number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace weft::ir {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double length(double x, double y) {
  return double_distance(Number<double>(x), Number<double>(y)).value;
}

double exact_length(double x, double y) {
  return exact_distance(Number<double>(x), Number<double>(y)).value;
}

/// In units in the last place of the exact length.
double error_ulp(double x, double y, double found) {
  const long double exact =
      std::sqrt(static_cast<long double>(x) * x + static_cast<long double>(y) * y);
  const int exponent = std::max(std::ilogb(exact), std::numeric_limits<double>::min_exponent - 1);
  return static_cast<double>(std::fabs(found - exact) / std::ldexp(1.0L, exponent - 52));
}
double error_ulp(double x, double y) { return error_ulp(x, y, length(x, y)); }

TEST(Distance, IsWithinAnUlp) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> mantissa(1, 2);
  double worst = 0, worst_exact = 0, worst_subnormal = 0;
  for (int round = 0; round < 2000000; ++round) {
    const int exponent = static_cast<int>(random() % 2092) - 1070;  // up to 2^1021
    const int apart = static_cast<int>(random() % 60);
    const double x = std::ldexp(mantissa(random), exponent);
    const double y = std::ldexp(mantissa(random), exponent - apart);
    worst = std::max({worst, error_ulp(x, y), error_ulp(-y, x)});
    // Subnormal numbers are rounded twice.
    double& worst_of_size = exponent < -1021 ? worst_subnormal : worst_exact;
    worst_of_size = std::max(worst_of_size, error_ulp(x, y, exact_length(y, -x)));
  }
  // Next to where the larger part is twice the smaller one.
  for (int round = 0; round < 500000; ++round) {
    const double x = mantissa(random), y = x * (0.5 + 1e-3 * (mantissa(random) - 1.5));
    worst = std::max(worst, error_ulp(x, y));
    worst_exact = std::max(worst_exact, error_ulp(x, y, exact_length(x, y)));
  }
  EXPECT_LT(worst, 1.0);
  EXPECT_GT(worst, 0.5);
  EXPECT_LT(worst_exact, 0.502);
  EXPECT_LT(worst_subnormal, 0.752);
}

class DistanceEdges : public testing::TestWithParam<double (*)(double, double)> {};

TEST_P(DistanceEdges, AreThoseOfHypot) {
  const auto length = GetParam();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double largest = std::numeric_limits<double>::max();
  const double smallest = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(length(0, 0), 0);
  EXPECT_FALSE(std::signbit(length(-0.0, -0.0)));
  EXPECT_EQ(length(-3, 4), 5);
  EXPECT_EQ(length(0, -largest), largest);
  EXPECT_EQ(length(largest, largest), infinity);
  EXPECT_EQ(length(largest, 1), largest);
  EXPECT_EQ(length(smallest, 0), smallest);
  EXPECT_EQ(length(3 * smallest, 4 * smallest), 5 * smallest);
  for (const double other : {0.0, 1.0, nan, infinity}) {
    EXPECT_EQ(length(-infinity, other), infinity);
    EXPECT_EQ(length(other, infinity), infinity);
  }
  EXPECT_TRUE(std::isnan(length(nan, 1)) && std::isnan(length(1, nan)) &&
              std::isnan(length(0, nan)));
}

INSTANTIATE_TEST_SUITE_P(Both, DistanceEdges, testing::Values(&length, &exact_length));

}  // namespace
}  // namespace weft::ir
