// Parameters: arguments of an op that PyTorch takes as attributes, not as operands, where they are
// bare numbers (alpha, value, min and max ...).
#pragma once

#include "engine/expression/expr_node.h"

#include <weft/expr.h>
#include <weft/scalar.h>

#include <cstddef>
#include <string_view>

namespace weft {

/// What messages call an op: as the function is written, whatever parameters it was given.
std::string_view called_name(Op op);

/// Whether a bare number as args[index] of `op` is one.
bool is_parameter(Op op, std::size_t index);

/// Whether such a number has a say in the dtype that the op computes in.
bool promotes_as_parameter(Op op);

/// The dtype that parameters of an op become which computes in `common`: f32 beside small floats
/// where PyTorch's kernels take scalars as at::opmath_type.
DType parameter_dtype(Op op, DType common);

/// Whether an op of small floats computes in f32, because numbers beside it keep their digits.
bool keeps_numbers(const ExprNode& node);

/// Throws ArgumentError unless `dtype` can hold the parameter: fractions are cut off, and negative
/// numbers may stand for unsigned ones.   Mirrors: c10::checked_convert, at::alpha_check.
void check_parameter(Op op, const Scalar& value, DType dtype);

}  // namespace weft
