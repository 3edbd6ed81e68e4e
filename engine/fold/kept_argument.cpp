// What folds read and what is elementwise around them reads too: whether it is computed once.
#include "engine/fold/fold_call.h"
#include "engine/fold/fold_plan.h"

#include <algorithm>
#include <vector>

namespace weft {
namespace {

/// Functions that take longer than to write their values to a cache and read them.
bool is_dear(Op op) {
  switch (op) {
    case Op::exp:
    case Op::exp2:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::tanh:
    case Op::sigmoid:
    case Op::erf:
    case Op::pow: return true;
    default: return false;
  }
}

}  // namespace

bool is_worth_keeping(const Expr& fold, const PlannerOptions& options) {
  constexpr std::int64_t least_numel = 1024;  // a pass costs as much as so many exponentials
  const ExprNode& node = fold.node();
  const Expr argument(node.args[0]);
  const bool is_fit = argument.node().kind == ExprNode::Kind::op && is_dear(argument.node().op) &&
                      (argument.dtype() == DType::f32 || argument.dtype() == DType::f64) &&
                      !node.fold->is_scan();
  if (!is_fit || options.numerics == Numerics::fast) return false;
  const Tensor value = contiguous_layout(node.fold->arg_sizes, argument.dtype());
  const std::int64_t most_bytes = options.features.l2_bytes / 2;  // beside what is read and written
  if (value.numel() < least_numel ||
      value.numel() > most_bytes / static_cast<std::int64_t>(itemsize_bytes(value.dtype())))
    return false;
  const Program program = flatten(std::span(&argument, 1), {});
  std::vector<Tensor> inputs = leaves_of(program);
  const auto is_contiguous = [](const Tensor& input) { return input.is_contiguous(); };
  // Loops of equal extents may be of other dimensions, unless one decides that lies as the value.
  const auto is_whole = [&](const Tensor& input) { return input.numel() == value.numel(); };
  if (!program.unsupported.empty() || !std::ranges::all_of(inputs, is_contiguous) ||
      std::ranges::none_of(inputs, is_whole) ||
      !is_walkable(node, options.fold_order, Tensor(), inputs))
    return false;
  // Layouts decide in which order a fold adds.
  const Tensor output = contiguous_layout(node.fold->sizes, node.dtype);
  return have_equal_loops(*lay_out_fold(node, output, inputs, options),
                          *lay_out_fold(node, output, std::span(&value, 1), options));
}

}  // namespace weft
