// The raw key of a call: operands' layouts, dtypes and aliasing as given, and the expression's
// structure. Two calls with equal keys have the same plan, so a repeated call skips the iterator.
#pragma once

#include "engine/expr_node.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace weft {

/// Words or pointers in a row, some dozen of them without the heap.  Room is taken first and
/// written then, so that writing needs no look at the capacity.
template <class T, std::size_t inline_capacity>
class KeyArray {
 public:
  KeyArray() = default;
  KeyArray(const KeyArray&) = delete;
  KeyArray& operator=(const KeyArray&) = delete;

  void push_back(T item) { *append(1) = item; }
  /// Room for `count` more items, to be written.
  T* append(std::size_t count) {
    if (size_ + count > capacity_) [[unlikely]]
      grow(count);
    T* const room = data_ + size_;
    size_ += count;
    return room;
  }
  std::size_t size() const { return size_; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T operator[](std::size_t index) const { return data_[index]; }

 private:
  [[gnu::noinline]] void grow(std::size_t count) {
    capacity_ = 2 * (size_ + count);
    auto larger = std::make_unique<T[]>(capacity_);
    std::copy(begin(), end(), larger.get());
    heap_ = std::move(larger);
    data_ = heap_.get();
  }

  std::size_t size_ = 0;
  std::size_t capacity_ = inline_capacity;
  T* data_ = inline_;
  std::unique_ptr<T[]> heap_;
  T inline_[inline_capacity];  // NOLINT: what is not written is not read
};

/// Words that describe the call, and the tensors and numbers that it was made of, in key order.
struct CallKey {
  KeyArray<std::uint64_t, 64> words;
  KeyArray<const Tensor*, 8> inputs;     ///< distinct by view
  KeyArray<const ExprNode*, 8> numbers;  ///< Kind::scalar, in order of first use

  std::uint64_t hash() const;
};

/// One op on tensors.  Op::load stands for a copy.
struct EagerCall {
  Op op;
  std::span<const Tensor* const> inputs;
  const Tensor& output;  ///< undefined: a new one
};

/// Key and hash of such a call; the hash is not CallKey::hash(), but told from the tensors.
void make_key(CallKey& key, const EagerCall& call);
std::uint64_t hash_of(const EagerCall& call);
/// Whether make_key() gives these words.  If so, `distinct` gets what CallKey::inputs would be, and
/// has room for as many as there are inputs.
bool is_key_of(const EagerCall& call, std::span<const std::uint64_t> words,
               const Tensor** distinct);

/// Key of expressions; `outputs[i]` may be undefined.
void make_key(CallKey& key, std::span<const Expr> exprs, std::span<const Tensor> outputs);

}  // namespace weft
