#include "engine/expression/rebuild.h"

#include "engine/expression/walk.h"

#include <algorithm>

namespace weft {

Expr Rebuilder::rebuild(const Expr& root) {
  for_each_in_order(
      root.shared_node(), [&](const Node& node) { return rebuilt_.contains(node.get()); },
      [&](const Node& node) { rebuilt_[node.get()] = change_(with_rebuilt_arguments(node)); });
  return Expr(rebuilt_.at(&root.node()));
}

Rebuilder::Node Rebuilder::with_rebuilt_arguments(const Node& node) const {
  const auto is_new = [&](const Node& arg) { return rebuilt_.at(arg.get()) != arg; };
  if (std::none_of(node->args.begin(), node->args.end(), is_new)) return node;
  auto changed = std::make_shared<ExprNode>(*node);
  for (Node& arg : changed->args) arg = rebuilt_.at(arg.get());
  return changed;
}

}  // namespace weft
