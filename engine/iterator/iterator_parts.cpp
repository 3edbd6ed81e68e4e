// What a finished plan answers, and parts of it: narrowing, splitting, 32-bit indexing.
#include "engine/iterator/iter_plan.h"

#include <weft/error.h>
#include <weft/iterator.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace weft {
namespace {

constexpr std::int64_t max_32bit = std::numeric_limits<std::int32_t>::max();

}  // namespace

void TensorIterator::throw_no_operand(std::string_view kind, int index, int count) {
  throw ArgumentError(detail::concat("there is no ", kind, " ", index, " of ", count, "."));
}

std::int64_t TensorIterator::numel() const {
  if (operands_.empty()) return 0;  // moved from
  std::int64_t numel = 1;
  for (std::int64_t size : shape_) numel = wrapping_product(numel, size);
  return numel;
}

DType TensorIterator::common_dtype() const {
  WEFT_CHECK(common_dtype_, ArgumentError,
             "the inputs have several dtypes, and promote_inputs_to_common_dtype is off.");
  return *common_dtype_;
}

Device TensorIterator::device(int operand) const {
  return operands_[checked(operand)].impl->storage->device();
}

bool TensorIterator::has_contiguous_first_dim() const {
  if (ndim() == 0) return true;
  for (int i = 0; i < ntensors(); ++i) {
    if (stride_bytes(i)[0] != static_cast<std::int64_t>(itemsize_bytes(dtype(i)))) return false;
  }
  return true;
}

bool TensorIterator::is_contiguous() const {
  if (numel() == 1) return true;
  return ndim() == 1 && has_contiguous_first_dim();
}

bool TensorIterator::is_scalar(int operand) const {
  return operands_[checked(operand)].impl->numel == 1;
}

bool TensorIterator::is_cpu_scalar(int operand) const {
  return is_scalar(operand) && device(operand).type == DeviceType::cpu;
}

bool TensorIterator::is_dim_reduced(int dim) const {
  WEFT_CHECK(dim >= 0 && dim < ndim(), ArgumentError, "is_dim_reduced: there is no dimension ", dim,
             " of shape ", dims_text(shape()), ".");
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

std::int64_t TensorIterator::num_output_elements() const {
  if (num_outputs_ == 0 || operands_.empty()) return 0;
  std::int64_t count = 1;
  for (int dim = 0; dim < ndim(); ++dim)
    if (stride_bytes(0)[dim] != 0 || shape_[dim] == 0) count = wrapping_product(count, shape_[dim]);
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

std::vector<std::int64_t> TensorIterator::view_offsets() const {
  if (view_offsets_.empty()) return std::vector<std::int64_t>(std::max(ndim(), 1), 0);
  return {view_offsets_.begin(), view_offsets_.end()};
}

void TensorIterator::narrow(int dim, std::int64_t start, std::int64_t size) {
  WEFT_CHECK(dim >= 0 && dim < ndim() && start >= 0 && size >= 1 && size <= shape_[dim] &&
                 start <= shape_[dim] - size,
             ArgumentError, "narrow: ", size, " elements from ", start, " on of dimension ", dim,
             " don't lie in shape ", dims_text(shape()), ".");
  if (view_offsets_.empty()) {
    view_offsets_.resize(shape_.size());
    std::fill(view_offsets_.begin(), view_offsets_.end(), 0);
  }
  shape_[dim] = size;
  view_offsets_[dim] += start;
  for (int i = 0; i < ntensors(); ++i) {
    if (operands_[i].data != nullptr) operands_[i].data += stride_bytes(i)[dim] * start;
  }
  if (size == 1 && !is_reduction_) coalesce();
}

void TensorIterator::select_all_keeping_dim(int start_dim, IntSpan indices) {
  WEFT_CHECK(start_dim >= 0 && start_dim + std::ssize(indices) == ndim(), ArgumentError,
             "select_all_keeping_dim: ", indices.size(), " indices from dimension ", start_dim,
             " on don't fit shape ", dims_text(shape()), ".");
  for (int dim = start_dim; dim < ndim(); ++dim) {
    const std::int64_t index = indices[dim - start_dim];
    WEFT_CHECK(index >= 0 && index < shape_[dim], ArgumentError, "select_all_keeping_dim: index ",
               index, " of dimension ", dim, " doesn't lie in shape ", dims_text(shape()), ".");
    for (int i = 0; i < ntensors(); ++i) {
      if (operands_[i].data != nullptr) operands_[i].data += stride_bytes(i)[dim] * index;
    }
    shape_[dim] = 1;
  }
}

void TensorIterator::remove_operand(int operand) {
  WEFT_CHECK(operand >= 0 && operand < ntensors(), ArgumentError,
             "remove_operand: there is no operand ", operand, " of ", ntensors(), ".");
  operands_.erase(operand);
  for (int i = operand; i + 1 < strides_.num_rows; ++i) {
    std::copy_n(strides_.row(i + 1), strides_.row_length, strides_.row(i));
  }
  --strides_.num_rows;
  num_outputs_ -= operand < num_outputs_;
  if (operand >= std::ssize(names())) return;
  std::vector<std::string> rest = *names_;
  rest.erase(rest.begin() + operand);
  names_ = std::make_shared<const std::vector<std::string>>(std::move(rest));
}

bool TensorIterator::can_use_32bit_indexing() const {
  const std::int64_t num_elements = numel();
  if (num_elements == 0) return true;
  if (num_elements > max_32bit) return false;
  for (int i = 0; i < ntensors(); ++i) {
    std::int64_t max_offset = 1;
    for (int dim = 0; dim < ndim(); ++dim) {
      max_offset += (shape_[dim] - 1) * std::abs(stride_bytes(i)[dim]);
    }
    if (max_offset > max_32bit) return false;
  }
  return true;
}

int TensorIterator::get_dim_to_split() const {
  std::int64_t max_extent = -1;
  int dim_to_split = -1;
  for (int dim = ndim() - 1; dim >= 0; --dim) {
    for (int i = 0; i < ntensors() && shape_[dim] > 1; ++i) {
      const std::int64_t extent = (shape_[dim] - 1) * std::abs(stride_bytes(i)[dim]);
      if (extent > max_extent) {
        max_extent = extent;
        dim_to_split = dim;
      }
    }
  }
  WEFT_CHECK(dim_to_split >= 0, ArgumentError, "get_dim_to_split: nothing to split in shape ",
             dims_text(shape()), ".");
  return dim_to_split;
}

TensorIterator TensorIterator::split(int dim) {
  WEFT_CHECK(dim >= 0 && dim < ndim() && shape_[dim] >= 2, ArgumentError, "split: dimension ", dim,
             " of shape ", dims_text(shape()), " can't be cut in two.");
  TensorIterator first = *this;
  const bool overlaps = is_dim_reduced(dim);
  const std::int64_t first_size = shape_[dim] / 2;
  const std::int64_t rest = shape_[dim] - first_size;
  first.narrow(dim, 0, first_size);
  first.final_output_ &= !overlaps;
  narrow(dim, first_size, rest);
  accumulate_ |= overlaps;
  return first;
}

std::vector<TensorIterator> TensorIterator::with_32bit_indexing() const {
  std::vector<TensorIterator> done;
  std::vector<TensorIterator> rest = {*this};
  while (!rest.empty()) {
    TensorIterator& last = rest.back();
    if (last.can_use_32bit_indexing()) {
      done.push_back(std::move(last));
      rest.pop_back();
    } else {
      TensorIterator first = last.split(last.get_dim_to_split());
      rest.push_back(std::move(first));
    }
  }
  return done;
}

}  // namespace weft
