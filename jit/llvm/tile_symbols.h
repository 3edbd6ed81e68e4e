// What the functions of a tile kernel, and those that code calls, are called in an object.  Shared
// by both sides of the module, so no LLVM header here.
#pragma once

#include "jit/tiles/tile.h"

#include <string>

namespace weft::jit {

/// What the entry of a tile kernel calls: tiles::run_tiles().
inline constexpr const char* run_tiles_symbol = "weft_run_tiles";

/// What copies rows by the processor's own loop: (to, from, bytes).
inline constexpr const char* copy_row_symbol = "weft_copy_row";

/// Of a copy, whose items are all of one size.
inline constexpr const char* short_transpose_symbol = "weft_short_transpose";

std::string tile_symbol(tiles::RowKind kind);
std::string tile_symbol(const tiles::TransposeShape& shape);
std::string tile_symbol(const tiles::InterleaveShape& shape);

/// Whether the tier walks through the kernel tile by tile; others of that schedule are plain loops.
bool walks_in_tiles(const ir::Kernel& kernel);

}  // namespace weft::jit
