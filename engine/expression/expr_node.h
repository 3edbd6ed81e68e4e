// The nodes behind weft::Expr.
#pragma once

#include "engine/tensor/beyond_i64.h"
#include "engine/tensor/dims.h"

#include <weft/expr.h>
#include <weft/inline_array.h>
#include <weft/numerics.h>
#include <weft/promotion.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weft {

/// What a fold makes of its argument.
enum class FoldForm : std::uint8_t {
  value,       ///< one value in place of many
  index,       ///< where the first extremum is: its row-major place in what was reduced
  scan,        ///< every partial result along a dimension
  scan_index,  ///< where the extremum so far is, the last of equals
};

/// What decides in which order a fold combines floats.
enum class FoldOrder : std::uint8_t {
  by_layout,  ///< the fastest, which depends on strides
  by_shape,   ///< that of a contiguous argument: Numerics::layout_invariant
  exact,      ///< none, as sums don't round before they are known: Numerics::exact
};

/// What a mode of numerics means for folds.
constexpr FoldOrder fold_order(Numerics numerics) {
  return numerics == Numerics::exact              ? FoldOrder::exact
         : numerics == Numerics::layout_invariant ? FoldOrder::by_shape
                                                  : FoldOrder::by_layout;
}

/// The rest of an ExprNode of Kind::fold.
struct FoldNode {
  FoldForm form = FoldForm::value;
  bool keepdim = false;
  bool is_reverse = false;  ///< scans
  bool is_mean = false;     ///< what was combined is divided by how many became one; real floats
  FoldOrder order = FoldOrder::by_layout;  ///< at least; the engine's numerics may ask for more
  std::uint64_t dims = 0;  ///< a bit for each dimension of `arg_sizes` that is folded
  Dims arg_sizes;
  Dims sizes;                      ///< of the result
  std::string_view name;           ///< of the function that asked for it: for messages
  DType given_dtype = DType::f32;  ///< what that was given, or told to convert it to

  bool is_scan() const { return form == FoldForm::scan || form == FoldForm::scan_index; }
  bool folds(std::size_t dim) const { return (dims >> dim & 1) != 0; }
};

struct ExprNode {
  enum class Kind : std::uint8_t { tensor, scalar, op, cast, fold };

  Kind kind = Kind::tensor;
  Op op = Op::load;                  ///< Kind::op; Kind::fold: what is combined with
  DType dtype = DType::f32;          ///< of the value
  DType compute_dtype = DType::f32;  ///< Kind::op: the common dtype of the promoting arguments
  /// Kind::cast to or from a small float: a step of an operator that computes in another dtype, not
  /// what the caller asks for.  Kind::scalar: a number that no caller gave, and a constant of the
  /// kernel.
  bool is_step = false;
  /// What a reduction makes of its folds: without elements, too, it is contiguous.
  bool is_reduced = false;
  OperandCategory category = OperandCategory::dimensioned;
  Tensor tensor;                     ///< Kind::tensor
  std::uint32_t layout_version = 0;  ///< Kind::tensor: the tensor's when the node was made
  std::string name;                  ///< Kind::tensor: for messages; may be empty
  Scalar scalar;                     ///< Kind::scalar
  InlineArray<std::shared_ptr<const ExprNode>, max_arity> args;
  std::shared_ptr<const FoldNode> fold;  ///< Kind::fold
  /// Only while the node waits for its end, when nobody else has it.
  mutable std::shared_ptr<const ExprNode> next_released;

  ExprNode() = default;
  ExprNode(const ExprNode&) = default;
  ~ExprNode();  ///< iterative: a chain of any depth is freed without recursion
};

/// The sizes that the value of a node has.   Errors: ArgumentError if operands don't broadcast.
Dims sizes_of(const ExprNode& node);
/// The same, and those of what it is of: for who asks for many nodes of an expression.
using SizesOfNodes = std::unordered_map<const ExprNode*, Dims>;
const Dims& sizes_of(const ExprNode& node, SizesOfNodes& known);

/// text() of an expression for a message: its beginning, where it is long.  Tensors without a name
/// are numbered as in the texts of `whole`, one after the other.
std::string short_text(const Expr& expr, std::span<const Expr> whole = {});

/// Refuses expressions that were made for other sizes: dtypes follow from whether tensors have
/// dimensions, and folds from how many elements become one.
///
/// Errors: ArgumentError, which says what has changed.
void check_is_current(std::span<const Expr> exprs);

/// `x` converted on the way from one op to another: rounds small floats no more than results of ops
/// are, which stay wide where the numerics let them.
Expr step(const Expr& x, DType dtype);

/// Where the extremum of a scan along `dim` is, for Op::maximum or Op::minimum: i64.
Expr scan_places(Op op, const Expr& x, std::int64_t dim, bool reverse = false);

/// Why the op of a node does not compute in its dtype, or an empty string if it does.
std::string unsupported_reason(const ExprNode& node);

}  // namespace weft
