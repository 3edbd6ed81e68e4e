// Views: functions of Tensor that give another layout of the same storage and touch no bytes.
// Mirrors aten/src/ATen/native/TensorShape.cpp, with strides and steps of either sign.
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>

#include <algorithm>
#include <bitset>
#include <utility>

namespace weft {
namespace {

/// A view of what `impl` shows, with room for the layout, which the caller fills in: cheaper than
/// moving a layout in right after it was written.
std::shared_ptr<TensorImpl> blank_view(const TensorImpl& impl, std::size_t ndim) {
  auto view = std::make_shared<TensorImpl>();
  view->storage = impl.storage;
  view->sizes.resize(ndim);
  view->strides.resize(ndim);
  view->storage_offset = impl.storage_offset;
  view->dtype = impl.dtype;
  view->is_conj = impl.is_conj;
  view->is_neg = impl.is_neg;
  view->access = impl.access;
  return view;
}

Tensor with_layout(const TensorImpl& impl, Dims sizes, Dims strides, std::int64_t storage_offset) {
  auto view = blank_view(impl, 0);
  view->sizes = std::move(sizes);
  view->strides = std::move(strides);
  view->storage_offset = storage_offset;
  return finish_view(std::move(view));
}

/// The offset after `index` steps of `stride`.
std::int64_t advance(std::int64_t offset, std::int64_t index, std::int64_t stride) {
  return checked_add(offset, checked_multiply(index, stride));
}

/// a * b for the stride of a dimension that has at most one element, where any value will do.
std::int64_t free_stride(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? a : product;
}

void erase_dim(TensorImpl& impl, int dim) {
  impl.sizes.erase(dim);
  impl.strides.erase(dim);
}

}  // namespace

Tensor Tensor::as_strided(IntSpan sizes, IntSpan strides,
                          std::optional<std::int64_t> storage_offset) const {
  const TensorImpl& impl = defined_impl(*this);
  WEFT_CHECK(sizes.size() == strides.size(), ArgumentError,
             "mismatch in length of strides and shape: sizes ", dims_text(sizes), ", strides ",
             dims_text(strides));
  check_sizes(sizes);
  const std::int64_t offset = storage_offset.value_or(impl.storage_offset);
  check_in_storage(sizes, strides, offset, impl.dtype, impl.storage->size_bytes());
  return with_layout(impl, Dims(sizes), Dims(strides), offset);
}

Tensor Tensor::as_read_only() const {
  auto view = copy_view(*this);
  if (view->access == Access::read_write) view->access = Access::read_only;
  return Tensor(std::move(view));
}

Tensor Tensor::permute(std::span<const int> dims) const {
  const TensorImpl& impl = defined_impl(*this);
  const int ndim = impl.ndim();
  WEFT_CHECK(static_cast<int>(dims.size()) == ndim, ArgumentError,
             "permute(): number of dimensions in the tensor input does not match the length of the "
             "desired ordering of dimensions i.e. input.dim() = ",
             ndim, " is not equal to len(dims) = ", dims.size());
  auto view = blank_view(impl, dims.size());
  std::bitset<max_dims> seen;
  for (int i = 0; i < ndim; ++i) {
    const int from = wrap_dim(dims[i], ndim);
    WEFT_CHECK(!seen[from], ArgumentError, "permute(): duplicate dims are not allowed.");
    seen.set(from);
    view->sizes[i] = impl.sizes[from];
    view->strides[i] = impl.strides[from];
  }
  return finish_view(std::move(view));
}

Tensor Tensor::transpose(int dim0, int dim1) const {
  auto view = copy_view(*this);
  const int first = wrap_dim(dim0, view->ndim());
  const int second = wrap_dim(dim1, view->ndim());
  if (first == second) return Tensor(std::move(view));
  std::swap(view->sizes[first], view->sizes[second]);
  std::swap(view->strides[first], view->strides[second]);
  return finish_view(std::move(view));
}

Tensor Tensor::t() const {
  const int ndim = dim();
  WEFT_CHECK(ndim <= 2, ArgumentError, "t() expects a tensor with <= 2 dimensions, but self is ",
             ndim, "D");
  return transpose(0, ndim < 2 ? 0 : 1);
}

Tensor Tensor::movedim(std::span<const int> source, std::span<const int> destination) const {
  const int ndim = dim();
  const auto text = [](std::span<const int> dims) {
    return dims_text(std::vector<std::int64_t>(dims.begin(), dims.end()));
  };
  WEFT_CHECK(source.size() == destination.size(), ArgumentError,
             "movedim: Invalid source or destination dims: source (", text(source),
             " dims) should contain the same number of dims as destination (", text(destination),
             " dims)");
  if (ndim == 0) {
    for (int dim : source) wrap_dim(dim, 0);
    for (int dim : destination) wrap_dim(dim, 0);
    WEFT_CHECK(source.size() <= 1, ArgumentError, "movedim: repeated dim in `source` (",
               text(source), ")");
    return Tensor(copy_view(*this));
  }
  std::vector<int> order(static_cast<std::size_t>(ndim), -1);
  std::bitset<max_dims> moved;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const int from = wrap_dim(source[i], ndim);
    const int to = wrap_dim(destination[i], ndim);
    WEFT_CHECK(!moved[from], ArgumentError, "movedim: repeated dim in `source` (", text(source),
               ")");
    WEFT_CHECK(order[to] == -1, ArgumentError, "movedim: repeated dim in `destination` (",
               text(destination), ")");
    moved.set(from);
    order[to] = from;
  }
  int next = 0;  // the dimensions that don't move keep their order
  for (int& from : order) {
    if (from != -1) continue;
    while (moved[next]) ++next;
    from = next++;
  }
  return permute(order);
}

Tensor Tensor::movedim(int source, int destination) const {
  return movedim(std::span(&source, 1), std::span(&destination, 1));
}

Tensor Tensor::slice(int dim, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                     std::int64_t step) const {
  auto view = copy_view(*this);
  WEFT_CHECK(view->ndim() > 0, ArgumentError, "slice() cannot be applied to a 0-dim tensor.");
  WEFT_CHECK(step != 0, ArgumentError, "slice step must not be zero");
  dim = wrap_dim(dim, view->ndim());
  const std::int64_t size = view->sizes[dim];
  const bool is_backward = step < 0;
  // Python's rule: a negative index counts from the end, and what is out of range is clamped,
  // backward to one before the first element.
  const auto clamp = [&](std::int64_t index) {
    if (index < 0) index += size;
    return is_backward ? std::clamp<std::int64_t>(index, -1, size - 1)
                       : std::clamp<std::int64_t>(index, 0, size);
  };
  const std::int64_t first = start ? clamp(*start) : is_backward ? size - 1 : 0;
  const std::int64_t end = stop ? clamp(*stop) : is_backward ? -1 : size;
  const std::int64_t distance = is_backward ? first - end : end - first;
  const auto step_length =
      is_backward ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  std::int64_t count = 0;
  if (distance > 0)
    count = 1 + static_cast<std::int64_t>(static_cast<std::uint64_t>(distance - 1) / step_length);
  if (first > 0) view->storage_offset = advance(view->storage_offset, first, view->strides[dim]);
  view->sizes[dim] = count;
  view->strides[dim] = count > 1 ? checked_multiply(view->strides[dim], step)
                                 : free_stride(view->strides[dim], step);
  return finish_view(std::move(view));
}

Tensor Tensor::select(int dim, std::int64_t index) const {
  auto view = copy_view(*this);
  WEFT_CHECK(view->ndim() > 0, ArgumentError, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, view->ndim());
  const std::int64_t size = view->sizes[dim];
  WEFT_CHECK(index >= -size && index < size, ArgumentError, "select(): index ", index,
             " out of range for tensor of size ", dims_text(view->sizes), " at dimension ", dim);
  view->storage_offset =
      advance(view->storage_offset, index < 0 ? index + size : index, view->strides[dim]);
  erase_dim(*view, dim);
  return finish_view(std::move(view));
}

Tensor Tensor::narrow(int dim, std::int64_t start, std::int64_t length) const {
  const TensorImpl& impl = defined_impl(*this);
  WEFT_CHECK(impl.ndim() > 0, ArgumentError, "narrow() cannot be applied to a 0-dim tensor.");
  WEFT_CHECK(length >= 0, ArgumentError, "narrow(): length must be non-negative.");
  const std::int64_t size = impl.sizes[wrap_dim(dim, impl.ndim())];
  WEFT_CHECK(start >= -size && start <= size, ArgumentError,
             "start out of range (expected to be in range of [", -size, ", ", size, "], but got ",
             start, ")");
  if (start < 0) start += size;
  WEFT_CHECK(length <= size - start, ArgumentError, "start (", start, ") + length (", length,
             ") exceeds dimension size (", size, ").");
  return slice(dim, start, start + length);
}

Tensor Tensor::expand(IntSpan sizes) const {
  const TensorImpl& impl = defined_impl(*this);
  WEFT_CHECK(sizes.size() >= impl.sizes.size(), ArgumentError, "expand(", describe(*this),
             ", size=", dims_text(sizes), "): the number of sizes provided (", sizes.size(),
             ") must be greater or equal to the number of dimensions in the tensor (",
             impl.sizes.size(), ")");
  WEFT_CHECK(sizes.size() <= max_dims, ArgumentError, "only tensors with up to ", max_dims,
             " dims are supported, got ", sizes.size());
  auto view = blank_view(impl, sizes.size());
  Dims& new_sizes = view->sizes;
  Dims& new_strides = view->strides;
  std::ranges::copy(sizes, new_sizes.begin());
  const std::size_t leading = sizes.size() - impl.sizes.size();
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const bool is_new = i < leading;
    WEFT_CHECK(!is_new || sizes[i] >= 0, ArgumentError, "The expanded size of the tensor (",
               sizes[i], ") isn't allowed in a leading, non-existing dimension ", i);
    const std::int64_t size = is_new ? 1 : impl.sizes[i - leading];
    if (sizes[i] == -1) new_sizes[i] = size;
    if (new_sizes[i] == size) {
      const bool is_last = i + 1 == sizes.size();
      new_strides[i] = !is_new   ? impl.strides[i - leading]
                       : is_last ? 0  // of a 0-dim tensor
                                 : free_stride(new_strides[i + 1], new_sizes[i + 1]);
      continue;
    }
    WEFT_CHECK(size == 1 && sizes[i] >= 0, ArgumentError, "The expanded size of the tensor (",
               sizes[i], ") must match the existing size (", size, ") at non-singleton dimension ",
               i, ".  Target sizes: ", dims_text(sizes),
               ".  Tensor sizes: ", dims_text(impl.sizes));
    new_strides[i] = 0;
  }
  return finish_view(std::move(view));
}

Tensor Tensor::view(IntSpan sizes) const {
  const TensorImpl& impl = defined_impl(*this);
  Dims new_sizes = infer_view_sizes(sizes, impl.numel);
  auto new_strides = compute_view_strides(impl.sizes, impl.strides, new_sizes);
  WEFT_CHECK(
      new_strides, ArgumentError,
      "view size is not compatible with input tensor's size and stride (at least one dimension "
      "spans across two contiguous subspaces). Use .reshape(...) instead. Got ",
      describe(*this), " viewed as ", dims_text(sizes));
  return with_layout(impl, std::move(new_sizes), std::move(*new_strides), impl.storage_offset);
}

Tensor Tensor::squeeze() const {
  auto view = copy_view(*this);
  for (int dim = view->ndim() - 1; dim >= 0; --dim)
    if (view->sizes[dim] == 1) erase_dim(*view, dim);
  return finish_view(std::move(view));
}

Tensor Tensor::squeeze(int dim) const {
  auto view = copy_view(*this);
  dim = wrap_dim(dim, view->ndim());
  if (view->ndim() == 0 || view->sizes[dim] != 1) return Tensor(std::move(view));
  erase_dim(*view, dim);
  return finish_view(std::move(view));
}

Tensor Tensor::unsqueeze(int dim) const {
  auto view = copy_view(*this);
  const int ndim = view->ndim();
  dim = wrap_dim(dim, ndim + 1);
  WEFT_CHECK(ndim < max_dims, ArgumentError, "only tensors with up to ", max_dims,
             " dims are supported");
  const std::int64_t stride = dim == ndim ? 1 : free_stride(view->strides[dim], view->sizes[dim]);
  view->sizes.insert_at(dim, 1);
  view->strides.insert_at(dim, stride);
  return finish_view(std::move(view));
}

Tensor Tensor::flip(std::span<const int> dims) const {
  auto view = copy_view(*this);
  std::bitset<max_dims> seen;
  for (int given : dims) {
    const int dim = wrap_dim(given, view->ndim());
    WEFT_CHECK(!seen[dim], ArgumentError, "dim ", dim,
               " appears multiple times in the list of dims");
    seen.set(dim);
    if (view->ndim() == 0 || view->sizes[dim] < 2) continue;
    view->storage_offset = advance(view->storage_offset, view->sizes[dim] - 1, view->strides[dim]);
    view->strides[dim] = checked_multiply(view->strides[dim], -1);
  }
  return finish_view(std::move(view));
}

Tensor Tensor::diagonal(std::int64_t offset, int dim1, int dim2) const {
  auto view = copy_view(*this);
  const int ndim = view->ndim();
  const int first = wrap_dim(dim1, ndim);
  const int second = wrap_dim(dim2, ndim);
  WEFT_CHECK(first != second, ArgumentError, "diagonal dimensions cannot be identical ", dim1, ", ",
             dim2);
  std::int64_t rows = view->sizes[first];
  std::int64_t columns = view->sizes[second];
  (offset >= 0 ? columns : rows) -=
      offset >= 0 ? std::min(offset, columns) : -std::max(offset, -rows);
  const std::int64_t size = std::min(rows, columns);
  if (size > 0) {
    const int skipped = offset >= 0 ? second : first;
    view->storage_offset =
        advance(view->storage_offset, offset >= 0 ? offset : -offset, view->strides[skipped]);
  }
  std::int64_t stride = view->strides[first];
  if (size > 1)
    stride = checked_add(stride, view->strides[second]);
  else if (__builtin_add_overflow(stride, view->strides[second], &stride))
    stride = 1;
  erase_dim(*view, std::max(first, second));
  erase_dim(*view, std::min(first, second));
  view->sizes.push_back(size);
  view->strides.push_back(stride);
  return finish_view(std::move(view));
}

Tensor Tensor::unfold(int dim, std::int64_t size, std::int64_t step) const {
  auto view = copy_view(*this);
  const int ndim = view->ndim();
  dim = wrap_dim(dim, ndim);
  const std::int64_t length = ndim == 0 ? 1 : view->sizes[dim];
  WEFT_CHECK(size >= 0, ArgumentError, "size is ", size, " but must be >= 0");
  WEFT_CHECK(size <= length, ArgumentError, "maximum size for tensor at dimension ", dim, " is ",
             length, " but size is ", size);
  WEFT_CHECK(step > 0, ArgumentError, "step is ", step, " but must be > 0");
  WEFT_CHECK(ndim < max_dims, ArgumentError, "only tensors with up to ", max_dims,
             " dims are supported");
  view->sizes.push_back(size);
  view->strides.push_back(ndim == 0 ? 1 : view->strides[dim]);
  if (ndim > 0) {
    const std::int64_t windows = (length - size) / step + 1;
    view->sizes[dim] = windows;
    view->strides[dim] = windows > 1 ? checked_multiply(view->strides[dim], step)
                                     : free_stride(view->strides[dim], step);
  }
  return finish_view(std::move(view));
}

Tensor Tensor::flatten_view(int start_dim, int end_dim) const {
  const TensorImpl& impl = defined_impl(*this);
  const int start = wrap_dim(start_dim, impl.ndim());
  const int end = wrap_dim(end_dim, impl.ndim());
  WEFT_CHECK(start <= end, ArgumentError,
             "flatten() has invalid args: start_dim cannot come after end_dim");
  if (impl.ndim() == 0) return view({1});
  if (start == end) return *this;
  std::int64_t product = 1;
  for (int dim = start; dim <= end; ++dim) product = checked_multiply(product, impl.sizes[dim]);
  Dims sizes(impl.sizes.begin(), impl.sizes.begin() + start);
  sizes.push_back(product);
  for (int dim = end + 1; dim < impl.ndim(); ++dim) sizes.push_back(impl.sizes[dim]);
  return view(sizes);
}

}  // namespace weft
