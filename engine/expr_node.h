// The nodes behind weft::Expr.
#pragma once

#include <weft/expr.h>
#include <weft/inline_array.h>
#include <weft/promotion.h>

#include <memory>
#include <string>

namespace weft {

struct ExprNode {
  enum class Kind : std::uint8_t { tensor, scalar, op, cast };

  Kind kind = Kind::tensor;
  Op op = Op::load;                  ///< Kind::op
  DType dtype = DType::f32;          ///< of the value
  DType compute_dtype = DType::f32;  ///< Kind::op: the common dtype of the promoting arguments
  OperandCategory category = OperandCategory::dimensioned;
  Tensor tensor;     ///< Kind::tensor
  std::string name;  ///< Kind::tensor: for messages; may be empty
  Scalar scalar;     ///< Kind::scalar
  InlineArray<std::shared_ptr<const ExprNode>, max_arity> args;

  ExprNode() = default;
  ExprNode(const ExprNode&) = default;
  ~ExprNode();  ///< iterative: a chain of any depth is freed without recursion
};

/// Why the op of a node does not compute in its dtype, or an empty string if it does.
std::string unsupported_reason(const ExprNode& node);

}  // namespace weft
