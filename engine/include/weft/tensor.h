// Tensor: a handle to a strided view of shared bytes.
#pragma once

#include <weft/device.h>
#include <weft/dtype.h>
#include <weft/error.h>
#include <weft/scalar.h>
#include <weft/storage.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

inline constexpr int max_dims = 64;

enum class MemoryFormat : std::uint8_t { contiguous, preserve, channels_last, channels_last_3d };
std::string_view name(MemoryFormat format);

using IntSpan = std::span<const std::int64_t>;
struct TensorImpl;

/// A handle to a view: sizes, strides (in elements), an offset into a Storage, a dtype, and the
/// lazy conjugate and negative bits.  Copying the handle shares the view; the functions below that
/// return a Tensor make a new view of the same storage and never touch bytes.
///
/// Threads: concurrent const use is safe.  Functions ending in `_` change this view and are not.
/// Errors:  every function throws ArgumentError, with PyTorch's wording where PyTorch has one, on a
///          dimension out of range, a layout that leaves its storage, or sizes whose product
///          overflows.
class Tensor {
 public:
  /// An undefined tensor: stands for "not given".
  Tensor() = default;
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  /// The very same view object, as PyTorch's is_same.
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  int dim() const;
  IntSpan sizes() const;
  IntSpan strides() const;           ///< in elements
  std::int64_t size(int dim) const;  ///< dim may be negative: counted from the end
  std::int64_t stride(int dim) const;
  std::int64_t numel() const;
  std::int64_t storage_offset() const;  ///< in elements
  DType dtype() const;
  Device device() const;
  const std::shared_ptr<Storage>& storage() const;
  bool is_conj() const;
  bool is_neg() const;
  /// Made by zero_tensor(): reads as zeros, refuses to be written.
  bool is_zero_tensor() const;
  /// Its elements may be read and not written: memory that was lent so, or zero_tensor().  Calls
  /// that would write it throw ArgumentError; data() gives the address all the same.
  bool is_read_only() const;
  /// Of the CPU, in pinned memory of weft's: copies to and from a CUDA device can go on in the
  /// background.
  bool is_pinned() const { return storage()->is_pinned(); }
  /// Address of the first element; null for meta and unbacked tensors.  Of a tensor on a CUDA
  /// device it is the device's, and nothing on the CPU can read there.
  std::byte* data() const;
  /// The same, typed, for the CPU to use.  Errors: ArgumentError if T does not store dtype(), and
  /// for a tensor on a CUDA device.
  template <class T>
  T* data_as() const;
  /// The value of a tensor with exactly one element, conj and neg bits applied.  Waits for the
  /// current stream of the tensor's device.
  Scalar item() const;

  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const;
  bool is_non_overlapping_and_dense() const;
  /// is_channels_last_strides / _3d of PyTorch: the strides look like it, whatever the flags say.
  bool is_strides_like(MemoryFormat format) const;
  MemoryFormat suggest_memory_format(bool exact_match = false) const;

  // Views.  Names and rules are PyTorch's; steps and strides may be negative here.
  Tensor as_strided(IntSpan sizes, IntSpan strides,
                    std::optional<std::int64_t> storage_offset = {}) const;
  Tensor permute(std::span<const int> dims) const;
  Tensor permute(std::initializer_list<int> dims) const {
    return permute(std::span(dims.begin(), dims.size()));
  }
  Tensor transpose(int dim0, int dim1) const;
  Tensor t() const;  ///< of at most two dimensions
  Tensor movedim(std::span<const int> source, std::span<const int> destination) const;
  Tensor movedim(int source, int destination) const;
  /// Elements start, start+step, ... before stop, as Python slices; step may be negative, nothing =
  /// to the end.
  Tensor slice(int dim, std::optional<std::int64_t> start = {},
               std::optional<std::int64_t> stop = {}, std::int64_t step = 1) const;
  Tensor select(int dim, std::int64_t index) const;
  Tensor narrow(int dim, std::int64_t start, std::int64_t length) const;
  Tensor expand(IntSpan sizes) const;  ///< -1 keeps a size
  Tensor view(IntSpan sizes) const;    ///< one -1 is inferred
  /// The same bytes as numbers of another dtype; as bool they have to be 0 or 1.
  Tensor view(DType dtype) const;
  Tensor squeeze() const;
  Tensor squeeze(int dim) const;
  Tensor unsqueeze(int dim) const;
  Tensor flip(std::span<const int> dims) const;
  Tensor flip(std::initializer_list<int> dims) const {
    return flip(std::span(dims.begin(), dims.size()));
  }
  Tensor diagonal(std::int64_t offset = 0, int dim1 = 0, int dim2 = 1) const;
  Tensor unfold(int dim, std::int64_t size, std::int64_t step) const;
  Tensor flatten_view(int start_dim = 0, int end_dim = -1) const;  ///< as view()
  /// The real (imaginary) parts of a complex tensor; of a conjugated one the imaginary part carries
  /// the neg bit.
  Tensor real() const;
  Tensor imag() const;
  Tensor view_as_real() const;  ///< complex -> real with a last dimension of 2
  Tensor view_as_complex() const;
  Tensor conj() const;      ///< flips the lazy conjugate bit; a real tensor is returned as it is
  Tensor neg_view() const;  ///< flips the lazy negative bit
  Tensor as_read_only() const;  ///< is_read_only()

  // Initialiser lists, so that `x.view({2, -1})` reads as it does in PyTorch.
  Tensor as_strided(std::initializer_list<std::int64_t> sizes,
                    std::initializer_list<std::int64_t> strides,
                    std::optional<std::int64_t> storage_offset = {}) const {
    return as_strided(IntSpan(sizes.begin(), sizes.size()),
                      IntSpan(strides.begin(), strides.size()), storage_offset);
  }
  Tensor expand(std::initializer_list<std::int64_t> sizes) const {
    return expand(IntSpan(sizes.begin(), sizes.size()));
  }
  Tensor view(std::initializer_list<std::int64_t> sizes) const {
    return view(IntSpan(sizes.begin(), sizes.size()));
  }

  /// Changes this view in place and grows the storage if need be; the bytes are kept.  Without
  /// `format` a view that has these sizes already keeps its strides, and any other becomes
  /// contiguous.
  const Tensor& resize_(IntSpan sizes, std::optional<MemoryFormat> format = {}) const;
  const Tensor& resize_(std::initializer_list<std::int64_t> sizes,
                        std::optional<MemoryFormat> format = {}) const {
    return resize_(IntSpan(sizes.begin(), sizes.size()), format);
  }

  /// Takes the sizes of `like`; with a format its strides too, where `preserve` stands for the
  /// format that `like` suggests.
  const Tensor& resize_as_(const Tensor& like, std::optional<MemoryFormat> format = {}) const;

  const std::shared_ptr<TensorImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<TensorImpl> impl_;
};

/// "f32[3, 4] strides [4, 1] cpu": how operands appear in error messages.
std::string describe(const Tensor& tensor);
template <class T>
T* Tensor::data_as() const {
  WEFT_CHECK(dtype_of<T> == dtype(), ArgumentError, "expected a tensor of dtype ",
             name(dtype_of<T>), ", got ", describe(*this));
  WEFT_CHECK(device().type != DeviceType::cuda, ArgumentError,
             "expected a tensor whose elements the CPU can read, got ", describe(*this),
             "; copy it to the CPU first");
  return reinterpret_cast<T*>(data());
}

/// The layout notation of the CLI: "f32[3,4]{1,3}@5"; strides are left out when contiguous.
std::string layout_text(const Tensor& tensor);

struct TensorOptions {
  DType dtype = DType::f32;
  Device device = {};
  MemoryFormat memory_format = MemoryFormat::contiguous;
  /// Of a CPU tensor: memory that a CUDA device reaches, so that copies go on in the background.
  bool pin_memory = false;
};

namespace detail {
inline IntSpan span_of(std::initializer_list<std::int64_t> list) {
  return {list.begin(), list.size()};
}
}  // namespace detail

/// New tensors.  Contents of empty*() are uninitialised.  Sizes and strides may be written in
/// braces.
/// Errors: ArgumentError (negative size, more than max_dims dimensions, overflow), DeviceError
/// (memory).
Tensor empty(IntSpan sizes, TensorOptions options = {});
inline Tensor empty(std::initializer_list<std::int64_t> sizes, TensorOptions options = {}) {
  return empty(detail::span_of(sizes), options);
}
inline Tensor empty(std::initializer_list<std::int64_t> sizes, std::same_as<DType> auto dtype) {
  return empty(detail::span_of(sizes), TensorOptions{dtype});
}
inline Tensor empty(IntSpan sizes, std::same_as<DType> auto dtype) {
  return empty(sizes, TensorOptions{dtype});
}
/// For calls without `weft::`, which would find std::empty() by the vector's namespace.
inline Tensor empty(const std::vector<std::int64_t>& sizes, TensorOptions options = {}) {
  return empty(IntSpan(sizes), options);
}
Tensor empty_strided(IntSpan sizes, IntSpan strides, TensorOptions options = {});
inline Tensor empty_strided(std::initializer_list<std::int64_t> sizes,
                            std::initializer_list<std::int64_t> strides,
                            TensorOptions options = {}) {
  return empty_strided(detail::span_of(sizes), detail::span_of(strides), options);
}
/// As PyTorch's empty_like: `preserve` keeps the strides of a dense tensor and the dimension order
/// of others.
Tensor empty_like(const Tensor& tensor, std::optional<DType> dtype = {},
                  MemoryFormat format = MemoryFormat::preserve);
Tensor zeros(IntSpan sizes, TensorOptions options = {});
inline Tensor zeros(std::initializer_list<std::int64_t> sizes, TensorOptions options = {}) {
  return zeros(detail::span_of(sizes), options);
}
inline Tensor zeros(std::initializer_list<std::int64_t> sizes, std::same_as<DType> auto dtype) {
  return zeros(detail::span_of(sizes), TensorOptions{dtype});
}
inline Tensor zeros(IntSpan sizes, std::same_as<DType> auto dtype) {
  return zeros(sizes, TensorOptions{dtype});
}
/// Every element is `value`, converted as a cast does.
Tensor full(IntSpan sizes, const Scalar& value, TensorOptions options);
/// As above, with the dtype that PyTorch takes from the value: bool, i64, f32 or c64.
///
/// Errors: ArgumentError for an integer that i64 does not hold.
Tensor full(IntSpan sizes, const Scalar& value);
inline Tensor full(std::initializer_list<std::int64_t> sizes, const Scalar& value,
                   TensorOptions options) {
  return full(detail::span_of(sizes), value, options);
}
inline Tensor full(std::initializer_list<std::int64_t> sizes, const Scalar& value,
                   std::same_as<DType> auto dtype) {
  return full(detail::span_of(sizes), value, TensorOptions{dtype});
}
inline Tensor full(std::initializer_list<std::int64_t> sizes, const Scalar& value) {
  return full(detail::span_of(sizes), value);
}
inline Tensor full(IntSpan sizes, const Scalar& value, std::same_as<DType> auto dtype) {
  return full(sizes, value, TensorOptions{dtype});
}
inline Tensor ones(IntSpan sizes, TensorOptions options = {}) { return full(sizes, 1, options); }
inline Tensor ones(std::initializer_list<std::int64_t> sizes, TensorOptions options = {}) {
  return ones(detail::span_of(sizes), options);
}
inline Tensor ones(std::initializer_list<std::int64_t> sizes, std::same_as<DType> auto dtype) {
  return ones(detail::span_of(sizes), TensorOptions{dtype});
}
inline Tensor ones(IntSpan sizes, std::same_as<DType> auto dtype) {
  return ones(sizes, TensorOptions{dtype});
}
/// start, start + step, ... before end: one dimension, as PyTorch's arange.  Without a dtype: i64
/// for integers, else f32.
///
/// Errors: ArgumentError for a step of 0 or one that leads away from `end`, with PyTorch's texts;
///         for integers beyond i64 unless `dtype` is u64.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
              std::optional<DType> dtype = {});
Tensor arange(const Scalar& end);
/// A tensor of zeros that takes the memory of one element and cannot be written: every stride is 0.
///
/// Mirrors: at::_efficientzerotensor.
Tensor zero_tensor(IntSpan sizes, DType dtype = DType::f32);
inline Tensor zero_tensor(std::initializer_list<std::int64_t> sizes, DType dtype = DType::f32) {
  return zero_tensor(detail::span_of(sizes), dtype);
}
/// A view of memory that the caller keeps alive, or that `release`, called with `data`, frees when
/// the last view of it is gone; where from_blob() throws, the memory is still the caller's. Strides
/// may be negative: `data` is then the address of the first element, and the storage begins at the
/// lowest one.
///
/// Requires: bytes of bool are 0 or 1: what others count as depends on the code that reads them.
///           Bytes between the elements of the view can be read: compiled loops may load what lies
///           between rows and items along with them, and never write it.
Tensor from_blob(void* data, IntSpan sizes, IntSpan strides, DType dtype,
                 std::function<void(void*)> release = {});
Tensor from_blob(void* data, IntSpan sizes, DType dtype, std::function<void(void*)> release = {});
/// The same of memory on `device`.  Work that uses the memory is queued in weft's current stream
/// (weft/cuda.h) and nothing else waits for it: order it with the streams of the memory's owner.
///
/// Errors: ArgumentError for an address that is not the device's.
Tensor from_blob(void* data, IntSpan sizes, IntSpan strides, DType dtype, Device device,
                 std::function<void(void*)> release = {});
inline Tensor from_blob(void* data, std::initializer_list<std::int64_t> sizes,
                        std::initializer_list<std::int64_t> strides, DType dtype, Device device,
                        std::function<void(void*)> release = {}) {
  return from_blob(data, detail::span_of(sizes), detail::span_of(strides), dtype, device,
                   std::move(release));
}
inline Tensor from_blob(void* data, std::initializer_list<std::int64_t> sizes, DType dtype,
                        std::function<void(void*)> release = {}) {
  return from_blob(data, detail::span_of(sizes), dtype, std::move(release));
}
inline Tensor from_blob(void* data, std::initializer_list<std::int64_t> sizes,
                        std::initializer_list<std::int64_t> strides, DType dtype,
                        std::function<void(void*)> release = {}) {
  return from_blob(data, detail::span_of(sizes), detail::span_of(strides), dtype,
                   std::move(release));
}
/// A CPU layout without bytes, for planning and explain().  The storage spans offset and strides
/// exactly.
Tensor unbacked(IntSpan sizes, IntSpan strides, DType dtype, std::int64_t storage_offset = 0);
inline Tensor unbacked(std::initializer_list<std::int64_t> sizes,
                       std::initializer_list<std::int64_t> strides, DType dtype,
                       std::int64_t storage_offset = 0) {
  return unbacked(detail::span_of(sizes), detail::span_of(strides), dtype, storage_offset);
}

/// The sizes that `a` and `b` broadcast to.  Errors: ArgumentError with PyTorch's text.
std::vector<std::int64_t> infer_size(IntSpan a, IntSpan b);

}  // namespace weft
