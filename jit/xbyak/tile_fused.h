// Rows of a tile whose transposed inputs never leave the registers.
#pragma once

#include "jit/xbyak/assembler.h"

#include "ir/kernel.h"

namespace weft::jit::xbyak {

/// Emits what tiles::Functions::fused_rows() stands for.  False, with nothing emitted, if the body
/// calls functions or there are too many operands.
///
/// Requires: tiles::can_fuse().  Errors: NoRegister, with half of it emitted, if the body needs
/// more registers than are left beside those that are transposed in.
bool emit_fused_rows(Assembler& code, const ir::Kernel& kernel, bool is_large);

}  // namespace weft::jit::xbyak
