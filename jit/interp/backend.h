// The interpreter: runs any verified kernel, and defines what the others must compute.
#pragma once

#include "jit/backend.h"

namespace weft::jit {

/// Takes kernels before or after the passes; refuses none.
const Backend& interp_backend();

}  // namespace weft::jit
