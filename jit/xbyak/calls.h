// Instructions without a row of their own: calls of the vector library, or of the very functions
// that the interpreter runs.  Slower than rows, with the same bits.
#pragma once

#include "jit/xbyak/registers.h"

#include <array>

namespace weft::jit::xbyak {

/// Those of the kernel's registers that a callee may change; rax and rcx hold nothing in the body.
inline constexpr std::array callers_registers{
    Xbyak::Operand::RDX, Xbyak::Operand::RSI, Xbyak::Operand::RDI, Xbyak::Operand::R8,
    Xbyak::Operand::R9,  Xbyak::Operand::R10, Xbyak::Operand::R11};

/// Whether an instruction can be computed by a call: any cast, and any op that is not computed in a
/// small float, on numbers of up to 8 bytes.
bool has_call(const ir::Kernel& kernel, const ir::Inst& inst);
void emit_call(Registers& registers, Assembler& code, const ir::Kernel& kernel, ir::ValueId id);

}  // namespace weft::jit::xbyak
