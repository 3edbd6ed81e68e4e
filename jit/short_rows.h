// What counts as short where outputs are written in rows and inputs are dense along another
// dimension: lowering chooses the loops by it, and the tile schedule how to walk through them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::jit {

/// Rows of more items fill vectors, and planes of more items are transposed faster than gathered
/// where both of their sides are long enough.
inline constexpr std::int64_t most_short_row_items = 15;
inline constexpr std::int64_t most_short_plane_items = 120;

/// Inputs that are gathered at most.
inline constexpr std::size_t most_gathered_inputs = 4;

}  // namespace weft::jit
