// Rows of a tile whose transposed inputs never leave the registers.
#pragma once

#include "jit/xbyak/assembler.h"

#include "ir/kernel.h"

namespace weft::jit::xbyak {

/// Whether emit_fused_rows() may be tried on a tile kernel: few inputs are transposed and no
/// output, their items fill the vectors, everything else is dense along the rows, and the body is
/// short.
bool can_fuse(const ir::Kernel& kernel, const CpuFeatures& features);

/// Rows that the code handles at once.
int fused_rows_a_step(const ir::Kernel& kernel);

/// Emits a KernelFunction for the two innermost loops.  Its extents must be multiples of
/// fused_rows_a_step() and of the lanes, and not zero; strides are those of the operands as they
/// lie.  False, with nothing emitted, if there are too many operands.
///
/// Requires: can_fuse().
///
/// `is_large`: for calls that move more than the caches hold.  It asks for what it reads later, and
/// writes past the caches if fused_rows_stream().
bool emit_fused_rows(Assembler& code, const ir::Kernel& kernel, bool is_large);

/// Whether every row of every output is written a whole cache line at a time.
bool fused_rows_stream(const ir::Kernel& kernel);

}  // namespace weft::jit::xbyak
