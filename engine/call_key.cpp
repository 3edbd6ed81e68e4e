#include "engine/call_key.h"

#include "engine/tensor_impl.h"
#include "runtime/hash.h"

#include <boost/container/small_vector.hpp>

#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

enum class WordKind : std::uint64_t {
  eager = 1,
  expressions,
  undefined,
  layout,
  aliased,
  leaf,
  number,
  cast,
  op
};

constexpr std::uint64_t word(WordKind kind, std::uint64_t low = 0, std::uint64_t middle = 0,
                             std::uint64_t high = 0) {
  return static_cast<std::uint64_t>(kind) << 56 | high << 40 | middle << 20 | low;
}

/// What of a view is neither a size nor a stride, in one word.
std::uint64_t layout_word(const TensorImpl& impl) {
  const Storage& storage = *impl.storage;
  const std::uint64_t bits = static_cast<std::uint64_t>(impl.is_conj) |
                             static_cast<std::uint64_t>(impl.is_neg) << 1 |
                             static_cast<std::uint64_t>(impl.is_zero) << 2 |
                             static_cast<std::uint64_t>(storage.data() == nullptr) << 3 |
                             static_cast<std::uint64_t>(storage.device().type) << 4;
  return word(WordKind::layout, static_cast<std::uint64_t>(impl.dtype), impl.sizes.size(), bits);
}

// Part of each cached call, where its own call would be a tenth of it.
[[gnu::always_inline]] inline void add_layout(CallKey& key, const Tensor& tensor) {
  if (!tensor.defined()) {
    key.words.push_back(word(WordKind::undefined));
    return;
  }
  const TensorImpl& impl = *tensor.impl();
  const std::size_t ndim = impl.sizes.size();
  std::uint64_t* const room = key.words.append(1 + 2 * ndim);
  room[0] = layout_word(impl);
  if (ndim <= Dims::inline_capacity) [[likely]] {
    // Copies of constant length are a few moves; what is too much of them is overwritten.
    constexpr std::size_t block_bytes = Dims::inline_capacity * sizeof(std::uint64_t);
    static_assert(Dims::inline_capacity <= decltype(key.words)::scratch);
    std::memcpy(room + 1, impl.sizes.data(), block_bytes);
    std::memcpy(room + 1 + ndim, impl.strides.data(), block_bytes);
  } else {
    std::memcpy(room + 1, impl.sizes.data(), ndim * sizeof(std::uint64_t));
    std::memcpy(room + 1 + ndim, impl.strides.data(), ndim * sizeof(std::uint64_t));
  }
}

/// Whether two storages are made of the same memory, as two borrowed ones can be.
bool share_bytes(const Storage& a, const Storage& b) {
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a.data());
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b.data());
  return a_begin < b_begin + b.size_bytes() && b_begin < a_begin + a.size_bytes();
}

/// Which two operands: an output and the input whose layout came last, or two outputs.
struct Pair {
  std::size_t output;
  std::size_t other_output = 0xffff;
};

/// Where `a` and `b`, which share memory, lie relative to each other.
[[gnu::noinline]] void add_distance(CallKey& key, const Tensor& a, const Tensor& b, Pair pair) {
  const TensorImpl& x = *a.impl();
  const TensorImpl& y = *b.impl();
  const auto offset_bytes = [](const TensorImpl& impl) {
    return impl.storage_offset * static_cast<std::int64_t>(itemsize_bytes(impl.dtype));
  };
  const std::uint64_t between_storages = reinterpret_cast<std::uintptr_t>(x.storage->data()) -
                                         reinterpret_cast<std::uintptr_t>(y.storage->data());
  const std::uint64_t bits = static_cast<std::uint64_t>(a.is_same(b)) |
                             static_cast<std::uint64_t>(x.storage == y.storage) << 1;
  key.words.push_back(word(WordKind::aliased, bits, pair.output, pair.other_output));
  key.words.push_back(between_storages +
                      static_cast<std::uint64_t>(offset_bytes(x) - offset_bytes(y)));
}

/// Adds where the memory of `a` and `b` lies, as far as overlap depends on it; nothing if it is
/// apart.
void add_aliasing(CallKey& key, const Tensor& a, const Tensor& b, Pair pair) {
  if (!a.defined() || !b.defined()) return;
  const Storage* x = a.impl()->storage.get();
  const Storage* y = b.impl()->storage.get();
  if (x == y || share_bytes(*x, *y)) add_distance(key, a, b, pair);
}

std::size_t add_input(CallKey& key, const Tensor& tensor) {
  std::size_t index = 0;
  while (index < key.inputs.size() && !key.inputs[index]->is_same(tensor)) ++index;
  if (index == key.inputs.size()) key.inputs.push_back(&tensor);
  return index;
}

/// Numbers nodes in the order in which they are completed.
class NodeIndex {
 public:
  /// The node's number, or -1.
  std::int64_t find(const ExprNode* node) const {
    if (!map_.empty()) {
      const auto it = map_.find(node);
      return it == map_.end() ? -1 : it->second;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i] == node) return static_cast<std::int64_t>(i);
    return -1;
  }
  void add(const ExprNode* node) {
    if (nodes_.size() < linear_limit) {
      nodes_.push_back(node);
      return;
    }
    if (map_.empty())
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        map_.emplace(nodes_[i], static_cast<std::int64_t>(i));
    map_.emplace(node, static_cast<std::int64_t>(map_.size()));
  }

 private:
  static constexpr std::size_t linear_limit = 32;  ///< up to here a scan beats a hash map
  boost::container::small_vector<const ExprNode*, linear_limit> nodes_;
  std::unordered_map<const ExprNode*, std::int64_t> map_;
};

void add_node(CallKey& key, const NodeIndex& index, const ExprNode& node) {
  switch (node.kind) {
    case ExprNode::Kind::tensor:
      key.words.push_back(word(WordKind::leaf, add_input(key, node.tensor)));
      return;
    case ExprNode::Kind::scalar:
      // Its kind decides promotion; its value is an argument.
      key.words.push_back(word(WordKind::number, static_cast<std::uint64_t>(node.scalar.kind())));
      key.numbers.push_back(&node);
      return;
    case ExprNode::Kind::cast:
      key.words.push_back(word(WordKind::cast, static_cast<std::uint64_t>(node.dtype)));
      break;
    case ExprNode::Kind::op:
      key.words.push_back(
          word(WordKind::op, static_cast<std::uint64_t>(node.op), node.args.size()));
      break;
  }
  for (const auto& arg : node.args)
    key.words.push_back(static_cast<std::uint64_t>(index.find(arg.get())));
}

}  // namespace

std::uint64_t CallKey::hash() const { return hash_pairs(words.data(), words.size()); }

void make_key(CallKey& key, Op op, std::span<const Tensor* const> inputs, const Tensor& output) {
  key.words.push_back(word(WordKind::eager, static_cast<std::uint64_t>(op), inputs.size()));
  add_layout(key, output);
  for (const Tensor* input : inputs) {
    const std::size_t known = key.inputs.size();
    const std::size_t index = add_input(key, *input);
    if (index < known) {
      key.words.push_back(word(WordKind::leaf, index));
    } else {
      add_layout(key, *input);
      add_aliasing(key, output, *input, {0});
    }
  }
}

void make_key(CallKey& key, std::span<const Expr> exprs, std::span<const Tensor> outputs) {
  key.words.push_back(word(WordKind::expressions, exprs.size()));
  NodeIndex index;
  boost::container::small_vector<std::pair<const ExprNode*, bool>, 32> pending;
  for (const Expr& expr : exprs) {
    pending.emplace_back(&expr.node(), false);
    while (!pending.empty()) {
      const auto [node, arguments_done] = pending.back();
      if (index.find(node) >= 0) {
        pending.pop_back();
      } else if (arguments_done || node->args.empty()) {
        add_node(key, index, *node);
        index.add(node);
        pending.pop_back();
      } else {
        pending.back().second = true;
        for (std::size_t i = node->args.size(); i-- > 0;)
          pending.emplace_back(node->args[i].get(), false);
      }
    }
    key.words.push_back(static_cast<std::uint64_t>(index.find(&expr.node())));
  }
  for (const Tensor& output : outputs) add_layout(key, output);
  for (const Tensor* input : key.inputs) {
    add_layout(key, *input);
    for (std::size_t i = 0; i < outputs.size(); ++i) add_aliasing(key, outputs[i], *input, {i});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) add_aliasing(key, outputs[i], outputs[j], {i, j});
}

}  // namespace weft
