// What partial results of kernels that reduce or scan are combined by, as CUDA C++.
#pragma once

#include "ir/kernel.h"
#include "jit/nvrtc/body.h"

#include <string>

namespace weft::jit::nvrtc {

/// Whether there is code that combines by `op` in `dtype`.
bool can_combine(Op op, DType dtype, Numerics numerics);

/// The functions that combined_text() calls.
void emit_combinations(Source& source, const ir::Kernel& kernel);

/// What becomes of `kept` and `value`, by what accumulates.
std::string combined_text(const ir::Inst& accumulate, const std::string& kept,
                          const std::string& value);

}  // namespace weft::jit::nvrtc
