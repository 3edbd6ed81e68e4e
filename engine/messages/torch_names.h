// PyTorch's words, for the messages that are mirrored.
#pragma once

#include <weft/dtype.h>

#include <string_view>

namespace weft {

/// "Long" for i64.   Mirrors: c10::toString(ScalarType).
std::string_view torch_name(DType dtype);

}  // namespace weft
