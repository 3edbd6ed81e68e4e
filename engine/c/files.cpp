// .npy and .npz, for C.
#include "engine/c/handles.h"

using namespace weft;
using weft::c::given, weft::c::guard, weft::c::new_handle, weft::c::text_at;

weft_status weft_npy_read(const char* path, weft_tensor** tensor) {
  return guard([&] {
    weft_tensor*& result = given(tensor, "a place for the tensor");
    result = new_handle(npy_read(text_at(path, "the name of a file")));
  });
}

weft_status weft_npy_write(const char* path, const weft_tensor* tensor) {
  return guard([&] { npy_write(text_at(path, "the name of a file"), c::tensor_of(tensor)); });
}

weft_status weft_npz_read(const char* path, const char* name, weft_tensor** tensor) {
  return guard([&] {
    weft_tensor*& result = given(tensor, "a place for the tensor");
    result = new_handle(
        npz_read(text_at(path, "the name of a file"), text_at(name, "the name of an array")));
  });
}

weft_status weft_npz_write(const char* path, size_t num_names, const weft_named_tensor* names,
                           int32_t is_compressed) {
  return guard([&] {
    npz_write(text_at(path, "the name of a file"), c::read_names(num_names, names),
              is_compressed != 0 ? NpzCompression::deflated : NpzCompression::stored);
  });
}
