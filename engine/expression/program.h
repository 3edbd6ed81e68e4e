// An expression flattened for lowering: its distinct tensors, its scalar arguments and an IR body.
#pragma once

#include "engine/expression/expr_node.h"
#include "ir/kernel.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// What one fused call computes, before anything is known of layouts.  Operand i < num_outputs is
/// the result of expression i; the leaves follow in the order in which the expressions first read
/// them.
struct Program {
  struct Param {
    const ExprNode* node;
    DType dtype;
    /// The number stands where PyTorch's operator takes a tensor, into which it makes it.  False
    /// for parameters such as the factor of addcmul, which don't touch the plan.
    bool is_operand = true;
  };

  int num_outputs = 0;
  std::vector<DType> result_dtypes;      ///< of the expressions
  std::vector<DType> output_dtypes;      ///< what is stored
  std::vector<const ExprNode*> results;  ///< the expressions
  std::vector<const ExprNode*> leaves;   ///< Kind::tensor, distinct by view
  std::vector<Param> params;             ///< Kind::scalar
  std::vector<ir::Inst> body;
  /// Integer divisors that may be 0 and the dtype in which they divide, those of inner operations
  /// first: dividing by zero is an error that has to be looked for before the kernel runs.
  std::vector<Param> integer_divisors;
  /// Why an op does not compute in its dtype; empty if all do.  Shapes and the dtypes of outputs
  /// are refused before that.
  std::string unsupported;
};

/// Whether `op`, computed in `dtype`, divides integers by args[1], and so fails on a divisor of 0.
bool divides_integers(Op op, DType dtype);
/// Whether a node does, by anything but a number that is not 0.
bool may_divide_by_zero(const ExprNode& node);
inline constexpr std::string_view integer_division_by_zero =
    "ZeroDivisionError: integer division by zero";

/// Flattens `exprs`.  `outputs[i]`, where defined, gives the dtype (and the lazy conjugate and
/// negative bits) of what is stored; otherwise it is the expression's own.
///
/// Errors: UnsupportedError if the call has too many operands, numbers or operations.
Program flatten(std::span<const Expr> exprs, std::span<const Tensor> outputs);

/// The tensors of Program::leaves.
std::vector<Tensor> leaves_of(const Program& program);

}  // namespace weft
