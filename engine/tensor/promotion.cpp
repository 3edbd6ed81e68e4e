// Promotion with categories.  The table for two dtypes of one category is runtime's
// promote_types().
#include <weft/promotion.h>

#include <weft/error.h>

namespace weft {

namespace {

DType complex_dtype(DType dtype) {
  switch (dtype) {
    case DType::f16: return DType::c32;
    case DType::bf16:
    case DType::f32: return DType::c64;  // bf16 has the range of f32
    case DType::f64: return DType::c128;
    default: return promote_types(dtype, DType::c64);
  }
}

/// Lets `lower` raise `higher` in kind, not in width.
std::optional<DType> combine_categories(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || is_complex(*higher)) return higher;
  if (is_floating(*higher)) return is_complex(*lower) ? complex_dtype(*higher) : *higher;
  if (is_boolean(*higher) || is_floating(*lower) || is_complex(*lower)) {
    return promote_types(*higher, *lower);
  }
  return higher;
}

}  // namespace

void PromotionState::add(DType dtype, OperandCategory category) {
  std::optional<DType>& current = per_category_[static_cast<std::size_t>(category)];
  current = current && *current != dtype ? promote_types(*current, dtype) : dtype;
}

void PromotionState::add(const Tensor& tensor) { add(tensor.dtype(), operand_category(tensor)); }

std::optional<DType> PromotionState::result() const {
  const auto& [dimensioned, zero_dim, number] = per_category_;
  return combine_categories(dimensioned, combine_categories(zero_dim, number));
}

DType common_dtype(std::span<const PromotionOperand> operands) {
  PromotionState state;
  for (const PromotionOperand& operand : operands) state.add(operand.dtype, operand.category);
  WEFT_CHECK(state.result(), ArgumentError, "promotion needs at least one operand.");
  return *state.result();
}

DType result_type(const Tensor& a, const Tensor& b) {
  PromotionState state;
  state.add(a);
  state.add(b);
  return *state.result();
}

DType result_type(const Tensor& a, const Scalar& b) {
  PromotionState state;
  state.add(a);
  state.add(b);
  return *state.result();
}

DType result_type(const Scalar& a, const Tensor& b) { return result_type(b, a); }

DType result_type(const Scalar& a, const Scalar& b) {
  PromotionState state;
  state.add(a);
  state.add(b);
  return *state.result();
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integer(to)) return false;
  return is_boolean(from) || !is_boolean(to);
}

}  // namespace weft
