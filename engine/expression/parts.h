// Expressions that are too large for one kernel, in parts that are not.
#pragma once

#include <weft/expr.h>
#include <weft/parallel.h>

#include <span>
#include <vector>

namespace weft {

/// The value of a part of an expression.
using ComputePart = FunctionRef<Tensor(const Expr& part)>;

/// `exprs` with tensors in place of as many nodes as it takes that what is left around folds, and
/// what each fold reads, fits a kernel (ir::KernelLimitError).  Their values are asked for one
/// after the other, each with those before in place: as few as go, and none twice.  How long a
/// kernel gets is a guess: what was found too long in spite of it is cut smaller.  Without any part
/// in the end there is nothing to cut.
std::vector<Expr> in_parts(std::span<const Expr> exprs, ComputePart compute);

/// Of so many tensors as large as what it computes an expression takes longer in one kernel:
/// prefetchers follow no more than a dozen or two.  Measured on a Zen 3 (docs/decisions/calls.md).
inline constexpr std::size_t most_streams = 16;
/// Whether it reads more.  Views that overlap count as one.
bool has_many_streams(const Expr& expr);
/// in_parts() of which none reads so many; the expression itself if it doesn't.
Expr in_few_streams(const Expr& expr, ComputePart compute);

}  // namespace weft
