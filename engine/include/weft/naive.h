// The plainest way to compute an expression: what results and speed are compared with.
#pragma once

#include <weft/expr.h>

namespace weft {

/// Computes `expr` into `out` one element after the other: the place of each operand's element by
/// division and remainder of the element's number.  Plans nothing and compiles nothing.  Rounds
/// after each op, as eager calls and Numerics::strict do.
///
/// Shapes: the tensors of `expr` broadcast to out.sizes().
/// Errors: ArgumentError if they don't; UnsupportedError on lazily conjugated or negated tensors.
void naive_eval(const Expr& expr, const Tensor& out);

}  // namespace weft
