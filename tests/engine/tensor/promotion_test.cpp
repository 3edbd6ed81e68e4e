// Pins the rules of promotion.  weft_conformance replays PyTorch's recordings.
#include <weft/promotion.h>

#include "tests/engine/support/ints.h"

#include <weft/error.h>
#include <weft/iterator.h>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Promotion, CategoriesKeepWidthAndRaiseKind) {
  const auto common = [](std::initializer_list<PromotionOperand> operands) {
    return common_dtype(std::vector<PromotionOperand>(operands));
  };
  using enum OperandCategory;
  EXPECT_EQ(common({{DType::f32, dimensioned}, {DType::f64, zero_dim}}), DType::f32);
  EXPECT_EQ(common({{DType::i32, dimensioned}, {DType::f64, zero_dim}}), DType::f64);
  EXPECT_EQ(common({{DType::f64, dimensioned}, {DType::c64, zero_dim}}), DType::c128);
  EXPECT_EQ(common({{DType::f16, dimensioned}, {DType::c64, number}}), DType::c32);
  EXPECT_EQ(common({{DType::i8, dimensioned}, {DType::i64, zero_dim}}), DType::i8);
  EXPECT_EQ(common({{DType::u8, dimensioned}, {DType::i64, number}}), DType::u8);
  EXPECT_EQ(common({{DType::boolean, dimensioned}, {DType::f32, number}}), DType::f32);
  EXPECT_EQ(common({{DType::boolean, zero_dim}, {DType::i64, number}}), DType::i64);
  EXPECT_THROW(common({}), ArgumentError);
}

TEST(Promotion, ResultTypeOfMixedArguments) {
  const testing::Ints sizes = {2};
  const testing::Ints strides = {1};
  const Tensor bytes = unbacked(sizes, strides, DType::u8);
  EXPECT_EQ(result_type(bytes, Scalar(1000)), DType::u8);
  EXPECT_EQ(result_type(Scalar(0.5), bytes), DType::f32);
  EXPECT_EQ(result_type(Scalar(true), Scalar(2)), DType::i64);
  EXPECT_EQ(result_type(bytes, unbacked({}, {}, DType::f64)), DType::f64);
}

TEST(Promotion, CastsThatLoseAKindAreForbidden) {
  EXPECT_FALSE(can_cast(DType::c64, DType::f32));
  EXPECT_FALSE(can_cast(DType::f32, DType::i32));
  EXPECT_FALSE(can_cast(DType::u8, DType::boolean));
  EXPECT_TRUE(can_cast(DType::i64, DType::u8));
  EXPECT_TRUE(can_cast(DType::f64, DType::f8e5m2));
  EXPECT_TRUE(can_cast(DType::boolean, DType::i8));
}

}  // namespace
}  // namespace weft
