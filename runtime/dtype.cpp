// Names of dtypes.
#include <weft/dtype.h>

namespace weft {

std::optional<DType> parse_dtype(std::string_view text) {
  for (DType dtype : all_dtypes)
    if (name(dtype) == text) return dtype;
  return std::nullopt;
}

}  // namespace weft
