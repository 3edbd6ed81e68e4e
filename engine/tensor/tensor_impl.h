// What a Tensor handle points to, and the arithmetic on layouts that views, allocation and the
// iterator share.  Private to the engine; hot code reads the fields through tensor.impl().
#pragma once

#include <weft/tensor.h>

#include "engine/tensor/dims.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

/// Whether two storages are made of the same memory: one, or two borrowed ones.  Storages without
/// bytes lie nowhere; that is asked last, as it hardly ever comes to it.
inline bool share_bytes(const Storage& a, const Storage& b) {
  if (&a == &b) return true;
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a.data());
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b.data());
  return a_begin < b_begin + b.size_bytes() && b_begin < a_begin + a.size_bytes() && a_begin != 0 &&
         b_begin != 0;
}

/// What may be done with the elements of a view.
enum class Access : std::uint8_t {
  read_write,
  zeros,      ///< zero_tensor(): immutable
  read_only,  ///< memory that its owner lends for reading
};

/// What the commonest plan asks of every operand, in eight bytes that it compares at once.
struct ViewTraits {
  DType dtype = DType::f32;
  bool is_conj = false;
  bool is_neg = false;
  Access access = Access::read_write;
  bool is_contiguous = true;
  bool is_channels_last_contiguous = false;
  bool is_channels_last_3d_contiguous = false;
  bool is_non_overlapping_and_dense = true;
};

/// One view.  Whoever changes sizes or strides calls refresh(), which computes everything that
/// follows from them, so that asking for a flag is a load.
struct TensorImpl : ViewTraits {
  std::shared_ptr<Storage> storage;
  Dims sizes;
  Dims strides;  ///< in elements
  std::int64_t storage_offset = 0;
  std::int64_t numel = 1;
  std::uint64_t layout_hash = 0;  ///< of sizes and strides, for the keys of calls
  /// Counts refresh(): expressions of this view notice by it that they were made for other sizes.
  std::uint32_t layout_version = 0;
  bool is_channels_last_strides = false;
  bool is_channels_last_3d_strides = false;

  int ndim() const { return static_cast<int>(sizes.size()); }
  /// Null without bytes.  An empty tensor has no first element: its address is that of the storage.
  std::byte* data() const {
    std::byte* base = storage->data();
    if (base == nullptr || numel == 0) return base;
    return base + storage_offset * static_cast<std::int64_t>(itemsize_bytes(dtype));
  }

  /// Recomputes numel and the flags.
  ///
  /// Errors: ArgumentError if numel overflows; the flags are stale then.
  void refresh();
};

/// The first and the last element that a layout touches, relative to the element with all indices
/// 0: strides of either sign.  An empty layout touches nothing: first = 0, last = -1.
struct Reach {
  std::int64_t first = 0;
  std::int64_t last = -1;
};
/// Nothing if the arithmetic overflows.
std::optional<Reach> reach(IntSpan sizes, IntSpan strides);

/// A tensor on `storage`.  Nothing is checked but numel.
Tensor make_tensor(std::shared_ptr<Storage> storage, Dims sizes, Dims strides,
                   std::int64_t storage_offset, DType dtype);

/// Tensor::data() for who reads or writes there.  Errors: ArgumentError if that is on a device.
std::byte* cpu_data(const Tensor& tensor);

/// Of an output that is zero_tensor(): PyTorch's text.
inline constexpr std::string_view immutable_zeros =
    "ZeroTensors are immutable. Please use the materialized zero tensor obtained using .clone() if "
    "you want a mutable version.";
/// Throws ArgumentError if the elements of an output may only be read.
void check_writable(const Tensor& output);

/// The impl behind `tensor`.  Errors: ArgumentError if it is undefined.
const TensorImpl& defined_impl(const Tensor& tensor);

/// A copy of the view behind `tensor`, to be changed and then passed to finish_view().
inline std::shared_ptr<TensorImpl> copy_view(const Tensor& tensor) {
  return std::make_shared<TensorImpl>(defined_impl(tensor));
}
inline Tensor finish_view(std::shared_ptr<TensorImpl> view) {
  view->refresh();
  return Tensor(std::move(view));
}

/// `dtype`.  Errors: ArgumentError if it is none, as a number that became one may be.
DType checked(DType dtype);
/// Throws ArgumentError unless sizes are few enough and not negative.
void check_sizes(IntSpan sizes);
/// Throws ArgumentError, with PyTorch's text, if the view leaves the `storage_bytes` bytes of its
/// storage.
void check_in_storage(IntSpan sizes, IntSpan strides, std::int64_t storage_offset, DType dtype,
                      std::size_t storage_bytes);
/// Elements of any kind that are farther apart than this are in no one's address space.
inline constexpr std::int64_t longest_stride = std::int64_t{1} << 52;

/// The stride in bytes of a dimension of `size` elements. Without a second element it is never
/// taken, and any number is allowed: one beyond every address space is replaced by `itemsize`, so
/// that nothing computed from it overflows.  So is what overflows itself: only a layout without
/// elements has that.
inline std::int64_t stride_in_bytes(std::int64_t stride, std::int64_t size, std::int64_t itemsize) {
  if (stride > -longest_stride && stride < longest_stride) [[likely]]
    return stride * itemsize;
  std::int64_t bytes;
  const bool overflows = __builtin_mul_overflow(stride, itemsize, &bytes);
  // The least number has no absolute value.
  const bool is_usable = !overflows && bytes != std::numeric_limits<std::int64_t>::min();
  return size > 1 && is_usable ? bytes : itemsize;
}

/// `dim` counted from the front.  A tensor without dimensions is taken to have one, as in PyTorch.
///
/// Errors: ArgumentError "Dimension out of range (expected to be in range of [-2, 1], but got 2)".
int wrap_dim(std::int64_t dim, int ndim);

/// Throws ArgumentError if the product or sum leaves 64 bits.
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);
std::int64_t checked_add(std::int64_t a, std::int64_t b);

/// `sizes` with its one -1, if any, replaced so that the product is `numel`.
///
/// Errors: ArgumentError "shape '[5, -1]' is invalid for input of size 12" and PyTorch's others.
Dims infer_view_sizes(IntSpan sizes, std::int64_t numel);
/// The strides under which a layout can be seen as `new_sizes` (of the same numel) without moving a
/// byte; nothing if it can't.
std::optional<Dims> compute_view_strides(IntSpan sizes, IntSpan strides, IntSpan new_sizes);

/// "[3, 4]", as PyTorch prints sizes in its messages.
std::string dims_text(IntSpan dims);

}  // namespace weft
