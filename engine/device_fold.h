// Reductions and scans on devices: a kernel with reduce loops, or elementwise calls where there is
// none.
#pragma once

#include "engine/device_plan.h"
#include "engine/expr_node.h"
#include "engine/planner.h"
#include "engine/program.h"

#include <weft/engine.h>

#include <span>

namespace weft {

/// Whether device_fold_pass() may have something to say of such a fold: of elements, and without
/// the division of a mean.
bool may_have_device_kernel(const ExprNode& fold, FoldOrder order);

/// What folds on `device` in one kernel with reduce loops, in the CPU's order, or scans in one with
/// a scan loop; `program` computes the argument from `inputs`, and of `output` the reduced
/// dimensions have size 1.  Null where the backend refuses the kernel, or tensors are elsewhere.
DevicePass device_fold_pass(const ExprNode& fold, const Program& program, const Tensor& output,
                            std::span<const Tensor> inputs, Device device,
                            const PlannerOptions& options);

/// The value of a fold whose argument has no folds, by elementwise calls, in `given` or, if that is
/// undefined, in a new tensor.  Each call combines some slices of what is to be folded, as a
/// balanced tree, until one is left: the first reads everything, the others a fraction.  The order
/// depends on the shape alone.  A mean is the value of a sum and a call that divides it.
///
/// A scan that there is no kernel for (of complex numbers, by logaddexp) takes a call, over
/// everything, for each binary digit of its extent.
///
/// Requires: what is_single_fold() asks.
Tensor fold_on_device(Engine::State& state, const Expr& fold, const Tensor& given);

}  // namespace weft
