// Machine code that joins a few lines into one whose items alternate between them (planes of an
// image into pixels), and the reverse.
#pragma once

#include "jit/tiles/functions.h"
#include "jit/xbyak/assembler.h"

namespace weft::jit::xbyak {

/// Emits an InterleaveFunction at the end of `code`.
void emit_interleave(Assembler& code, const tiles::InterleaveShape& shape);

}  // namespace weft::jit::xbyak
