// Conversions to and from f16, bf16 and the f8 types: every pattern, every rounding boundary, and
// the processor's own instructions where it has them.
#include "nearest_value.h"

#include <weft/convert.h>

#include "runtime/cpu_features.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft {
namespace {

using testing::decode;
using testing::format_of;
using testing::nearest;

// Checked when compiled: convert() is usable in constants.
static_assert(convert<f16>(1.0f).bits == 0x3c00 && convert<float>(f16{0x0001}) == 0x1p-24f);
static_assert(convert<bf16>(-3.0).bits == 0xc040 && convert<f8e4m3fn>(449).bits == 0x7e);
static_assert(convert<f8e5m2>(std::int64_t{61440}).bits == 0x7c);

template <class T>
class SmallFloat : public ::testing::Test {};
using SmallFloats = ::testing::Types<f16, bf16, f8e4m3fn, f8e5m2>;
TYPED_TEST_SUITE(SmallFloat, SmallFloats);

template <class T>
T pattern(int bits) {
  return T{static_cast<decltype(T::bits)>(bits)};
}

/// Compares bits, so that the sign of zero counts; any NaN equals any NaN.
template <class Real>
bool is_same(Real a, Real b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <class T, class From>
void expect_nearest(From value) {
  ASSERT_EQ(convert<T>(value).bits, nearest<T>(static_cast<long double>(value)).bits)
      << name(dtype_of<From>) << " " << static_cast<long double>(value) << " to "
      << name(dtype_of<T>);
}

TYPED_TEST(SmallFloat, EveryPatternWidensExactlyAndComesBack) {
  for (int i = 0; i < format_of<TypeParam>().num_patterns(); ++i) {
    const auto value = pattern<TypeParam>(i);
    const long double expected = decode(value);
    ASSERT_TRUE(is_same<long double>(convert<float>(value), expected)) << i;
    ASSERT_TRUE(is_same<long double>(convert<double>(value), expected)) << i;
    ASSERT_EQ(convert<bool>(value), expected != 0) << i;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(decode(convert<TypeParam>(convert<double>(value))))) << i;
      continue;
    }
    ASSERT_EQ(convert<TypeParam>(convert<float>(value)).bits, value.bits) << i;
    ASSERT_EQ(convert<TypeParam>(convert<double>(value)).bits, value.bits) << i;
  }
}

TYPED_TEST(SmallFloat, EveryPatternConvertsToEveryOtherSmallFloat) {
  for (int i = 0; i < format_of<TypeParam>().num_patterns(); ++i) {
    const auto value = pattern<TypeParam>(i);
    const long double exact = decode(value);
    if (std::isnan(exact)) continue;
    ASSERT_EQ(convert<f16>(value).bits, nearest<f16>(exact).bits) << i;
    ASSERT_EQ(convert<bf16>(value).bits, nearest<bf16>(exact).bits) << i;
    ASSERT_EQ(convert<f8e4m3fn>(value).bits, nearest<f8e4m3fn>(exact).bits) << i;
    ASSERT_EQ(convert<f8e5m2>(value).bits, nearest<f8e5m2>(exact).bits) << i;
  }
}

/// The value, its negative, and what lies directly beside them.
template <class T, class From>
void expect_nearest_around(From value) {
  const From infinity = std::numeric_limits<From>::infinity();
  for (From near : {value, std::nextafter(value, infinity), std::nextafter(value, -infinity)}) {
    expect_nearest<T>(near);
    expect_nearest<T>(-near);
  }
}

TYPED_TEST(SmallFloat, RoundsToNearestEvenAtEveryBoundary) {
  const auto format = format_of<TypeParam>();
  for (int i = 0; i < format.special(); ++i) {
    const long double here = testing::decode_magnitude(format, i);
    const long double middle = (here + testing::decode_magnitude(format, i + 1)) / 2;
    expect_nearest_around<TypeParam>(static_cast<float>(here));
    expect_nearest_around<TypeParam>(static_cast<double>(here));
    expect_nearest_around<TypeParam>(static_cast<float>(middle));
    expect_nearest_around<TypeParam>(static_cast<double>(middle));
    // Rounding to f32 first would make this the middle, and then go the wrong way.
    expect_nearest<TypeParam>(static_cast<double>(middle) * (1 + 0x1p-40));
    expect_nearest<TypeParam>(static_cast<double>(middle) * (1 - 0x1p-40));
  }
}

TYPED_TEST(SmallFloat, RoundsRandomFloatsAndDoubles) {
  std::mt19937_64 random(20240601);
  for (int i = 0; i < 100000; ++i) {
    const auto any_float = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto any_double = std::bit_cast<double>(random());
    if (!std::isnan(any_float)) expect_nearest<TypeParam>(any_float);
    if (!std::isnan(any_double)) expect_nearest<TypeParam>(any_double);
    // Most doubles are far outside; these have exponents from 2^-32 to 2^31.
    const auto near = std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52),
                                 static_cast<int>(random() % 64) - 32);
    expect_nearest<TypeParam>(near);
  }
}

TYPED_TEST(SmallFloat, RoundsIntegersOnce) {
  for (int i = -32768; i < 65536; ++i) {
    expect_nearest<TypeParam>(static_cast<std::int32_t>(i));
    expect_nearest<TypeParam>(static_cast<std::int16_t>(i));
    expect_nearest<TypeParam>(static_cast<std::uint16_t>(i));
    expect_nearest<TypeParam>(static_cast<std::int8_t>(i));
    expect_nearest<TypeParam>(static_cast<std::uint8_t>(i));
  }
  for (int power = 8; power < 64; ++power) {
    for (int fraction = 0; fraction < 512; ++fraction) {
      // Nine bits behind the leading one: every second value is in the middle of two bf16.
      const std::uint64_t value =
          (std::uint64_t{512} + static_cast<std::uint64_t>(fraction)) << power >> 9;
      for (std::uint64_t near : {value - 1, value, value + 1}) {
        expect_nearest<TypeParam>(near);
        expect_nearest<TypeParam>(static_cast<std::int64_t>(near));
        expect_nearest<TypeParam>(static_cast<std::int64_t>(0 - near));
        expect_nearest<TypeParam>(static_cast<std::uint32_t>(near));
        expect_nearest<TypeParam>(static_cast<std::int32_t>(near));
      }
    }
  }
  expect_nearest<TypeParam>(std::numeric_limits<std::int64_t>::min());
  expect_nearest<TypeParam>(std::numeric_limits<std::int64_t>::max());
  expect_nearest<TypeParam>(std::numeric_limits<std::uint64_t>::max());
}

TEST(SmallFloatNan, KeepsWhatIsDocumented) {
  const auto quiet = std::bit_cast<float>(0xffc12345u);
  const auto signalling = std::bit_cast<float>(0x7f812345u);
  EXPECT_EQ(convert<f16>(quiet).bits, 0xfe09);
  EXPECT_EQ(convert<f16>(signalling).bits, 0x7e09);
  EXPECT_EQ(convert<bf16>(quiet).bits, 0x7fc0);
  EXPECT_EQ(convert<bf16>(signalling).bits, 0x7fc0);
  EXPECT_EQ(convert<f8e4m3fn>(quiet).bits, 0xff);
  EXPECT_EQ(convert<f8e4m3fn>(signalling).bits, 0x7f);
  EXPECT_EQ(convert<f8e5m2>(quiet).bits, 0xff);
  EXPECT_EQ(convert<f8e5m2>(signalling).bits, 0x7f);
  EXPECT_EQ(convert<f16>(std::bit_cast<double>(0xfff8000000000000u)).bits, 0xfe00);
  EXPECT_EQ(convert<bf16>(std::bit_cast<double>(0xfff8000000000001u)).bits, 0x7fc0);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(convert<float>(f16{0xfd01})), 0xffe02000u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(convert<float>(bf16{0xff81})), 0xff810000u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(convert<float>(f8e4m3fn{0xff})), 0xfff00000u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(convert<float>(f8e5m2{0x7d})), 0x7fe00000u);
}

TEST(SmallFloatOverflow, IsInfinityOrNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(convert<f8e4m3fn>(464.0).bits, 0x7e);  // the middle of 448 and what would be 480
  EXPECT_EQ(convert<f8e4m3fn>(std::nextafter(464.0, infinity)).bits, 0x7f);
  EXPECT_EQ(convert<f8e4m3fn>(-infinity).bits, 0xff);
  EXPECT_EQ(convert<f8e5m2>(61439.0f).bits, 0x7b);
  EXPECT_EQ(convert<f8e5m2>(61440.0f).bits, 0x7c);
  EXPECT_EQ(convert<f16>(65519.996f).bits, 0x7bff);
  EXPECT_EQ(convert<f16>(-65520.0f).bits, 0xfc00);
  EXPECT_EQ(convert<bf16>(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(convert<bf16>(1e300).bits, 0x7f80);
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) std::uint16_t hardware_narrow(float value) {
  return static_cast<std::uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
}
__attribute__((target("f16c"))) float hardware_widen(std::uint16_t bits) { return _cvtsh_ss(bits); }

TEST(SmallFloatHardware, F16HasTheBitsOfF16C) {
  if (host_features().isa < Isa::avx2) GTEST_SKIP() << "no F16C";
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const f16 value{static_cast<std::uint16_t>(i)};
    ASSERT_EQ(std::bit_cast<std::uint32_t>(convert<float>(value)),
              std::bit_cast<std::uint32_t>(hardware_widen(value.bits)))
        << i;
  }
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 1021) {  // NaNs included
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(convert<f16>(value).bits, hardware_narrow(value)) << bits;
  }
}
#endif

}  // namespace
}  // namespace weft
