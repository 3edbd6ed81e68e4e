// The plainest way to compute an expression: what results and speed are compared with.
#pragma once

#include <weft/expr.h>

namespace [[gnu::visibility("default")]] weft {

/// Computes `expr` into `out` one element after the other: the place of each operand's element by
/// division and remainder of the element's number.  Plans nothing and compiles nothing.  Rounds
/// after each op, as eager calls and Numerics::strict do.
///
/// Shapes: the tensors of `expr` broadcast to out.sizes().
/// Memory: `out` shares none with the tensors; nothing looks.
/// Errors: ArgumentError if they don't, for a read-only `out`, and for tensors on devices or
///         without bytes; UnsupportedError for a lazily conjugated or negated `out`, for reductions
///         and scans, and for ops that don't take the dtype.
void naive_eval(const Expr& expr, const Tensor& out);

}  // namespace weft
