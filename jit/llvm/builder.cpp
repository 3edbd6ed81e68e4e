#include "jit/llvm/builder.h"

#include <weft/error.h>

namespace weft::jit {

llvm::Type* Builder::element_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return getInt1Ty();
    case DType::f32: return getFloatTy();
    case DType::f64: return getDoubleTy();
    default: break;
  }
  WEFT_ASSERT(!is_complex(dtype), "a value of ", name(dtype));
  return getIntNTy(static_cast<unsigned>(8 * itemsize_bytes(dtype)));
}

llvm::Type* Builder::memory_type(DType dtype) {
  return is_boolean(dtype) ? getInt8Ty() : element_type(dtype);
}

}  // namespace weft::jit
