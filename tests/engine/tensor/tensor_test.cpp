// Making tensors, asking them, resizing them.
#include <weft/cuda.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/tensor.h>

#include "engine/tensor/tensor_impl.h"
#include "tests/matchers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::AllOf;
using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;
using Sizes = std::vector<std::int64_t>;

template <class ErrorType = ArgumentError, class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "nothing was thrown";
}

constexpr TensorOptions on_meta{DType::f32, {DeviceType::meta, 0}, MemoryFormat::contiguous};

TEST(Tensor, UndefinedStandsForNotGiven) {
  const Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_THROW(nothing.dim(), ArgumentError);
  EXPECT_THROW(nothing.select(0, 0), ArgumentError);
}

TEST(Tensor, EmptyHasTheBytesItNeeds) {
  const Tensor x = empty({3, 4}, DType::c128);
  EXPECT_EQ(x.storage()->size_bytes(), 3u * 4 * 16);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % 64, 0u);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.stride(-2), 4);
  EXPECT_EQ(empty({0, 4}).storage()->size_bytes(), 0u);
}

TEST(Tensor, ZerosAreZero) {
  for (DType dtype : all_dtypes) {
    const Tensor x = zeros(Sizes{5}, {dtype, {}, MemoryFormat::contiguous});
    EXPECT_TRUE(std::all_of(x.data(), x.data() + x.storage()->size_bytes(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
    EXPECT_EQ(x.select(0, 4).item().as_complex(), c128(0, 0)) << name(dtype);
  }
}

TEST(Tensor, FullTakesItsDTypeFromTheValue) {
  EXPECT_EQ(full({2}, true).dtype(), DType::boolean);
  EXPECT_EQ(full({2}, 3).dtype(), DType::i64);
  EXPECT_EQ(full({2}, 3.5).dtype(), DType::f32);
  EXPECT_EQ(full({2}, Scalar(std::complex<double>(0, 1))).dtype(), DType::c64);
  EXPECT_EQ(full({2}, 3, {.dtype = DType::u8}).dtype(), DType::u8);
  EXPECT_EQ(full({2}, 3).select(0, 1).item().as_integer(), 3);
}

TEST(Tensor, EmptyOfAVectorIsNotThatOfTheStandardLibrary) {
  const std::vector<std::int64_t> sizes = {2, 3};
  const Tensor x = empty(sizes), y = empty(sizes, {DType::u8, {}, {}});
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(y.dtype(), DType::u8);
}

TEST(Tensor, SizesMayBeWrittenInBraces) {
  EXPECT_EQ(zeros({2, 3}).numel(), 6);
  EXPECT_EQ(empty_strided({2, 3}, {1, 2}).stride(1), 2);
  std::array<float, 6> values{};
  EXPECT_EQ(from_blob(values.data(), {3, 2}, DType::f32).size(1), 2);
  EXPECT_EQ(from_blob(values.data(), {3, 2}, {1, 3}, DType::f32, Device{}).stride(1), 3);
  EXPECT_EQ(zero_tensor({2, 3}).numel(), 6);
  EXPECT_EQ(unbacked({2, 3}, {3, 1}, DType::f32).stride(0), 3);
  Engine engine;
  EXPECT_EQ(engine.reshape(zeros({2, 3}), {3, -1}).size(1), 2);
}

TEST(Tensor, MetaHasNoBytes) {
  const Tensor x = empty({3, 4}, on_meta);
  EXPECT_EQ(x.data(), nullptr);
  EXPECT_EQ(x.device(), (Device{DeviceType::meta, 0}));
  EXPECT_EQ(x.select(0, 2).data(), nullptr);
  EXPECT_EQ(empty_like(x).device().type, DeviceType::meta);
  EXPECT_EQ(zeros(Sizes{3}, on_meta).numel(), 3);
  EXPECT_THAT(message_of([&] { x.select(0, 0).select(0, 0).item(); }), HasSubstr("without data"));
  const Tensor huge = empty({std::int64_t{1} << 40, 1 << 10}, on_meta);
  EXPECT_EQ(huge.numel(), std::int64_t{1} << 50);
}

TEST(Tensor, CudaIsRefusedInAnErrorOfItsOwnWhereThereIsNone) {
  if (cuda::num_devices() != 0) GTEST_SKIP() << "there is a CUDA device";
  const TensorOptions on_cuda{DType::f32, {DeviceType::cuda, 0}, MemoryFormat::contiguous};
  EXPECT_THAT(message_of<UnsupportedError>([&] { empty({3}, on_cuda); }),
              AllOf(HasSubstr("cuda:0"), HasSubstr("the CUDA driver is not found")));
}

TEST(Tensor, SizesThatMakeNoSenseAreRefused) {
  EXPECT_THAT(message_of([] { empty({-1}); }),
              HasSubstr("Trying to create tensor with negative dimension -1: [-1]"));
  EXPECT_THAT(message_of([] {
                empty({2, -3});
              }),
              HasSubstr("Trying to create tensor with negative dimension -3: [2, -3]"));
  EXPECT_THAT(message_of([] { weft::empty(Sizes(65, 1)); }), HasSubstr("up to 64 dims"));
  EXPECT_THAT(message_of([] {
                empty({std::int64_t{1} << 62, 4}, on_meta);
              }),
              HasSubstr("overflow"));
  EXPECT_THAT(message_of([] { empty({std::int64_t{1} << 61}, on_meta); }),
              HasSubstr("Storage size calculation overflowed with sizes=[2305843009213693952]"));
  EXPECT_THAT(message_of([] {
                empty_strided(Sizes{2}, Sizes{1, 1});
              }),
              HasSubstr("dimensionality of sizes (1) must match dimensionality of strides (2)"));
  EXPECT_THROW(empty({std::int64_t{1} << 45}), DeviceError);
}

TEST(Tensor, EmptyStridedMayHaveNegativeStrides) {
  const Tensor x = empty_strided(Sizes{3, 4}, Sizes{-4, 1});
  EXPECT_EQ(x.storage_offset(), 8);
  EXPECT_EQ(x.storage()->size_bytes(), 48u);
  const Tensor padded = empty_strided(Sizes{3, 4}, Sizes{10, 1});
  EXPECT_EQ(padded.storage()->size_bytes(), 4u * 24);
}

TEST(Tensor, FromBlobSharesMemoryAndReleasesItOnce) {
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 0.0f);
  void* released = nullptr;
  int num_releases = 0;
  const auto release = [&](void* data) {
    released = data;
    ++num_releases;
  };
  {
    // The last element first: the address is that of the element with index 0.
    const Tensor x = from_blob(values.data() + 11, Sizes{3, 4}, Sizes{-4, -1}, DType::f32, release);
    EXPECT_EQ(x.data(), reinterpret_cast<std::byte*>(values.data() + 11));
    EXPECT_EQ(x.storage()->data(), reinterpret_cast<std::byte*>(values.data()));
    EXPECT_EQ(x.storage()->size_bytes(), sizeof(float) * 12);
    const Tensor view = x.select(0, 2);
    EXPECT_EQ(view.select(0, 3).item(), Scalar(0.0));
    EXPECT_EQ(x.flip({0, 1}).select(0, 1).select(0, 0).item(), Scalar(4.0));
    EXPECT_EQ(num_releases, 0);
  }
  EXPECT_EQ(num_releases, 1);
  EXPECT_EQ(released, values.data() + 11);
  EXPECT_THAT(message_of([] { from_blob(nullptr, Sizes{2}, DType::f32); }), HasSubstr("got null"));
  EXPECT_EQ(from_blob(nullptr, Sizes{0}, DType::f32).numel(), 0);
}

TEST(Tensor, FromBlobReleasesNothingWhereItThrows) {
  float value = 0;
  int num_releases = 0;
  const auto release = [&](void*) { ++num_releases; };
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_THROW(from_blob(nullptr, Sizes{2}, DType::f32, release), ArgumentError);
  // One element in memory, and more in the tensor than 64 bits can count.
  EXPECT_THROW(from_blob(&value, Sizes{large, large}, Sizes{0, 0}, DType::f32, release),
               ArgumentError);
  EXPECT_THAT(message_of([&] { from_blob(&value, Sizes{3}, Sizes{-(large << 18)}, DType::f32); }),
              HasSubstr("beyond the address space"));
  EXPECT_EQ(num_releases, 0);
}

TEST(Tensor, ReadOnlyViewsStayReadOnly) {
  const Tensor x = arange(6);
  const Tensor y = x.as_read_only();
  EXPECT_FALSE(x.is_read_only());
  EXPECT_TRUE(y.is_read_only());
  EXPECT_TRUE(y.view({2, 3}).t().select(0, 1).is_read_only());
  EXPECT_EQ(y.data(), x.data());
  EXPECT_FALSE(y.is_zero_tensor());
}

TEST(Tensor, UnbackedKnowsOnlyItsLayout) {
  const Tensor x = unbacked(Sizes{3, 4}, Sizes{1, 3}, DType::f64, 2);
  EXPECT_EQ(x.data(), nullptr);
  EXPECT_EQ(x.device(), Device{});
  EXPECT_EQ(x.storage()->size_bytes(), 8u * 14);
  EXPECT_EQ(x.t().slice(0, 1, {}).storage_offset(), 5);
  EXPECT_THROW(unbacked(Sizes{3}, Sizes{-1}, DType::f32), ArgumentError);
  EXPECT_EQ(unbacked(Sizes{3}, Sizes{-1}, DType::f32, 2).storage()->size_bytes(), 12u);
}

TEST(Tensor, ItemReadsEveryDType) {
  const auto item = [](auto value) {
    const Tensor x = empty({}, dtype_of<decltype(value)>);
    std::memcpy(x.data(), &value, sizeof(value));
    return x.item();
  };
  EXPECT_EQ(item(true), Scalar(true));
  EXPECT_EQ(item(std::uint8_t{200}), Scalar(200));
  EXPECT_EQ(item(std::int8_t{-100}), Scalar(-100));
  EXPECT_EQ(item(UINT64_MAX).text(), "18446744073709551615");
  EXPECT_EQ(item(INT64_MIN), Scalar(INT64_MIN));
  EXPECT_EQ(item(f16{0x3e00}), Scalar(1.5));
  EXPECT_EQ(item(bf16{0x4040}), Scalar(3.0));
  EXPECT_EQ(item(f8e4m3fn{0x38}), Scalar(1.0));
  EXPECT_EQ(item(f8e5m2{0xc0}), Scalar(-2.0));
  EXPECT_EQ(item(0.1f), Scalar(static_cast<double>(0.1f)));
  EXPECT_EQ(item(0.1), Scalar(0.1));
  EXPECT_EQ(item(c32{{0x3c00}, {0xc000}}), Scalar(c128(1, -2)));
  EXPECT_EQ(item(c64(1, 2)), Scalar(c128(1, 2)));
  EXPECT_EQ(item(c128(1, 2)), Scalar(c128(1, 2)));
}

TEST(Tensor, ItemAppliesTheNegativeBitInItsDType) {
  const auto negated = [](auto value) {
    const Tensor x = empty({}, dtype_of<decltype(value)>);
    std::memcpy(x.data(), &value, sizeof(value));
    return x.neg_view().item();
  };
  EXPECT_EQ(negated(std::int8_t{-128}), Scalar(-128));
  EXPECT_EQ(negated(std::uint8_t{1}), Scalar(255));
  EXPECT_EQ(negated(INT64_MIN), Scalar(INT64_MIN));
  EXPECT_EQ(negated(2.5), Scalar(-2.5));
}

TEST(Tensor, ResizeKeepsTheBytesAndGrowsTheStorage) {
  const Tensor x = empty({2, 3}, DType::i32);
  std::iota(x.data_as<std::int32_t>(), x.data_as<std::int32_t>() + 6, 0);
  const Tensor handle = x;
  x.resize_({4, 5});
  EXPECT_THAT(handle.sizes(), ElementsAreArray({4, 5}));
  EXPECT_GE(x.storage()->size_bytes(), 80u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(x.data_as<std::int32_t>()[i], i);
  const std::size_t grown = x.storage()->size_bytes();
  x.resize_({2});
  EXPECT_EQ(x.storage()->size_bytes(), grown);
}

TEST(Tensor, ResizeToTheSameSizesKeepsStridesUnlessAFormatIsGiven) {
  const Tensor x = empty({4, 3}).t();
  x.resize_({3, 4});
  EXPECT_THAT(x.strides(), ElementsAreArray({1, 3}));
  x.resize_({3, 4}, MemoryFormat::contiguous);
  EXPECT_THAT(x.strides(), ElementsAreArray({4, 1}));
  const Tensor image = empty({0});
  image.resize_({2, 3, 4, 5}, MemoryFormat::channels_last);
  EXPECT_THAT(image.strides(), ElementsAreArray({60, 1, 15, 3}));
}

TEST(Tensor, ResizeOfAViewCountsItsOffset) {
  const Tensor x = empty({6}, DType::u8).slice(0, 4, {});
  x.resize_({5});
  EXPECT_EQ(x.storage_offset(), 4);
  EXPECT_GE(x.storage()->size_bytes(), 9u);
}

TEST(Tensor, ManyDimensionsAreResizedToFew) {
  const Tensor x = empty({1, 1, 1, 1, 1, 1, 1, 2}, DType::f32);
  x.resize_({4});
  EXPECT_THAT(x.sizes(), matchers::ElementsAre(4));
  EXPECT_THAT(x.strides(), matchers::ElementsAre(1));
  x.resize_({1, 2, 1, 2, 1, 2, 1, 2, 1});
  EXPECT_THAT(x.sizes(), matchers::ElementsAreArray({1, 2, 1, 2, 1, 2, 1, 2, 1}));
  EXPECT_THAT(x.strides(), matchers::ElementsAreArray({16, 8, 8, 4, 4, 2, 2, 1, 1}));
}

TEST(Tensor, ARefusedResizeChangesNothing) {
  float value = 0;
  const Tensor borrowed = from_blob(&value, Sizes{1}, DType::f32);
  EXPECT_THAT(message_of([&] { borrowed.resize_({2}); }),
              HasSubstr("Trying to resize storage that is not resizable"));
  EXPECT_THAT(message_of([&] { borrowed.resize_({-2}); }),
              HasSubstr("Trying to create tensor with negative dimension -2: [-2]"));
  EXPECT_THAT(message_of([&] { borrowed.resize_({1}, MemoryFormat::channels_last); }),
              HasSubstr("required rank 4"));
  EXPECT_THAT(borrowed.sizes(), ElementsAre(1));
  borrowed.resize_({});
  EXPECT_EQ(borrowed.dim(), 0);
}

TEST(Tensor, EmptyLikeTakesADType) {
  const Tensor x = empty_like(empty({4, 3}).t(), DType::i8);
  EXPECT_EQ(x.dtype(), DType::i8);
  EXPECT_THAT(x.strides(), ElementsAreArray({1, 3}));
  EXPECT_FALSE(empty_like(empty({2}, DType::c64).conj()).is_conj());
}

TEST(InferSize, BroadcastsAsPyTorch) {
  EXPECT_THAT(infer_size(Sizes{2, 1, 3}, Sizes{4, 3}), ElementsAreArray({2, 4, 3}));
  EXPECT_THAT(infer_size(Sizes{}, Sizes{0, 1}), ElementsAreArray({0, 1}));
  EXPECT_THAT(infer_size(Sizes{1}, Sizes{0}), ElementsAre(0));
  EXPECT_THAT(
      message_of([] {
        infer_size(Sizes{3, 2}, Sizes{4});
      }),
      HasSubstr("The size of tensor a (2) must match the size of tensor b (4) at non-singleton "
                "dimension 1"));
}

TEST(Tensor, ManyDimensions) {
  const Tensor x = weft::empty(Sizes(64, 1));
  EXPECT_EQ(x.dim(), 64);
  EXPECT_EQ(x.squeeze().dim(), 0);
  EXPECT_EQ(x.transpose(0, 63).flip({5}).expand(Sizes(64, 1)).numel(), 1);
}

TEST(Dims, GrowsAndKeepsItsValues) {
  Dims dims;
  for (std::int64_t i = 0; i < 20; ++i) dims.push_back(i);
  const Dims copy = dims;
  dims.erase(0);
  dims.insert_at(19, 42);
  dims.insert_at(0, 7);
  EXPECT_EQ(std::distance(copy.begin(), copy.end()), 20);
  EXPECT_EQ(dims[0], 7);
  EXPECT_EQ(dims[19], 19);
  EXPECT_EQ(dims.back(), 42);
  const Dims moved = std::move(dims);
  EXPECT_EQ(moved.size(), 21u);
  dims = Dims{1, 2};
  dims = copy;
  EXPECT_EQ(dims, copy);
}

}  // namespace
}  // namespace weft
