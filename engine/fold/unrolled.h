// Folds of a few elements, those of channels, of windows and of pools, as elementwise expressions:
// each element that becomes part of a result is an operand of its own, so that vectors run along
// results, nothing is kept in memory between two elements, and what is elementwise around folds is
// one kernel with them.
#pragma once

#include "engine/fold/fold_plan.h"
#include "engine/plan/planner.h"

#include <optional>
#include <span>
#include <vector>

namespace weft {

/// Expressions whose folds are unrolled.  They have the bits of the folds.
struct UnrolledFolds {
  /// What they read.
  struct View {
    Tensor tensor;
    Tensor input;  ///< that of the given expressions which it is a view of
    std::int64_t offset_bytes = 0;
  };
  std::vector<Expr> exprs;
  Program program;  ///< of these, into new outputs
  std::vector<View> views;
  std::vector<Expr> rest;   ///< with tensors without data in place of folds: how results lie
  std::vector<Expr> folds;  ///< which stand for others there
};

/// Nothing if one of the folds is not of a few elements that vectors lie across, the expressions
/// are no longer than these, or what they read is so many tensors that loops are faster.
///
/// `given`: their outputs, or none for new ones.  A fold that is the whole call would be walked
/// through in the order of its output.
std::optional<UnrolledFolds> unroll_folds(std::span<const Expr> exprs,
                                          std::span<const Tensor> given,
                                          const PlannerOptions& options);

/// Plans a call of such expressions; there is no plan (PlannedCall::plan is null) where
/// unroll_folds() gives nothing, or the call takes more than a kernel for other reasons.
PlannedCall plan_unrolled(const CallKey& key, std::span<const Expr> exprs,
                          std::span<const Tensor> given, const PlannerOptions& options,
                          jit::KernelCache& kernels);

}  // namespace weft
