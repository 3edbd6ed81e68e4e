// Dims: the sizes or strides of one tensor, up to six of them without an allocation.
#pragma once

#include <weft/inline_array.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace weft {

/// An InlineArray whose new elements are 0, or the value given.
class Dims : public InlineArray<std::int64_t, 6> {
  using Base = InlineArray<std::int64_t, 6>;

 public:
  using Base::Base;
  explicit Dims(std::size_t count, std::int64_t value = 0) : Base(count) {
    std::fill(begin(), end(), value);
  }
  Dims(const std::int64_t* first, const std::int64_t* last)
      : Base(std::span<const std::int64_t>(first, last)) {}

  void resize(std::size_t count) {
    const std::size_t old_count = size();
    Base::resize(count);
    if (count > old_count) std::fill(begin() + old_count, end(), 0);
  }
  void insert_at(std::size_t index, std::int64_t value) {
    push_back(value);
    std::rotate(begin() + index, end() - 1, end());
  }

  friend bool operator==(const Dims& a, const Dims& b) { return std::ranges::equal(a, b); }
};

/// a * b where only a layout without elements, or one that no memory holds, leaves 64 bits.
constexpr std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Elements of a shape, as far as 64 bits count them.
constexpr std::int64_t numel_of(std::span<const std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count = wrapping_product(count, size);
  return count;
}

/// a * b and a + b of what is not negative, at most the largest number: bytes and elements that
/// layouts with strides of 0 have without any memory.
constexpr std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}
constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

/// Elements of a layout, those of dimensions with a stride of 0 once; the largest number where they
/// are more.
constexpr std::int64_t num_touched(std::span<const std::int64_t> sizes,
                                   std::span<const std::int64_t> strides) {
  std::int64_t count = 1;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim)
    if (strides[dim] != 0 || sizes[dim] == 0) count = saturating_product(count, sizes[dim]);
  return count;
}

}  // namespace weft
