// Stages of TensorIteratorConfig::build(), each from one value to the next; iterator.cpp runs
// them in order.  They throw ArgumentError on bad operands and change no tensor, except for the one
// that allocates.
#pragma once

#include "engine/tensor/tensor_impl.h"

#include <weft/iterator.h>

#include <optional>
#include <span>
#include <string>

namespace weft::iter {

using detail::DimArray;
using detail::GivenOperands;
using detail::IterOperand;
using detail::IterOperands;
using detail::IterOptions;
using detail::OptionalDType;
using detail::StrideTable;

using Names = std::span<const std::string>;

/// What the shapes of the operands say about the fast set-up and about promotion.
struct ShapeReview {
  bool all_ops_same_shape = false;
  bool all_ops_are_scalars = false;
};

struct ComputedTypes {
  OptionalDType common_dtype;
  Device common_device;
};

/// What every new or resized output gets.
struct OutputLayout {
  IntSpan sizes;
  DimArray<std::int64_t> strides;  ///< in elements; used if `format` is nothing
  std::optional<MemoryFormat> format;
};

/// Product of the sizes.   Errors: ArgumentError if it leaves 64 bits.
std::int64_t checked_numel(IntSpan sizes);
/// Also gives undefined outputs their dtype.
ComputedTypes compute_types(IterOperands& operands, int num_outputs, const ShapeReview& shape,
                            const IterOptions& options, Names names);
/// Strides in bytes along `sizes`, 0 where an operand is broadcast; rows of outputs that are to be
/// allocated or resized are left unset.
void compute_strides(const IterOperands& operands, IntSpan sizes, bool has_static_shape,
                     StrideTable& strides);
/// The dimensions of `sizes`, fastest first.
void reorder_dimensions(const StrideTable& strides, IntSpan sizes, const IterOperands& operands,
                        const IterOptions& options, DimArray<int>& perm);
/// Sizes and strides with the dimensions in the order of `perm`.
void permute_dimensions(IntSpan sizes, const StrideTable& strides, std::span<const int> perm,
                        DimArray<std::int64_t>& permuted_sizes, StrideTable& permuted_strides);
/// The rows that compute_strides() left unset.
void set_new_output_strides(StrideTable& strides, const IterOperands& operands, int num_outputs,
                            const OutputLayout& layout);
/// What new outputs look like after the slow path: dense in the order of `perm`.
OutputLayout permuted_output_layout(IntSpan sizes, std::span<const int> perm);
/// Checks that every output can be resized, allocates undefined ones, resizes given ones.
void allocate_or_resize_outputs(IterOperands& operands, int num_outputs, const OutputLayout& layout,
                                Device device, Names names);
/// Merges neighbouring dimensions that every operand walks through as one.  Row 0 of `strides`
/// belongs to operand 0; rows keep their length, of which shape.size() entries count afterwards.
void coalesce_dimensions(DimArray<std::int64_t>& shape, StrideTable& strides);
/// Which inputs have elements that some output overwrites under another index.
void find_temporaries(IterOperands& operands, int num_outputs, IntSpan shape,
                      const StrideTable& strides);

/// "output 0 `sum`", "input 1": how messages call an operand.
std::string operand_label(int operand, int num_outputs, Names names);
/// The same with the tensor: "input 1 `b` is f32[3, 4] strides [4, 1] cpu".
std::string operand_text(const IterOperands& operands, int operand, int num_outputs, Names names);

/// Refuses an input whose sizes don't broadcast with `so_far`, those of the operands before it.
[[noreturn, gnu::cold]] void throw_broadcast(const IterOperands& operands, int operand,
                                             IntSpan so_far, int num_outputs, Names names);
/// Refuses an output that overlaps itself, or an input.
[[noreturn, gnu::cold]] void throw_overlap(const IterOperands& operands, int output,
                                           std::optional<int> input, int num_outputs, Names names);

}  // namespace weft::iter
