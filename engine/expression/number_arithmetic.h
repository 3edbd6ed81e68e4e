// Arithmetic between bare numbers, as Python does it before a tensor is involved: `a * (1/3)` must
// not round the third to f32.
#pragma once

#include <weft/expr.h>
#include <weft/scalar.h>

#include <optional>
#include <span>

namespace weft {

/// `x op y` by Python's rules, or nothing if the operator has no such rule (the op itself decides
/// then).
///
/// Errors: ArgumentError on division by zero and on integers that leave 64 bits.
std::optional<Scalar> combine_numbers(Op op, const Scalar& x, const Scalar& y);
/// `op x`, likewise.
std::optional<Scalar> combine_numbers(Op op, const Scalar& x);

/// Where functions of nothing but numbers compute: f64 and c128 in place of the default dtypes.
DType number_dtype(DType common);

/// What `op`, which promotes its arguments to `common`, makes of bare numbers: a bare number again,
/// computed in f64 or c128 where `common` is the default dtype.  Nothing where the call has to
/// compute it: dtypes that the op does not take, integers divided by 0, results of other dtypes
/// than bare numbers have, and what depends on the dtype that it is computed in.
std::optional<Scalar> evaluate_numbers(Op op, std::span<const Expr> args, DType common);

}  // namespace weft
