// Tensors, their views, and DLPack, for C.
#include "engine/c/handles.h"

#include <weft/dlpack.h>

#include <array>
#include <optional>

using namespace weft;
using weft::c::array, weft::c::given, weft::c::guard, weft::c::guard_value, weft::c::new_handle,
    weft::c::tensor_of;

static_assert(int{WEFT_BOOL} == int(DType::boolean) && int{WEFT_U8} == int(DType::u8) &&
              int{WEFT_U16} == int(DType::u16) && int{WEFT_U32} == int(DType::u32) &&
              int{WEFT_U64} == int(DType::u64) && int{WEFT_I8} == int(DType::i8) &&
              int{WEFT_I16} == int(DType::i16) && int{WEFT_I32} == int(DType::i32) &&
              int{WEFT_I64} == int(DType::i64) && int{WEFT_F16} == int(DType::f16) &&
              int{WEFT_BF16} == int(DType::bf16) && int{WEFT_F8E4M3FN} == int(DType::f8e4m3fn) &&
              int{WEFT_F8E5M2} == int(DType::f8e5m2) && int{WEFT_F32} == int(DType::f32) &&
              int{WEFT_F64} == int(DType::f64) && int{WEFT_C32} == int(DType::c32) &&
              int{WEFT_C64} == int(DType::c64) && int{WEFT_C128} == int(DType::c128));

namespace {

bool is_dtype(weft_dtype dtype) {
  return dtype >= 0 && dtype < static_cast<weft_dtype>(num_dtypes);
}

DType dtype_of_code(weft_dtype dtype) {
  WEFT_CHECK(is_dtype(dtype), ArgumentError, "expected a dtype from 0 to ", num_dtypes - 1,
             ", got ", dtype);
  return static_cast<DType>(dtype);
}

IntSpan sizes_of(const int64_t* sizes, int32_t ndim) { return array(sizes, ndim, "sizes"); }

/// Makes a view of `tensor` and hands it out.
template <class Function>
weft_status make_view(const weft_tensor* tensor, weft_tensor** view, const Function& function) {
  return guard([&] {
    weft_tensor*& result = given(view, "a place for the view");
    result = new_handle(function(tensor_of(tensor)));
  });
}

std::optional<std::int64_t> bound(int64_t value) {
  return value == WEFT_NOT_GIVEN ? std::nullopt : std::optional<std::int64_t>(value);
}

}  // namespace

weft_status weft_tensor_empty(weft_dtype dtype, int32_t ndim, const int64_t* sizes,
                              weft_tensor** tensor) {
  return guard([&] {
    weft_tensor*& result = given(tensor, "a place for the tensor");
    result = new_handle(empty(sizes_of(sizes, ndim), {dtype_of_code(dtype), {}, {}}));
  });
}

weft_status weft_tensor_from_blob(void* data, weft_dtype dtype, int32_t ndim, const int64_t* sizes,
                                  const int64_t* strides,
                                  void (*release)(void* data, void* context), void* context,
                                  weft_tensor** tensor) {
  return guard([&] {
    weft_tensor*& result = given(tensor, "a place for the tensor");
    auto handle = std::make_unique<weft_tensor>();
    std::function<void(void*)> function;
    if (release != nullptr)
      function = [release, context](void* address) { release(address, context); };
    const IntSpan all_sizes = sizes_of(sizes, ndim);
    const DType type = dtype_of_code(dtype);
    handle->tensor = strides == nullptr
                         ? from_blob(data, all_sizes, type, std::move(function))
                         : from_blob(data, all_sizes, array(strides, ndim, "strides"), type,
                                     std::move(function));
    result = handle.release();
  });
}

void weft_tensor_destroy(weft_tensor* tensor) { weft::c::destroy(tensor); }

weft_dtype weft_tensor_dtype(const weft_tensor* tensor) {
  return guard_value<weft_dtype>(
      -1, [&] { return static_cast<weft_dtype>(tensor_of(tensor).dtype()); });
}

int32_t weft_tensor_ndim(const weft_tensor* tensor) {
  return guard_value<int32_t>(-1, [&] { return tensor_of(tensor).dim(); });
}

int64_t weft_tensor_numel(const weft_tensor* tensor) {
  return guard_value<int64_t>(-1, [&] { return tensor_of(tensor).numel(); });
}

const int64_t* weft_tensor_sizes(const weft_tensor* tensor) {
  return guard_value<const int64_t*>(nullptr, [&] { return tensor_of(tensor).sizes().data(); });
}

const int64_t* weft_tensor_strides(const weft_tensor* tensor) {
  return guard_value<const int64_t*>(nullptr, [&] { return tensor_of(tensor).strides().data(); });
}

void* weft_tensor_data(const weft_tensor* tensor) {
  return guard_value<void*>(nullptr, [&] { return tensor_of(tensor).data(); });
}

int32_t weft_tensor_is_contiguous(const weft_tensor* tensor) {
  return guard_value<int32_t>(-1, [&] { return tensor_of(tensor).is_contiguous() ? 1 : 0; });
}

int32_t weft_tensor_is_read_only(const weft_tensor* tensor) {
  return guard_value<int32_t>(-1, [&] { return tensor_of(tensor).is_read_only() ? 1 : 0; });
}

size_t weft_dtype_bytes(weft_dtype dtype) {
  return is_dtype(dtype) ? itemsize_bytes(static_cast<DType>(dtype)) : 0;
}

const char* weft_dtype_name(weft_dtype dtype) {
  // The table's names are literals, which end in a zero.
  return is_dtype(dtype) ? name(static_cast<DType>(dtype)).data() : nullptr;
}

weft_status weft_tensor_permute(const weft_tensor* tensor, int32_t num_dims, const int32_t* dims,
                                weft_tensor** view) {
  return make_view(tensor, view, [&](const Tensor& self) {
    return self.permute(array(dims, num_dims, "dimensions"));
  });
}

weft_status weft_tensor_slice(const weft_tensor* tensor, int32_t dim, int64_t start, int64_t stop,
                              int64_t step, weft_tensor** view) {
  return make_view(tensor, view, [&](const Tensor& self) {
    return self.slice(dim, bound(start), bound(stop), step);
  });
}

weft_status weft_tensor_select(const weft_tensor* tensor, int32_t dim, int64_t index,
                               weft_tensor** view) {
  return make_view(tensor, view, [&](const Tensor& self) { return self.select(dim, index); });
}

weft_status weft_tensor_expand(const weft_tensor* tensor, int32_t ndim, const int64_t* sizes,
                               weft_tensor** view) {
  return make_view(tensor, view,
                   [&](const Tensor& self) { return self.expand(sizes_of(sizes, ndim)); });
}

weft_status weft_tensor_reshape(weft_engine* engine, const weft_tensor* tensor, int32_t ndim,
                                const int64_t* sizes, weft_tensor** result) {
  return make_view(tensor, result, [&](const Tensor& self) {
    return c::engine_of(engine).reshape(self, sizes_of(sizes, ndim));
  });
}

weft_status weft_tensor_contiguous(weft_engine* engine, const weft_tensor* tensor,
                                   weft_tensor** result) {
  return make_view(tensor, result,
                   [&](const Tensor& self) { return c::engine_of(engine).contiguous(self); });
}

weft_status weft_tensor_from_dlpack(DLManagedTensor* managed, weft_tensor** tensor) {
  return guard([&] {
    weft_tensor*& result = given(tensor, "a place for the tensor");
    auto handle = std::make_unique<weft_tensor>();  // first: what can fail must, before ownership
    handle->tensor = from_dlpack(managed);
    result = handle.release();
  });
}

weft_status weft_tensor_from_dlpack_versioned(DLManagedTensorVersioned* managed,
                                              weft_tensor** tensor) {
  return guard([&] {
    weft_tensor*& result = given(tensor, "a place for the tensor");
    auto handle = std::make_unique<weft_tensor>();
    handle->tensor = from_dlpack(managed);
    result = handle.release();
  });
}

weft_status weft_tensor_to_dlpack(const weft_tensor* tensor, DLManagedTensor** managed) {
  return guard([&] {
    // First: a loan that nobody gets is never returned.
    DLManagedTensor*& result = given(managed, "a place for the struct");
    result = to_dlpack(tensor_of(tensor));
  });
}

weft_status weft_tensor_to_dlpack_versioned(const weft_tensor* tensor,
                                            DLManagedTensorVersioned** managed) {
  return guard([&] {
    DLManagedTensorVersioned*& result = given(managed, "a place for the struct");
    result = to_dlpack_versioned(tensor_of(tensor));
  });
}
