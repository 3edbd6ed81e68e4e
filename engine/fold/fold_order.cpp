// In which order a fold combines, as far as it does not follow from the layout.
#include "engine/fold/fold_plan.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>

namespace weft {
namespace {

bool rounds(const ExprNode& node) {
  if (is_integral(node.compute_dtype)) return false;
  switch (node.op) {
    case Op::add:
    case Op::mul:
    case Op::hypot:
    case Op::logaddexp:
    case Op::logaddexp2: return true;
    default: return false;
  }
}

/// The name of the reduction or scan that is nothing but this fold.
std::string_view function_name(const ExprNode& node) {
  const bool is_scan = node.fold->is_scan();
  switch (node.op) {
    case Op::add: return is_scan ? "cumsum" : "sum";
    case Op::mul: return is_scan ? "cumprod" : "prod";
    case Op::logaddexp: return is_scan ? "logcumsumexp" : "a fold by logaddexp";
    default: return name(node.op);
  }
}

/// An operand's strides along the argument's dimensions, in bytes.
std::vector<std::int64_t> strides_along(const FoldNode& fold, const Tensor& tensor) {
  const Tensor all = tensor.expand({fold.arg_sizes.data(), fold.arg_sizes.size()});
  std::vector<std::int64_t> strides(all.strides().begin(), all.strides().end());
  for (std::size_t dim = 0; dim < strides.size(); ++dim)
    strides[dim] = stride_in_bytes(strides[dim], all.sizes()[dim],
                                   static_cast<std::int64_t>(itemsize_bytes(tensor.dtype())));
  return strides;
}

}  // namespace

FoldOrder order_of(const ExprNode& node, FoldOrder engine) {
  const FoldOrder asked = std::max(node.fold->order, engine);
  if (asked == FoldOrder::by_layout || node.fold->form == FoldForm::index)
    return FoldOrder::by_layout;
  // Extrema round nothing, but of two zeros one sign wins.
  if (is_integral(node.compute_dtype)) return FoldOrder::by_layout;
  if (asked == FoldOrder::by_shape || !rounds(node)) return FoldOrder::by_shape;
  WEFT_CHECK(node.op == Op::add && !node.fold->is_scan(), ArgumentError,
             "Numerics::exact: ", function_name(node), " of ", name(node.compute_dtype),
             " rounds at each element; what is exact are sums and means, and "
             "Numerics::layout_invariant is for all reductions");
  return FoldOrder::exact;
}

std::optional<std::vector<FoldDim>> dims_by_shape(const FoldNode& fold,
                                                  std::span<const Tensor> operands) {
  std::vector<std::vector<std::int64_t>> strides;
  for (const Tensor& operand : operands) strides.push_back(strides_along(fold, operand));
  std::vector<FoldDim> dims;
  bool is_folded = false;
  for (std::size_t dim = fold.arg_sizes.size(); dim-- > 0;) {
    if (fold.arg_sizes[dim] == 1) continue;
    if (dims.empty() || fold.folds(dim) != is_folded) {
      is_folded = fold.folds(dim);
      FoldDim& made = dims.emplace_back();
      made.extent = fold.arg_sizes[dim];
      for (const auto& operand : strides) made.stride_bytes.push_back(operand[dim]);
      continue;
    }
    FoldDim& last = dims.back();
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (strides[i][dim] != last.extent * last.stride_bytes[i]) return {};
    last.extent *= fold.arg_sizes[dim];
  }
  if (dims.empty()) dims.push_back({1, std::vector<std::int64_t>(strides.size())});
  return dims;
}

}  // namespace weft
