// Calls whose rows are short and whose inputs are dense along another dimension, against index
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
  const auto test = [&]<class T>(T, unsigned largest) {
    for (int round = 0; round < 60; ++round) {
      Sizes sizes;
      for (int dim = 0; dim < 4; ++dim)
        sizes.push_back(1 + static_cast<std::int64_t>(random() % largest));
      sizes.push_back(1 + static_cast<std::int64_t>(random() % 3));
      std::vector<int> order = {0, 1, 2, 3, 4};
      std::shuffle(order.begin(), order.end(), random);
      const Tensor from = numbered<T>(sizes).permute(order);
      expect_copied<T>(from);
      expect_copied<T>(from.flip({static_cast<int>(random() % 5)}));
    }
  };
  test(std::int16_t{}, 9);
  test(float{}, 17);
  test(double{}, 10);
}

/// [planes, rows, columns] with all elements looked up.
template <class Expected>
void expect_elements(const Tensor& actual, Expected expected) {
  std::int64_t num_wrong = 0;
  for (std::int64_t i = 0; i < actual.size(0); ++i)
    for (std::int64_t j = 0; j < actual.size(1); ++j)
      for (std::int64_t k = 0; k < actual.size(2); ++k)
        num_wrong += actual.data_as<float>()[(i * actual.size(1) + j) * actual.size(2) + k] !=
                     expected(i, j, k);
  EXPECT_EQ(num_wrong, 0) << actual.size(0) << " planes of " << actual.size(1) << " x "
                          << actual.size(2);
}

TEST_P(ShortRows, OfWhatIsComputed) {
  for_planes<float>([&](const Tensor& a) {
    const Tensor b = numbered<float>(Sizes(a.sizes().begin(), a.sizes().end()));
    const Tensor c = numbered<std::int16_t>({a.size(0), a.size(2), a.size(1)}).transpose(1, 2);
    const Tensor out = new_tensor(Sizes(a.sizes().begin(), a.sizes().end()), DType::f32);
    const auto at = [](const auto* data, const Tensor& tensor, std::int64_t i, std::int64_t j,
                       std::int64_t k) {
      return static_cast<float>(
          data[i * tensor.stride(0) + j * tensor.stride(1) + k * tensor.stride(2)]);
    };
    const auto of_a = [&](auto... index) { return at(a.data_as<float>(), a, index...); };
    const auto of_b = [&](auto... index) { return at(b.data_as<float>(), b, index...); };
    const auto of_c = [&](auto... index) { return at(c.data_as<std::int16_t>(), c, index...); };
    engine_->eval(Expr(a) + Expr(b), out);
    expect_elements(out, [&](auto... index) { return of_a(index...) + of_b(index...); });
    // Two that are gathered, of two sizes, and a number.
    engine_->eval(Expr(a) * 2 - Expr(c), out);
    expect_elements(out, [&](auto... index) { return of_a(index...) * 2 - of_c(index...); });
    // One is the same along the rows.
    engine_->eval(Expr(a) + Expr(b.narrow(2, 0, 1)), out);
    expect_elements(out, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return of_a(i, j, k) + of_b(i, j, std::int64_t{0});
    });
  });
}

// What is the same along any of the dimensions, alone and with others.
TEST_P(ShortRows, WithWhatIsBroadcast) {
  for_planes<float>([&](const Tensor& a) {
    const Tensor all = numbered<float>(Sizes(a.sizes().begin(), a.sizes().end()));
    const Tensor out = new_tensor(Sizes(a.sizes().begin(), a.sizes().end()), DType::f32);
    const auto part = [&](int which) {
      Tensor bias = all;
      for (int dim = 0; dim < 3; ++dim)
        if ((which >> dim & 1) == 0) bias = bias.narrow(dim, 0, 1);
      return bias;
    };
    const auto of = [](const Tensor& x, std::int64_t i, std::int64_t j, std::int64_t k) {
      const auto at = [&](int dim, std::int64_t index) {
        return x.size(dim) == 1 ? 0 : index * x.stride(dim);
      };
      return x.data_as<float>()[at(0, i) + at(1, j) + at(2, k)];
    };
    for (int which = 0; which < 8; ++which) {
      const Tensor bias = part(which), other = part(which * 3 % 8);
      SCOPED_TRACE(which);
      engine_->eval(Expr(a) + Expr(bias), out);
      expect_elements(out, [&](auto... index) { return of(a, index...) + of(bias, index...); });
      engine_->eval((Expr(a) - Expr(bias)) * Expr(other) + 1, out);
      expect_elements(out, [&](auto... index) {
        return (of(a, index...) - of(bias, index...)) * of(other, index...) + 1;
      });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, ShortRows, ::testing::Values("interp", "xbyak", "llvm"));

}  // namespace
}  // namespace weft::testing
