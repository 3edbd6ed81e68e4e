// Making tensors, asking them, changing them in place; the arithmetic on layouts that others share.
#include <weft/tensor.h>

#include <weft/convert.h>
#include <weft/error.h>

#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/cuda_memory.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace weft {
namespace {

constexpr std::string_view storage_overflow = "Storage size calculation overflowed with sizes=";

std::size_t bytes_of_elements(std::int64_t elements, DType dtype, IntSpan sizes, IntSpan strides) {
  std::int64_t bytes;
  WEFT_CHECK(!__builtin_mul_overflow(elements, itemsize_bytes(dtype), &bytes), ArgumentError,
             storage_overflow, dims_text(sizes), " and strides=", dims_text(strides));
  return static_cast<std::size_t>(bytes);
}

Reach checked_reach(IntSpan sizes, IntSpan strides) {
  const auto result = reach(sizes, strides);
  WEFT_CHECK(result, ArgumentError, storage_overflow, dims_text(sizes),
             " and strides=", dims_text(strides));
  return *result;
}

void check_same_rank(IntSpan sizes, IntSpan strides) {
  WEFT_CHECK(sizes.size() == strides.size(), ArgumentError, "dimensionality of sizes (",
             sizes.size(), ") must match dimensionality of strides (", strides.size(), ")");
}

std::shared_ptr<Storage> new_storage(std::size_t size_bytes, const TensorOptions& options) {
  if (!options.pin_memory) return Storage::allocate(size_bytes, options.device);
  WEFT_CHECK(options.device.type == DeviceType::cpu, ArgumentError,
             "only memory of the CPU can be pinned, not that of ", text(options.device));
  return Storage::allocate_pinned(size_bytes);
}

/// A new tensor with these strides, which may be negative: the storage begins at the lowest
/// element.
Tensor allocate(Dims sizes, Dims strides, const TensorOptions& options) {
  const DType dtype = checked(options.dtype);
  const Reach touched = checked_reach(sizes, strides);
  const std::size_t bytes =
      bytes_of_elements(touched.last - touched.first + 1, dtype, sizes, strides);
  return make_tensor(new_storage(bytes, options), std::move(sizes), std::move(strides),
                     -touched.first, dtype);
}

/// Refuses an address that a device can't reach as its own memory.
void check_is_on(const std::byte* address, Device device) {
  if (device.type == DeviceType::cpu) return;
  WEFT_CHECK(device.type == DeviceType::cuda, ArgumentError,
             "from_blob: there is no memory on device ", text(device));
  const std::optional<int> index = device_of_address(address, device);
  WEFT_CHECK(index == device.index, ArgumentError, "from_blob: expected memory of ", text(device),
             ", but ", static_cast<const void*>(address),
             index ? detail::concat(" is that of cuda:", *index) : " is not a device's");
}

/// Releases borrowed memory when its storage is gone; until take_over() it is the caller's.
/// `release` was promised the caller's address, which with negative strides isn't where the storage
/// begins.
class Owner {
 public:
  explicit Owner(void* data) : data_(data) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (release_) release_(data_);
  }
  void take_over(std::function<void(void*)> release) noexcept { release_ = std::move(release); }

 private:
  void* data_;
  std::function<void(void*)> release_;
};

/// The element at `data`, negated and conjugated as the lazy bits ask, in the arithmetic of its
/// dtype.
template <class T>
Scalar read_scalar(const std::byte* data, bool is_conj, bool is_neg) {
  if constexpr (std::is_same_v<T, bool>) {
    return Scalar(*data != std::byte{0});
  } else {
    T value;
    std::memcpy(&value, data, sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      if (is_neg) value = static_cast<T>(0 - static_cast<std::uint64_t>(value));
      // One kind of integer where the values fit, so that equal numbers are equal scalars.
      using Wide = std::conditional_t<std::is_same_v<T, std::uint64_t>, T, std::int64_t>;
      return Scalar(static_cast<Wide>(value));
    } else if constexpr (is_complex(dtype_of<T>)) {
      const auto number = convert<c128>(value);
      const double imag = is_conj ? -number.imag() : number.imag();
      return Scalar(is_neg ? c128(-number.real(), -imag) : c128(number.real(), imag));
    } else {
      const auto number = convert<double>(value);
      return Scalar(is_neg ? -number : number);
    }
  }
}

}  // namespace

std::string dims_text(IntSpan dims) {
  std::string result = "[";
  for (std::size_t i = 0; i < dims.size(); ++i)
    result += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return result + "]";
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  WEFT_CHECK(!__builtin_mul_overflow(a, b, &product), ArgumentError,
             "Stride calculation overflowed: ", a, " * ", b, " does not fit in 64 bits");
  return product;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  WEFT_CHECK(!__builtin_add_overflow(a, b, &sum), ArgumentError,
             "Stride calculation overflowed: ", a, " + ", b, " does not fit in 64 bits");
  return sum;
}

int wrap_dim(std::int64_t dim, int ndim) {
  const std::int64_t count = std::max(ndim, 1);
  WEFT_CHECK(dim >= -count && dim < count, ArgumentError,
             "Dimension out of range (expected to be in range of [", -count, ", ", count - 1,
             "], but got ", dim, ")");
  return static_cast<int>(dim < 0 ? dim + count : dim);
}

void check_sizes(IntSpan sizes) {
  WEFT_CHECK(sizes.size() <= max_dims, ArgumentError, "only tensors with up to ", max_dims,
             " dims are supported, got ", sizes.size());
  for (std::int64_t size : sizes)
    WEFT_CHECK(size >= 0, ArgumentError, "Trying to create tensor with negative dimension ", size,
               ": ", dims_text(sizes));
}

std::optional<Reach> reach(IntSpan sizes, IntSpan strides) {
  Reach result{0, 0};
  bool overflows = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return Reach{0, -1};
    std::int64_t distance;
    overflows |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &distance);
    std::int64_t& end = distance < 0 ? result.first : result.last;
    overflows |= __builtin_add_overflow(end, distance, &end);
  }
  // What is asked of a reach next must not overflow either: its length, and the offset that undoes
  // `first`.
  std::int64_t length;
  overflows |= __builtin_sub_overflow(result.last, result.first, &length);
  overflows |= __builtin_add_overflow(length, 1, &length);
  if (overflows) return std::nullopt;
  return result;
}

void check_in_storage(IntSpan sizes, IntSpan strides, std::int64_t storage_offset, DType dtype,
                      std::size_t storage_bytes) {
  WEFT_CHECK(storage_offset >= 0, ArgumentError, "Tensor: invalid storage offset ", storage_offset);
  const Reach touched = checked_reach(sizes, strides);
  if (touched.last < touched.first) return;
  WEFT_CHECK(storage_offset + touched.first >= 0, ArgumentError, "setStorage: sizes ",
             dims_text(sizes), ", strides ", dims_text(strides), ", storage offset ",
             storage_offset, " reach ", -(storage_offset + touched.first),
             " elements before the beginning of the storage; a storage offset of at least ",
             -touched.first, " is needed");
  const std::size_t required = bytes_of_elements(
      checked_add(checked_add(storage_offset, touched.last), 1), dtype, sizes, strides);
  WEFT_CHECK(required <= storage_bytes, ArgumentError, "setStorage: sizes ", dims_text(sizes),
             ", strides ", dims_text(strides), ", storage offset ", storage_offset,
             ", and itemsize ", itemsize_bytes(dtype), " requiring a storage size of ", required,
             " are out of bounds for storage of size ", storage_bytes);
}

std::byte* cpu_data(const Tensor& tensor) {
  const TensorImpl& impl = defined_impl(tensor);
  WEFT_CHECK(impl.storage->device().type != DeviceType::cuda, ArgumentError,
             "expected a tensor whose elements the CPU can read, got ", describe(tensor),
             "; copy it to the CPU first");
  return impl.data();
}

DType checked(DType dtype) {
  WEFT_CHECK(static_cast<std::size_t>(dtype) < num_dtypes, ArgumentError, "there is no dtype ",
             static_cast<int>(dtype));
  return dtype;
}

const TensorImpl& defined_impl(const Tensor& tensor) {
  WEFT_CHECK(tensor.defined(), ArgumentError, "expected a defined tensor, got an undefined one");
  return *tensor.impl();
}

Tensor make_tensor(std::shared_ptr<Storage> storage, Dims sizes, Dims strides,
                   std::int64_t storage_offset, DType dtype) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::move(storage);
  impl->sizes = std::move(sizes);
  impl->strides = std::move(strides);
  impl->storage_offset = storage_offset;
  impl->dtype = dtype;
  impl->refresh();
  return Tensor(std::move(impl));
}

int Tensor::dim() const { return defined_impl(*this).ndim(); }
IntSpan Tensor::sizes() const { return defined_impl(*this).sizes; }
IntSpan Tensor::strides() const { return defined_impl(*this).strides; }
std::int64_t Tensor::numel() const { return defined_impl(*this).numel; }
std::int64_t Tensor::storage_offset() const { return defined_impl(*this).storage_offset; }
DType Tensor::dtype() const { return defined_impl(*this).dtype; }
Device Tensor::device() const { return defined_impl(*this).storage->device(); }
const std::shared_ptr<Storage>& Tensor::storage() const { return defined_impl(*this).storage; }
bool Tensor::is_conj() const { return defined_impl(*this).is_conj; }
bool Tensor::is_neg() const { return defined_impl(*this).is_neg; }

bool Tensor::is_zero_tensor() const { return defined_impl(*this).access == Access::zeros; }
bool Tensor::is_read_only() const { return defined_impl(*this).access != Access::read_write; }

void check_writable(const Tensor& output) {
  const Access access = defined_impl(output).access;
  WEFT_CHECK(access != Access::zeros, ArgumentError, immutable_zeros);
  WEFT_CHECK(access != Access::read_only, ArgumentError,
             "expected an output that may be written, got memory lent for reading only: ",
             describe(output));
}

std::byte* Tensor::data() const { return defined_impl(*this).data(); }

std::int64_t Tensor::size(int dim) const {
  const TensorImpl& impl = defined_impl(*this);
  WEFT_CHECK(impl.ndim() > 0, ArgumentError, "Dimension specified as ", dim,
             " but tensor has no dimensions");
  return impl.sizes[wrap_dim(dim, impl.ndim())];
}

std::int64_t Tensor::stride(int dim) const {
  const TensorImpl& impl = defined_impl(*this);
  WEFT_CHECK(impl.ndim() > 0, ArgumentError, "Dimension specified as ", dim,
             " but tensor has no dimensions");
  return impl.strides[wrap_dim(dim, impl.ndim())];
}

Scalar Tensor::item() const {
  const TensorImpl& impl = defined_impl(*this);
  WEFT_CHECK(impl.numel == 1, ArgumentError,
             "only one element tensors can be converted to Python scalars: a Tensor with ",
             impl.numel, " elements cannot be converted to Scalar");
  const std::byte* data = impl.data();
  WEFT_CHECK(data != nullptr, ArgumentError,
             "Tensor.item() cannot be called on a tensor without data: ", describe(*this));
  Bits fetched;
  if (const Device device = impl.storage->device(); device.type == DeviceType::cuda) {
    copy_bytes(reinterpret_cast<std::byte*>(&fetched), Device{}, data, device,
               itemsize_bytes(impl.dtype));
    cuda::synchronize(device.index);
    data = reinterpret_cast<const std::byte*>(&fetched);
  }
  return visit_dtype(impl.dtype, [&]<class T>(std::type_identity<T>) {
    return read_scalar<T>(data, impl.is_conj, impl.is_neg);
  });
}

const Tensor& Tensor::resize_(IntSpan sizes, std::optional<MemoryFormat> format) const {
  const TensorImpl& old = defined_impl(*this);
  WEFT_CHECK(format != MemoryFormat::preserve, ArgumentError, "Unsupported memory formatPreserve");
  check_sizes(sizes);
  if (!format && std::ranges::equal(sizes, old.sizes)) return *this;
  WEFT_CHECK(old.access != Access::zeros, ArgumentError, immutable_zeros);
  TensorImpl changed = old;
  changed.sizes = Dims(sizes);
  changed.strides = format_strides(sizes, format.value_or(MemoryFormat::contiguous));
  changed.refresh();
  if (changed.numel > 0) {
    const Reach touched = checked_reach(changed.sizes, changed.strides);
    const std::int64_t elements = checked_add(checked_add(old.storage_offset, touched.last), 1);
    const std::size_t needed =
        bytes_of_elements(elements, old.dtype, changed.sizes, changed.strides);
    if (needed > old.storage->size_bytes()) old.storage->resize_bytes(needed);
  }
  *impl_ = std::move(changed);
  return *this;
}

const Tensor& Tensor::resize_as_(const Tensor& like, std::optional<MemoryFormat> format) const {
  if (format == MemoryFormat::preserve) format = like.suggest_memory_format();
  return resize_(defined_impl(like).sizes, format);
}

Tensor empty(IntSpan sizes, TensorOptions options) {
  check_sizes(sizes);
  return allocate(Dims(sizes), format_strides(sizes, options.memory_format), options);
}

Tensor empty_strided(IntSpan sizes, IntSpan strides, TensorOptions options) {
  check_same_rank(sizes, strides);
  check_sizes(sizes);
  return allocate(Dims(sizes), Dims(strides), options);
}

Tensor empty_like(const Tensor& tensor, std::optional<DType> dtype, MemoryFormat format) {
  const TensorImpl& impl = defined_impl(tensor);
  return allocate(impl.sizes, empty_like_strides(impl, format),
                  {dtype.value_or(impl.dtype), impl.storage->device()});
}

Tensor zeros(IntSpan sizes, TensorOptions options) {
  Tensor result = empty(sizes, options);
  // Zero bits are the number 0 in every dtype.
  std::byte* const data = result.storage()->data();
  if (data == nullptr) return result;
  const std::size_t size_bytes = result.storage()->size_bytes();
  constexpr std::byte zero{0};
  if (options.device.type == DeviceType::cuda)
    fill_bytes(data, options.device, &zero, 1, size_bytes);
  else
    std::memset(data, 0, size_bytes);
  return result;
}

Tensor from_blob(void* data, IntSpan sizes, IntSpan strides, DType dtype,
                 std::function<void(void*)> release) {
  return from_blob(data, sizes, strides, dtype, Device{}, std::move(release));
}

Tensor from_blob(void* data, IntSpan sizes, IntSpan strides, DType dtype, Device device,
                 std::function<void(void*)> release) {
  check_same_rank(sizes, strides);
  check_sizes(sizes);
  const Reach touched = checked_reach(sizes, strides);
  const std::size_t bytes =
      bytes_of_elements(touched.last - touched.first + 1, checked(dtype), sizes, strides);
  WEFT_CHECK(data != nullptr || bytes == 0, ArgumentError, "from_blob: expected the address of ",
             bytes, " bytes, got null");
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto before = static_cast<std::uintptr_t>(-touched.first * itemsize);
  WEFT_CHECK(bytes == 0 || (address >= before && UINTPTR_MAX - (address - before) >= bytes),
             ArgumentError, "from_blob: sizes ", dims_text(sizes), " and strides ",
             dims_text(strides), " reach beyond the address space from ", data);
  auto* const first = static_cast<std::byte*>(data) + touched.first * itemsize;
  if (bytes != 0) check_is_on(first, device);
  auto owner = std::make_shared<Owner>(data);
  Tensor result = make_tensor(Storage::borrow(first, bytes, device, [owner](void*) {}), Dims(sizes),
                              Dims(strides), -touched.first, dtype);
  owner->take_over(std::move(release));
  return result;
}

Tensor from_blob(void* data, IntSpan sizes, DType dtype, std::function<void(void*)> release) {
  check_sizes(sizes);
  return from_blob(data, sizes, contiguous_strides(sizes), dtype, std::move(release));
}

Tensor unbacked(IntSpan sizes, IntSpan strides, DType dtype, std::int64_t storage_offset) {
  check_same_rank(sizes, strides);
  check_sizes(sizes);
  const Reach touched = checked_reach(sizes, strides);
  WEFT_CHECK(storage_offset >= 0, ArgumentError, "Tensor: invalid storage offset ", storage_offset);
  const std::int64_t elements =
      touched.last < 0 ? 0 : checked_add(checked_add(storage_offset, touched.last), 1);
  const std::size_t bytes = bytes_of_elements(elements, checked(dtype), sizes, strides);
  check_in_storage(sizes, strides, storage_offset, dtype, bytes);
  return make_tensor(Storage::unbacked(bytes, Device{}), Dims(sizes), Dims(strides), storage_offset,
                     dtype);
}

std::vector<std::int64_t> infer_size(IntSpan a, IntSpan b) {
  const std::size_t ndim = std::max(a.size(), b.size());
  std::vector<std::int64_t> result(ndim);
  for (std::size_t i = 0; i < ndim; ++i) {  // from the last dimension on
    const std::int64_t a_size = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t b_size = i < b.size() ? b[b.size() - 1 - i] : 1;
    WEFT_CHECK(a_size == b_size || a_size == 1 || b_size == 1, ArgumentError,
               "The size of tensor a (", a_size, ") must match the size of tensor b (", b_size,
               ") at non-singleton dimension ", ndim - 1 - i);
    result[ndim - 1 - i] = a_size == 1 ? b_size : a_size;
  }
  return result;
}

}  // namespace weft
