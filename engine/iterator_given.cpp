// The commonest calls, planned in one look at each operand instead of stage by stage: everything
// given, of one dtype, on the CPU, outputs of the full shape and apart from inputs or the very same
// tensors.  The stages of iterator.cpp would come to the same plan; it is the number of
// instructions that counts here.
#include "engine/iter_plan.h"

#include <weft/iterator.h>

#include <algorithm>
#include <cstdlib>

namespace weft {
namespace {

using namespace iter;

constexpr int max_operands = static_cast<int>(detail::inline_operands);
constexpr int max_given_dims = static_cast<int>(detail::inline_dims);

/// Strides in bytes, by dimension and then by operand.
using GivenStrides = std::int64_t[max_given_dims][max_operands];

bool has_sizes(const TensorImpl& impl, const std::int64_t* sizes, int ndim) {
  if (impl.ndim() != ndim) return false;
  const std::int64_t* const own_sizes = impl.sizes.data();
  for (int dim = 0; dim < ndim; ++dim) {
    if (own_sizes[dim] != sizes[dim]) return false;
  }
  return true;
}

/// The strides of an operand that may be broadcast.  Sets the bits of the dimensions that it has in
/// full in `seen`; returns false where its sizes don't broadcast to `sizes`.
bool collect_strides(const TensorImpl& impl, const std::int64_t* sizes, int ndim, int operand,
                     GivenStrides& given, unsigned& seen) {
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(impl.dtype));
  const int missing = ndim - impl.ndim();
  if (missing < 0) return false;
  const std::int64_t* const own_sizes = impl.sizes.data();
  const std::int64_t* const own_strides = impl.strides.data();
  std::int64_t* to = &given[0][operand];
  for (int dim = 0; dim < missing; ++dim, to += max_operands) *to = 0;
  for (int dim = 0; dim < ndim - missing; ++dim, to += max_operands) {
    const bool is_full = own_sizes[dim] == sizes[missing + dim];
    if (!is_full && own_sizes[dim] != 1) return false;
    *to = is_full ? own_strides[dim] * itemsize : 0;
    seen |= static_cast<unsigned>(is_full) << (missing + dim);
  }
  return true;
}

/// The strides of an operand that has all dimensions in full.
void collect_full_strides(const TensorImpl& impl, int ndim, int operand, GivenStrides& given) {
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(impl.dtype));
  const std::int64_t* const own_strides = impl.strides.data();
  std::int64_t* to = &given[0][operand];
  for (int dim = 0; dim < ndim; ++dim, to += max_operands) *to = own_strides[dim] * itemsize;
}

/// As reorder_dimensions() does it for what is no reduction, from the reversal on.
void order_dimensions(const GivenStrides& given, const std::int64_t* sizes, int ndim,
                      int num_operands, int* perm) {
  for (int i = 1; i < ndim; ++i) {
    int place = i;
    for (int before = i - 1; before >= 0; --before) {
      const int outer = perm[before];
      const int inner = perm[place];
      int comparison = 0;
      for (int k = 0; k < num_operands && comparison == 0; ++k) {
        const std::int64_t stride0 = std::abs(given[outer][k]);
        const std::int64_t stride1 = std::abs(given[inner][k]);
        if (stride0 == 0 || stride1 == 0) continue;
        if (stride0 != stride1) {
          comparison = stride0 < stride1 ? -1 : 1;
        } else if (sizes[outer] > sizes[inner]) {
          comparison = 1;
        }
      }
      if (comparison < 0) break;
      if (comparison > 0) {
        std::swap(perm[before], perm[place]);
        place = before;
      }
    }
  }
}

bool continues(const std::int64_t* strides, std::int64_t size, const std::int64_t* next,
               int num_operands) {
  for (int k = 0; k < num_operands; ++k) {
    if (size * strides[k] != next[k]) return false;
  }
  return true;
}

/// Permutes and coalesces at once: every dimension of the result is written when it is complete.
void merge_dimensions(const GivenStrides& given, const std::int64_t* sizes, const int* perm,
                      int ndim, int num_operands, DimArray<std::int64_t>& shape,
                      StrideTable& table) {
  table.num_rows = num_operands;
  table.row_length = ndim;
  table.values.resize(static_cast<std::size_t>(num_operands * ndim));
  shape.resize(static_cast<std::size_t>(ndim));
  std::int64_t* size_out = shape.data();
  std::int64_t* strides_out = table.values.data();
  const auto write = [&](std::int64_t size, const std::int64_t* strides) {
    *size_out++ = size;
    std::int64_t* to = strides_out++;
    for (int k = 0; k < num_operands; ++k, to += ndim) *to = strides[k];
  };
  std::int64_t size = sizes[perm[0]];
  const std::int64_t* strides = given[perm[0]];
  for (int i = 1; i < ndim; ++i) {
    const std::int64_t next_size = sizes[perm[i]];
    const std::int64_t* const next = given[perm[i]];
    if (size == 1) {
      strides = next;
    } else if (next_size != 1 && !continues(strides, size, next, num_operands)) {
      write(size, strides);
      size = 1;
      strides = next;
    }
    size *= next_size;
  }
  write(size, strides);
  shape.resize(static_cast<std::size_t>(size_out - shape.data()));
}

}  // namespace

/// Fills operands_ in.  `is_plain`: they are contiguous and of one shape; `full` gets a bit for
/// each operand that is of the shape of the first.
bool TensorIterator::look_at_given(const TensorIteratorConfig& config, bool& is_plain,
                                   unsigned& full) {
  const detail::GivenOperand* const given = config.operands_.data();
  const int num_given = static_cast<int>(config.operands_.size());
  const int num_outputs = config.num_outputs_;
  if (num_given == 0 || num_given > max_operands || given[0].borrowed == nullptr) return false;
  const TensorImpl* const first = given[0].borrowed->impl().get();
  if (first == nullptr || first->numel == 0) return false;
  const DType dtype = first->dtype;
  const int ndim = first->ndim();
  const std::int64_t* const sizes = first->sizes.data();
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
  const std::int64_t num_bytes = first->numel * itemsize;
  const std::byte* begins[max_operands];  // of memory that holds all of an operand
  const std::byte* ends[max_operands];
  is_plain = true;
  full = 0;
  for (int i = 0; i < num_given; ++i) {
    const Tensor* const tensor = given[i].borrowed;
    const TensorImpl* const impl = tensor == nullptr ? nullptr : tensor->impl().get();
    if (impl == nullptr || impl->dtype != dtype) return false;
    const detail::OptionalDType declared = given[i].declared_dtype;
    if (declared && *declared != dtype) return false;
    const Storage& storage = *impl->storage;
    std::byte* const base = storage.data();
    if (storage.device().type != DeviceType::cpu || base == nullptr) return false;
    const bool is_full = has_sizes(*impl, sizes, ndim);
    full |= static_cast<unsigned>(is_full) << i;
    IterOperand& operand = operands_.emplace_back();
    operand.borrowed = tensor;
    operand.impl = impl;
    operand.dtype = dtype;
    operand.is_output = i < num_outputs;
    operand.is_const = given[i].is_const;
    operand.data = base + impl->storage_offset * itemsize;
    if (is_full && impl->is_contiguous) {
      begins[i] = operand.data;
      ends[i] = begins[i] + num_bytes;
    } else {
      is_plain = false;
      begins[i] = base;
      ends[i] = base + storage.size_bytes();
    }
    if (i < num_outputs) {
      if (!is_full || !impl->is_non_overlapping_and_dense) return false;
      continue;
    }
    for (int output = 0; output < num_outputs; ++output) {
      if (ends[output] <= begins[i] || ends[i] <= begins[output]) continue;
      if (operands_[output].impl != impl) return false;
      operands_[output].is_read_write = true;
    }
  }
  return true;
}

/// Returns false, with nothing done, where that isn't so.
bool TensorIterator::plan_given(TensorIteratorConfig& config) {
  const IterOptions& options = config.options_;
  if (options.is_reduction || options.has_static_shape || options.has_numbers ||
      options.common_dtype || options.promote_integer_inputs_to_float ||
      options.enforce_linear_iteration) {
    return false;
  }
  num_outputs_ = config.num_outputs_;
  bool is_plain;
  unsigned full;
  if (!look_at_given(config, is_plain, full)) return false;
  if (is_plain) {
    set_plain_shape();
  } else if (!set_given_strides(full)) {
    return false;
  }
  if (!config.names_.empty()) names_ = std::move(config.names_);
  common_dtype_ = operands_[0].dtype;
  return true;
}

/// The contiguous fast set-up: dimensions in reverse, walked through as one.
void TensorIterator::set_plain_shape() {
  const TensorImpl& first = *operands_[0].impl;
  const int ndim = first.ndim();
  const std::int64_t* const from = first.sizes.data();
  fast_setup_ = FastSetup::contiguous;
  sizes_.resize(static_cast<std::size_t>(ndim));
  perm_.resize(static_cast<std::size_t>(ndim));
  std::int64_t* const sizes = sizes_.data();
  int* const perm = perm_.data();
  bool is_reversal = true;
  for (int dim = 0; dim < ndim; ++dim) {
    sizes[dim] = from[dim];
    perm[dim] = ndim - 1 - dim;
    is_reversal &= from[dim] > 1;
  }
  if (!is_reversal && ndim > 1) {
    StrideTable strides;
    compute_strides(operands_, this->sizes(), false, strides);
    reorder_dimensions(strides, this->sizes(), operands_, {}, perm_);
  }
  has_coalesced_dimensions_ = ndim > 1;
  strides_.num_rows = ntensors();
  strides_.row_length = 0;
  if (ndim == 0) return;
  shape_.resize(1);
  shape_[0] = first.numel;
  strides_.row_length = 1;
  strides_.values.resize(operands_.size());
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(first.dtype));
  std::int64_t* const strides = strides_.values.data();
  for (int i = 0; i < ntensors(); ++i) strides[i] = itemsize;
}

/// The slow path.  Returns false, with nothing done, where a fast set-up applies, or the inputs
/// don't broadcast to exactly the sizes of the outputs.
bool TensorIterator::set_given_strides(unsigned full) {
  const int num_operands = ntensors();
  const TensorImpl& first = *operands_[0].impl;
  const int ndim = first.ndim();
  const std::int64_t* const sizes = first.sizes.data();
  if (num_outputs_ == 0 || num_outputs_ == num_operands || ndim == 0 || ndim > max_given_dims) {
    return false;
  }
  const unsigned all_dims = (1U << ndim) - 1;
  GivenStrides given;
  bool is_same_shape = true;
  bool is_channels_last = true;
  bool is_dense = true;
  unsigned seen = 0;  // dimensions that an input has in full
  for (int i = 0; i < num_operands; ++i) {
    const TensorImpl& impl = *operands_[i].impl;
    unsigned own = all_dims;
    if ((full >> i & 1) != 0) {
      collect_full_strides(impl, ndim, i, given);
    } else {
      own = 0;
      is_same_shape = false;
      if (!collect_strides(impl, sizes, ndim, i, given, own)) return false;
    }
    is_channels_last &= impl.is_channels_last_contiguous;
    is_dense &= impl.is_non_overlapping_and_dense;
    if (i >= num_outputs_) seen |= own;
  }
  if (seen != all_dims || (is_same_shape && (is_channels_last || is_dense))) return false;
  sizes_.resize(static_cast<std::size_t>(ndim));
  perm_.resize(static_cast<std::size_t>(ndim));
  std::int64_t* const sizes_to = sizes_.data();
  int* const perm = perm_.data();
  // A row-major output whose dimensions are all longer than 1 leaves nothing undecided.
  bool is_reversal = first.is_contiguous;
  for (int dim = 0; dim < ndim; ++dim) {
    sizes_to[dim] = sizes[dim];
    perm[dim] = ndim - 1 - dim;
    is_reversal &= sizes[dim] > 1;
  }
  if (!is_reversal) order_dimensions(given, sizes, ndim, num_operands, perm);
  merge_dimensions(given, sizes, perm, ndim, num_operands, shape_, strides_);
  has_coalesced_dimensions_ = ndim > 1;
  return true;
}

}  // namespace weft
