#include "engine/plan/call_key.h"

#include "engine/expression/node_index.h"
#include "engine/expression/program.h"
#include "engine/expression/walk.h"
#include "engine/plan/call_match.h"
#include "runtime/hash.h"

namespace weft {
namespace {

// A call is described in pairs of words, to one of two listeners: the first appends them to a key,
// the second compares them with one.  That and the hash are what a cached call pays, so neither
// stores anything.

struct Append {
  CallKey& key;
  bool expects(std::size_t) { return true; }
  void pair(std::uint64_t a, std::uint64_t b) {
    std::uint64_t* const room = key.words.append(2);
    room[0] = a;
    room[1] = b;
  }
};

struct Compare {
  const std::uint64_t* at;
  const std::uint64_t* end;
  std::uint64_t difference = 0;
  /// Whether so many pairs may come.
  bool expects(std::size_t num_pairs) {
    if (static_cast<std::size_t>(end - at) >= 2 * num_pairs) return true;
    difference = 1;
    at = end;  // none of what follows is expected either
    return false;
  }
  void pair(std::uint64_t a, std::uint64_t b) {
    difference |= (at[0] ^ a) | (at[1] ^ b);
    at += 2;
  }
  bool is_equal() const { return difference == 0 && at == end; }
};

template <class Listener>
[[gnu::always_inline]] inline void describe_layout(Listener& listener, const Tensor& tensor) {
  if (!tensor.defined()) {
    if (listener.expects(1)) listener.pair(word(WordKind::undefined), 0);
    return;
  }
  const TensorImpl& impl = *tensor.impl();
  const std::size_t ndim = impl.sizes.size();
  if (!listener.expects(1 + ndim)) return;
  listener.pair(layout_word(impl), ndim);
  const std::int64_t* const sizes = impl.sizes.data();
  const std::int64_t* const strides = impl.strides.data();
  for (std::size_t i = 0; i < ndim; ++i)
    listener.pair(static_cast<std::uint64_t>(sizes[i]), static_cast<std::uint64_t>(strides[i]));
}

/// Which two operands: an output and the input whose layout came last, or two outputs.
struct Pair {
  std::size_t output;
  std::size_t other_output = 0xffff;
};

/// Where the memory of `a` and `b` lies, as far as overlap depends on it; nothing if it is apart.
template <class Listener>
[[gnu::always_inline]] inline void describe_aliasing(Listener& listener, const Tensor& a,
                                                     const Tensor& b, Pair pair) {
  if (!a.defined() || !b.defined()) return;
  const TensorImpl& x = *a.impl();
  const TensorImpl& y = *b.impl();
  if (!share_bytes(*x.storage, *y.storage)) [[likely]]
    return;
  if (!listener.expects(1)) return;
  const auto begin = [](const TensorImpl& impl) {
    return reinterpret_cast<std::uintptr_t>(impl.storage->data()) +
           static_cast<std::uint64_t>(impl.storage_offset) * itemsize_bytes(impl.dtype);
  };
  const std::uint64_t bits = static_cast<std::uint64_t>(a.is_same(b)) |
                             static_cast<std::uint64_t>(x.storage == y.storage) << 1;
  listener.pair(word(WordKind::aliased, bits, pair.output, pair.other_output), begin(x) - begin(y));
}

/// Tells `distinct(tensor)` of each view that comes for the first time.
template <class Listener, class Distinct>
[[gnu::always_inline]] inline void describe(Listener& listener, const EagerCall& call,
                                            const Distinct& distinct) {
  if (!listener.expects(1)) return;
  listener.pair(word(WordKind::eager), eager_word(call));
  describe_layout(listener, call.output);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& input = *call.inputs[i];
    std::size_t first = 0;
    while (!call.inputs[first]->is_same(input)) ++first;
    if (first < i) {
      if (listener.expects(1)) listener.pair(word(WordKind::leaf), first);
      continue;
    }
    distinct(input);
    describe_layout(listener, input);
    describe_aliasing(listener, call.output, input, {0});
  }
}

std::size_t add_input(CallKey& key, const Tensor& tensor) {
  std::size_t index = 0;
  while (index < key.inputs.size() && !key.inputs[index]->is_same(tensor)) ++index;
  if (index == key.inputs.size()) key.inputs.push_back(&tensor);
  return index;
}

void add_node(CallKey& key, const NodeIndex& index, const ExprNode& node) {
  switch (node.kind) {
    case ExprNode::Kind::tensor:
      key.has_resized |= node.layout_version != node.tensor.impl()->layout_version;
      key.words.push_back(word(WordKind::leaf, add_input(key, node.tensor)));
      return;
    case ExprNode::Kind::scalar:
      // Its kind decides promotion, and whether i64 holds it what is refused; its value is an
      // argument.
      key.words.push_back(word(WordKind::number, static_cast<std::uint64_t>(node.scalar.kind()),
                               static_cast<std::uint64_t>(is_beyond_i64(node.scalar))));
      key.numbers.push_back(&node);
      return;
    case ExprNode::Kind::cast:
      key.words.push_back(word(WordKind::cast, static_cast<std::uint64_t>(node.dtype),
                               static_cast<std::uint64_t>(node.is_step),
                               static_cast<std::uint64_t>(node.is_reduced)));
      break;
    case ExprNode::Kind::op:
      key.words.push_back(word(WordKind::op, static_cast<std::uint64_t>(node.op), node.args.size(),
                               static_cast<std::uint64_t>(may_divide_by_zero(node)) |
                                   static_cast<std::uint64_t>(node.is_reduced) << 1));
      break;
    case ExprNode::Kind::fold: {
      const FoldNode& fold = *node.fold;
      const auto form = static_cast<std::uint64_t>(fold.form) |
                        static_cast<std::uint64_t>(fold.keepdim) << 8 |
                        static_cast<std::uint64_t>(fold.is_reverse) << 9 |
                        static_cast<std::uint64_t>(fold.is_mean) << 10 |
                        static_cast<std::uint64_t>(fold.order) << 11;
      key.words.push_back(word(WordKind::fold, static_cast<std::uint64_t>(node.op), form));
      key.words.push_back(fold.dims);
      ++key.num_folds;
      break;
    }
  }
  for (const auto& arg : node.args)
    key.words.push_back(static_cast<std::uint64_t>(index.find(arg.get())));
}

}  // namespace

std::uint64_t CallKey::hash() const { return hash_pairs(words.data(), words.size()); }

void make_key(CallKey& key, const EagerCall& call) {
  Append listener{key};
  describe(listener, call, [&](const Tensor& input) { key.inputs.push_back(&input); });
}

bool is_key_of(const EagerCall& call, std::span<const std::uint64_t> words,
               const Tensor** distinct) {
  Compare listener{words.data(), words.data() + words.size()};
  describe(listener, call, [&](const Tensor& input) { *distinct++ = &input; });
  return listener.is_equal();
}

void make_key(CallKey& key, std::span<const Expr> exprs, std::span<const Tensor> outputs) {
  key.words.push_back(word(WordKind::expressions, exprs.size()));
  NodeIndex index;
  for (const Expr& expr : exprs) {
    for_each_in_order(
        &expr.node(), [&](const ExprNode* node) { return index.find(node) >= 0; },
        [&](const ExprNode* node) {
          add_node(key, index, *node);
          index.add(node);
        });
    key.words.push_back(static_cast<std::uint64_t>(index.find(&expr.node())));
  }
  // A key has no sizes that folds were made for, nor dtypes that tensors without dimensions gave.
  if (key.has_resized) [[unlikely]]
    check_is_current(exprs);
  Append listener{key};
  for (const Tensor& output : outputs) describe_layout(listener, output);
  for (const Tensor* input : key.inputs) {
    describe_layout(listener, *input);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      describe_aliasing(listener, outputs[i], *input, {i});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) describe_aliasing(listener, outputs[i], outputs[j], {i, j});
}

void add_to_key(CallKey& key, const PartOfCall& part) {
  if (part == PartOfCall()) return;
  Append{key}.pair(word(WordKind::part, part.writes_past_caches | part.folds_ask << 1),
                   static_cast<std::uint64_t>(part.ahead_bytes));
}

}  // namespace weft
