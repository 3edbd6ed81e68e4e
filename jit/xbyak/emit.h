// Emits one kernel: the loop nest around copies of the body.
#pragma once

#include "jit/xbyak/operands.h"

#include <span>

namespace weft::jit::xbyak {

/// Whether the code certainly needs a stack frame.
bool needs_frame(const ir::Kernel& kernel, const CpuFeatures& features);

/// The machine code of `kernel`, in `code`.  If `with_frame` is false and the code turns out to
/// need a frame, code.frame_bytes() is not zero and the code must not be run.
///
/// Errors: Xbyak::Error when the buffer or the constant pool is too small; NoRegister where values
/// that have to stay in registers leave none for another, which reductions can come to.
void emit_kernel(Assembler& code, const ir::Kernel& kernel, bool with_frame);

/// Behind the code of emit_kernel(), that of CodeObject::rows.
///
/// Requires: ir::reduces_rows(kernel).
void emit_rows(Assembler& code, const ir::Kernel& kernel);

}  // namespace weft::jit::xbyak
