// Folds of one call that share a pass, so that memory is read once: one loop accumulates what
// several of them make of an element, and those that have no loop in common take turns with what
// they all read.  Each keeps its order and its bits.
#pragma once

#include "engine/expression/program.h"
#include "engine/fold/fold_plan.h"
#include "engine/plan/planner.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// A pass of several folds.
struct JointFolds {
  /// Folds that one loop computes, or one fold.
  struct Member {
    std::vector<std::size_t> folds;  ///< which of those that were given
    Program program;                 ///< of the folds' arguments
    std::vector<Tensor> inputs;
    std::shared_ptr<const FoldPlan> plan;
  };
  std::vector<std::shared_ptr<Member>> members;  ///< which take turns
  std::int64_t read_bytes = 0;  ///< of all that they read, what they share counted once
  std::size_t num_folds() const;
};

/// The passes that folds share which can run at the same time; those in none of them, each a pass
/// of its own, can't or need not.  A loop is shared by folds whose blocks are the same, if a
/// backend has code for it.  Turns are taken by folds that read together more than the second cache
/// holds and walk through it in the same order, in blocks that meet.  Exact sums, and folds that
/// divide integers, share nothing.
///
/// Requires: the folds keep the dimensions that they reduce, and their arguments have no folds.
std::vector<JointFolds> join_folds(std::span<const Expr> folds, const PlannerOptions& options,
                                   jit::KernelCache& kernels);

/// Plans the call that computes the folds `exprs`, those of one member after the other, into new
/// tensors.
PlannedCall plan_joint_call(const CallKey& key, const JointFolds& joint,
                            std::span<const Expr> exprs);

}  // namespace weft
