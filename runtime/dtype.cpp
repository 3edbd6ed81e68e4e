// Names and limits of dtypes.
#include <weft/dtype.h>

#include <limits>

namespace weft {

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.fep127;
    case DType::f8e4m3fn: return 448;
    case DType::f8e5m2: return 57344;
    case DType::f32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (DType dtype : all_dtypes)
    if (name(dtype) == text) return dtype;
  return std::nullopt;
}

}  // namespace weft
