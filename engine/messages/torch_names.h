// PyTorch's words, for the messages that are mirrored.
#pragma once

#include <weft/dtype.h>

#include <string_view>

namespace weft {

/// "Long" for i64.   Mirrors: c10::toString(ScalarType).
std::string_view torch_name(DType dtype);

/// Of `-x`.
inline constexpr std::string_view bool_negation =
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead.";

}  // namespace weft
