#include "engine/messages/torch_names.h"

namespace weft {

std::string_view torch_name(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "Bool";
    case DType::u8: return "Byte";
    case DType::u16: return "UInt16";
    case DType::u32: return "UInt32";
    case DType::u64: return "UInt64";
    case DType::i8: return "Char";
    case DType::i16: return "Short";
    case DType::i32: return "Int";
    case DType::i64: return "Long";
    case DType::f16: return "Half";
    case DType::bf16: return "BFloat16";
    case DType::f8e4m3fn: return "Float8_e4m3fn";
    case DType::f8e5m2: return "Float8_e5m2";
    case DType::f32: return "Float";
    case DType::f64: return "Double";
    case DType::c32: return "ComplexHalf";
    case DType::c64: return "ComplexFloat";
    case DType::c128: return "ComplexDouble";
  }
  return "Undefined";
}

}  // namespace weft
