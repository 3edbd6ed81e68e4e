// An expression flattened for lowering: its distinct tensors, its scalar arguments and an IR body.
#pragma once

#include "engine/expr_node.h"
#include "ir/kernel.h"

#include <weft/numerics.h>

#include <span>
#include <vector>

namespace weft {

/// What one fused call computes, before anything is known of layouts.  Operand i < num_outputs is
/// the result of expression i; the leaves follow in the order in which the expressions first read
/// them.
struct Program {
  struct Param {
    const ExprNode* node;  ///< Kind::scalar
    DType dtype;
  };

  int num_outputs = 0;
  std::vector<DType> result_dtypes;     ///< of the expressions
  std::vector<DType> output_dtypes;     ///< what is stored
  std::vector<const ExprNode*> leaves;  ///< Kind::tensor, distinct by view
  std::vector<Param> params;
  std::vector<ir::Inst> body;
  /// Integer divisors: dividing by zero is an error that has to be looked for before the kernel
  /// runs.
  std::vector<const ExprNode*> integer_divisors;
};

/// Flattens `exprs`.  `outputs[i]`, where defined, gives the dtype (and the lazy conjugate and
/// negative bits) of what is stored; otherwise it is the expression's own.
///
/// Errors: ArgumentError if a result cannot be cast to its output, or the call has too many
/// operands.
Program flatten(std::span<const Expr> exprs, std::span<const Tensor> outputs);

}  // namespace weft
