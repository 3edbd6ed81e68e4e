// The machine code of a tile kernel, which jit/tiles/tile.h describes.
#pragma once

#include "jit/tiles/tile.h"
#include "jit/xbyak/assembler.h"

#include "ir/kernel.h"

namespace weft::jit::xbyak {

/// Emits everything that the kernel needs, the entry first, and describes it in `tile`, whose
/// address becomes part of the code.  The thresholds in it are left as they are.
///
/// Unless it `may_fuse`, no rows are fused (jit/xbyak/tile_fused.h).
///
/// Errors: Xbyak::Error when the buffer or the constant pool is too small; NoRegister if fused rows
/// find no register for a value.
void emit_tile(Assembler& code, const ir::Kernel& kernel, tiles::TileCode& tile, bool may_fuse);

}  // namespace weft::jit::xbyak
