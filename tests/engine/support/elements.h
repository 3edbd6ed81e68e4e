// Elements of tensors by plain index arithmetic, for tests of the engine: nothing here uses the
// iterator or a kernel.
#pragma once

#include "tests/ir/random_kernel.h"

#include <weft/convert.h>
#include <weft/tensor.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace weft::testing {

using Random = ir::Random;
using Sizes = std::vector<std::int64_t>;

inline Tensor new_tensor(const Sizes& sizes, DType dtype,
                         MemoryFormat format = MemoryFormat::contiguous) {
  return empty(IntSpan(sizes), TensorOptions{dtype, {}, format});
}

/// Address of the element with this row-major number.
inline std::byte* element(const Tensor& tensor, std::int64_t number) {
  const IntSpan sizes = tensor.sizes(), strides = tensor.strides();
  std::int64_t offset = 0;
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    offset += number % sizes[dim] * strides[dim];
    number /= sizes[dim];
  }
  return tensor.data() + offset * static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
}

template <class T>
T get(const Tensor& tensor, std::int64_t number) {
  T value;
  std::memcpy(static_cast<void*>(&value), element(tensor, number), sizeof value);
  return value;
}

template <class T>
void put(const Tensor& tensor, std::int64_t number, T value) {
  std::memcpy(element(tensor, number), static_cast<const void*>(&value), sizeof value);
}

/// A contiguous tensor of these values; one dimension unless `sizes` are given.
template <class T>
Tensor tensor_of(const std::vector<T>& values, const Sizes& sizes) {
  const Tensor result = new_tensor(sizes, dtype_of<T>);
  for (std::size_t i = 0; i < values.size(); ++i)
    put<T>(result, static_cast<std::int64_t>(i), values[i]);
  return result;
}
template <class T>
Tensor tensor_of(const std::vector<T>& values) {
  return tensor_of(values, {static_cast<std::int64_t>(values.size())});
}

template <class T>
Tensor scalar_tensor(T value) {
  return tensor_of(std::vector<T>{value}, {});
}

/// The elements in row-major order.
template <class T>
std::vector<T> elements(const Tensor& tensor) {
  EXPECT_EQ(tensor.dtype(), dtype_of<T>);
  std::vector<T> result;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) result.push_back(get<T>(tensor, i));
  return result;
}

/// Gives every element of the view a random value, special ones among them.
inline void randomise(const Tensor& tensor, Random& random) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const Bits bits = ir::random_bits(random, tensor.dtype());
    std::memcpy(element(tensor, i), &bits, itemsize_bytes(tensor.dtype()));
  }
}

/// Whether two elements are equal bit for bit, or in each part either equal or both NaN.
inline bool same_element(const std::byte* a, const std::byte* b, DType dtype) {
  if (std::memcmp(a, b, itemsize_bytes(dtype)) == 0) return true;
  if (is_integral(dtype)) return false;
  const DType part = real_dtype(dtype);
  const std::size_t size = itemsize_bytes(part);
  for (std::size_t at = 0; at < itemsize_bytes(dtype); at += size) {
    const bool both_nan = visit_dtype(part, [&]<class T>(std::type_identity<T>) {
      T x, y;
      std::memcpy(static_cast<void*>(&x), a + at, sizeof x);
      std::memcpy(static_cast<void*>(&y), b + at, sizeof y);
      return std::isnan(convert<double>(x)) && std::isnan(convert<double>(y));
    });
    if (!both_nan && std::memcmp(a + at, b + at, size) != 0) return false;
  }
  return true;
}

inline std::string bits_text(const std::byte* at, DType dtype) {
  std::string result;
  for (std::size_t i = itemsize_bytes(dtype); i-- > 0;) {
    constexpr char digits[] = "0123456789abcdef";
    const auto byte = std::to_integer<unsigned>(at[i]);
    result += {digits[byte >> 4], digits[byte & 15]};
  }
  return result;
}

/// Success if sizes, dtypes and all elements agree.
inline ::testing::AssertionResult same_tensor(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype() != expected.dtype() || !std::ranges::equal(actual.sizes(), expected.sizes()))
    return ::testing::AssertionFailure()
           << describe(actual) << " where " << describe(expected) << " is expected";
  // Most often they are, and one element after the other takes long.
  const auto num_bytes = static_cast<std::size_t>(actual.numel()) * itemsize_bytes(actual.dtype());
  if (num_bytes > 0 && actual.is_contiguous() && expected.is_contiguous() &&
      std::memcmp(actual.data(), expected.data(), num_bytes) == 0)
    return ::testing::AssertionSuccess();
  for (std::int64_t i = 0; i < actual.numel(); ++i) {
    if (same_element(element(actual, i), element(expected, i), actual.dtype())) continue;
    return ::testing::AssertionFailure()
           << "element " << i << " of " << describe(actual) << " is 0x"
           << bits_text(element(actual, i), actual.dtype()) << " where 0x"
           << bits_text(element(expected, i), actual.dtype()) << " is expected";
  }
  return ::testing::AssertionSuccess();
}

/// The bytes of the whole storage, to see what a call has touched.
inline std::vector<std::byte> storage_bytes(const Tensor& tensor) {
  const std::byte* const data = tensor.storage()->data();
  return {data, data + tensor.storage()->size_bytes()};
}

}  // namespace weft::testing
