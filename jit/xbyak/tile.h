// The machine code of a tile kernel, which jit/tiles/tile.h describes.
#pragma once

#include "jit/tiles/tile.h"
#include "jit/xbyak/assembler.h"

#include "ir/kernel.h"

namespace weft::jit::xbyak {

/// Emits everything that the kernel needs, the entry first, and describes it in `tile`, whose
/// address becomes part of the code.  The thresholds in it are left as they are.
///
/// Errors: Xbyak::Error when the buffer or the constant pool is too small.
void emit_tile(Assembler& code, const ir::Kernel& kernel, tiles::TileCode& tile);

}  // namespace weft::jit::xbyak
