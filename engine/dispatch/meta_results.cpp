#include "engine/dispatch/meta_results.h"

#include "engine/expression/parts.h"
#include "engine/expression/program.h"
#include "engine/fold/fold_call.h"
#include "engine/plan/call.h"
#include "engine/plan/planner.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/limits.h"

#include <weft/iterator.h>

namespace weft {
namespace {

/// Of results that take several kernels since they have different sizes or are many.
std::vector<Tensor> infer_groups_on_meta(std::span<const Expr> exprs,
                                         std::span<const Tensor> given) {
  std::vector<Dims> sizes;
  for (const Expr& expr : exprs) sizes.push_back(sizes_of(expr.node()));
  std::vector<Tensor> results(exprs.size());
  const auto infer = [&](std::span<const Tensor> outputs) {
    for (const ResultGroup& group : groups_of_results(exprs, outputs, sizes)) {
      const std::vector<Tensor> inferred = infer_parts_on_meta(group.exprs, group.outputs);
      for (std::size_t i = 0; i < inferred.size(); ++i) results[group.numbers[i]] = inferred[i];
    }
  };
  // First with other handles, so that a refused call resizes none.
  std::vector<Tensor> copies;
  for (const Tensor& output : given)
    copies.push_back(output.defined() ? finish_view(copy_view(output)) : output);
  infer(copies);
  infer(given);
  return results;
}

}  // namespace

std::vector<Tensor> infer_on_meta(std::span<const Expr> given_exprs,
                                  std::span<const Tensor> given) {
  const std::vector<Expr> exprs = without_folds(given_exprs, Device{DeviceType::meta, 0});
  const Program program = flatten(exprs, given);
  std::vector<Tensor> inputs;
  for (const ExprNode* leaf : program.leaves) {
    const Tensor& tensor = leaf->tensor;
    // A number in the form of a tensor goes along with tensors of any device.
    const bool is_number = tensor.dim() == 0 && tensor.device().type == DeviceType::cpu;
    inputs.push_back(is_number ? empty(IntSpan(), {tensor.dtype(), {DeviceType::meta, 0}})
                               : tensor);
  }
  const TensorIterator iterator = plan_iteration(program, given, inputs, true);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < exprs.size(); ++i)
    results.push_back(iterator.output(static_cast<int>(i)));
  return results;
}

std::vector<Tensor> infer_parts_on_meta(std::span<const Expr> exprs,
                                        std::span<const Tensor> given) {
  if (!have_equal_sizes(exprs)) return infer_groups_on_meta(exprs, given);
  try {
    return infer_on_meta(exprs, given);
  } catch (const ir::KernelLimitError&) {
    if (exprs.size() > most_results_together) return infer_groups_on_meta(exprs, given);
    bool has_parts = false;
    const auto infer = [&](const Expr& part) {
      has_parts = true;
      const Tensor anew;
      return infer_parts_on_meta(std::span(&part, 1), std::span(&anew, 1))[0];
    };
    const std::vector<Expr> rest = in_parts(exprs, ComputePart(infer));
    if (!has_parts) throw;
    return infer_parts_on_meta(rest, given);
  }
}

}  // namespace weft
