// What a plan says of its operands.
#include <weft/error.h>
#include <weft/iterator.h>

#include <gtest/gtest.h>

#include <utility>

namespace weft {
namespace {

TEST(IteratorOperands, HaveACommonDtypeOrNone) {
  const Tensor floats = empty({2}, DType::f32), bytes = empty({2}, DType::u8);
  TensorIteratorConfig apart;
  apart.check_all_same_dtype(false).add_output(floats).add_input(floats).add_input(bytes);
  const TensorIterator mixed = apart.build();
  EXPECT_FALSE(mixed.has_common_dtype());
  EXPECT_THROW(mixed.common_dtype(), ArgumentError);
  const TensorIterator promoted = TensorIterator::binary_op(Tensor(), floats, bytes);
  EXPECT_TRUE(promoted.has_common_dtype());
  EXPECT_EQ(promoted.common_dtype(), DType::f32);
}

TEST(IteratorOperands, AreScalarsOfTheCpuIfTheyHaveOneElementThere) {
  const TensorOptions meta{DType::f32, {DeviceType::meta, 0}, MemoryFormat::contiguous};
  const Tensor row = empty({3}), number = empty({}), one = empty({1, 1}, meta);
  const TensorIterator sum = TensorIterator::binary_op(Tensor(), row, number);
  EXPECT_FALSE(sum.is_cpu_scalar(0));
  EXPECT_FALSE(sum.is_cpu_scalar(1));
  EXPECT_TRUE(sum.is_cpu_scalar(2));
  const TensorIterator elsewhere = TensorIterator::unary_op(Tensor(), one);
  EXPECT_TRUE(elsewhere.is_scalar(1));
  EXPECT_FALSE(elsewhere.is_cpu_scalar(1));
}

TEST(IteratorOperands, OwnedConstInputsOutliveTheConfig) {
  const Tensor out = empty({2});
  const auto plan = [&] {
    TensorIteratorConfig config;
    config.add_output(out).add_owned_const_input(full({2}, 7, {DType::f32, {}, {}}));
    return config.build();
  };
  const TensorIterator kept = plan();
  EXPECT_EQ(kept.ninputs(), 1);
  EXPECT_EQ(kept.input().data_as<float>()[1], 7);
}

}  // namespace
}  // namespace weft
