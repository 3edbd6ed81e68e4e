// The stage of build() that decides about devices and dtypes.  Mirrors
// TensorIteratorBase::compute_types.
#include "engine/iterator/iter_plan.h"
#include "engine/messages/torch_names.h"

#include <weft/error.h>

namespace weft::iter {
namespace {

OptionalDType inferred_common_dtype(const IterOperands& operands, int num_outputs,
                                    const IterOptions& options) {
  PromotionState state = options.numbers;
  for (std::size_t i = num_outputs; i < operands.size(); ++i) {
    state.add(operands[i].dtype, operands[i].impl->sizes.empty() ? OperandCategory::zero_dim
                                                                 : OperandCategory::dimensioned);
  }
  const std::optional<DType> result = state.result();
  return result ? OptionalDType(*result) : OptionalDType();
}

/// First review of compute_types: what the operands are, before anything is decided.
struct TypeReview {
  Device common_device;
  std::optional<DType> input_dtype;   ///< of the first input
  std::optional<DType> output_dtype;  ///< of the first defined output
  bool has_different_input_dtypes = false;
  bool has_different_output_dtypes = false;
  bool has_undefined_outputs = false;
};

TypeReview review_types(const IterOperands& operands, const IterOptions& options) {
  TypeReview review;
  for (const IterOperand& operand : operands) {
    if (operand.impl == nullptr) {
      review.has_undefined_outputs |= !operand.declared_dtype && !options.static_dtype;
      continue;
    }
    const Device device = operand.impl->storage->device();
    if (review.common_device.type == DeviceType::cpu) review.common_device = device;
    std::optional<DType>& first = operand.is_output ? review.output_dtype : review.input_dtype;
    bool& differs =
        operand.is_output ? review.has_different_output_dtypes : review.has_different_input_dtypes;
    if (!first) first = operand.dtype;
    differs |= *first != operand.dtype;
  }
  return review;
}

void check_same_dtype(const IterOperands& operands, const TypeReview& review, int num_outputs,
                      Names names) {
  const bool all_same =
      !review.has_different_input_dtypes && !review.has_different_output_dtypes &&
      (!review.output_dtype || review.output_dtype == review.input_dtype || !review.input_dtype);
  if (all_same) [[likely]]
    return;
  const DType expected = review.input_dtype ? *review.input_dtype : *review.output_dtype;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    WEFT_CHECK(operands[i].impl == nullptr || operands[i].dtype == expected, ArgumentError,
               "Found dtype ", torch_name(operands[i].dtype), " but expected ",
               torch_name(expected), ": ",
               operand_text(operands, static_cast<int>(i), num_outputs, names), ".");
  }
}

/// Second review of compute_types, of one operand: devices and castability.
void check_type(const IterOperands& operands, int index, const ComputedTypes& types,
                const IterOptions& options, int num_outputs, int& num_cpu_scalars, Names names) {
  const IterOperand& operand = operands[index];
  const Device device = operand.impl->storage->device();
  if (options.check_all_same_device && device != types.common_device) [[unlikely]] {
    const bool is_liftable = options.allow_cpu_scalars && !operand.is_output &&
                             operand.impl->sizes.empty() && device.type == DeviceType::cpu;
    WEFT_CHECK(is_liftable, ArgumentError,
               "Expected all tensors to be on the same device, but found at least two devices, ",
               text(types.common_device), " and ", text(device), "! ",
               operand_text(operands, index, num_outputs, names), ".");
    WEFT_CHECK(num_cpu_scalars++ == 0, ArgumentError,
               "Trying to pass too many CPU scalars to non-CPU kernel! ",
               operand_text(operands, index, num_outputs, names), ".");
  }
  if (!options.enforce_safe_casting_to_output || !operand.is_output) return;
  const OptionalDType from = operand.declared_dtype ? operand.declared_dtype : types.common_dtype;
  WEFT_CHECK(!from || can_cast(*from, operand.dtype), ArgumentError, "result type ",
             torch_name(*from), " can't be cast to the desired output type ",
             torch_name(operand.dtype), ": ", operand_text(operands, index, num_outputs, names),
             ", the result is ", name(*from), ".");
}

}  // namespace

ComputedTypes compute_types(IterOperands& operands, int num_outputs, const ShapeReview& shape,
                            const IterOptions& options, Names names) {
  const TypeReview review = review_types(operands, options);
  const bool differs = review.has_different_input_dtypes && !options.common_dtype;
  const bool needs_common_dtype = review.has_undefined_outputs ||
                                  options.enforce_safe_casting_to_output ||
                                  options.cast_common_dtype_to_outputs;
  WEFT_CHECK(
      !differs || options.promote_inputs_to_common_dtype || !needs_common_dtype ||
          options.check_all_same_dtype,
      ArgumentError,
      "the inputs have several dtypes, which promote_inputs_to_common_dtype(false) forbids: ",
      operand_text(operands, num_outputs, num_outputs, names), ".");
  if (options.check_all_same_dtype) check_same_dtype(operands, review, num_outputs, names);

  ComputedTypes types{{}, review.common_device};
  if (review.input_dtype) types.common_dtype = *review.input_dtype;
  if (options.common_dtype) {
    types.common_dtype = options.common_dtype;
  } else if (options.promote_inputs_to_common_dtype &&
             (differs || shape.all_ops_are_scalars || options.has_numbers)) {
    types.common_dtype = inferred_common_dtype(operands, num_outputs, options);
  } else if (differs) {
    types.common_dtype = {};
  }
  if (options.promote_integer_inputs_to_float && types.common_dtype &&
      is_integral(*types.common_dtype)) {
    types.common_dtype = DType::f32;
  }

  int num_cpu_scalars = 0;
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
    IterOperand& operand = operands[i];
    if (operand.impl != nullptr) {
      check_type(operands, i, types, options, num_outputs, num_cpu_scalars, names);
      continue;
    }
    const OptionalDType dtype =
        operand.declared_dtype ? operand.declared_dtype
                               : (options.static_dtype ? options.static_dtype : types.common_dtype);
    WEFT_CHECK(dtype, ArgumentError, "no dtype for the undefined ",
               operand_label(i, num_outputs, names), ": declare one.");
    operand.dtype = *dtype;
  }
  if (options.static_device) types.common_device = *options.static_device;
  return types;
}

}  // namespace weft::iter
