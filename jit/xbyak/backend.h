// The xbyak backend: machine code in microseconds, in the caller's thread.
#pragma once

#include "jit/backend.h"

namespace weft::jit {

/// Compiles the linear, strided and tile schedules for AVX2 and AVX-512.  Refuses what rows.cpp has
/// no row for.
const Backend& xbyak_backend();

/// Whether code for a kernel that is not refused leaves the vector registers to call functions,
/// which another backend may do without.
bool xbyak_calls_functions(const ir::Kernel& kernel, const Target& target);
/// Whether xbyak's code converts numbers one by one, for which AVX2 lacks the instructions.
bool xbyak_converts_one_by_one(const ir::Kernel& kernel, const Target& target);

}  // namespace weft::jit
