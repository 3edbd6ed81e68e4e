// Nodes of expressions that compute the same.
#pragma once

#include "engine/expression/rebuild.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace weft {

/// Folds that differ only in whether reduced dimensions are kept.
inline bool is_same_fold(const ExprNode& a, const ExprNode& b) {
  return a.args[0] == b.args[0] && a.op == b.op && a.fold->form == b.fold->form &&
         a.fold->dims == b.fold->dims && a.fold->is_reverse == b.fold->is_reverse &&
         a.fold->is_mean == b.fold->is_mean && a.fold->order == b.fold->order;
}

/// Makes one of nodes that compute the same from the same arguments.  Tensors and numbers stay
/// apart: another call of the same plan may have different ones in their places.
class Merger {
 public:
  Rebuilder::Node operator()(const Rebuilder::Node& node) {
    if (node->args.empty()) return node;
    const auto hash =
        std::hash<const ExprNode*>()(node->args[0].get()) ^ static_cast<std::size_t>(node->op);
    const auto [begin, end] = known_.equal_range(hash);
    for (auto known = begin; known != end; ++known)
      if (are_equal(*known->second, *node)) return known->second;
    return known_.emplace(hash, node)->second;
  }

 private:
  static bool are_equal(const ExprNode& a, const ExprNode& b) {
    if (a.kind != b.kind || a.op != b.op || a.dtype != b.dtype ||
        a.compute_dtype != b.compute_dtype || a.is_step != b.is_step ||
        a.is_reduced != b.is_reduced || !std::ranges::equal(a.args, b.args))
      return false;
    return a.kind != ExprNode::Kind::fold ||
           (is_same_fold(a, b) && a.fold->keepdim == b.fold->keepdim);
  }

  std::unordered_multimap<std::size_t, Rebuilder::Node> known_;
};

}  // namespace weft
