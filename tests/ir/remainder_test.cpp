// Remainders and quotients of floats against the C library's fmod, which is exact.
#include "ir/composites.h"
#include "ir/float_parts.h"
#include "ir/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace weft::ir {
namespace {

template <class T>
T rest_of(T x, T y) {
  return float_rest(Number<T>(x), Number<T>(y)).value;
}

/// The same bits, or both NaN.
template <class T>
bool is_same(T x, T y) {
  return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
}

/// `x` some steps up or down.
template <class T>
T moved(T x, int steps) {
  for (; steps > 0; --steps) x = std::nextafter(x, std::numeric_limits<T>::infinity());
  for (; steps < 0; ++steps) x = std::nextafter(x, -std::numeric_limits<T>::infinity());
  return x;
}

template <class T>
class FloatRest : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatRest, Floats);

TYPED_TEST(FloatRest, OfAnyBits) {
  using Bits = std::conditional_t<sizeof(TypeParam) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(1);
  for (int round = 0; round < 300000; ++round) {
    const auto x = std::bit_cast<TypeParam>(static_cast<Bits>(random()));
    const auto y = std::bit_cast<TypeParam>(static_cast<Bits>(random()));
    ASSERT_TRUE(is_same(rest_of(x, y), std::fmod(x, y))) << x << " " << y;
  }
}

/// Next to a multiple the quotient rounds to a whole number from either side.
TYPED_TEST(FloatRest, NextToMultiples) {
  constexpr int digits = std::numeric_limits<TypeParam>::digits;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<TypeParam> mantissa(1, 2);
  for (int round = 0; round < 300000; ++round) {
    const TypeParam y = std::ldexp(mantissa(random), static_cast<int>(random() % 40) - 20);
    const auto times =
        std::floor(std::ldexp(mantissa(random), static_cast<int>(random() % (digits + 4))));
    const TypeParam x = moved(y * times, static_cast<int>(random() % 5) - 2);
    for (const TypeParam sign : {TypeParam(1), TypeParam(-1)})
      ASSERT_TRUE(is_same(rest_of(sign * x, y), std::fmod(sign * x, y))) << sign * x << " " << y;
  }
}

TYPED_TEST(FloatRest, OfEdges) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam values[] = {0,
                              1,
                              TypeParam(0.1),
                              3,
                              Limits::max(),
                              Limits::min(),
                              Limits::denorm_min(),
                              3 * Limits::denorm_min(),
                              Limits::infinity(),
                              Limits::quiet_NaN()};
  for (const TypeParam x : values)
    for (const TypeParam y : values)
      for (const TypeParam first : {x, -x})
        for (const TypeParam second : {y, -y})
          EXPECT_TRUE(is_same(rest_of(first, second), std::fmod(first, second)))
              << first << " " << second;
}

}  // namespace
}  // namespace weft::ir
