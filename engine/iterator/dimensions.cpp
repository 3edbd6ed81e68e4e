// The stages that deal with dimensions: strides in bytes, their order, new outputs, coalescing.
#include "engine/iterator/iter_plan.h"
#include "engine/tensor/memory_format.h"

#include <weft/error.h>

#include <algorithm>
#include <cstdlib>

namespace weft::iter {
namespace {

/// Whether `dim0` is to be walked through more slowly than `dim1`: 1 yes, -1 no, 0 nobody cares.
int should_swap(int dim0, int dim1, const StrideTable& strides, IntSpan sizes,
                const IterOperands& operands, bool is_reduction) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].will_resize) continue;
    const std::int64_t* row = strides.row(static_cast<int>(i));
    // PyTorch has no negative strides; what counts is how far apart elements are.
    const std::int64_t stride0 = std::abs(row[dim0]);
    const std::int64_t stride1 = std::abs(row[dim1]);
    if (is_reduction && operands[i].is_output && (stride0 == 0) != (stride1 == 0)) {
      return stride1 == 0 ? 1 : -1;
    }
    if (stride0 == 0 || stride1 == 0) continue;
    if (stride0 != stride1) return stride0 < stride1 ? -1 : 1;
    if (sizes[dim0] > sizes[dim1]) return 1;
  }
  return 0;
}

bool can_coalesce(const DimArray<std::int64_t>& shape, const StrideTable& strides, std::size_t dim0,
                  std::size_t dim1) {
  if (shape[dim0] == 1 || shape[dim1] == 1) return true;
  // Wrapped products are never equal by chance: both strides together would reach too far.
  for (int i = 0; i < strides.num_rows; ++i) {
    const std::int64_t* row = strides.row(i);
    if (wrapping_product(shape[dim0], row[dim0]) != row[dim1]) return false;
  }
  return true;
}

void replace_strides(StrideTable& strides, std::size_t to, std::size_t from) {
  for (int i = 0; i < strides.num_rows; ++i) strides.row(i)[to] = strides.row(i)[from];
}

}  // namespace

void compute_strides(const IterOperands& operands, IntSpan sizes, bool has_static_shape,
                     StrideTable& table) {
  const std::int64_t ndim = std::ssize(sizes);
  table.num_rows = static_cast<int>(operands.size());
  table.row_length = static_cast<int>(ndim);
  table.values.resize(operands.size() * sizes.size());
  for (int i = 0; i < table.num_rows; ++i) {
    if (operands[i].will_resize) continue;
    const TensorImpl& impl = *operands[i].impl;
    const std::int64_t operand_ndim = std::ssize(impl.sizes);
    const std::int64_t offset = ndim - operand_ndim;
    WEFT_CHECK(offset >= 0 && (offset == 0 || !has_static_shape), ArgumentError, "a tensor with ",
               operand_ndim, " dimensions can't be walked through in the static shape ",
               dims_text(sizes), ".");
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(operands[i].dtype));
    std::int64_t* row = table.row(i);
    for (std::int64_t dim = 0; dim < offset; ++dim) row[dim] = 0;
    for (std::int64_t dim = offset; dim < ndim; ++dim) {
      const bool is_broadcast =
          !has_static_shape && impl.sizes[dim - offset] == 1 && sizes[dim] != 1;
      const std::int64_t own = dim - offset;
      row[dim] = is_broadcast ? 0 : stride_in_bytes(impl.strides[own], impl.sizes[own], itemsize);
    }
  }
}

void reorder_dimensions(const StrideTable& strides, IntSpan sizes, const IterOperands& operands,
                        const IterOptions& options, DimArray<int>& perm) {
  const int ndim = static_cast<int>(sizes.size());
  perm.resize(sizes.size());
  for (int dim = 0; dim < ndim; ++dim) perm[dim] = ndim - 1 - dim;
  if (options.enforce_linear_iteration) return;
  // An insertion sort that goes on past undecided comparisons: a dimension may still have to move
  // before one further in.
  for (int i = 1; i < ndim; ++i) {
    int dim1 = i;
    for (int dim0 = i - 1; dim0 >= 0; --dim0) {
      const int comparison =
          should_swap(perm[dim0], perm[dim1], strides, sizes, operands, options.is_reduction);
      if (comparison > 0) {
        std::swap(perm[dim0], perm[dim1]);
        dim1 = dim0;
      } else if (comparison < 0) {
        break;
      }
    }
  }
}

void permute_dimensions(IntSpan sizes, const StrideTable& strides, std::span<const int> perm,
                        DimArray<std::int64_t>& permuted_sizes, StrideTable& permuted_strides) {
  permuted_sizes.resize(perm.size());
  for (std::size_t dim = 0; dim < perm.size(); ++dim) permuted_sizes[dim] = sizes[perm[dim]];
  permuted_strides.num_rows = strides.num_rows;
  permuted_strides.row_length = strides.row_length;
  permuted_strides.values.resize(strides.values.size());
  for (int i = 0; i < strides.num_rows; ++i) {
    const std::int64_t* from = strides.row(i);
    std::int64_t* to = permuted_strides.row(i);
    for (std::size_t dim = 0; dim < perm.size(); ++dim) to[dim] = from[perm[dim]];
  }
}

void set_new_output_strides(StrideTable& strides, const IterOperands& operands, int num_outputs,
                            const OutputLayout& layout) {
  for (int i = 0; i < num_outputs; ++i) {
    if (!operands[i].will_resize) continue;
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(operands[i].dtype));
    for (std::size_t dim = 0; dim < layout.strides.size(); ++dim) {
      strides.row(i)[dim] = stride_in_bytes(layout.strides[dim], layout.sizes[dim], itemsize);
    }
  }
}

std::int64_t checked_numel(IntSpan sizes) {
  std::int64_t numel = 1;
  bool overflows = false;
  for (std::int64_t size : sizes) overflows |= __builtin_mul_overflow(numel, size, &numel);
  if (!overflows) [[likely]]
    return numel;
  WEFT_CHECK(std::ranges::find(sizes, 0) != sizes.end(), ArgumentError,
             "numel: integer multiplication overflow with sizes ", dims_text(sizes),
             ": the operands broadcast to more than 2^63 elements.");
  return 0;
}

OutputLayout permuted_output_layout(IntSpan sizes, std::span<const int> perm) {
  OutputLayout layout{sizes, DimArray<std::int64_t>(sizes.size()), {}};
  bool is_reversal = true;
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < perm.size(); ++i) {
    const int dim = perm[i];
    is_reversal &= dim == static_cast<int>(perm.size() - 1 - i);
    layout.strides[dim] = stride;
    stride = wrapping_product(stride, sizes[dim]);
  }
  // Not the same where a size is 0.
  if (is_reversal) layout.format = MemoryFormat::contiguous;
  return layout;
}

void coalesce_dimensions(DimArray<std::int64_t>& shape, StrideTable& strides) {
  if (shape.size() <= 1) return;
  std::size_t last = 0;
  for (std::size_t dim = 1; dim < shape.size(); ++dim) {
    std::int64_t merged;
    if (can_coalesce(shape, strides, last, dim) &&
        !__builtin_mul_overflow(shape[last], shape[dim], &merged)) {
      if (shape[last] == 1) replace_strides(strides, last, dim);
      shape[last] = merged;
    } else {
      ++last;
      if (last != dim) {
        replace_strides(strides, last, dim);
        shape[last] = shape[dim];
      }
    }
  }
  shape.resize(last + 1);
}

}  // namespace weft::iter
