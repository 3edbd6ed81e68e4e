// Scalars: bits in every dtype, values, text.
#include <weft/scalar.h>

#include <weft/convert.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace weft {
namespace {

/// The bytes of `value`, little endian, by hand.
template <class T>
Bits expected_bits(T value) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  Bits result;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    std::uint64_t& word = i < 8 ? result.lo : result.hi;
    word |= static_cast<std::uint64_t>(bytes[i]) << (8 * (i % 8));
  }
  return result;
}

TEST(Scalar, BitsAreThoseOfTheConversion) {
  for (DType dtype : all_dtypes) {
    SCOPED_TRACE(name(dtype));
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(Scalar(true).bits(dtype), expected_bits(convert<T>(true)));
      EXPECT_EQ(Scalar(-5).bits(dtype), expected_bits(convert<T>(std::int64_t{-5})));
      EXPECT_EQ(Scalar(0.1).bits(dtype), expected_bits(convert<T>(0.1)));
      EXPECT_EQ(Scalar(c128(1.5, -2)).bits(dtype), expected_bits(convert<T>(c128(1.5, -2))));
      EXPECT_EQ(Scalar(~std::uint64_t{0}).bits(dtype),
                expected_bits(convert<T>(~std::uint64_t{0})));
    });
  }
}

TEST(Scalar, IntegersWrapAndUnsignedOnesStayExact) {
  EXPECT_EQ(Scalar(1000).bits(DType::u8), (Bits{232, 0}));
  EXPECT_EQ(Scalar(-1).bits(DType::i16), (Bits{0xffff, 0}));
  EXPECT_EQ(Scalar(~std::uint64_t{0}).bits(DType::u64), (Bits{~std::uint64_t{0}, 0}));
  EXPECT_EQ(Scalar(~std::uint64_t{0}).as_double(), 0x1p64);
  EXPECT_EQ(Scalar(-1).as_double(), -1.0);
  EXPECT_EQ(Scalar(~std::uint64_t{0}).text(), "18446744073709551615");
  EXPECT_EQ(Scalar(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
}

TEST(Scalar, ValuesOfOtherKinds) {
  EXPECT_EQ(Scalar(2.75).as_integer(), 2);
  EXPECT_EQ(Scalar(true).as_integer(), 1);
  EXPECT_EQ(Scalar(true).as_complex(), std::complex<double>(1));
  EXPECT_EQ(Scalar(c128(-7.5, 3)).as_integer(), -7);
  EXPECT_EQ(Scalar(c128(1, 2)).as_complex(), std::complex<double>(1, 2));
}

TEST(Scalar, TextShowsTheKind) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Scalar(true).text(), "true");
  EXPECT_EQ(Scalar(false).text(), "false");
  EXPECT_EQ(Scalar(3).text(), "3");
  EXPECT_EQ(Scalar(3.0).text(), "3.0");
  EXPECT_EQ(Scalar(-0.0).text(), "-0.0");
  EXPECT_EQ(Scalar(0.1).text(), "0.1");
  EXPECT_EQ(Scalar(1e20).text(), "1e+20");
  EXPECT_EQ(Scalar(-infinity).text(), "-inf");
  EXPECT_EQ(Scalar(std::numeric_limits<double>::quiet_NaN()).text(), "nan");
  EXPECT_EQ(Scalar(c128(0, 2)).text(), "2.0j");
  EXPECT_EQ(Scalar(c128(1, 2)).text(), "(1.0+2.0j)");
  EXPECT_EQ(Scalar(c128(1, -0.5)).text(), "(1.0-0.5j)");
  EXPECT_EQ(Scalar(c128(-0.0, 1)).text(), "(-0.0+1.0j)");
}

TEST(Scalar, FloatTextReadsBack) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = Scalar(value).text();
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace weft
