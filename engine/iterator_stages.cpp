// The stages up to the fast set-up: marks, overlap, shape, types.  Mirrors TensorIteratorBase's
// functions of these names.
#include "engine/iter_plan.h"

#include <weft/error.h>
#include <weft/overlap.h>

#include <algorithm>

namespace weft::iter {
namespace {

bool equals(const Dims& a, const DimArray<std::int64_t>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

/// The name that PyTorch's messages use for a dtype.
std::string_view torch_name(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "Bool";
    case DType::u8: return "Byte";
    case DType::u16: return "UInt16";
    case DType::u32: return "UInt32";
    case DType::u64: return "UInt64";
    case DType::i8: return "Char";
    case DType::i16: return "Short";
    case DType::i32: return "Int";
    case DType::i64: return "Long";
    case DType::f16: return "Half";
    case DType::bf16: return "BFloat16";
    case DType::f8e4m3fn: return "Float8_e4m3fn";
    case DType::f8e5m2: return "Float8_e5m2";
    case DType::f32: return "Float";
    case DType::f64: return "Double";
    case DType::c32: return "ComplexHalf";
    case DType::c64: return "ComplexFloat";
    case DType::c128: return "ComplexDouble";
  }
  return "Undefined";
}

[[noreturn, gnu::cold, gnu::noinline]] void throw_broadcast(const IterOperands& operands,
                                                            int operand, IntSpan so_far,
                                                            std::int64_t dim, int num_outputs,
                                                            Names names) {
  const Dims& sizes = operands[operand].impl->sizes;
  const auto ndim = std::max<std::int64_t>(std::ssize(so_far), std::ssize(sizes));
  throw ArgumentError(
      detail::concat("The size of tensor a (", so_far[dim - ndim + std::ssize(so_far)],
                     ") must match the size of tensor b (", sizes[dim - ndim + std::ssize(sizes)],
                     ") at non-singleton dimension ", dim, ": ",
                     operand_text(operands, operand, num_outputs, names),
                     ", the operands before it broadcast to ", dims_text(so_far), "."));
}

/// Broadcasts `shape` with the sizes of one operand, in place.
void broadcast(DimArray<std::int64_t>& shape, const IterOperands& operands, int operand,
               int num_outputs, Names names) {
  const Dims& sizes = operands[operand].impl->sizes;
  const std::int64_t shape_ndim = std::ssize(shape);
  const std::int64_t ndim = std::max<std::int64_t>(shape_ndim, std::ssize(sizes));
  DimArray<std::int64_t> result(ndim);
  for (std::int64_t dim = ndim - 1; dim >= 0; --dim) {
    const std::int64_t a_dim = dim - ndim + shape_ndim;
    const std::int64_t b_dim = dim - ndim + std::ssize(sizes);
    const std::int64_t a = a_dim >= 0 ? shape[a_dim] : 1;
    const std::int64_t b = b_dim >= 0 ? sizes[b_dim] : 1;
    if (a != b && a != 1 && b != 1) [[unlikely]] {
      throw_broadcast(operands, operand, {shape.data(), shape.size()}, dim, num_outputs, names);
    }
    result[dim] = a == 1 ? b : a;
  }
  shape = std::move(result);
}

[[noreturn, gnu::cold, gnu::noinline]] void throw_overlap(const IterOperands& operands, int output,
                                                          std::optional<int> input, int num_outputs,
                                                          Names names) {
  const std::string label = operand_label(output, num_outputs, names);
  const Tensor& written = operands[output].tensor();
  if (input) {
    assert_no_partial_overlap(written, operands[*input].tensor(), label,
                              operand_label(*input, num_outputs, names));
  }
  assert_no_internal_overlap(written, label);
  throw InternalError("an overlap was found that the check for its message does not see.");
}

std::optional<DType> inferred_common_dtype(const IterOperands& operands, int num_outputs,
                                           const IterOptions& options) {
  PromotionState state = options.numbers;
  for (std::size_t i = num_outputs; i < operands.size(); ++i) {
    state.add(operands[i].dtype, operands[i].impl->sizes.empty() ? OperandCategory::zero_dim
                                                                 : OperandCategory::dimensioned);
  }
  return state.result();
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
  const std::optional<DType> from =
      operand.declared_dtype ? operand.declared_dtype : types.common_dtype;
  WEFT_CHECK(!from || can_cast(*from, operand.dtype), ArgumentError, "result type ",
             torch_name(*from), " can't be cast to the desired output type ",
             torch_name(operand.dtype), ": ", operand_text(operands, index, num_outputs, names),
             ", the result is ", name(*from), ".");
}

}  // namespace

void mark_outputs(IterOperands& operands, int num_outputs) {
  for (int i = 0; i < num_outputs; ++i) {
    IterOperand& output = operands[i];
    if (output.impl == nullptr) continue;
    for (std::size_t j = num_outputs; j < operands.size(); ++j) {
      output.is_read_write |= operands[j].impl == output.impl;
    }
  }
}

void compute_mem_overlaps(const IterOperands& operands, int num_outputs, const IterOptions& options,
                          Names names) {
  if (!options.check_mem_overlap) return;
  for (int i = 0; i < num_outputs; ++i) {
    if (operands[i].impl == nullptr) continue;
    const Tensor& output = operands[i].tensor();
    if (!operands[i].impl->is_non_overlapping_and_dense &&
        has_internal_overlap(output) == MemOverlap::yes) [[unlikely]] {
      throw_overlap(operands, i, {}, num_outputs, names);
    }
    for (std::size_t j = num_outputs; j < operands.size(); ++j) {
      if (operands[j].impl == operands[i].impl) continue;
      if (operands[j].impl->storage != operands[i].impl->storage) [[likely]]
        continue;
      if (get_overlap_status(output, operands[j].tensor()) == MemOverlapStatus::partial)
          [[unlikely]] {
        throw_overlap(operands, i, static_cast<int>(j), num_outputs, names);
      }
    }
  }
}

std::int64_t checked_numel(IntSpan sizes) {
  std::int64_t numel = 1;
  bool overflows = false;
  for (std::int64_t size : sizes) overflows |= __builtin_mul_overflow(numel, size, &numel);
  if (overflows && std::ranges::find(sizes, 0) != sizes.end()) return 0;
  WEFT_CHECK(!overflows, ArgumentError, "numel: integer multiplication overflow with sizes ",
             dims_text(sizes), ": the operands broadcast to more than 2^63 elements.");
  return numel;
}

BroadcastShape compute_shape(const IterOperands& operands, const IterOptions& options,
                             DimArray<std::int64_t>& static_shape, Names names) {
  BroadcastShape result;
  if (options.has_static_shape) {
    result.sizes = std::move(static_shape);
    return result;
  }
  result.all_ops_same_shape = true;
  bool has_scalars = options.has_numbers;
  bool has_tensors = false;
  const int num_outputs =
      static_cast<int>(std::ranges::count_if(operands, [](const auto& o) { return o.is_output; }));
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
    const IterOperand& operand = operands[i];
    if (operand.impl == nullptr || (operand.is_output && options.resize_outputs)) continue;
    const Dims& sizes = operand.impl->sizes;
    (sizes.empty() ? has_scalars : has_tensors) = true;
    if (has_scalars && has_tensors) result.all_ops_same_shape = false;
    if (result.sizes.empty()) {
      result.sizes.resize(sizes.size());
      std::copy(sizes.begin(), sizes.end(), result.sizes.begin());
    } else if (!equals(sizes, result.sizes)) {
      result.all_ops_same_shape = false;
      broadcast(result.sizes, operands, i, num_outputs, names);
    }
  }
  result.all_ops_are_scalars = !has_tensors;
  return result;
}

void mark_resize_outputs(IterOperands& operands, int num_outputs, const BroadcastShape& shape,
                         const IterOptions& options, Names names) {
  for (int i = 0; i < num_outputs; ++i) {
    IterOperand& output = operands[i];
    if (output.impl == nullptr) {
      output.will_resize = true;
    } else if (!options.has_static_shape && !equals(output.impl->sizes, shape.sizes)) {
      output.will_resize = options.resize_outputs && !output.is_read_write;
      WEFT_CHECK(output.will_resize || options.is_reduction, ArgumentError, "output with shape ",
                 dims_text(output.impl->sizes), " doesn't match the broadcast shape ",
                 dims_text({shape.sizes.data(), shape.sizes.size()}), ": ",
                 operand_text(operands, i, num_outputs, names), ".");
    }
  }
}

ComputedTypes compute_types(IterOperands& operands, int num_outputs, const BroadcastShape& shape,
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

  ComputedTypes types{review.input_dtype, review.common_device};
  if (options.common_dtype) {
    types.common_dtype = options.common_dtype;
  } else if (options.promote_inputs_to_common_dtype &&
             (differs || shape.all_ops_are_scalars || options.has_numbers)) {
    types.common_dtype = inferred_common_dtype(operands, num_outputs, options);
  } else if (differs) {
    types.common_dtype = std::nullopt;
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
    const std::optional<DType> dtype =
        operand.declared_dtype ? operand.declared_dtype
                               : (options.static_dtype ? options.static_dtype : types.common_dtype);
    WEFT_CHECK(dtype, ArgumentError, "no dtype for the undefined ",
               operand_label(i, num_outputs, names), ": declare one.");
    operand.dtype = *dtype;
  }
  if (options.static_device) types.common_device = *options.static_device;
  return types;
}

FastSetup compute_fast_setup(const IterOperands& operands, const BroadcastShape& shape,
                             const IterOptions& options) {
  if (options.is_reduction || !shape.all_ops_same_shape) return FastSetup::none;
  bool contiguous = true;
  bool channels_last = true;
  bool dense = true;
  const TensorImpl* first = nullptr;
  for (const IterOperand& operand : operands) {
    if (operand.will_resize) continue;
    const TensorImpl& impl = *operand.impl;
    contiguous &= impl.is_contiguous;
    channels_last &= impl.is_channels_last_contiguous;
    dense &= impl.is_non_overlapping_and_dense;
    if (first == nullptr) first = &impl;
  }
  if (contiguous) return FastSetup::contiguous;
  // Only in logical order is a contiguous run one dimension.
  if (options.enforce_linear_iteration) return FastSetup::none;
  if (channels_last) return FastSetup::channels_last;
  if (!dense) return FastSetup::none;
  const bool same_strides = std::ranges::all_of(operands, [&](const IterOperand& operand) {
    return operand.will_resize || operand.impl->strides == first->strides;
  });
  return same_strides ? FastSetup::non_overlapping_dense : FastSetup::none;
}

}  // namespace weft::iter
