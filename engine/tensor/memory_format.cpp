#include "engine/tensor/memory_format.h"

#include "runtime/hash.h"

#include <weft/error.h>

#include <algorithm>
#include <array>

namespace weft {
namespace {

// Dimensions from fastest to slowest.
constexpr std::array<int, 4> channels_last_order = {1, 3, 2, 0};
constexpr std::array<int, 5> channels_last_3d_order = {1, 4, 3, 2, 0};

std::span<const int> order_of(MemoryFormat format) {
  if (format == MemoryFormat::channels_last) return channels_last_order;
  return channels_last_3d_order;
}

bool is_row_major(IntSpan sizes, IntSpan strides) {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

bool is_dense_in_order(IntSpan sizes, IntSpan strides, std::span<const int> order) {
  std::int64_t expected = 1;
  for (int dim : order) {
    if (sizes[dim] == 1) continue;
    if (strides[dim] != expected) return false;
    // Only a layout that holds nothing can overflow here, and then no stride is worth comparing.
    if (__builtin_mul_overflow(expected, sizes[dim], &expected)) return false;
  }
  return true;
}

// For layouts with elements: some order of the dimensions longer than 1 must be dense.
bool is_dense_in_some_order(IntSpan sizes, IntSpan strides) {
  const std::size_t ndim = sizes.size();
  std::array<std::uint8_t, max_dims> by_stride;
  std::size_t count = 0;
  for (std::size_t dim = 0; dim < ndim; ++dim) {
    if (sizes[dim] == 1) continue;
    std::size_t at = count++;
    for (; at > 0 && strides[by_stride[at - 1]] > strides[dim]; --at)
      by_stride[at] = by_stride[at - 1];
    by_stride[at] = static_cast<std::uint8_t>(dim);
  }
  std::int64_t expected = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (strides[by_stride[i]] != expected) return false;
    expected *= sizes[by_stride[i]];
  }
  return true;
}

std::int64_t product_of(IntSpan sizes) {
  std::int64_t product = 1;
  bool overflows = false;
  for (std::int64_t size : sizes) {
    if (size == 0) return 0;
    overflows |= __builtin_mul_overflow(product, size, &product);
  }
  WEFT_CHECK(!overflows, ArgumentError, "numel: integer multiplication overflow with sizes ",
             dims_text(sizes));
  return product;
}

Dims strides_in_order(IntSpan sizes, std::span<const int> order) {
  Dims strides(sizes.size());
  std::int64_t stride = 1;
  for (int dim : order) {
    strides[dim] = stride;
    stride = checked_multiply(stride, sizes[dim]);
  }
  return strides;
}

std::uint64_t magnitude(std::int64_t stride) {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? 0 - bits : bits;
}

// Positive: `outer` is found inside of `inner` and belongs outside; 0: nothing can be said.
int compare_dims(IntSpan sizes, IntSpan strides, int inner, int outer) {
  const std::uint64_t inner_stride = magnitude(strides[inner]);
  const std::uint64_t outer_stride = magnitude(strides[outer]);
  if (inner_stride == 0 || outer_stride == 0) return 0;
  if (inner_stride != outer_stride) return inner_stride < outer_stride ? -1 : 1;
  return sizes[inner] > sizes[outer] ? 1 : 0;
}

}  // namespace

std::string_view name(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::contiguous: return "contiguous";
    case MemoryFormat::preserve: return "preserve";
    case MemoryFormat::channels_last: return "channels_last";
    case MemoryFormat::channels_last_3d: return "channels_last_3d";
  }
  __builtin_unreachable();
}

void TensorImpl::refresh() {
  ++layout_version;
  numel = product_of(sizes);
  PairHasher hasher;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim)
    hasher.add(static_cast<std::uint64_t>(sizes[dim]), static_cast<std::uint64_t>(strides[dim]));
  layout_hash = hasher.hash();
  is_contiguous = numel == 0 || is_row_major(sizes, strides);
  is_channels_last_contiguous = false;
  is_channels_last_3d_contiguous = false;
  is_channels_last_strides = false;
  is_channels_last_3d_strides = false;
  if (sizes.size() == 4) {
    is_channels_last_contiguous = is_dense_in_order(sizes, strides, channels_last_order);
    is_channels_last_strides = looks_like(sizes, strides, MemoryFormat::channels_last);
  } else if (sizes.size() == 5) {
    is_channels_last_3d_contiguous = is_dense_in_order(sizes, strides, channels_last_3d_order);
    is_channels_last_3d_strides = looks_like(sizes, strides, MemoryFormat::channels_last_3d);
  }
  is_non_overlapping_and_dense = is_contiguous || is_channels_last_contiguous ||
                                 is_channels_last_3d_contiguous ||
                                 is_dense_in_some_order(sizes, strides);
}

bool looks_like(IntSpan sizes, IntSpan strides, MemoryFormat format) {
  const std::span<const int> order = order_of(format);
  if (sizes.size() != order.size() || strides[1] == 0) return false;
  std::int64_t least = 0;  // what the next slower dimension must at least step over
  for (int dim : order) {
    if (sizes[dim] == 0 || strides[dim] < least) return false;
    // Two tie-breaks in favour of contiguous live here: [N, C, 1, 1] with the strides of a
    // row-major tensor, and [N, 1, 1, 1], where nothing between channel and batch moved `least`.
    if (dim == 0 && least == strides[1]) return false;
    least = strides[dim];
    if (sizes[dim] > 1 && __builtin_mul_overflow(least, sizes[dim], &least)) return false;
  }
  return true;
}

Dims contiguous_strides(IntSpan sizes) {
  Dims strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0) stride = checked_multiply(stride, std::max<std::int64_t>(sizes[i], 1));
  }
  return strides;
}

Dims format_strides(IntSpan sizes, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::contiguous: return contiguous_strides(sizes);
    case MemoryFormat::channels_last:
      WEFT_CHECK(sizes.size() == 4, ArgumentError,
                 "required rank 4 tensor to use channels_last format, got sizes ",
                 dims_text(sizes));
      return strides_in_order(sizes, channels_last_order);
    case MemoryFormat::channels_last_3d:
      WEFT_CHECK(sizes.size() == 5, ArgumentError,
                 "required rank 5 tensor to use channels_last_3d format, got sizes ",
                 dims_text(sizes));
      return strides_in_order(sizes, channels_last_3d_order);
    case MemoryFormat::preserve: break;
  }
  throw ArgumentError("unsupported memory format Preserve");
}

Dims infer_dense_strides(IntSpan sizes, IntSpan strides) {
  const int ndim = static_cast<int>(sizes.size());
  std::array<int, max_dims> perm;  // fastest dimension first
  for (int i = 0; i < ndim; ++i) perm[i] = ndim - 1 - i;
  // The iterator's insertion sort, for one operand: an undecided comparison keeps looking further
  // in.
  for (int i = 1; i < ndim; ++i) {
    int moving = i;
    for (int j = i - 1; j >= 0; --j) {
      const int order = compare_dims(sizes, strides, perm[j], perm[moving]);
      if (order < 0) break;
      if (order == 0) continue;
      std::swap(perm[j], perm[moving]);
      moving = j;
    }
  }
  Dims dense(sizes.size());
  std::int64_t stride = 1;
  for (int i = 0; i < ndim; ++i) {
    dense[perm[i]] = stride;
    if (i + 1 < ndim) stride = checked_multiply(stride, std::max<std::int64_t>(sizes[perm[i]], 1));
  }
  return dense;
}

Dims empty_like_strides(const TensorImpl& tensor, MemoryFormat format) {
  if (format != MemoryFormat::preserve) return format_strides(tensor.sizes, format);
  if (tensor.is_non_overlapping_and_dense) return tensor.strides;
  return infer_dense_strides(tensor.sizes, tensor.strides);
}

bool contiguous_is_self(const Tensor& tensor, MemoryFormat format) {
  if (tensor.is_contiguous(format)) return true;
  WEFT_CHECK(format != MemoryFormat::preserve, ArgumentError,
             "preserve memory format is unsupported by the contiguous operator");
  return false;
}

bool to_is_self(const Tensor& tensor, DType dtype, MemoryFormat format) {
  return tensor.dtype() == dtype &&
         (format == MemoryFormat::preserve || tensor.suggest_memory_format() == format);
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  const TensorImpl& impl = defined_impl(*this);
  switch (format) {
    case MemoryFormat::contiguous:
    case MemoryFormat::preserve: return impl.is_contiguous;
    case MemoryFormat::channels_last: return impl.is_channels_last_contiguous;
    case MemoryFormat::channels_last_3d: return impl.is_channels_last_3d_contiguous;
  }
  __builtin_unreachable();
}

bool Tensor::is_non_overlapping_and_dense() const {
  return defined_impl(*this).is_non_overlapping_and_dense;
}

bool Tensor::is_strides_like(MemoryFormat format) const {
  const TensorImpl& impl = defined_impl(*this);
  if (format == MemoryFormat::channels_last) return impl.is_channels_last_strides;
  if (format == MemoryFormat::channels_last_3d) return impl.is_channels_last_3d_strides;
  return impl.is_contiguous;
}

MemoryFormat Tensor::suggest_memory_format(bool exact_match) const {
  const TensorImpl& impl = defined_impl(*this);
  MemoryFormat format = MemoryFormat::contiguous;
  if (impl.is_channels_last_strides) format = MemoryFormat::channels_last;
  if (impl.is_channels_last_3d_strides) format = MemoryFormat::channels_last_3d;
  if (format == MemoryFormat::contiguous || !exact_match) return format;
  return format_strides(impl.sizes, format) == impl.strides ? format : MemoryFormat::contiguous;
}

}  // namespace weft
