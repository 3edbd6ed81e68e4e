// Machine code that transposes planes of few lines, many of them in one call.
#pragma once

#include "jit/tiles/functions.h"
#include "jit/xbyak/assembler.h"

namespace weft::jit::xbyak {

/// Emits a ShortTransposeFunction at the end of `code`.
void emit_short_transpose(Assembler& code, int itemsize);

// What both kinds of code are made of.

void emit_short_transpose_avx2(Assembler& code, int itemsize);

/// Registers that hold a stride and three times as much.
struct Strides {
  Reg64 one, three;
};
/// The address `n` strides after `base`; n in [0, 3].
RegExp nth(const Reg64& base, const Strides& stride, int n);

/// Transposes each lane of registers 0 to side - 1 into themselves; uses registers up to 7.
void transpose_lanes(Assembler& code, int side, int width_bytes);

}  // namespace weft::jit::xbyak
