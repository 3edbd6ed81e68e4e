// promote_types() against the table that PyTorch and the array API standard publish.
#include "tests/matchers.h"

#include <weft/promote.h>

#include <weft/error.h>

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace weft {
namespace {

// Row and column in the order of dtypes.def; "-" is an error.
constexpr const char* table =
    "bool     u8       u16      u32      u64      i8       i16      i32      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "u8       u8       u16      u32      u64      i16      i16      i32      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "u16      u16      u16      u32      u64      i32      i32      i32      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "u32      u32      u32      u32      u64      i64      i64      i64      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "u64      u64      u64      u64      u64      -        -        -        -        f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "i8       i16      i32      i64      -        i8       i16      i32      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "i16      i16      i32      i64      -        i16      i16      i32      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "i32      i32      i32      i64      -        i32      i32      i32      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "i64      i64      i64      i64      -        i64      i64      i64      i64      f16      "
    "bf16     -        -        f32      f64      c32      c64      c128\n"
    "f16      f16      f16      f16      f16      f16      f16      f16      f16      f16      f32 "
    "     -        -        f32      f64      c32      c64      c128\n"
    "bf16     bf16     bf16     bf16     bf16     bf16     bf16     bf16     bf16     f32      "
    "bf16     -        -        f32      f64      c64      c64      c128\n"
    "-        -        -        -        -        -        -        -        -        -        -   "
    "     f8e4m3fn -        -        -        -        -        -\n"
    "-        -        -        -        -        -        -        -        -        -        -   "
    "     -        f8e5m2   -        -        -        -        -\n"
    "f32      f32      f32      f32      f32      f32      f32      f32      f32      f32      f32 "
    "     -        -        f32      f64      c64      c64      c128\n"
    "f64      f64      f64      f64      f64      f64      f64      f64      f64      f64      f64 "
    "     -        -        f64      f64      c128     c128     c128\n"
    "c32      c32      c32      c32      c32      c32      c32      c32      c32      c32      c64 "
    "     -        -        c64      c128     c32      c64      c128\n"
    "c64      c64      c64      c64      c64      c64      c64      c64      c64      c64      c64 "
    "     -        -        c64      c128     c64      c64      c128\n"
    "c128     c128     c128     c128     c128     c128     c128     c128     c128     c128     "
    "c128     -        -        c128     c128     c128     c128     c128";

TEST(PromoteTypes, MatchesTheTable) {
  std::istringstream cells(table);
  for (DType a : all_dtypes) {
    for (DType b : all_dtypes) {
      SCOPED_TRACE(testing::Message() << name(a) << " with " << name(b));
      std::string expected;
      ASSERT_TRUE(cells >> expected);
      if (expected == "-")
        EXPECT_THROW(promote_types(a, b), ArgumentError);
      else
        EXPECT_EQ(name(promote_types(a, b)), expected);
    }
  }
}

std::string error_of(DType a, DType b) {
  try {
    promote_types(a, b);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PromoteTypes, ExplainsItsErrors) {
  EXPECT_EQ(error_of(DType::f8e5m2, DType::f32),
            "Promotion for Float8 Types is not supported, attempted to promote f8e5m2 and f32");
  EXPECT_EQ(error_of(DType::boolean, DType::f8e4m3fn),
            "Promotion for Float8 Types is not supported, attempted to promote bool and f8e4m3fn");
  EXPECT_THAT(error_of(DType::i32, DType::u64),
              matchers::AllOf(matchers::HasSubstr("attempted to promote i32 and u64"),
                              matchers::HasSubstr("write cast(x, i64) for the u64 operand"),
                              matchers::HasSubstr("cast(x, u64) for the i32 operand")));
}

}  // namespace
}  // namespace weft
