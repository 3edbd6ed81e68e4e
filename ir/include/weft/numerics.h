// How arithmetic may differ from the letter of an expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft {

enum class Numerics : std::uint8_t {
  standard,  ///< "default": small floats compute in f32 and round once at the end of a fused chain
  strict,    ///< small floats round after each op of the expression, as eager calls do
  fast,      ///< the backend may contract and reassociate
};

std::string_view name(Numerics numerics);  ///< "default", "strict", "fast"
std::optional<Numerics> parse_numerics(std::string_view text);

}  // namespace weft
