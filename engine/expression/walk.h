// Walks through expressions.  Their stacks are their own, so that depth costs no recursion.
#pragma once

#include "engine/expression/expr_node.h"

#include <weft/inline_array.h>

#include <span>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft {

/// Calls `visit(node)` for `root` and the nodes below, arguments before their users and from left
/// to right, as they are written: the mask of a masked_fill is the second.  What `is_known(node)`
/// is left out with all below it, and has to be true of what has been visited.
///
/// `Node` is a pointer, or the shared one where what is visited is kept.
template <class Node, class IsKnown, class Visit>
void for_each_in_order(Node root, const IsKnown& is_known, const Visit& visit) {
  InlineArray<std::pair<Node, bool>, 32> pending;
  pending.emplace_back(std::move(root), false);
  while (!pending.empty()) {
    const auto [node, arguments_done] = pending.back();
    if (is_known(node)) {
      pending.pop_back();
    } else if (arguments_done || node->args.empty()) {
      visit(node);
      pending.pop_back();
    } else {
      pending.back().second = true;
      const bool is_swapped = node->op == Op::masked_fill;  // which has its mask in front
      for (std::size_t i = node->args.size(); i-- > 0;) {
        const auto& arg = node->args[is_swapped && i < 2 ? 1 - i : i];
        if constexpr (std::is_pointer_v<Node>)
          pending.emplace_back(arg.get(), false);
        else
          pending.emplace_back(arg, false);
      }
    }
  }
}

/// Calls `visit(node)` for `pending` and the nodes below, each once, however many share it, and
/// goes on to the arguments of those for which it returns true.
template <class Visit>
void for_each_node(std::vector<const ExprNode*> pending, const Visit& visit) {
  std::unordered_set<const ExprNode*> seen;
  while (!pending.empty()) {
    const ExprNode* const node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second || !visit(*node)) continue;
    for (const auto& arg : node->args) pending.push_back(arg.get());
  }
}

inline std::vector<const ExprNode*> nodes_of(std::span<const Expr> exprs) {
  std::vector<const ExprNode*> nodes;
  for (const Expr& expr : exprs) nodes.push_back(&expr.node());
  return nodes;
}

/// Whether `test(node)` is true of a node of the expressions.
template <class Test>
bool any_node(std::span<const Expr> exprs, const Test& test) {
  bool is_found = false;
  for_each_node(nodes_of(exprs), [&](const ExprNode& node) {
    is_found = is_found || test(node);
    return !is_found;
  });
  return is_found;
}

}  // namespace weft
