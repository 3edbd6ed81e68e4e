// Reductions and scans on devices: a kernel with reduce loops or a scan loop, and what is done
// around it.
#pragma once

#include "engine/device/device_plan.h"
#include "engine/expression/expr_node.h"
#include "engine/expression/program.h"
#include "engine/plan/planner.h"

#include <weft/engine.h>

#include <span>

namespace weft {

/// Whether device_fold_pass() may have something to say of such a fold: of elements, and without
/// the division of a mean.
bool may_have_device_kernel(const ExprNode& fold, FoldOrder order);

/// What folds on `device` in one kernel with reduce loops, in the CPU's order, or scans in one with
/// a scan loop; `program` computes the argument from `inputs`, and of `output` the reduced
/// dimensions have size 1.  Null where the kernel is refused for what is computed in front of the
/// fold, or tensors are elsewhere.
DevicePass device_fold_pass(const ExprNode& fold, const Program& program, const Tensor& output,
                            std::span<const Tensor> inputs, Device device,
                            const PlannerOptions& options);

/// The value of a fold without such a pass, whose argument has no folds, in `given` or, if that is
/// undefined, in a new tensor: what it is of no elements; a sum and a call that divides it; or a
/// fold of the elements, which are written before.
///
/// Requires: what is_single_fold() asks.
Tensor fold_on_device(Engine::State& state, const Expr& fold, const Tensor& given);

}  // namespace weft
