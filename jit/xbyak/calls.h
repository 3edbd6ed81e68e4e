// Instructions without a row of their own: calls of the vector library, or of the very functions
// that the interpreter runs.  Slower than rows, with the same bits.
#pragma once

#include "jit/xbyak/registers.h"

namespace weft::jit::xbyak {

/// Whether an instruction can be computed by a call: any cast, and any op that is not computed in a
/// small float, on numbers of up to 8 bytes.
bool has_call(const ir::Kernel& kernel, const ir::Inst& inst);
void emit_call(Registers& registers, Assembler& code, const ir::Kernel& kernel, ir::ValueId id);

}  // namespace weft::jit::xbyak
