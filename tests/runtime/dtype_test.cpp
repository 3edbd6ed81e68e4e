// The dtype table and the names of dtypes and devices.
#include <weft/convert.h>
#include <weft/device.h>
#include <weft/dtype.h>
#include <weft/scalar.h>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace weft {
namespace {

TEST(DType, NamesParseBack) {
  for (DType dtype : all_dtypes) EXPECT_EQ(parse_dtype(name(dtype)), dtype) << name(dtype);
  for (const char* text : {"", "f", "f321", "F32", " f32", "float", "boolean"})
    EXPECT_EQ(parse_dtype(text), std::nullopt) << text;
}

TEST(DType, SizesAreThoseOfTheNames) {
  EXPECT_EQ(num_dtypes, 18u);
  for (DType dtype : all_dtypes) {
    std::string digits(name(dtype));
    digits = digits.substr(std::min(digits.find_first_of("0123456789"), digits.size()));
    const int bits = dtype == DType::boolean ? 8 : std::stoi(digits);
    EXPECT_EQ(itemsize_bytes(dtype) * 8, static_cast<std::size_t>(bits)) << name(dtype);
  }
}

TEST(DType, LargestFiniteNumberIsTheLastBeforeInfinityOrNan) {
  for (DType dtype : all_dtypes) {
    if (!is_floating(dtype)) continue;
    const Scalar largest(largest_finite(dtype));
    const double kept = visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      const Bits bits = largest.bits(dtype);
      std::array<std::uint8_t, sizeof(T)> pattern;
      std::memcpy(pattern.data(), &bits, sizeof(T));
      const auto value = std::bit_cast<T>(pattern);
      for (std::size_t i = 0; i < sizeof(T) && ++pattern[i] == 0; ++i) {
      }
      EXPECT_FALSE(std::isfinite(convert<double>(std::bit_cast<T>(pattern)))) << name(dtype);
      return convert<double>(value);
    });
    EXPECT_EQ(kept, largest_finite(dtype)) << name(dtype);
  }
}

TEST(DType, VisitsTheTypeThatStoresIt) {
  for (DType dtype : all_dtypes) {
    const DType visited =
        visit_dtype(dtype, []<class T>(std::type_identity<T>) { return dtype_of<T>; });
    EXPECT_EQ(visited, dtype);
  }
}

TEST(Device, HasText) {
  EXPECT_EQ(text(Device{}), "cpu");
  EXPECT_EQ(text(Device{DeviceType::cuda, 3}), "cuda:3");
  EXPECT_EQ(text(Device{DeviceType::meta, 0}), "meta");
}

}  // namespace
}  // namespace weft
