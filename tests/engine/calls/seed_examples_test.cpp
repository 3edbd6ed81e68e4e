// The worked examples of the specification, by number.
#include <weft/error.h>
#include <weft/iterator.h>
#include <weft/tensor.h>

#include "tests/engine/support/ints.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::Ints;
using testing::ints;

Tensor f32(const Ints& sizes, const Ints& strides) { return unbacked(sizes, strides, DType::f32); }

TensorIterator add(const Tensor& a, const Tensor& b) {
  return TensorIterator::binary_op(Tensor(), a, b);
}

Ints perm(const TensorIterator& iterator) {
  return {iterator.perm().begin(), iterator.perm().end()};
}

/// The strides of the output in elements, in the order of perm().
Ints ascending_strides(const TensorIterator& iterator) {
  Ints result;
  for (int dim : iterator.perm()) result.push_back(iterator.output().strides()[dim]);
  return result;
}

TEST(seed_examples, 1_channels_last_plus_contiguous_3d) {
  const TensorIterator iterator =
      add(f32({2, 3, 4, 5}, {60, 1, 15, 3}), f32({3, 4, 5}, {20, 5, 1}));
  EXPECT_EQ(perm(iterator), (Ints{1, 3, 2, 0}));
  EXPECT_EQ(ascending_strides(iterator), (Ints{1, 3, 15, 60}));
  EXPECT_EQ(ints(iterator.output().strides()), (Ints{60, 1, 15, 3}));
  EXPECT_EQ(ints(iterator.shape()), (Ints{3, 20, 2}));
  EXPECT_EQ(ints(iterator.stride_bytes(2)), (Ints{80, 4, 0}));
}

TEST(seed_examples, 2_ambiguous_plus_3d) {
  const TensorIterator iterator = add(f32({2, 3, 1, 1}, {3, 1, 3, 3}), f32({3, 1, 1}, {1, 1, 1}));
  EXPECT_EQ(perm(iterator), (Ints{1, 3, 2, 0}));
  EXPECT_EQ(ascending_strides(iterator), (Ints{1, 3, 3, 3}));
  EXPECT_EQ(ints(iterator.output().strides()), (Ints{3, 1, 3, 3}));
}

TEST(seed_examples, 3_channels_last_plus_transposed) {
  const TensorIterator iterator = add(f32({2, 3, 1, 1}, {3, 1, 3, 3}), f32({3, 1, 3}, {1, 3, 3}));
  EXPECT_EQ(perm(iterator), (Ints{1, 2, 3, 0}));
  EXPECT_EQ(ascending_strides(iterator), (Ints{1, 3, 3, 9}));
  EXPECT_EQ(ints(iterator.output().sizes()), (Ints{2, 3, 1, 3}));
  EXPECT_EQ(ints(iterator.output().strides()), (Ints{9, 1, 3, 3}));
}

TEST(seed_examples, 4_dense_and_not_contiguous) {
  const Tensor transposed = f32({3, 4}, {1, 3});
  EXPECT_TRUE(transposed.is_non_overlapping_and_dense());
  EXPECT_FALSE(transposed.is_contiguous());
  EXPECT_FALSE(f32({4, 2, 3}, {8, 3, 1}).is_non_overlapping_and_dense());
}

TEST(seed_examples, 5_ambiguity_of_one_channel) {
  const Tensor contiguous = f32({2, 1, 4, 4}, {16, 16, 4, 1});
  const Tensor restrided = f32({2, 1, 4, 4}, {16, 1, 4, 1});
  for (const Tensor& tensor : {contiguous, restrided}) {
    EXPECT_TRUE(tensor.is_contiguous());
    EXPECT_TRUE(tensor.is_contiguous(MemoryFormat::channels_last));
  }
  const Tensor pixels = f32({2, 2048, 1, 1}, {2048, 1, 1, 1});
  EXPECT_TRUE(pixels.is_contiguous());
  EXPECT_TRUE(pixels.is_contiguous(MemoryFormat::channels_last));
}

TEST(seed_examples, 6_the_left_operand_decides) {
  const Tensor contiguous = f32({2, 3, 4, 5}, {60, 20, 5, 1});
  const Tensor channels_last = f32({2, 3, 4, 5}, {60, 1, 15, 3});
  const Tensor ambiguous_contiguous = f32({2, 1, 4, 5}, {20, 20, 5, 1});
  const Tensor ambiguous_last = f32({2, 1, 4, 5}, {20, 1, 5, 1});
  const auto format = [](const Tensor& a, const Tensor& b) {
    return std::string(name(add(a, b).output().suggest_memory_format()));
  };
  EXPECT_EQ(format(ambiguous_contiguous, contiguous), "contiguous");
  EXPECT_EQ(format(ambiguous_last, contiguous), "contiguous");
  EXPECT_EQ(format(ambiguous_contiguous, channels_last), "channels_last");
  EXPECT_EQ(format(contiguous, ambiguous_last), "contiguous");
  EXPECT_EQ(format(channels_last, ambiguous_contiguous), "channels_last");
  EXPECT_EQ(format(contiguous, channels_last), "contiguous");
  EXPECT_EQ(format(channels_last, contiguous), "channels_last");
  // Two ambiguous operands: of equal shapes the fast set-up makes a contiguous result, ...
  EXPECT_EQ(ints(add(ambiguous_last, ambiguous_contiguous).output().strides()),
            (Ints{20, 20, 5, 1}));
  EXPECT_EQ(ints(add(ambiguous_contiguous, ambiguous_last).output().strides()),
            (Ints{20, 20, 5, 1}));
  // ... a broadcast keeps the strides of the left one.
  EXPECT_EQ(
      ints(add(f32({2, 3, 1, 1}, {3, 1, 3, 3}), f32({3, 1, 1}, {1, 1, 1})).output().strides()),
      (Ints{3, 1, 3, 3}));
}

TEST(seed_examples, 7_contiguous_to_channels_last) {
  const Tensor in = f32({1, 64, 5, 4}, {1280, 20, 4, 1});
  const Tensor out = f32({1, 64, 5, 4}, {1280, 1, 256, 64});
  const TensorIterator iterator = TensorIterator::unary_op(out, in);
  EXPECT_EQ(perm(iterator), (Ints{1, 3, 2, 0}));
  EXPECT_EQ(ints(iterator.shape()), (Ints{64, 20}));
  EXPECT_EQ(ints(iterator.stride_bytes(0)), (Ints{4, 256}));
  EXPECT_EQ(ints(iterator.stride_bytes(1)), (Ints{80, 4}));
}

TEST(seed_examples, 8_infer_size) {
  const Ints a = {2, 1, 3};
  const Ints b = {4, 3};
  EXPECT_EQ(infer_size(a, b), (Ints{2, 4, 3}));
}

}  // namespace
}  // namespace weft
