// Copies whose rows are short and whose input is dense along another dimension, against index
// arithmetic: all item sizes, sides around those from which planes are transposed, and runs that
// end within a loop.
#include "tests/engine/support/elements.h"
#include "tests/required_backends.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <complex>
#include <memory>
#include <random>

namespace weft::testing {
namespace {

class ShortRows : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      engine_ = std::make_unique<Engine>(EngineOptions{GetParam(), Numerics::standard, 1});
    } catch (const UnsupportedError& error) {
      return leave_out_without(GetParam(), error.what());
    }
  }

  /// Copies `from` to a tensor with a canary on either side and `gap` of them at the end of each
  /// part of its first dimension.
  template <class T>
  void expect_copied(const Tensor& from, std::int64_t gap = 0) {
    const Sizes sizes(from.sizes().begin(), from.sizes().end());
    Sizes strides(sizes.size(), 1);
    for (std::size_t dim = sizes.size() - 1; dim-- > 0;)
      strides[dim] = strides[dim + 1] * sizes[dim + 1] + (dim == 0 ? gap : 0);
    const std::int64_t total = strides[0] * sizes[0] + 2;
    const Tensor all = new_tensor({total}, dtype_of<T>);
    T* const data = all.data_as<T>();
    const T canary = static_cast<T>(77);
    std::fill_n(data, total, canary);
    engine_->copy(all.as_strided(sizes, strides, 1), from);
    std::vector<T> expected(static_cast<std::size_t>(total), canary);
    Sizes index(sizes.size(), 0);
    for (std::int64_t i = 0; i < from.numel(); ++i) {
      std::int64_t to = 1, at = 0;
      for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
        to += index[dim] * strides[dim];
        at += index[dim] * from.stride(static_cast<int>(dim));
      }
      expected[static_cast<std::size_t>(to)] = from.data_as<T>()[at];
      for (std::size_t dim = sizes.size(); dim-- > 0 && ++index[dim] == sizes[dim];) index[dim] = 0;
    }
    ASSERT_EQ(std::vector<T>(data, data + total), expected)
        << from.sizes().size() << " dimensions, gap " << gap;
  }

  std::unique_ptr<Engine> engine_;
};

template <class T>
Tensor numbered(const Sizes& sizes) {
  std::int64_t total = 1;
  for (const std::int64_t size : sizes) total *= size;
  const Tensor all = new_tensor(sizes, dtype_of<T>);
  for (std::int64_t i = 0; i < total; ++i)
    all.data_as<T>()[i] = static_cast<T>(i * 2654435761u >> 9 & 0x7f);
  return all;
}

template <class T, class Test>
void for_planes(Test test) {
  for (const std::int64_t rows : {2, 3, 7, 8, 10, 15, 16})
    for (const std::int64_t columns : {2, 5, 8, 12, 40})
      for (const std::int64_t planes : {1, 13, 150})
        test(numbered<T>({planes, columns, rows}).transpose(1, 2));
}

TEST_P(ShortRows, OfAnyItemSize) {
  for_planes<std::uint8_t>([&](const Tensor& from) { expect_copied<std::uint8_t>(from); });
  for_planes<std::int16_t>([&](const Tensor& from) { expect_copied<std::int16_t>(from); });
  for_planes<float>([&](const Tensor& from) { expect_copied<float>(from); });
  for_planes<double>([&](const Tensor& from) { expect_copied<double>(from); });
  for_planes<std::complex<double>>(
      [&](const Tensor& from) { expect_copied<std::complex<double>>(from); });
}

TEST_P(ShortRows, WithGapsBetweenThem) {
  for_planes<float>([&](const Tensor& from) { expect_copied<float>(from, 3); });
}

TEST_P(ShortRows, OfPermutedDimensions) {
  std::minstd_rand random(1);
  for (int round = 0; round < 60; ++round) {
    Sizes sizes;
    for (int dim = 0; dim < 5; ++dim) sizes.push_back(1 + static_cast<std::int64_t>(random() % 9));
    std::vector<int> order = {0, 1, 2, 3, 4};
    std::shuffle(order.begin(), order.end(), random);
    const Tensor from = numbered<std::int16_t>(sizes).permute(order);
    expect_copied<std::int16_t>(from);
    expect_copied<std::int16_t>(from.flip({static_cast<int>(random() % 5)}));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ShortRows, ::testing::Values("interp", "xbyak", "llvm"));

}  // namespace
}  // namespace weft::testing
