// InlineArray: a small resizable array whose first `capacity` elements need no heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace [[gnu::visibility("default")]] weft {

/// New elements are default-initialised: numbers are left as they are in memory, because planning
/// fills every element that it makes and runs in nanoseconds.
template <class T, std::size_t capacity>
class InlineArray {
 public:
  InlineArray() : data_(inline_data()) {}
  explicit InlineArray(std::size_t size) : InlineArray() { resize(size); }
  InlineArray(std::initializer_list<T> values) : InlineArray(std::span<const T>(values)) {}
  explicit InlineArray(std::span<const T> values) : InlineArray() {
    reserve(values.size());
    std::uninitialized_copy(values.begin(), values.end(), data_);
    size_ = values.size();
  }
  InlineArray(const InlineArray& other) : InlineArray() {
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (other.is_inline()) {
        copy_inline(other);
        return;
      }
    }
    reserve(other.size_);
    std::uninitialized_copy(other.begin(), other.end(), data_);
    size_ = other.size_;
  }
  InlineArray(InlineArray&& other) noexcept : InlineArray() { take(std::move(other)); }
  InlineArray& operator=(const InlineArray& other) {
    if (this != &other) *this = InlineArray(other);
    return *this;
  }
  InlineArray& operator=(InlineArray&& other) noexcept {
    if (this != &other) {
      release();
      take(std::move(other));
    }
    return *this;
  }
  ~InlineArray() {
    if (std::is_trivially_destructible_v<T> ? !is_inline() : size_ != 0 || !is_inline())
        [[unlikely]]
      destroy();
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void resize(std::size_t size) {
    reserve(size);
    if (size > size_) std::uninitialized_default_construct(data_ + size_, data_ + size);
    if (size < size_) std::destroy(data_ + size, data_ + size_);
    size_ = size;
  }
  /// As resize().   Requires: size <= capacity, and that T is a number or made of such.
  void resize_inline(std::size_t size) {
    static_assert(std::is_trivially_copyable_v<T>);
    size_ = size;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) [[unlikely]]
      reserve(2 * std::size_t{capacity_});
    T* added = std::construct_at(data_ + size_, std::forward<Args>(args)...);
    ++size_;
    return *added;
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  /// Room for `count` more elements, to be written.
  T* append(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (size_ + count > capacity_) [[unlikely]]
      grow(2 * (size_ + count));
    T* const room = data_ + size_;
    size_ += count;
    return room;
  }
  void pop_back() { resize(size_ - 1); }
  void erase(std::size_t index) {
    std::move(data_ + index + 1, data_ + size_, data_ + index);
    resize(size_ - 1);
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(bytes_); }
  bool is_inline() const { return capacity_ == capacity; }

  void reserve(std::size_t size) {
    if (size > capacity_) [[unlikely]]
      grow(size);
  }
  [[gnu::noinline]] void grow(std::size_t size) {
    T* grown = std::allocator<T>().allocate(size);
    std::uninitialized_move(data_, data_ + size_, grown);
    const std::size_t kept = size_;
    release();
    data_ = grown;
    size_ = static_cast<std::uint32_t>(kept);
    capacity_ = static_cast<std::uint32_t>(size);
  }
  /// Out of line, so that the common case, where there is nothing to do, costs one comparison.
  [[gnu::noinline]] void destroy() { release(); }
  /// Leaves an empty array in place.
  void release() {
    std::destroy(data_, data_ + size_);
    if (!is_inline()) [[unlikely]]
      std::allocator<T>().deallocate(data_, capacity_);
    data_ = inline_data();
    size_ = 0;
    capacity_ = capacity;
  }
  /// Requires: both are inline.
  void copy_inline(const InlineArray& other) noexcept {
    // A constant size beats a call with the right one.
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    size_ = other.size_;
  }
  /// Leaves `other` empty.   Requires: this array is empty and inline.
  void take(InlineArray&& other) noexcept {
    if (other.is_inline()) {
      if constexpr (std::is_trivially_copyable_v<T>) {
        copy_inline(other);
      } else {
        std::uninitialized_move(other.data_, other.data_ + other.size_, data_);
        size_ = other.size_;
        std::destroy(other.data_, other.data_ + other.size_);
      }
      other.size_ = 0;
      return;
    }
    data_ = std::exchange(other.data_, other.inline_data());
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, capacity);
  }

  T* data_;
  // In this order one store of a small constant sets both, and most arrays are never touched again.
  std::uint32_t capacity_ = capacity;  ///< larger than `capacity` exactly when the heap is used
  std::uint32_t size_ = 0;
  alignas(T) std::byte bytes_[capacity * sizeof(T)];
};

}  // namespace weft
