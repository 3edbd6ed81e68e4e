#include "engine/fold/unrolled.h"

#include "engine/expression/merger.h"
#include "engine/expression/walk.h"
#include "engine/fold/fold_call.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/combine.h"
#include "ir/limits.h"
#include "ir/pass.h"

#include <weft/overlap.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace weft {
namespace {

/// More elements, and folds of folds of more of them, are folded by loops; so are rows of memory
/// that are more than its prefetchers follow.
constexpr std::int64_t most_elements = 25, most_nested_elements = 64, most_rows = 8;
constexpr std::size_t most_operands = 32, most_instructions = 128, most_primitives = 1024;

using Node = Rebuilder::Node;
using Places = std::vector<std::vector<std::int64_t>>;

/// A fold, and how loops would go over its argument.
struct FewElements {
  Expr fold;  ///< of an argument without folds; keeps the dimensions that it reduces
  std::shared_ptr<const FoldPlan> layout;
  Places
      places;    ///< of the elements along the dimensions of the argument, in the order of the fold
  Tensor value;  ///< stands for it where it has been
  std::int64_t num_nested_elements;
  std::size_t num_instructions;  ///< with those of folds within
};

bool has_few_elements(const FoldNode& fold) {
  std::int64_t count = 1;
  for (std::size_t dim = 0; dim < fold.arg_sizes.size(); ++dim)
    if (fold.folds(dim)) count = wrapping_product(count, fold.arg_sizes[dim]);
  return count > 0 && count <= most_elements && numel_of(fold.arg_sizes) != 0;
}

bool may_be_unrolled(const ExprNode& node, const PlannerOptions& options) {
  return node.fold->form == FoldForm::value && has_few_elements(*node.fold) &&
         order_of(node, options.fold_order) != FoldOrder::exact;
}

/// The places of the elements that become one result, in any order.
Places all_places(const FoldNode& fold) {
  Places places{std::vector<std::int64_t>(fold.arg_sizes.size())};
  for (std::size_t dim = 0; dim < fold.arg_sizes.size(); ++dim) {
    if (!fold.folds(dim)) continue;
    const std::size_t inside = places.size();
    for (std::int64_t i = 1; i < fold.arg_sizes[dim]; ++i)
      for (std::size_t j = 0; j < inside; ++j) {
        places.push_back(places[j]);
        places.back()[dim] = i;
      }
  }
  return places;
}

/// Whether all elements of the argument that become one result read the same of `input`.
bool stands_still(const Tensor& input, const FoldNode& fold) {
  const Tensor whole = input.expand({fold.arg_sizes.data(), fold.arg_sizes.size()});
  for (std::size_t dim = 0; dim < fold.arg_sizes.size(); ++dim)
    if (fold.folds(dim) && fold.arg_sizes[dim] > 1 && whole.strides()[dim] != 0) return false;
  return true;
}

/// How far elements of one operand lie from the first of them, in bytes, in the order of the fold.
std::vector<std::int64_t> offsets_of(const FoldPlan& layout, std::size_t operand) {
  std::vector<std::int64_t> offsets{0};
  for (const FoldDim& dim : layout.reduced) {
    const std::size_t inside = offsets.size();
    for (std::int64_t i = 1; i < dim.extent; ++i)
      for (std::size_t j = 0; j < inside; ++j)
        offsets.push_back(offsets[j] + i * dim.stride_bytes[operand]);
  }
  return offsets;
}

/// Loops know elements by where they lie in the operands; two places that lie together in all of
/// them are the same to the fold.
Places places_in_order(const FoldNode& fold, const FoldPlan& layout,
                       std::span<const Tensor> inputs) {
  Places left = all_places(fold), places(left.size());
  std::vector<std::vector<std::int64_t>> offsets;
  std::vector<Tensor> wholes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    offsets.push_back(offsets_of(layout, i + 1));
    wholes.push_back(inputs[i].expand({fold.arg_sizes.data(), fold.arg_sizes.size()}));
  }
  const auto lies_at = [&](const std::vector<std::int64_t>& place, std::size_t element) {
    for (std::size_t i = 0; i < wholes.size(); ++i) {
      std::int64_t offset = 0;
      for (std::size_t dim = 0; dim < place.size(); ++dim)
        offset += place[dim] * wholes[i].strides()[dim];
      if (offset * static_cast<std::int64_t>(itemsize_bytes(wholes[i].dtype())) !=
          offsets[i][element])
        return false;
    }
    return true;
  };
  for (std::size_t element = 0; element < places.size(); ++element) {
    const auto found =
        std::ranges::find_if(left, [&](const auto& place) { return lies_at(place, element); });
    WEFT_ASSERT(found != left.end(), "an element of a fold lies at no place of its argument");
    places[element] = std::move(*found);
    left.erase(found);
  }
  return places;
}

/// Whether loops follow more rows than that through memory, each of them for itself: windows share
/// what they read.
bool has_many_rows(const FoldPlan& layout, std::span<const Tensor> inputs,
                   std::int64_t streaming_bytes) {
  if (layout.num_folded <= most_rows) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(inputs[i].dtype()));
    const auto storage_bytes = static_cast<std::int64_t>(inputs[i].storage()->size_bytes());
    if (std::abs(layout.vector.stride_bytes[i + 1]) == itemsize && storage_bytes >= streaming_bytes)
      return true;
  }
  return false;
}

Node op_node(Op op, DType dtype, const Node& a, const Node& b) {
  auto node = std::make_shared<ExprNode>();
  node->kind = ExprNode::Kind::op;
  node->op = op;
  node->dtype = node->compute_dtype = dtype;
  node->args.push_back(a);
  node->args.push_back(b);
  return node;
}

/// A number that is part of the kernel.
Node literal(double number, DType dtype) {
  auto node = std::make_shared<ExprNode>();
  node->kind = ExprNode::Kind::scalar;
  node->category = OperandCategory::number;
  node->dtype = dtype;
  node->is_step = true;
  node->scalar = Scalar(number);
  return node;
}

/// What a fold begins with, where that may be seen in the result, as 0 and -0 give 0.
std::optional<double> visible_identity(Op op, DType dtype, std::size_t num_places) {
  // A byte that was viewed as bool is copied as it is, and true when it is combined.
  if (is_boolean(dtype) && num_places == 1) return ir::identity_of(op, dtype)->lo != 0 ? 1.0 : 0.0;
  if (is_integral(dtype)) return {};
  switch (op) {
    case Op::add:
    case Op::hypot: return 0.0;
    case Op::mul: return is_complex(dtype) ? std::optional(1.0) : std::nullopt;
    case Op::logaddexp:
    case Op::logaddexp2: return -std::numeric_limits<double>::infinity();
    default: return {};
  }
}

/// The given output that a call of a single fold writes as it folds; undefined if none is.
Tensor walked_output(std::span<const Expr> exprs, std::span<const Tensor> given) {
  const ExprNode& root = exprs[0].node();
  const bool is_fold = exprs.size() == 1 && root.kind == ExprNode::Kind::fold;
  if (!is_fold || given.empty() || !given[0].defined()) return {};
  const Expr argument(root.args[0]);
  const bool is_nested = any_node(std::span(&argument, 1), [](const ExprNode& node) {
    return node.kind == ExprNode::Kind::fold;
  });
  const bool is_fit =
      given[0].dtype() == root.dtype && std::ranges::equal(given[0].sizes(), root.fold->sizes);
  // Others are refused, by who looks at all outputs.
  const bool is_whole = has_internal_overlap(given[0]) != MemOverlap::yes;
  return is_fit && is_whole && !is_nested ? with_reduced_dims(given[0], *root.fold) : Tensor();
}

class Unrolling {
 public:
  Unrolling(const PlannerOptions& options, Tensor walked_output)
      : options_(options), walked_output_(std::move(walked_output)) {}

  std::optional<UnrolledFolds> run(std::span<const Expr> exprs) {
    const auto compute = [&](std::span<const Expr> folds) { return values_of(folds); };
    const auto keep_nothing = [](const Expr&) { return Tensor(); };
    result_.rest = without_folds(exprs, ComputeFolds(compute), KeepArgument(keep_nothing));
    for (const Expr& expr : result_.rest) {
      const Dims sizes = sizes_of(expr.node());
      if (sizes != sizes_of(result_.rest[0].node())) return {};
      // What repeats a value would compute it again and again.
      if (is_failed_ || repeats_values(expr, numel_of(sizes))) return {};
    }
    if (flatten(result_.rest, {}).body.size() > most_instructions) return {};
    for (const Expr& expr : result_.rest) result_.exprs.push_back(with_elements(expr));
    if (result_.views.size() + exprs.size() > ir::max_launch_operands) return {};
    result_.program = flatten(result_.exprs, {});
    if (!is_one_kernel(result_.program)) return {};
    return std::move(result_);
  }

 private:
  /// What is asked of a tensor: its elements at one place of an argument of these sizes.
  struct ViewKey {
    const TensorImpl* tensor;
    std::int64_t offset;
    std::uint64_t dims;
    bool keeps_dims;
    Dims arg_sizes;
    friend bool operator==(const ViewKey&, const ViewKey&) = default;
  };

  /// Functions are as many instructions as they are rebuilt from.
  bool is_one_kernel(const Program& program) const {
    if (!program.unsupported.empty() || !program.integer_divisors.empty() ||
        program.leaves.size() + static_cast<std::size_t>(program.num_outputs) > most_operands ||
        program.body.size() > most_instructions)
      return false;
    ir::Kernel kernel;
    kernel.numerics = options_.numerics;
    kernel.body = program.body;
    ir::expand_composites(kernel);
    return kernel.body.size() <= most_primitives;
  }

  const FewElements* find(const ExprNode& node) const {
    if (node.kind != ExprNode::Kind::tensor) return nullptr;
    const auto is_value = [&](const FewElements& fold) {
      return fold.value.storage() == node.tensor.storage();
    };
    const auto found = std::ranges::find_if(folds_, is_value);
    return found == folds_.end() ? nullptr : &*found;
  }

  bool repeats_values(const Expr& expr, std::int64_t numel) const {
    return any_node(std::span(&expr, 1), [&](const ExprNode& node) {
      const FewElements* const fold = find(node);
      return fold != nullptr && fold->value.numel() < numel;
    });
  }

  std::vector<Tensor> values_of(std::span<const Expr> folds) {
    std::vector<Tensor> values;
    for (const Expr& fold : folds) {
      values.push_back(contiguous_layout(fold.node().fold->sizes, fold.dtype()));
      if (!is_failed_) is_failed_ = !add(fold, values.back());
    }
    return values;
  }

  /// Returns whether it can be unrolled.
  bool add(const Expr& expr, const Tensor& value) {
    const ExprNode& node = expr.node();
    const Expr argument(node.args[0]);
    const Program program = flatten(std::span(&argument, 1), {});
    const std::vector<Tensor> inputs = leaves_of(program);
    const OpInfo& row = info(node.op);
    if (inputs.empty() || !program.unsupported.empty() ||
        !computes_in(row.domain, row.result, node.compute_dtype) ||
        !is_walkable(node, options_.fold_order, Tensor(), inputs) ||
        repeats_values(argument, value.numel()))
      return false;
    const bool is_walked =
        walked_output_.defined() && is_walkable(node, options_.fold_order, walked_output_, inputs);
    const auto layout = lay_out_fold(node, is_walked ? walked_output_ : value, inputs, options_);
    std::int64_t num_nested_elements = 1;
    const auto num_folded = static_cast<std::size_t>(layout->num_folded);
    std::size_t num_instructions = program.body.size() * num_folded;
    for (const Tensor& input : inputs)
      for (const FewElements& other : folds_) {
        if (other.value.storage() != input.storage()) continue;
        num_nested_elements = std::max(num_nested_elements, other.num_nested_elements);
        num_instructions +=
            other.num_instructions * (stands_still(input, *node.fold) ? 1 : num_folded);
      }
    num_nested_elements *= layout->num_folded;
    num_instructions_ += num_instructions;
    // Vectors along what is folded combine in another order.
    if (layout->is_inner || has_many_rows(*layout, inputs, options_.streaming_bytes) ||
        num_nested_elements > most_nested_elements || num_instructions_ > most_primitives ||
        program.body.size() * num_folded > most_instructions)
      return false;
    folds_.push_back({expr, layout, places_in_order(*node.fold, *layout, inputs), value,
                      num_nested_elements, num_instructions});
    result_.folds.push_back(expr);
    return true;
  }

  /// `expr` with elementwise expressions in place of the values of folds.
  Expr with_elements(const Expr& expr) {
    const auto change = [&](const Node& node) -> Node {
      if (node->kind != ExprNode::Kind::tensor) return merger_(node);
      if (const FewElements* const fold = find(*node)) return elements(*fold, *node);
      note({node->tensor, node->tensor, 0});
      return node;
    };
    Rebuilder rebuilder(change);
    return rebuilder.rebuild(expr);
  }

  /// A fold in place of its value, which some users see without the reduced dimensions.
  Node elements(const FewElements& few, const ExprNode& user) {
    const ExprNode& node = few.fold.node();
    const FoldNode& fold = *node.fold;
    const bool keeps_dims = user.tensor.sizes().size() == fold.arg_sizes.size();
    const Expr argument = with_elements(Expr(node.args[0]));
    Node sum;
    if (const std::optional<double> identity =
            visible_identity(node.op, node.dtype, few.places.size()))
      sum = literal(*identity, node.dtype);
    for (const std::vector<std::int64_t>& place : few.places) {
      const auto change = [&](const Node& leaf) {
        return leaf->kind == ExprNode::Kind::tensor ? view_at(leaf, fold, place, keeps_dims)
                                                    : merger_(leaf);
      };
      Rebuilder rebuilder(change);
      const Node value = rebuilder.rebuild(argument).shared_node();
      sum = sum == nullptr ? value : merger_(op_node(node.op, node.dtype, sum, value));
    }
    if (few.layout->divisor != 0)
      sum = merger_(op_node(Op::div, node.dtype, sum, literal(few.layout->divisor, node.dtype)));
    return sum;
  }

  /// What a leaf of a fold's argument has at one place, for all results.
  Node view_at(const Node& leaf, const FoldNode& fold, const std::vector<std::int64_t>& place,
               bool keeps_dims) {
    const Tensor whole = leaf->tensor.expand({fold.arg_sizes.data(), fold.arg_sizes.size()});
    std::vector<std::int64_t> sizes, strides;
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < place.size(); ++dim) {
      offset += place[dim] * whole.strides()[dim];
      if (fold.folds(dim) && !keeps_dims) continue;
      sizes.push_back(fold.folds(dim) ? 1 : fold.arg_sizes[dim]);
      strides.push_back(whole.strides()[dim]);
    }
    const ViewKey key{leaf->tensor.impl().get(), offset, fold.dims, keeps_dims, fold.arg_sizes};
    const auto known = std::ranges::find(known_views_, key, &std::pair<ViewKey, Node>::first);
    if (known != known_views_.end()) return known->second;
    auto node = std::make_shared<ExprNode>(*leaf);
    node->tensor = whole.as_strided(sizes, strides, whole.storage_offset() + offset);
    node->layout_version = node->tensor.impl()->layout_version;
    const UnrolledFolds::View& from = *origin_of(leaf->tensor);
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(whole.dtype()));
    note({node->tensor, from.input, from.offset_bytes + offset * itemsize});
    known_views_.emplace_back(key, node);
    return node;
  }

  std::vector<UnrolledFolds::View>::const_iterator origin_of(const Tensor& tensor) const {
    return std::ranges::find_if(result_.views, [&](const UnrolledFolds::View& view) {
      return view.tensor.is_same(tensor);
    });
  }
  void note(const UnrolledFolds::View& view) {
    if (origin_of(view.tensor) == result_.views.end()) result_.views.push_back(view);
  }

  const PlannerOptions& options_;
  const Tensor walked_output_;  ///< instead of the value of the only fold
  std::vector<FewElements> folds_;
  std::size_t num_instructions_ = 0;  ///< of all folds
  bool is_failed_ = false;
  Merger merger_;
  std::vector<std::pair<ViewKey, Node>> known_views_;
  UnrolledFolds result_;
};

}  // namespace

std::optional<UnrolledFolds> unroll_folds(std::span<const Expr> exprs,
                                          std::span<const Tensor> given,
                                          const PlannerOptions& options) {
  const std::string& backend = options.backend;
  if (backend != "auto" && backend != "xbyak" && backend != "llvm") return {};
  bool has_folds = false;
  const bool has_others = any_node(exprs, [&](const ExprNode& node) {
    const bool is_fold = node.kind == ExprNode::Kind::fold;
    has_folds = has_folds || is_fold;
    return is_fold && !may_be_unrolled(node, options);
  });
  if (!has_folds || has_others) return {};
  try {
    return Unrolling(options, walked_output(exprs, given)).run(exprs);
  } catch (const ir::KernelLimitError&) {  // what loops compute may be cut into parts
    return {};
  }
}

}  // namespace weft
