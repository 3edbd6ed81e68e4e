#include "engine/expression/rebuild.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft {

Expr Rebuilder::rebuild(const Expr& root) {
  std::vector<std::pair<Node, bool>> pending{{root.shared_node(), false}};
  while (!pending.empty()) {
    const auto [node, arguments_done] = pending.back();
    if (rebuilt_.contains(node.get())) {
      pending.pop_back();
    } else if (arguments_done || node->args.empty()) {
      rebuilt_[node.get()] = change_(with_rebuilt_arguments(node));
      pending.pop_back();
    } else {
      pending.back().second = true;
      for (std::size_t i = node->args.size(); i-- > 0;) pending.emplace_back(node->args[i], false);
    }
  }
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
