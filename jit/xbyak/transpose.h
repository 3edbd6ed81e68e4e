// Machine code that moves rectangles of items and swaps their two directions on the way.
#pragma once

#include "jit/tiles/functions.h"
#include "jit/xbyak/assembler.h"

namespace weft::jit::xbyak {

/// Emits a TransposeFunction at the end of `code`.
void emit_transpose(Assembler& code, const tiles::TransposeShape& shape);

}  // namespace weft::jit::xbyak
