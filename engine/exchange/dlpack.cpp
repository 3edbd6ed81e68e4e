#include <weft/cuda.h>
#include <weft/dlpack.h>

#include <weft/error.h>

#include "engine/exchange/dlpack_abi.h"
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace weft {
namespace {

struct DTypeRow {
  DType dtype;
  std::uint8_t code;
};

/// The number of bits follows from the dtype.
constexpr auto dtype_rows = std::to_array<DTypeRow>({
    {DType::boolean, dlpack::code_bool},
    {DType::u8, dlpack::code_uint},
    {DType::u16, dlpack::code_uint},
    {DType::u32, dlpack::code_uint},
    {DType::u64, dlpack::code_uint},
    {DType::i8, dlpack::code_int},
    {DType::i16, dlpack::code_int},
    {DType::i32, dlpack::code_int},
    {DType::i64, dlpack::code_int},
    {DType::f16, dlpack::code_float},
    {DType::bf16, dlpack::code_bfloat},
    {DType::f8e4m3fn, dlpack::code_float8_e4m3fn},
    {DType::f8e5m2, dlpack::code_float8_e5m2},
    {DType::f32, dlpack::code_float},
    {DType::f64, dlpack::code_float},
    {DType::c32, dlpack::code_complex},
    {DType::c64, dlpack::code_complex},
    {DType::c128, dlpack::code_complex},
});
static_assert(dtype_rows.size() == num_dtypes);

constexpr int bits_of(DType dtype) { return static_cast<int>(8 * itemsize_bytes(dtype)); }

DType dtype_from(dlpack::DataType type) {
  WEFT_CHECK(type.lanes == 1, UnsupportedError, "DLPack: expected a dtype of one lane, got one of ",
             type.lanes);
  const auto row = std::ranges::find_if(dtype_rows, [&](const DTypeRow& known) {
    return known.code == type.code && bits_of(known.dtype) == type.bits;
  });
  WEFT_CHECK(row != dtype_rows.end(), UnsupportedError, "DLPack: no dtype of weft has code ",
             int{type.code}, " and ", int{type.bits},
             " bits; expected int or uint of 8, 16, 32 or 64 bits (codes 0, 1), float of 16, 32 or "
             "64 (2), bfloat of 16 (4), complex of 32, 64 or 128 (5), bool of 8 (6), "
             "float8_e4m3fn (10) or float8_e5m2 (12)");
  return row->dtype;
}

dlpack::DataType type_of(DType dtype) {
  const auto row = std::ranges::find(dtype_rows, dtype, &DTypeRow::dtype);
  return {row->code, static_cast<std::uint8_t>(bits_of(dtype)), 1};
}

IntSpan read_dims(const std::int64_t* dims, std::int32_t ndim) {
  return {dims, static_cast<std::size_t>(ndim)};
}

/// The address of the first element, checked for what from_blob() takes on trust.  Without elements
/// it is any.
void* first_element(const dlpack::Tensor& tensor, IntSpan sizes, DType dtype) {
  const auto base = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (base == 0) return nullptr;
  std::uintptr_t address;
  WEFT_CHECK(!__builtin_add_overflow(base, tensor.byte_offset, &address), ArgumentError,
             "DLPack: the byte offset ", tensor.byte_offset, " leaves the address space from ",
             tensor.data);
  if (std::ranges::count(sizes, 0) > 0) return reinterpret_cast<void*>(address);
  const std::size_t alignment =
      visit_dtype(dtype, []<class T>(std::type_identity<T>) { return std::alignment_of_v<T>; });
  WEFT_CHECK(address % alignment == 0, UnsupportedError, "DLPack: elements of ", name(dtype),
             " have to lie at a multiple of ", alignment, " bytes, the first one is at ",
             reinterpret_cast<void*>(address), "; copy the data first");
  return reinterpret_cast<void*>(address);
}

template <class Managed>
Tensor import(Managed* managed) {
  const dlpack::Tensor& tensor = managed->tensor;
  const bool is_cuda = tensor.device.type == dlpack::device_cuda;
  WEFT_CHECK(
      tensor.device.type == dlpack::device_cpu || is_cuda, UnsupportedError,
      "DLPack: expected a tensor on the CPU (device type 1) or a CUDA device (2), got device "
      "type ",
      tensor.device.type, "; copy it to the CPU first");
  WEFT_CHECK(!is_cuda || (tensor.device.id >= 0 && tensor.device.id < cuda::max_devices),
             ArgumentError, "DLPack: there is no device cuda:", tensor.device.id);
  const Device device =
      is_cuda ? Device{DeviceType::cuda, static_cast<std::int16_t>(tensor.device.id)} : Device{};
  WEFT_CHECK(tensor.ndim >= 0 && tensor.ndim <= max_dims, ArgumentError, "DLPack: expected 0 to ",
             max_dims, " dimensions, got ", tensor.ndim);
  WEFT_CHECK(tensor.ndim == 0 || tensor.shape != nullptr, ArgumentError, "DLPack: a tensor of ",
             tensor.ndim, " dimensions has no shape");
  const DType dtype = dtype_from(tensor.dtype);
  const IntSpan sizes = read_dims(tensor.shape, tensor.ndim);
  check_sizes(sizes);
  const Dims strides = tensor.strides == nullptr ? contiguous_strides(sizes)
                                                 : Dims(read_dims(tensor.strides, tensor.ndim));
  return from_blob(first_element(tensor, sizes, dtype), sizes, strides, dtype, device,
                   [managed](void*) {
                     if (managed->deleter != nullptr) managed->deleter(managed);
                   });
}

/// A struct for others with everything that it points to.
template <class Managed>
struct Loan {
  explicit Loan(const TensorImpl& impl)
      : storage(impl.storage), sizes(impl.sizes), strides(impl.strides) {}

  StorageLoan storage;
  Dims sizes;
  Dims strides;
  Managed managed{};
};

template <class Managed>
std::unique_ptr<Loan<Managed>> lend(const Tensor& tensor) {
  const TensorImpl& impl = defined_impl(tensor);
  WEFT_CHECK(!impl.is_conj && !impl.is_neg, ArgumentError,
             "DLPack can't express lazy conjugate or negative bits: resolve them first, got ",
             describe(tensor));
  const bool has_bytes = impl.numel == 0 || impl.data() != nullptr;
  const Device device = impl.storage->device();
  WEFT_CHECK(has_bytes, ArgumentError, "DLPack: expected a tensor with bytes, got ",
             describe(tensor));
  auto loan = std::make_unique<Loan<Managed>>(impl);
  dlpack::Tensor& lent = loan->managed.tensor;
  lent.data = impl.data();
  const bool is_cuda = device.type == DeviceType::cuda;
  lent.device = {is_cuda ? dlpack::device_cuda : dlpack::device_cpu, device.index};
  lent.ndim = impl.ndim();
  lent.dtype = type_of(impl.dtype);
  lent.shape = loan->sizes.data();
  lent.strides = loan->strides.data();
  lent.byte_offset = 0;
  loan->managed.context = loan.get();
  loan->managed.deleter = [](Managed* managed) {
    delete static_cast<Loan<Managed>*>(managed->context);
  };
  return loan;
}

}  // namespace

Tensor from_dlpack(DLManagedTensor* managed) {
  WEFT_CHECK(managed != nullptr, ArgumentError, "DLPack: expected a struct, got null");
  return import(reinterpret_cast<dlpack::Managed*>(managed));
}

Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  WEFT_CHECK(managed != nullptr, ArgumentError, "DLPack: expected a struct, got null");
  auto* const versioned = reinterpret_cast<dlpack::ManagedVersioned*>(managed);
  WEFT_CHECK(versioned->major == dlpack::major_version, UnsupportedError,
             "DLPack: expected a struct of version 1, got version ", versioned->major, ".",
             versioned->minor);
  const Tensor result = import(versioned);
  // Nobody else has the view yet; making another could fail, when the struct is taken already.
  if ((versioned->flags & dlpack::flag_read_only) != 0) result.impl()->access = Access::read_only;
  return result;
}

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  WEFT_CHECK(!tensor.defined() || !tensor.is_read_only(), ArgumentError,
             "DLPack's unversioned struct can't say that memory is only to be read: use the "
             "versioned one, or a copy of ",
             describe(tensor));
  return reinterpret_cast<DLManagedTensor*>(&lend<dlpack::Managed>(tensor).release()->managed);
}

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
  auto loan = lend<dlpack::ManagedVersioned>(tensor);
  loan->managed.major = dlpack::major_version;
  loan->managed.minor = dlpack::minor_version;
  loan->managed.flags = tensor.is_read_only() ? dlpack::flag_read_only : 0;
  return reinterpret_cast<DLManagedTensorVersioned*>(&loan.release()->managed);
}

}  // namespace weft
