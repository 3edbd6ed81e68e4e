// An expression again, with other nodes in some places.
#pragma once

#include "engine/expression/expr_node.h"

#include <weft/parallel.h>

#include <memory>
#include <unordered_map>
#include <utility>

namespace weft {

/// Rebuilds expressions from the leaves on, without recursion.  What they share stays shared.
class Rebuilder {
 public:
  using Node = std::shared_ptr<const ExprNode>;
  /// What stands in the place of a node, whose arguments have been rebuilt already; the node
  /// itself where nothing changes.
  using Change = FunctionRef<Node(const Node& node)>;

  /// `change` has to outlive this.
  explicit Rebuilder(Change change) : change_(change) {}

  Expr rebuild(const Expr& root);
  /// From now on `other` stands in the place of `node`, whatever that has been rebuilt to.
  void replace(const Node& node, Node other) { rebuilt_[node.get()] = std::move(other); }

 private:
  Node with_rebuilt_arguments(const Node& node) const;

  Change change_;
  std::unordered_map<const ExprNode*, Node> rebuilt_;
};

}  // namespace weft
