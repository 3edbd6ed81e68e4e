#include "engine/expression/parts.h"

#include "engine/expression/rebuild.h"
#include "engine/expression/walk.h"
#include "engine/tensor/dims.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/kernel.h"
#include "ir/limits.h"
#include "ir/pass.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weft {
namespace {

using Node = std::shared_ptr<const ExprNode>;
using Set = std::vector<const void*>;  // sorted

void insert(Set& set, const Set& items) {
  Set both;
  both.reserve(set.size() + items.size());
  std::ranges::set_union(set, items, std::back_inserter(both));
  set = std::move(both);
}

/// Where a kernel begins: at the results together, and at what each fold reads.
std::vector<std::vector<Node>> kernels_of(std::span<const Expr> exprs) {
  std::vector<std::vector<Node>> kernels(1);
  for (const Expr& expr : exprs) kernels[0].push_back(expr.shared_node());
  for_each_node(nodes_of(exprs), [&](const ExprNode& node) {
    if (node.kind == ExprNode::Kind::fold) kernels.push_back({node.args[0]});
    return true;
  });
  return kernels;
}

std::vector<const ExprNode*> pointers_of(const std::vector<Node>& nodes) {
  std::vector<const ExprNode*> pointers;
  for (const Node& node : nodes) pointers.push_back(node.get());
  return pointers;
}

/// What an expression reads from memory: tensors that have an element for each that its largest
/// kernel computes, of views whose bytes may overlap one.
class Streams {
 public:
  Streams() = default;
  explicit Streams(const Expr& expr) : numel_(numel_of(sizes_of(expr.node()))) {
    for_each_node({&expr.node()}, [&](const ExprNode& node) {
      if (node.kind == ExprNode::Kind::fold)
        numel_ = std::max(numel_, numel_of(node.fold->arg_sizes));
      return true;
    });
    std::vector<Range> ranges;
    for_each_node({&expr.node()}, [&](const ExprNode& node) {
      if (node.kind != ExprNode::Kind::tensor) return true;
      const TensorImpl& tensor = *node.tensor.impl();
      if (num_touched(tensor.sizes, tensor.strides) >= numel_) ranges.push_back(range_of(tensor));
      return true;
    });
    std::ranges::sort(ranges);
    const Range* stream = nullptr;
    std::int64_t end_bytes = 0;
    for (const Range& range : ranges) {
      if (stream == nullptr || range.storage != stream->storage || range.begin_bytes >= end_bytes)
        stream = &range, end_bytes = range.end_bytes;
      end_bytes = std::max(end_bytes, range.end_bytes);
      of_tensor_[range.tensor] = stream->tensor;
    }
  }

  /// One for all nodes of a stream, or null where it is none.
  const void* find(const ExprNode& node) const {
    if (node.kind == ExprNode::Kind::fold)
      return numel_of(node.fold->sizes) >= numel_ ? &node : nullptr;
    if (node.kind != ExprNode::Kind::tensor) return nullptr;
    const auto found = of_tensor_.find(node.tensor.impl().get());
    return found == of_tensor_.end() ? nullptr : found->second;
  }

  std::size_t count(const std::vector<Node>& roots) const {
    std::unordered_set<const void*> found;
    for_each_node(pointers_of(roots), [&](const ExprNode& node) {
      if (const void* const stream = find(node)) found.insert(stream);
      return node.kind != ExprNode::Kind::fold;
    });
    return found.size();
  }

 private:
  struct Range {
    const Storage* storage;
    std::int64_t begin_bytes, end_bytes;
    const TensorImpl* tensor;
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  static Range range_of(const TensorImpl& tensor) {
    // No tensor is made that reaches beyond 64 bits.
    const Reach touched = reach(tensor.sizes, tensor.strides).value_or(Reach{0, 0});
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(tensor.dtype));
    const auto bytes_before = [&](std::int64_t element) {
      return saturating_product(saturating_sum(tensor.storage_offset, element), itemsize);
    };
    return {tensor.storage.get(), bytes_before(touched.first), bytes_before(touched.last + 1),
            &tensor};
  }

  std::int64_t numel_ = std::numeric_limits<std::int64_t>::max();
  std::unordered_map<const TensorImpl*, const TensorImpl*> of_tensor_;
};

/// What a kernel has for some nodes.  Numbers count once for each use, though those of one dtype
/// share a parameter.
struct Needs {
  Set tensors;
  Set streams;
  std::size_t num_numbers = 0;
  std::size_t num_instructions = 0;  ///< after the passes

  void add(const Needs& other) {
    insert(tensors, other.tensors);
    insert(streams, other.streams);
    num_numbers += other.num_numbers;
    num_instructions += other.num_instructions;
  }

  /// Of the room that a kernel has, in parts of `whole`.
  std::size_t size(std::size_t num_outputs, std::size_t most_instructions) const {
    return std::max({(tensors.size() + num_outputs) * whole / ir::max_launch_operands,
                     num_numbers * whole / ir::max_launch_params,
                     (num_instructions + stores * num_outputs) * whole / most_instructions});
  }

  static constexpr std::size_t whole = std::size_t{1} << 16;
  static constexpr std::size_t stores = 4;  ///< converted, negated and conjugated
};

/// How many instructions are taken to fit: of complex numbers, and where small floats are computed
/// in larger ones, the passes make more.  What turns out not to fit is cut again by half of it, as
/// long as that is more than the least.
constexpr std::size_t first_most_instructions = ir::max_instructions / 2;
constexpr std::size_t least_most_instructions = 16;

/// Of the value of a node that is computed apart.
Needs needs_of_value(const ExprNode& node) { return {{&node}, {&node}, 0, 1}; }

/// How many instructions stand for one of a composite.
std::size_t num_primitives(Op op, DType dtype) {
  ir::Kernel kernel;
  ir::Inst inst{.op = op, .dtype = dtype};
  for (int i = 0; i < info(op).arity; ++i) {
    kernel.body.push_back({.op = Op::load, .dtype = dtype});
    inst.args[static_cast<std::size_t>(i)] = static_cast<ir::ValueId>(i);
  }
  kernel.body.push_back(inst);
  ir::expand_composites(kernel);
  return kernel.body.size();
}

/// What nodes take by themselves, without their arguments.
class OwnNeeds {
 public:
  explicit OwnNeeds(Streams streams) : streams_(std::move(streams)) {}

  Needs of(const ExprNode& node) {
    Needs result;
    if (const void* const stream = streams_.find(node)) result.streams.push_back(stream);
    if (node.kind == ExprNode::Kind::fold || node.kind == ExprNode::Kind::tensor) {
      const bool is_fold = node.kind == ExprNode::Kind::fold;
      result.tensors.push_back(is_fold ? &node
                                       : static_cast<const void*>(node.tensor.impl().get()));
      result.num_instructions = 3;  // its lazy bits
      return result;
    }
    // A conversion or a number for each argument.
    result.num_instructions = 1 + node.args.size();
    if (node.kind == ExprNode::Kind::op)
      result.num_instructions += instructions_of(node.op, node.compute_dtype);
    for (const auto& arg : node.args)
      result.num_numbers += arg->kind == ExprNode::Kind::scalar && !arg->is_step;
    return result;
  }

 private:
  std::size_t instructions_of(Op op, DType dtype) {
    if (info(op).form != Form::composite) return 1;
    const auto is_known = [&](const Known& each) { return each.op == op && each.dtype == dtype; };
    const auto known = std::ranges::find_if(known_, is_known);
    if (known != known_.end()) return known->num_primitives;
    return known_.emplace_back(op, dtype, num_primitives(op, dtype)).num_primitives;
  }

  struct Known {
    Op op;
    DType dtype;
    std::size_t num_primitives;
  };
  std::vector<Known> known_;
  Streams streams_;
};

/// Finds the nodes to compute apart.
class Cutter {
 public:
  /// As many streams as one kernel may read, and as many as parts do where that is exceeded.
  struct Most {
    std::size_t streams, streams_of_part, instructions;
  };
  Cutter(Most most, Streams streams) : most_(most), own_(std::move(streams)) {}

  /// Cuts what is below the results of a kernel, unless it fits.  A kernel of one result is not cut
  /// at that, nor at what a step converts to it: the part would be the same expression again.
  void cut(std::vector<Node> roots) {
    for (Node& root : roots)
      while (root->kind == ExprNode::Kind::cast && root->is_step) root = root->args[0];
    if (fits(roots)) return;
    for (const Node& root : roots) visit(root.get());
    if (roots.size() == 1) return;
    Needs all;
    add_or_cut(roots, all, roots.size());
  }
  bool contains(const ExprNode* node) const { return cuts_.contains(node); }
  bool is_empty() const { return cuts_.empty(); }

 private:
  std::size_t size(const Needs& needs, std::size_t num_outputs) const {
    return needs.size(num_outputs, most_.instructions);
  }
  bool fit(const Needs& needs, std::size_t num_outputs) const {
    return size(needs, num_outputs) <= Needs::whole;
  }

  /// Counts each node once, however many share it.
  bool fits(const std::vector<Node>& roots) {
    Needs needs;
    for_each_node(pointers_of(roots), [&](const ExprNode& node) {
      if (node.kind == ExprNode::Kind::scalar) return false;
      needs.add(own_.of(node));
      return node.kind != ExprNode::Kind::fold && fit(needs, roots.size());
    });
    return fit(needs, roots.size()) && needs.streams.size() <= most_.streams;
  }

  /// Here what is shared counts for each user.
  void visit(const ExprNode* root) {
    const auto is_known = [&](const ExprNode* node) {
      if (node->kind == ExprNode::Kind::fold) needs_.try_emplace(node, own_.of(*node));
      return node->kind == ExprNode::Kind::scalar || needs_.contains(node);
    };
    for_each_in_order(root, is_known, [&](const ExprNode* node) {
      Needs needs = own_.of(*node);
      add_or_cut(node->args, needs, 1);
      needs_.emplace(node, std::move(needs));
    });
  }

  /// Adds what `nodes` take to `needs`, and cuts the largest of them until that fits.
  template <class Nodes>
  void add_or_cut(const Nodes& nodes, Needs& needs, std::size_t num_outputs) {
    while (true) {
      Needs all = needs;
      const ExprNode* largest = nullptr;
      for (const Node& node : nodes) {
        if (node->kind == ExprNode::Kind::scalar) continue;
        const Needs& own = needs_.at(node.get());
        all.add(own);
        if (may_be_cut(*node) && (largest == nullptr || size(own, 0) > size(needs_.at(largest), 0)))
          largest = node.get();
      }
      const bool fits = fit(all, num_outputs) && all.streams.size() <= most_.streams_of_part;
      if (largest == nullptr || fits) {
        needs = std::move(all);
        return;
      }
      cuts_.insert(largest);
      needs_[largest] = needs_of_value(*largest);
    }
  }

  /// What converts the value of a part is none: it would be one again.
  bool may_be_cut(const ExprNode& node) const {
    const bool converts_tensor = node.kind == ExprNode::Kind::cast && node.is_step &&
                                 node.args[0]->kind == ExprNode::Kind::tensor;
    return !node.args.empty() && node.kind != ExprNode::Kind::fold && !converts_tensor &&
           !contains(&node);
  }

  Most most_;
  OwnNeeds own_;
  std::unordered_map<const ExprNode*, Needs> needs_;
  std::unordered_set<const ExprNode*> cuts_;
};

Cutter cut(std::span<const Expr> exprs, Cutter cutter) {
  for (const std::vector<Node>& roots : kernels_of(exprs)) cutter.cut(roots);
  return cutter;
}

std::vector<Expr> in_parts(std::span<const Expr> exprs, ComputePart compute, const Cutter& cutter) {
  const auto unchanged = [](const Node& node) { return node; };
  Rebuilder rebuilder(unchanged);
  std::size_t num_parts = 0;
  std::unordered_set<const ExprNode*> visited;
  const auto is_visited = [&](const Node& node) { return visited.contains(node.get()); };
  std::vector<Expr> result;
  for (const Expr& expr : exprs) {
    for_each_in_order(expr.shared_node(), is_visited, [&](const Node& node) {
      visited.insert(node.get());
      if (!cutter.contains(node.get())) return;
      const Expr part = step(rebuilder.rebuild(Expr(node)), wide_dtype(node->dtype));
      const Expr value = Expr::named("part" + std::to_string(num_parts++), compute(part));
      rebuilder.replace(node, step(value, node->dtype).shared_node());
    });
    result.push_back(rebuilder.rebuild(expr));
  }
  return result;
}

constexpr std::size_t most_streams_of_part = 12;

}  // namespace

std::vector<Expr> in_parts(std::span<const Expr> exprs, ComputePart compute) {
  constexpr auto any = std::numeric_limits<std::size_t>::max();
  for (std::size_t most = first_most_instructions; most >= least_most_instructions; most /= 2) {
    const Cutter cutter = cut(exprs, Cutter({any, any, most}, {}));
    if (!cutter.is_empty()) return in_parts(exprs, compute, cutter);
  }
  return {exprs.begin(), exprs.end()};
}

bool has_many_streams(const Expr& expr) {
  const Streams streams(expr);
  return std::ranges::any_of(kernels_of(std::span(&expr, 1)), [&](const std::vector<Node>& roots) {
    return streams.count(roots) > most_streams;
  });
}

Expr in_few_streams(const Expr& expr, ComputePart compute) {
  if (!has_many_streams(expr)) return expr;
  const std::span<const Expr> exprs(&expr, 1);
  const Cutter::Most most{most_streams, most_streams_of_part, first_most_instructions};
  return in_parts(exprs, compute, cut(exprs, Cutter(most, Streams(expr))))[0];
}

}  // namespace weft
