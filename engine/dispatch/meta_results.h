// What operators do on tensors without data: find the layouts and dtypes of their results.
#pragma once

#include <weft/expr.h>
#include <weft/tensor.h>

#include <span>
#include <vector>

namespace weft {

/// Layouts and dtypes of the results, on the device meta.  Resizes given outputs.
std::vector<Tensor> infer_on_meta(std::span<const Expr> exprs, std::span<const Tensor> given);

/// The same of expressions that take several kernels, or have results of different sizes.
std::vector<Tensor> infer_parts_on_meta(std::span<const Expr> exprs, std::span<const Tensor> given);

}  // namespace weft
