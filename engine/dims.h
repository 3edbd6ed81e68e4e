// Dims: the sizes or strides of one tensor, up to six of them without an allocation.
//
// Not boost::container::small_vector: GCC 12 warns about its moves (-Wstringop-overread), and its
// iterators are not contiguous for std::span.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

namespace weft {

class Dims {
 public:
  static constexpr std::size_t inline_capacity = 6;

  Dims() = default;
  explicit Dims(std::size_t count, std::int64_t value = 0) {
    set_size(count);
    std::fill(begin(), end(), value);
  }
  Dims(const std::int64_t* first, const std::int64_t* last) { assign(first, last); }
  Dims(std::initializer_list<std::int64_t> values) : Dims(values.begin(), values.end()) {}
  explicit Dims(std::span<const std::int64_t> values)
      : Dims(values.data(), values.data() + values.size()) {}
  Dims(const Dims& other) : inline_(other.inline_), size_(other.size_) {
    if (other.heap_) copy_heap(other);
  }
  Dims(Dims&& other) noexcept : inline_(other.inline_), size_(other.size_) {
    if (other.heap_) take_heap(other);
  }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    inline_ = other.inline_;
    size_ = other.size_;
    if (other.heap_)
      take_heap(other);
    else
      data_ = inline_.data();
    return *this;
  }
  ~Dims() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* data() { return data_; }
  const std::int64_t* data() const { return data_; }
  std::int64_t* begin() { return data(); }
  std::int64_t* end() { return data() + size_; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + size_; }
  std::int64_t& operator[](std::size_t index) { return data()[index]; }
  std::int64_t operator[](std::size_t index) const { return data()[index]; }
  std::int64_t& back() { return data()[size_ - 1]; }
  std::int64_t back() const { return data()[size_ - 1]; }

  void assign(const std::int64_t* first, const std::int64_t* last) {
    set_size(static_cast<std::size_t>(last - first));
    std::copy(first, last, begin());
  }
  /// New elements are 0.
  void resize(std::size_t count) {
    const std::size_t old_count = size_;
    set_size(count);
    for (std::size_t i = old_count; i < count; ++i) data_[i] = 0;
  }
  void push_back(std::int64_t value) {
    set_size(size_ + 1);
    back() = value;
  }
  void pop_back() { --size_; }
  void insert_at(std::size_t index, std::int64_t value) {
    push_back(value);
    std::rotate(begin() + index, end() - 1, end());
  }
  void erase_at(std::size_t index) {
    std::copy(begin() + index + 1, end(), begin() + index);
    --size_;
  }

  friend bool operator==(const Dims& a, const Dims& b) { return std::ranges::equal(a, b); }

 private:
  void set_size(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = static_cast<std::uint32_t>(size);
  }
  void grow(std::size_t size) {
    const std::size_t capacity = std::max<std::size_t>(size, 2 * capacity_);
    auto larger = std::make_unique<std::int64_t[]>(capacity);
    std::copy(begin(), end(), larger.get());
    heap_ = std::move(larger);
    data_ = heap_.get();
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void copy_heap(const Dims& other) {
    heap_ = std::make_unique<std::int64_t[]>(other.capacity_);
    data_ = heap_.get();
    capacity_ = other.capacity_;
    std::copy(other.begin(), other.end(), data_);
  }
  void take_heap(Dims& other) {
    heap_ = std::move(other.heap_);
    data_ = heap_.get();
    capacity_ = std::exchange(other.capacity_, inline_capacity);
    other.data_ = other.inline_.data();
    other.size_ = 0;
  }

  std::array<std::int64_t, inline_capacity> inline_{};
  std::int64_t* data_ = inline_.data();  ///< inline_ or heap_
  std::unique_ptr<std::int64_t[]> heap_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = inline_capacity;
};

}  // namespace weft
