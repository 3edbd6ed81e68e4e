// Configuration, and build(): PyTorch's stages in PyTorch's order.
#include <weft/iterator.h>

#include "engine/iter_plan.h"

#include <weft/error.h>

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

TensorIterator TensorIteratorConfig::build() {
  TensorIterator iterator;
  iterator.plan(*this);
  return iterator;
}

namespace {

using namespace iter;

void populate_operands(IterOperands& operands, int num_outputs, Names names, bool& is_meta) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    IterOperand& operand = operands[i];
    operand.impl = operand.tensor().impl().get();
    if (operand.impl != nullptr) {
      operand.dtype = operand.impl->dtype;
      is_meta |= operand.impl->storage->device().type == DeviceType::meta;
      continue;
    }
    WEFT_CHECK(operand.is_output, ArgumentError, "Found undefined input tensor! It is ",
               operand_label(static_cast<int>(i), num_outputs, names), ".");
  }
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
        layout.strides = DimArray<std::int64_t>(
            IntSpan(operand.impl->strides.data(), operand.impl->strides.size()));
      }
  }
  return layout;
}

/// The strides of rows that compute_strides() left unset, from the tensors made meanwhile.
void set_new_output_strides(StrideTable& strides, const IterOperands& operands, int num_outputs,
                            const OutputLayout& layout) {
  for (int i = 0; i < num_outputs; ++i) {
    if (!operands[i].will_resize) continue;
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(operands[i].dtype));
    for (std::size_t dim = 0; dim < layout.strides.size(); ++dim) {
      strides.row(i)[dim] = layout.strides[dim] * itemsize;
    }
  }
}

bool needs_outputs(const IterOperands& operands, int num_outputs) {
  return std::any_of(operands.begin(), operands.begin() + num_outputs,
                     [](const IterOperand& output) { return output.will_resize; });
}

/// One dimension, dense in every operand: the strides of a fast set-up.
StrideTable fast_strides(const IterOperands& operands, bool has_dimension) {
  StrideTable table;
  table.num_rows = static_cast<int>(operands.size());
  table.row_length = has_dimension ? 1 : 0;
  table.values.resize(table.num_rows * table.row_length);
  for (int i = 0; i < table.num_rows && has_dimension; ++i) {
    table.values[i] = static_cast<std::int64_t>(itemsize_bytes(operands[i].dtype));
  }
  return table;
}

/// The strides of `from` with dimensions in the order of `perm`.
StrideTable permute_dimensions(const StrideTable& from, std::span<const int> perm) {
  StrideTable to;
  to.num_rows = from.num_rows;
  to.row_length = from.row_length;
  to.values.resize(from.values.size());
  for (int i = 0; i < to.num_rows; ++i) {
    for (std::size_t dim = 0; dim < perm.size(); ++dim) to.row(i)[dim] = from.row(i)[perm[dim]];
  }
  return to;
}

/// True if reorder_dimensions() would find a plain reversal without looking at strides: every
/// operand that counts is row-major and no dimension leaves the comparison undecided.
bool is_plainly_reversed(FastSetup fast_setup, IntSpan sizes) {
  return sizes.size() <= 1 ||
         (fast_setup == FastSetup::contiguous &&
          std::ranges::all_of(sizes, [](std::int64_t size) { return size > 1; }));
}

DimArray<int> reversed_dimensions(std::size_t ndim) {
  DimArray<int> perm(ndim);
  for (std::size_t dim = 0; dim < ndim; ++dim) perm[dim] = static_cast<int>(ndim - 1 - dim);
  return perm;
}

}  // namespace

void TensorIterator::plan(TensorIteratorConfig& config) {
  const IterOptions& options = config.options_;
  const int num_outputs = num_outputs_ = config.num_outputs_;
  names_ = std::move(config.names_);
  operands_ = std::move(config.operands_);
  is_reduction_ = options.is_reduction;

  populate_operands(operands_, num_outputs, names_, is_meta_);
  mark_outputs(operands_, num_outputs);
  compute_mem_overlaps(operands_, num_outputs, options, names_);
  BroadcastShape broadcast = compute_shape(operands_, options, config.static_shape_, names_);
  mark_resize_outputs(operands_, num_outputs, broadcast, options, names_);
  const ComputedTypes types = compute_types(operands_, num_outputs, broadcast, options, names_);
  common_dtype_ = types.common_dtype;
  const IntSpan sizes(broadcast.sizes.data(), broadcast.sizes.size());
  const std::int64_t numel = checked_numel(sizes);

  fast_setup_ = compute_fast_setup(operands_, broadcast, options);
  const bool makes_outputs = needs_outputs(operands_, num_outputs);
  if (fast_setup_ != FastSetup::none) {
    if (is_plainly_reversed(fast_setup_, sizes)) {
      perm_ = reversed_dimensions(sizes.size());
    } else {
      const StrideTable strides = compute_strides(operands_, sizes, false);
      perm_ = reorder_dimensions(strides, sizes, operands_, options);
    }
    if (makes_outputs) {
      const OutputLayout layout = fast_output_layout(fast_setup_, operands_, sizes);
      allocate_or_resize_outputs(operands_, num_outputs, layout, types.common_device, names_);
    }
    has_coalesced_dimensions_ = sizes.size() > 1;
    shape_.resize(std::min<std::size_t>(sizes.size(), 1));
    if (!shape_.empty()) shape_[0] = numel;
    strides_ = fast_strides(operands_, !shape_.empty());
  } else {
    StrideTable strides = compute_strides(operands_, sizes, options.has_static_shape);
    perm_ = reorder_dimensions(strides, sizes, operands_, options);
    if (makes_outputs) {
      const OutputLayout layout = permuted_output_layout(sizes, perm());
      allocate_or_resize_outputs(operands_, num_outputs, layout, types.common_device, names_);
      set_new_output_strides(strides, operands_, num_outputs, layout);
    }
    strides_ = permute_dimensions(strides, perm());
    shape_.resize(sizes.size());
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) shape_[dim] = sizes[perm_[dim]];
    if (!is_meta_) coalesce();
  }
  sizes_ = std::move(broadcast.sizes);
  for (IterOperand& operand : operands_) operand.data = operand.impl->data();
  if (options.exact_mem_overlap) find_temporaries(operands_, num_outputs, shape(), strides_);
}

void TensorIterator::coalesce() {
  if (shape_.size() <= 1) return;
  coalesce_dimensions(shape_, strides_);
  has_coalesced_dimensions_ = true;
}

std::int64_t TensorIterator::numel() const {
  std::int64_t numel = 1;
  for (std::int64_t size : shape_) numel *= size;
  return numel;
}

DType TensorIterator::common_dtype() const {
  WEFT_CHECK(common_dtype_, ArgumentError,
             "the inputs have several dtypes, and promote_inputs_to_common_dtype is off.");
  return *common_dtype_;
}

Device TensorIterator::device(int operand) const {
  return operands_[operand].impl->storage->device();
}

bool TensorIterator::has_contiguous_first_dim() const {
  for (int i = 0; i < ntensors(); ++i) {
    if (stride_bytes(i)[0] != static_cast<std::int64_t>(itemsize_bytes(dtype(i)))) return false;
  }
  return true;
}

bool TensorIterator::is_contiguous() const {
  if (numel() == 1) return true;
  return ndim() == 1 && has_contiguous_first_dim();
}

bool TensorIterator::is_scalar(int operand) const { return operands_[operand].impl->numel == 1; }

bool TensorIterator::is_cpu_scalar(int operand) const {
  return is_scalar(operand) && device(operand).type == DeviceType::cpu;
}

bool TensorIterator::is_dim_reduced(int dim) const {
  for (int i = 0; i < num_outputs_; ++i) {
    if (stride_bytes(i)[dim] == 0 && shape_[dim] > 1) return true;
  }
  return false;
}

int TensorIterator::num_reduce_dims() const {
  int count = 0;
  for (int dim = 0; dim < ndim(); ++dim) count += num_outputs_ > 0 && stride_bytes(0)[dim] == 0;
  return count;
}

std::vector<std::int64_t> TensorIterator::compatible_stride(std::int64_t element_size_bytes) const {
  std::vector<std::int64_t> strides;
  std::int64_t next = element_size_bytes;
  for (std::int64_t size : shape_) {
    strides.push_back(next);
    next *= size;
  }
  return strides;
}

}  // namespace weft
