// Folds of one call that share a pass: they take turns with what they all read, so that memory is
// read once.  Each keeps its code, its order and its bits.
#pragma once

#include "engine/fold_plan.h"
#include "engine/planner.h"
#include "engine/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// A pass of several folds.
struct JointFolds {
  struct Member {
    std::size_t fold;  ///< which of those that were given
    Program program;   ///< of the fold's argument
    std::vector<Tensor> inputs;
    std::shared_ptr<const FoldPlan> plan;
  };
  std::vector<std::shared_ptr<Member>> members;
  std::int64_t read_bytes = 0;  ///< of all that they read, what they share counted once
};

/// The passes that folds share which can run at the same time; those in none of them, each a pass
/// of its own, can't or need not: what they read together fits the second cache, they walk through
/// it in another order or in blocks that don't meet, their sums are exact, or they divide integers.
///
/// Requires: the folds keep the dimensions that they reduce, and their arguments have no folds.
std::vector<JointFolds> join_folds(std::span<const Expr> folds, const PlannerOptions& options,
                                   jit::KernelCache& kernels);

/// Plans the call that computes the folds `exprs`, one a member, into new tensors.
PlannedCall plan_joint_call(const CallKey& key, const JointFolds& joint,
                            std::span<const Expr> exprs);

}  // namespace weft
