// build(): PyTorch's stages in PyTorch's order, of which plan() is the table of contents.  The
// stages that only mark or compare are here; types, dimensions, overlap and outputs have files of
// their own. Mirrors TensorIteratorBase::build and the functions that it calls.
#include <weft/iterator.h>

#include "engine/iterator/iter_plan.h"

#include <weft/error.h>
#include <weft/overlap.h>

#include <algorithm>

namespace weft {

std::string_view name(FastSetup fast_setup) {
  switch (fast_setup) {
    case FastSetup::none: return "none";
    case FastSetup::contiguous: return "contiguous";
    case FastSetup::channels_last: return "channels_last";
    case FastSetup::non_overlapping_dense: return "non_overlapping_dense";
  }
  return "none";
}

namespace {

using namespace iter;

/// What is there, as the later stages want to see it.
struct PopulatedOperands {
  bool is_meta = false;
  bool is_one_dtype = true;  ///< all are defined, of one dtype, and on the CPU
};

PopulatedOperands populate_operands(GivenOperands& given, int num_outputs, Names names,
                                    IterOperands& operands) {
  PopulatedOperands result;
  operands.owned = std::move(given.owned);
  for (std::size_t i = 0; i < given.size(); ++i) {
    IterOperand& operand = operands.emplace_back();
    operand.borrowed = given[i].borrowed;
    operand.owned_index = given[i].owned_index;
    operand.declared_dtype = given[i].declared_dtype;
    operand.is_output = i < static_cast<std::size_t>(num_outputs);
    const TensorImpl* impl = operand.impl = operands.tensor(i).impl().get();
    if (impl == nullptr) {
      WEFT_CHECK(operand.is_output, ArgumentError, "Found undefined input tensor! It is ",
                 operand_label(static_cast<int>(i), num_outputs, names), ".");
      result.is_one_dtype = false;
      continue;
    }
    operand.dtype = impl->dtype;
    result.is_one_dtype &= operand.dtype == operands[0].dtype &&
                           (!operand.declared_dtype || *operand.declared_dtype == operand.dtype);
    const Device device = impl->storage->device();
    if (device.type == DeviceType::cpu) [[likely]]
      continue;
    result.is_meta |= device.type == DeviceType::meta;
    result.is_one_dtype = false;
  }
  return result;
}

/// Whether operands of one dtype on the CPU leave nothing to compute_types().
bool is_common_dtype_given(const IterOperands& operands, const IterOptions& options) {
  if (options.common_dtype || options.has_numbers || operands.empty()) return false;
  return !options.promote_integer_inputs_to_float || !is_integral(operands[0].dtype);
}

void mark_outputs(IterOperands& operands, int num_outputs, Names names) {
  for (int i = 0; i < num_outputs; ++i) {
    IterOperand& output = operands[i];
    if (output.impl == nullptr) continue;
    WEFT_CHECK(output.impl->access != Access::read_only, ArgumentError,
               "expected an output that may be written, got memory lent for reading only: ",
               operand_text(operands, i, num_outputs, names), ".");
    WEFT_CHECK(output.impl->access != Access::zeros, ArgumentError, immutable_zeros);
    for (std::size_t j = num_outputs; j < operands.size(); ++j) {
      output.is_read_write |= operands[j].impl == output.impl;
    }
  }
}

void compute_mem_overlaps(const IterOperands& operands, int num_outputs, const IterOptions& options,
                          Names names) {
  if (!options.check_mem_overlap) return;
  for (int i = 0; i < num_outputs; ++i) {
    const TensorImpl* output = operands[i].impl;
    if (output == nullptr) continue;
    if (!output->is_non_overlapping_and_dense &&
        has_internal_overlap(operands.tensor(i)) == MemOverlap::yes) [[unlikely]] {
      throw_overlap(operands, i, {}, num_outputs, names);
    }
    for (int j = num_outputs; j < static_cast<int>(operands.size()); ++j) {
      const TensorImpl* input = operands[j].impl;
      if (input == output || input->storage != output->storage) [[likely]]
        continue;
      if (get_overlap_status(operands.tensor(i), operands.tensor(j)) == MemOverlapStatus::partial)
          [[unlikely]] {
        throw_overlap(operands, i, j, num_outputs, names);
      }
    }
  }
}

/// A loop of few steps, where a call of memcmp would cost more.
bool equals(const Dims& a, IntSpan b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

/// Broadcasts `shape` with the sizes of one operand, in place.
void broadcast(DimArray<std::int64_t>& shape, const IterOperands& operands, int operand,
               int num_outputs, Names names) {
  const Dims& sizes = operands[operand].impl->sizes;
  const std::size_t before = shape.size();
  const std::size_t ndim = std::max(before, sizes.size());
  const std::size_t added = ndim - before;
  const std::size_t missing = ndim - sizes.size();
  for (std::size_t dim = missing; dim < ndim; ++dim) {
    const std::int64_t a = dim >= added ? shape[dim - added] : 1;
    const std::int64_t b = sizes[dim - missing];
    if (a != b && a != 1 && b != 1) [[unlikely]] {
      throw_broadcast(operands, operand, {shape.data(), before}, num_outputs, names);
    }
  }
  shape.resize(ndim);
  if (added > 0) {
    std::copy_backward(shape.begin(), shape.begin() + before, shape.end());
    std::fill_n(shape.begin(), added, 1);
  }
  for (std::size_t dim = missing; dim < ndim; ++dim) {
    if (shape[dim] == 1) shape[dim] = sizes[dim - missing];
  }
}

ShapeReview compute_shape(const IterOperands& operands, int num_outputs, const IterOptions& options,
                          const DimArray<std::int64_t>& static_shape, Names names,
                          DimArray<std::int64_t>& shape) {
  ShapeReview result;
  if (options.has_static_shape) {
    shape = static_shape;
    return result;
  }
  result.all_ops_same_shape = true;
  bool has_scalars = options.has_numbers;
  bool has_tensors = false;
  // PyTorch leaves outputs out that it may resize.
  for (std::size_t i = options.resize_outputs ? num_outputs : 0; i < operands.size(); ++i) {
    if (operands[i].impl == nullptr) continue;
    const Dims& sizes = operands[i].impl->sizes;
    has_scalars |= sizes.empty();
    has_tensors |= !sizes.empty();
    if (shape.empty()) {
      shape.resize(sizes.size());
      for (std::size_t dim = 0; dim < sizes.size(); ++dim) shape[dim] = sizes[dim];
    } else if (!equals(sizes, {shape.data(), shape.size()})) {
      result.all_ops_same_shape = false;
      broadcast(shape, operands, static_cast<int>(i), num_outputs, names);
    }
  }
  result.all_ops_same_shape &= !has_scalars || !has_tensors;
  result.all_ops_are_scalars = !has_tensors;
  return result;
}

/// Returns whether there is an output to allocate or to resize.
bool mark_resize_outputs(IterOperands& operands, int num_outputs, IntSpan shape,
                         const IterOptions& options, Names names) {
  bool resizes = false;
  for (int i = 0; i < num_outputs; ++i) {
    IterOperand& output = operands[i];
    if (output.impl == nullptr) {
      output.will_resize = true;
    } else if (!options.has_static_shape && !equals(output.impl->sizes, shape)) {
      output.will_resize = options.resize_outputs && !output.is_read_write;
      WEFT_CHECK(output.will_resize || options.is_reduction, ArgumentError, "output with shape ",
                 dims_text(output.impl->sizes), " doesn't match the broadcast shape ",
                 dims_text(shape), ": ", operand_text(operands, i, num_outputs, names), ".");
    }
    resizes |= output.will_resize;
  }
  return resizes;
}

FastSetup compute_fast_setup(const IterOperands& operands, const ShapeReview& shape,
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
  for (const IterOperand& operand : operands) {
    if (!operand.will_resize &&
        !equals(operand.impl->strides, {first->strides.data(), first->strides.size()})) {
      return FastSetup::none;
    }
  }
  return FastSetup::non_overlapping_dense;
}

/// What outputs get under a fast set-up.
OutputLayout fast_output_layout(FastSetup fast_setup, const IterOperands& operands, IntSpan sizes) {
  OutputLayout layout{sizes, {}, {}};
  switch (fast_setup) {
    case FastSetup::contiguous: layout.format = MemoryFormat::contiguous; break;
    case FastSetup::channels_last: layout.format = MemoryFormat::channels_last; break;
    default:
      for (const IterOperand& operand : operands) {
        if (operand.will_resize) continue;
        const Dims& strides = operand.impl->strides;
        layout.strides = DimArray<std::int64_t>(IntSpan(strides.data(), strides.size()));
      }
  }
  return layout;
}

/// One dimension, or none, dense in every operand.
void set_fast_strides(const IterOperands& operands, int ndim, StrideTable& table) {
  table.num_rows = static_cast<int>(operands.size());
  table.row_length = ndim;
  table.values.resize(static_cast<std::size_t>(table.num_rows * ndim));
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    table.values[i] = static_cast<std::int64_t>(itemsize_bytes(operands[i].dtype));
  }
}

/// The order that reorder_dimensions() would find.  Row-major operands whose dimensions are all
/// longer than 1 leave nothing undecided.
void set_fast_perm(FastSetup fast_setup, const IterOperands& operands, IntSpan sizes,
                   const IterOptions& options, DimArray<int>& perm) {
  bool is_reversal = fast_setup == FastSetup::contiguous;
  for (std::int64_t size : sizes) is_reversal &= size > 1;
  if (!is_reversal && sizes.size() > 1) {
    StrideTable strides;
    compute_strides(operands, sizes, false, strides);
    reorder_dimensions(strides, sizes, operands, options, perm);
    return;
  }
  perm.resize(sizes.size());
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    perm[dim] = static_cast<int>(sizes.size() - 1 - dim);
  }
}

}  // namespace

/// Several dimensions walked through as one, dense in every operand.
void TensorIterator::set_fast_shape(std::int64_t numel) {
  has_coalesced_dimensions_ = sizes_.size() > 1;
  shape_.resize(sizes_.empty() ? 0 : 1);
  if (!shape_.empty()) shape_[0] = numel;
  set_fast_strides(operands_, ndim(), strides_);
}

// Stages write to the members that keep their results: to return these arrays and move them would
// cost more than to compute them, because wide loads wait for the narrow stores before them.
void TensorIterator::plan(TensorIteratorConfig& config) {
  const IterOptions& options = config.options_;
  num_outputs_ = config.num_outputs_;
  names_ = std::move(config.names_);
  is_reduction_ = options.is_reduction;
  const Names names = this->names();

  const PopulatedOperands populated =
      populate_operands(config.operands_, num_outputs_, names, operands_);
  is_meta_ = populated.is_meta;
  mark_outputs(operands_, num_outputs_, names);
  compute_mem_overlaps(operands_, num_outputs_, options, names);
  const ShapeReview shape_review =
      compute_shape(operands_, num_outputs_, options, config.static_shape_, names, sizes_);
  const bool makes_outputs = mark_resize_outputs(operands_, num_outputs_, sizes(), options, names);
  const ComputedTypes types =
      populated.is_one_dtype && is_common_dtype_given(operands_, options)
          ? ComputedTypes{operands_[0].dtype, {}}
          : compute_types(operands_, num_outputs_, shape_review, options, names);
  common_dtype_ = types.common_dtype;
  const std::int64_t numel = checked_numel(sizes());

  fast_setup_ = compute_fast_setup(operands_, shape_review, options);
  if (fast_setup_ != FastSetup::none) {
    set_fast_perm(fast_setup_, operands_, sizes(), options, perm_);
    if (makes_outputs) {
      const OutputLayout layout = fast_output_layout(fast_setup_, operands_, sizes());
      allocate_or_resize_outputs(operands_, num_outputs_, layout, types.common_device, names);
    }
    set_fast_shape(numel);
  } else {
    StrideTable strides;
    compute_strides(operands_, sizes(), options.has_static_shape, strides);
    reorder_dimensions(strides, sizes(), operands_, options, perm_);
    if (makes_outputs) {
      const OutputLayout layout = permuted_output_layout(sizes(), perm());
      allocate_or_resize_outputs(operands_, num_outputs_, layout, types.common_device, names);
      set_new_output_strides(strides, operands_, num_outputs_, layout);
    }
    permute_dimensions(sizes(), strides, perm(), shape_, strides_);
    if (!is_meta_) coalesce();
  }
  for (IterOperand& operand : operands_) operand.data = operand.impl->data();
  if (options.exact_mem_overlap) find_temporaries(operands_, num_outputs_, shape(), strides_);
}

void TensorIterator::coalesce() {
  if (shape_.size() <= 1) return;
  coalesce_dimensions(shape_, strides_);
  has_coalesced_dimensions_ = true;
}

}  // namespace weft
