// The raw key of a call: operands' layouts, dtypes and aliasing as given, and the expression's
// structure. Two calls with equal keys have the same plan, so a repeated call skips the iterator.
#pragma once

#include "engine/expr_node.h"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace weft {

/// Words in a row, some dozen of them without the heap.  Room is taken first and written then, so
/// that writing needs no look at the capacity.
class KeyWords {
 public:
  KeyWords() = default;
  KeyWords(const KeyWords&) = delete;
  KeyWords& operator=(const KeyWords&) = delete;

  void push_back(std::uint64_t word) { *append(1) = word; }
  /// Room for `count` more words, to be written, and for as many behind them as are scratch to
  /// whoever writes whole blocks.
  std::uint64_t* append(std::size_t count) {
    if (size_ + count + scratch > capacity_) [[unlikely]]
      grow(count);
    std::uint64_t* const room = data_ + size_;
    size_ += count;
    return room;
  }
  std::size_t size() const { return size_; }
  const std::uint64_t* data() const { return data_; }

  static constexpr std::size_t scratch = 8;

 private:
  void grow(std::size_t count);

  std::size_t size_ = 0;
  std::size_t capacity_ = inline_capacity;
  std::uint64_t* data_ = inline_;
  std::unique_ptr<std::uint64_t[]> heap_;
  static constexpr std::size_t inline_capacity = 64;
  std::uint64_t inline_[inline_capacity];  // NOLINT: what is not written is not read
};

/// Words that describe the call, and the tensors and numbers that it was made of, in key order.
struct CallKey {
  KeyWords words;
  boost::container::small_vector<const Tensor*, 8> inputs;  ///< distinct by view
  boost::container::small_vector<const ExprNode*, 8>
      numbers;  ///< Kind::scalar, in order of first use

  std::uint64_t hash() const;
};

/// Key of one op on tensors.  Op::load stands for a copy.
void make_key(CallKey& key, Op op, std::span<const Tensor* const> inputs, const Tensor& output);
/// Key of expressions; `outputs[i]` may be undefined.
void make_key(CallKey& key, std::span<const Expr> exprs, std::span<const Tensor> outputs);

}  // namespace weft
