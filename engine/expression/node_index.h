// Numbers for the nodes of an expression.
#pragma once

#include "engine/expression/expr_node.h"

#include <weft/inline_array.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace weft {

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
  InlineArray<const ExprNode*, linear_limit> nodes_;
  std::unordered_map<const ExprNode*, std::int64_t> map_;
};

}  // namespace weft
