// What sizes the values of expressions have.
#include "engine/expression/expr_node.h"
#include "engine/expression/walk.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>
#include <weft/iterator.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace weft {
namespace {

/// Errors: ArgumentError, which says what the argument is.
Dims broadcast_with(const Dims& sizes, const Dims& other, const Expr& argument) {
  const IntSpan own(sizes.data(), sizes.size()), more(other.data(), other.size());
  try {
    return Dims(IntSpan(infer_size(own, more)));
  } catch (const ArgumentError& error) {
    throw ArgumentError(detail::concat(error.what(), ": tensor b is ", short_text(argument), ", ",
                                       name(argument.dtype()), dims_text(more), ", beside ",
                                       dims_text(own)));
  }
}

[[noreturn]] void throw_outdated(std::string_view what, IntSpan before, IntSpan now) {
  throw ArgumentError(detail::concat(
      "an expression was made of ", what, " with sizes ", dims_text(before), ", which are ",
      dims_text(now), " now: a tensor in it has been resized; make the expression again"));
}

}  // namespace

Dims sizes_of(const ExprNode& root) {
  // Most often a tensor, perhaps converted: no table is needed to find that out.
  const ExprNode* first = &root;
  while (first->kind != ExprNode::Kind::fold && first->args.size() == 1)
    first = first->args[0].get();
  if (first->kind == ExprNode::Kind::tensor) return first->tensor.impl()->sizes;
  if (first->kind == ExprNode::Kind::fold) return first->fold->sizes;
  SizesOfNodes known;
  return sizes_of(root, known);
}

const Dims& sizes_of(const ExprNode& root, SizesOfNodes& known) {
  std::vector<const ExprNode*> pending{&root};
  while (!pending.empty()) {
    const ExprNode* const node = pending.back();
    const std::size_t num_before = pending.size();
    if (!known.contains(node) && node->kind != ExprNode::Kind::fold)
      for (const auto& arg : node->args)
        if (!known.contains(arg.get())) pending.push_back(arg.get());
    if (pending.size() > num_before) continue;
    pending.pop_back();
    if (known.contains(node)) continue;
    Dims sizes;
    if (node->kind == ExprNode::Kind::tensor) {
      sizes = node->tensor.impl()->sizes;
    } else if (node->kind == ExprNode::Kind::fold) {
      sizes = node->fold->sizes;
    } else {
      for (const auto& arg : node->args)
        sizes = broadcast_with(sizes, known.at(arg.get()), Expr(arg));
    }
    known[node] = std::move(sizes);
  }
  return known.at(&root);
}

void check_is_current(std::span<const Expr> exprs) {
  SizesOfNodes known;
  for_each_node(nodes_of(exprs), [&](const ExprNode& node) {
    if (node.kind == ExprNode::Kind::fold) {
      const IntSpan before = node.fold->arg_sizes, now = sizes_of(*node.args[0], known);
      if (!std::ranges::equal(before, now))
        throw_outdated(detail::concat(node.fold->name, "() of a tensor"), before, now);
    } else if (node.kind == ExprNode::Kind::tensor &&
               node.layout_version != node.tensor.impl()->layout_version) {
      WEFT_CHECK(node.category == operand_category(node.tensor), ArgumentError,
                 "an expression was made of a tensor ",
                 node.category == OperandCategory::zero_dim ? "without" : "with",
                 " dimensions, which decides its dtype, but that has been resized: it is ",
                 describe(node.tensor), "; make the expression again");
    }
    return true;
  });
}

}  // namespace weft
