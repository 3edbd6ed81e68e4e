// How arithmetic may differ from the letter of an expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] weft {

enum class Numerics : std::uint8_t {
  standard,  ///< "default": small floats compute in f32 and round once at the end of a fused chain
  strict,    ///< small floats round after each op of the expression, as eager calls do
  /// x * y + z rounds once where nothing else uses the product; sigmoid and silu of f32 are
  /// within 2.5 ulp, gelu_tanh is where it is not small (docs/numerics.md).
  fast,
  // As standard in what is elementwise; of reductions (docs/numerics.md):
  layout_invariant,  ///< the same bits for every layout of the same numbers
  exact,             ///< that, and sums and means of floats are exact, rounded once
};

/// What the elementwise part of a call follows.
constexpr Numerics elementwise(Numerics numerics) {
  return numerics > Numerics::fast ? Numerics::standard : numerics;
}

/// "default", "strict", "fast", "layout_invariant", "exact"
std::string_view name(Numerics numerics);
std::optional<Numerics> parse_numerics(std::string_view text);
/// All of them for a message: "default, strict, ... or exact".
std::string numerics_names();

}  // namespace weft
