// Arithmetic between bare numbers, as Python does it before a tensor is involved: `a * (1/3)` must
// not round the third to f32.
#pragma once

#include <weft/op.h>
#include <weft/scalar.h>

#include <optional>

namespace weft {

/// `x op y` by Python's rules, or nothing if the operator has no such rule (the op itself decides
/// then).
///
/// Errors: ArgumentError on division by zero and on integers that leave 64 bits.
std::optional<Scalar> combine_numbers(Op op, const Scalar& x, const Scalar& y);
/// `op x`, likewise.
std::optional<Scalar> combine_numbers(Op op, const Scalar& x);

}  // namespace weft
