// The xbyak backend: machine code in microseconds, in the caller's thread.
#pragma once

#include "jit/backend.h"

namespace weft::jit {

/// Compiles the linear and strided schedules for AVX2 and AVX-512.  Refuses what rows.cpp has no
/// row for.
const Backend& xbyak_backend();

}  // namespace weft::jit
