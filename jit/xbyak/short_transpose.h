// Machine code that transposes planes of few lines, many of them in one call.
#pragma once

#include "jit/tiles/functions.h"
#include "jit/xbyak/assembler.h"

namespace weft::jit::xbyak {

/// Emits a ShortTransposeFunction at the end of `code`.
void emit_short_transpose(Assembler& code, int itemsize);

}  // namespace weft::jit::xbyak
