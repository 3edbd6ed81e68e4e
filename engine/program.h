// An expression flattened for lowering: its distinct tensors, its scalar arguments and an IR body.
#pragma once

#include "engine/expr_node.h"
#include "ir/kernel.h"

#include <weft/numerics.h>

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// What one fused call computes, before anything is known of layouts.  Operand i < num_outputs is
/// the result of expression i; the leaves follow in the order in which the expressions first read
/// them.
struct Program {
  struct Param {
    const ExprNode* node;
    DType dtype;
  };

  int num_outputs = 0;
  std::vector<DType> result_dtypes;     ///< of the expressions
  std::vector<DType> output_dtypes;     ///< what is stored
  std::vector<const ExprNode*> leaves;  ///< Kind::tensor, distinct by view
  std::vector<Param> params;            ///< Kind::scalar
  std::vector<ir::Inst> body;
  /// Integer divisors and the dtype in which they divide, those of inner operations first: dividing
  /// by zero is an error that has to be looked for before the kernel runs.
  std::vector<Param> integer_divisors;
};

/// Which conversions of a result to its output are allowed.
enum class OutputCast : std::uint8_t {
  safe,  ///< can_cast()'s, as for PyTorch's out=
  any,   ///< all, as for copy_
};

/// Flattens `exprs`.  `outputs[i]`, where defined, gives the dtype (and the lazy conjugate and
/// negative bits) of what is stored; otherwise it is the expression's own.
///
/// Errors: ArgumentError if a result cannot be cast to its output; UnsupportedError if the call has
/// too many operands, numbers or operations.
Program flatten(std::span<const Expr> exprs, std::span<const Tensor> outputs,
                OutputCast output_cast = OutputCast::safe);

}  // namespace weft
