// Which dtype an operation computes in: PyTorch's three categories of operands.
#pragma once

#include <weft/promote.h>
#include <weft/scalar.h>
#include <weft/tensor.h>

#include <optional>
#include <span>

namespace [[gnu::visibility("default")]] weft {

/// What an operand is to promotion.  A lower category changes the dtype of a higher one only by its
/// kind (integer, floating, complex), never by its width.
enum class OperandCategory : std::uint8_t {
  dimensioned,  ///< a tensor with dimensions
  zero_dim,     ///< a tensor without
  number,       ///< a bare number
};

/// Promotion so far; feed it one operand after the other.   Mirrors: at::native::ResultTypeState.
class PromotionState {
 public:
  /// Errors: ArgumentError where two dtypes of one category have no common dtype.
  void add(DType dtype, OperandCategory category);
  void add(const Tensor& tensor);
  void add(const Scalar& number) { add(number.dtype(), OperandCategory::number); }
  /// The common dtype; nothing before the first operand.
  std::optional<DType> result() const;

 private:
  std::optional<DType> per_category_[3];
};

struct PromotionOperand {
  DType dtype;
  OperandCategory category = OperandCategory::dimensioned;
};

inline OperandCategory operand_category(const Tensor& tensor) {
  return tensor.dim() == 0 ? OperandCategory::zero_dim : OperandCategory::dimensioned;
}

/// The dtype in which an operation on these operands computes.
///
/// Errors: ArgumentError when there are no operands, or two that have no common dtype.
DType common_dtype(std::span<const PromotionOperand> operands);

/// As torch.result_type.
DType result_type(const Tensor& a, const Tensor& b);
DType result_type(const Tensor& a, const Scalar& b);
DType result_type(const Scalar& a, const Tensor& b);
DType result_type(const Scalar& a, const Scalar& b);

/// Whether a result of dtype `from` may be written to an output of dtype `to`: complex never
/// becomes real, floating never integral, nothing but bool becomes bool.   Mirrors: c10::canCast.
bool can_cast(DType from, DType to);

}  // namespace weft
