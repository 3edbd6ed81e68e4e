// Folds of a few elements, those of channels, of windows and of pools, as one elementwise kernel:
// each element that becomes part of a result is an operand of its own, so that vectors run along
// results and nothing is kept in memory between two elements.
#pragma once

#include "engine/expression/program.h"
#include "engine/fold/fold_plan.h"
#include "engine/plan/pass_list.h"

#include <optional>
#include <span>
#include <vector>

namespace weft {

/// What computes such a fold, in the order and with the bits of the fold.
struct UnrolledFold {
  Program program;              ///< of the fold's result
  std::vector<Tensor> inputs;   ///< its leaves: views of what the fold reads
  std::vector<Origin> origins;  ///< of the output and these, counted in operands of the fold
};

/// Null if so many elements are read faster by loops, or the backend asked for has no such kernels.
/// `program` computes the fold's argument from `inputs`; `output` as for plan_fold().
std::optional<UnrolledFold> unroll(const ExprNode& node, const Program& program,
                                   const Tensor& output, std::span<const Tensor> inputs,
                                   const PlannerOptions& options);

/// The same as a kernel, before the passes.
Lowered lower_unrolled(const UnrolledFold& fold, const Tensor& output,
                       const PlannerOptions& options);

/// Fills in what `plan`, of a call with this one fold, runs.
void plan_unrolled(CallPlan& plan, const UnrolledFold& fold, const Tensor& output,
                   const PlannerOptions& options, jit::KernelCache& kernels);

}  // namespace weft
