#include "jit/llvm/tile_symbols.h"

#include <weft/error.h>

namespace weft::jit {

std::string tile_symbol(tiles::RowKind kind) {
  return detail::concat("weft_tile_rows_", static_cast<int>(kind));
}

std::string tile_symbol(const tiles::TransposeShape& shape) {
  return detail::concat("weft_transpose_", shape.itemsize, "_by_", shape.step_bytes,
                        shape.is_streaming ? "_streaming" : "");
}

std::string tile_symbol(const tiles::InterleaveShape& shape) {
  return detail::concat(shape.to_pixels ? "weft_to_pixels_" : "weft_from_pixels_", shape.itemsize,
                        "_by_", shape.ways, shape.is_streaming ? "_streaming" : "");
}

bool walks_in_tiles(const ir::Kernel& kernel) {
  return kernel.schedule == ir::Schedule::tile &&
         (kernel.vector_bytes == 32 || kernel.vector_bytes == 64) &&
         kernel.operands.size() <= ir::max_launch_operands &&
         kernel.loops.size() <= ir::max_launch_loops;
}

}  // namespace weft::jit
