// Flags and strides of memory formats: the cases that are easy to get wrong.  weft_conformance
// replays PyTorch's recordings.
#include "engine/tensor/memory_format.h"
#include "tests/matchers.h"

#include <weft/error.h>
#include <weft/tensor.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAreArray;
using matchers::HasSubstr;
using Strides = std::vector<std::int64_t>;

Tensor layout(const Strides& sizes, const Strides& strides) {
  return unbacked(sizes, strides, DType::f32);
}

TEST(MemoryFormat, EmptyTensorHasTheStridesOfItsFormat) {
  EXPECT_THAT(empty({2, 3, 4, 5}).strides(), ElementsAreArray({60, 20, 5, 1}));
  const TensorOptions last{DType::f32, {}, MemoryFormat::channels_last};
  EXPECT_THAT(empty({2, 3, 4, 5}, last).strides(), ElementsAreArray({60, 1, 15, 3}));
  const TensorOptions last_3d{DType::f32, {}, MemoryFormat::channels_last_3d};
  EXPECT_THAT(empty({2, 3, 4, 5, 6}, last_3d).strides(), ElementsAreArray({360, 1, 90, 18, 3}));
}

TEST(MemoryFormat, ZeroSizesCountAsOneOnlyInContiguousStrides) {
  EXPECT_THAT(empty({2, 0, 3}).strides(), ElementsAreArray({3, 3, 1}));
  const TensorOptions last{DType::f32, {}, MemoryFormat::channels_last};
  EXPECT_THAT(empty({2, 3, 0, 5}, last).strides(), ElementsAreArray({0, 1, 15, 3}));
}

TEST(MemoryFormat, DenseIsAPermutationOfContiguous) {
  EXPECT_TRUE(layout({3, 4}, {1, 3}).is_non_overlapping_and_dense());
  EXPECT_FALSE(layout({3, 4}, {1, 3}).is_contiguous());
  EXPECT_FALSE(layout({4, 2, 3}, {8, 3, 1}).is_non_overlapping_and_dense());
  EXPECT_FALSE(layout({3, 4}, {1, 1}).is_non_overlapping_and_dense());
  EXPECT_FALSE(layout({3, 4}, {0, 1}).is_non_overlapping_and_dense());
  EXPECT_TRUE(layout({3, 1, 4}, {1, 77, 3}).is_non_overlapping_and_dense());
}

TEST(MemoryFormat, NegativeStridesAreNeverDense) {
  const Tensor x = empty({3, 4});
  EXPECT_FALSE(x.flip({1}).is_non_overlapping_and_dense());
  EXPECT_FALSE(x.flip({0, 1}).is_contiguous());
  EXPECT_TRUE(empty({1, 4}).flip({0}).is_contiguous());
}

TEST(MemoryFormat, AmbiguousTensorsAreBoth) {
  const Tensor x = layout({2, 2048, 1, 1}, {2048, 1, 1, 1});
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_TRUE(x.is_contiguous(MemoryFormat::channels_last));
  EXPECT_EQ(x.suggest_memory_format(), MemoryFormat::contiguous);
  const Tensor y = layout({2, 1, 4, 4}, {16, 1, 4, 1});
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_EQ(y.suggest_memory_format(), MemoryFormat::channels_last);
}

TEST(MemoryFormat, StridesLookLikeAFormatWhateverLiesBetweenThem) {
  const Tensor images = layout({2, 3, 4, 5}, {60, 1, 15, 3});
  const Tensor with_gaps = layout({2, 3, 4, 5}, {600, 1, 150, 30});
  const Tensor volumes = layout({2, 3, 4, 5, 6}, {360, 1, 90, 18, 3});
  for (const Tensor& x : {images, with_gaps}) {
    EXPECT_TRUE(x.is_strides_like(MemoryFormat::channels_last));
    EXPECT_FALSE(x.is_strides_like(MemoryFormat::channels_last_3d));
    EXPECT_FALSE(x.is_strides_like(MemoryFormat::contiguous));
  }
  EXPECT_FALSE(with_gaps.is_contiguous(MemoryFormat::channels_last));
  EXPECT_TRUE(volumes.is_strides_like(MemoryFormat::channels_last_3d));
  EXPECT_TRUE(layout({2, 3}, {3, 1}).is_strides_like(MemoryFormat::contiguous));
}

TEST(MemoryFormat, PreserveKeepsTheOrderOfDimensions) {
  EXPECT_THAT(empty_like(layout({3, 4}, {1, 3})).strides(), ElementsAreArray({1, 3}));
  EXPECT_THAT(empty_like(layout({3, 4}, {2, 6})).strides(), ElementsAreArray({1, 3}));
  EXPECT_THAT(empty_like(empty({3, 1}).expand({3, 4})).strides(), ElementsAreArray({4, 1}));
  EXPECT_THAT(empty_like(empty({4, 3}).t().flip({0})).strides(), ElementsAreArray({1, 3}));
}

template <class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(MemoryFormat, RefusalsSayWhatPyTorchSays) {
  const Tensor x = empty({3, 4});
  EXPECT_THAT(message_of([&] { empty_like(x, {}, MemoryFormat::channels_last); }),
              HasSubstr("required rank 4 tensor to use channels_last format"));
  EXPECT_THAT(message_of([&] { empty_like(x, {}, MemoryFormat::channels_last_3d); }),
              HasSubstr("required rank 5 tensor to use channels_last_3d format"));
  EXPECT_THAT(message_of([&] { contiguous_is_self(x.t(), MemoryFormat::preserve); }),
              HasSubstr("preserve memory format is unsupported by the contiguous operator"));
  EXPECT_TRUE(contiguous_is_self(x, MemoryFormat::preserve));
  EXPECT_THAT(message_of([&] { x.resize_({2}, MemoryFormat::preserve); }),
              HasSubstr("Unsupported memory formatPreserve"));
  EXPECT_THAT(message_of([] {
                empty(Strides{2}, {DType::f32, {}, MemoryFormat::preserve});
              }),
              HasSubstr("unsupported memory format Preserve"));
}

}  // namespace
}  // namespace weft
