// Conversions among bool, integers, f32, f64 and complex types.
#include <weft/convert.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

static_assert(convert<std::uint8_t>(300.0f) == 44 && convert<std::uint8_t>(-1.5) == 255);
static_assert(convert<std::int32_t>(3e9) == std::numeric_limits<std::int32_t>::min());
static_assert(convert<std::uint64_t>(-1.0) == ~std::uint64_t{0});
static_assert(convert<c64>(std::int16_t{3}) == c64(3, 0));

/// Truncation as the rules put it, with remainders of wide floats instead of casts.
template <class To>
To reference_truncate(long double value) {
  constexpr bool is_u64 = std::is_same_v<To, std::uint64_t>;
  constexpr bool is_narrow =
      sizeof(To) < 8 && !std::is_same_v<To, std::uint32_t> && !std::is_same_v<To, std::uint8_t>;
  const long double bound = is_narrow ? 0x1p31L : 0x1p63L;
  const long double whole = std::trunc(value);
  const bool fits = whole >= -bound && whole < (is_u64 ? 0x1p64L : bound);
  const long double in_range = fits ? whole : -bound;
  const long double modulus = std::ldexp(1.0L, 8 * sizeof(To));
  long double wrapped = std::fmod(in_range, modulus);
  if (wrapped < 0) wrapped += modulus;
  return static_cast<To>(static_cast<std::uint64_t>(wrapped));
}

std::vector<double> interesting_doubles() {
  std::vector<double> values{0.0, -0.0, nan, -nan, infinity, -infinity, 0.5, 1e300, 5e-324};
  for (int power = 0; power <= 65; ++power) {
    const double edge = std::ldexp(1.0, power);
    for (double near : {edge, std::nextafter(edge, infinity), std::nextafter(edge, 0.0), edge + 0.5,
                        edge - 0.5, edge + 1, edge - 1, edge + 1.5, edge * 1.25}) {
      values.push_back(near);
      values.push_back(-near);
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 50000; ++i) {
    values.push_back(std::bit_cast<double>(random()));
    values.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                static_cast<int>(random() % 80) - 75));
  }
  return values;
}

template <class T>
class IntegerTarget : public ::testing::Test {};
using IntegerTypes = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                                      std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerTarget, IntegerTypes);

TYPED_TEST(IntegerTarget, TruncatesAndWraps) {
  for (double value : interesting_doubles()) {
    ASSERT_EQ(convert<TypeParam>(value), reference_truncate<TypeParam>(value)) << value;
    const auto narrow = static_cast<float>(value);
    ASSERT_EQ(convert<TypeParam>(narrow), reference_truncate<TypeParam>(narrow)) << narrow;
    const f16 half = convert<f16>(value);
    ASSERT_EQ(convert<TypeParam>(half), reference_truncate<TypeParam>(convert<float>(half)))
        << value;
  }
}

TYPED_TEST(IntegerTarget, WrapsIntegers) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);
    // The low bits, by shifting the others out and the sign back in.
    const int unused_bits = 64 - 8 * static_cast<int>(sizeof(TypeParam));
    const auto expected = std::is_signed_v<TypeParam>
                              ? static_cast<std::int64_t>(value << unused_bits) >> unused_bits
                              : static_cast<std::int64_t>(value << unused_bits >> unused_bits);
    ASSERT_EQ(static_cast<std::int64_t>(convert<TypeParam>(value)), expected);
    ASSERT_EQ(static_cast<std::int64_t>(convert<TypeParam>(static_cast<std::int64_t>(value))),
              expected);
  }
}

TEST(Convert, GivesTheResultsThatPyTorchGivesOnX86) {
  EXPECT_EQ(convert<std::int32_t>(nan), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::int32_t>(static_cast<float>(-infinity)),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::uint8_t>(infinity), 0);
  EXPECT_EQ(convert<std::uint8_t>(2147483649.0), 1);
  EXPECT_EQ(convert<std::uint8_t>(-4294967297.5), 255);
  EXPECT_EQ(convert<std::int8_t>(2147483649.0), 0);
  EXPECT_EQ(convert<std::int64_t>(nan), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::uint32_t>(4294967295.0), 4294967295u);
  EXPECT_EQ(convert<std::uint64_t>(nan), std::uint64_t{1} << 63);
  EXPECT_EQ(convert<std::uint64_t>(0x1p64), std::uint64_t{1} << 63);
  EXPECT_EQ(convert<std::uint64_t>(0x1.fffffffffffffp63), 0xfffffffffffff800u);
}

TEST(Convert, BoolIsDifferenceFromZero) {
  EXPECT_TRUE(convert<bool>(nan));
  EXPECT_TRUE(convert<bool>(5e-324));
  EXPECT_FALSE(convert<bool>(-0.0f));
  EXPECT_TRUE(convert<bool>(std::uint16_t{256}));
  EXPECT_TRUE(convert<bool>(std::int64_t{1} << 32));
  EXPECT_TRUE(convert<bool>(f8e4m3fn{0xff}));
  EXPECT_FALSE(convert<bool>(f8e5m2{0x80}));
  EXPECT_EQ(convert<f16>(true).bits, 0x3c00);
  EXPECT_EQ(convert<double>(true), 1.0);
  EXPECT_EQ(convert<std::int8_t>(true), 1);
}

TEST(Convert, BoolOfComplexIsThatOfTheRealPart) {
  EXPECT_FALSE(convert<bool>(c64(0, 1)));
  EXPECT_TRUE(convert<bool>(c128(nan, 0)));
  EXPECT_FALSE(convert<bool>(c64(-0.0f, nan)));
  EXPECT_FALSE(convert<bool>(c32{f16{0x8000}, f16{1}}));
  EXPECT_TRUE(convert<bool>(c32{f16{1}, f16{0}}));
}

TEST(IsNonzero, LooksAtBothParts) {
  EXPECT_TRUE(is_nonzero(c64(0, 1)));
  EXPECT_TRUE(is_nonzero(c128(nan, 0)));
  EXPECT_FALSE(is_nonzero(c64(-0.0f, 0)));
  EXPECT_TRUE(is_nonzero(c32{f16{0x8000}, f16{1}}));
  EXPECT_FALSE(is_nonzero(c32{f16{0x8000}, f16{0x8000}}));
  EXPECT_TRUE(is_nonzero(std::uint8_t{2}));
}

TEST(Convert, ComplexGainsAndDropsTheImaginaryPart) {
  EXPECT_EQ(convert<c128>(2.5f), c128(2.5, 0));
  EXPECT_EQ(convert<c64>(c128(1e300, -1)), c64(std::numeric_limits<float>::infinity(), -1));
  EXPECT_EQ(convert<float>(c128(0.1, 9)), 0.1f);
  EXPECT_EQ(convert<std::int8_t>(c64(-3.9f, nan)), -3);
  EXPECT_EQ(convert<c32>(c64(1, -2)), (c32{f16{0x3c00}, f16{0xc000}}));
  EXPECT_EQ(convert<c32>(std::int64_t{65520}), (c32{f16{0x7c00}, f16{0}}));
  EXPECT_EQ(convert<c128>(c32{f16{0x3c00}, f16{0xc000}}), c128(1, -2));
  EXPECT_EQ(convert<bf16>(c32{f16{0x3c00}, f16{0x7e00}}).bits, 0x3f80);
}

TEST(Convert, IntegersRoundOnceToFloats) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t value = random() >> (random() % 40);
    // A long double holds any 64-bit integer, so this rounds once too, in other instructions.
    ASSERT_EQ(convert<float>(value), static_cast<float>(static_cast<long double>(value)));
    ASSERT_EQ(convert<double>(value), static_cast<double>(static_cast<long double>(value)));
    const auto negative = static_cast<std::int64_t>(0 - value);
    ASSERT_EQ(convert<float>(negative), static_cast<float>(static_cast<long double>(negative)));
    ASSERT_EQ(convert<double>(negative), static_cast<double>(static_cast<long double>(negative)));
  }
}

#if defined(__x86_64__)
TEST(ConvertHardware, TruncationHasTheBitsOfTheInstructions) {
  for (double value : interesting_doubles()) {
    const auto narrow = static_cast<float>(value);
    ASSERT_EQ(convert<std::int32_t>(value), _mm_cvttsd_si32(_mm_set_sd(value))) << value;
    ASSERT_EQ(convert<std::int64_t>(value), _mm_cvttsd_si64(_mm_set_sd(value))) << value;
    ASSERT_EQ(convert<std::int32_t>(narrow), _mm_cvttss_si32(_mm_set_ss(narrow))) << value;
    ASSERT_EQ(convert<std::int64_t>(narrow), _mm_cvttss_si64(_mm_set_ss(narrow))) << value;
  }
}
#endif

// Whether every pair compiles and keeps a number that all types but bool hold.
TEST(Convert, EveryPairKeepsASmallNumber) {
  for (DType from : all_dtypes) {
    for (DType to : all_dtypes) {
      visit_dtype(from, [&]<class From>(std::type_identity<From>) {
        visit_dtype(to, [&]<class To>(std::type_identity<To>) {
          const auto three = convert<double>(convert<To>(convert<From>(3)));
          const bool is_bool = from == DType::boolean || to == DType::boolean;
          EXPECT_EQ(three, is_bool ? 1.0 : 3.0) << name(from) << " to " << name(to);
        });
      });
    }
  }
}

}  // namespace
}  // namespace weft
