// What folds leaves of a reduction (ir::Tree): loops whose partial results stay in registers.
#pragma once

#include "ir/kernel.h"
#include "runtime/cpu_features.h"

#include <string>

namespace weft::jit::xbyak {

/// Why there is no code for a kernel that reduces, or an empty string.  Of its instructions, the
/// one that accumulates is looked at.
std::string refuses_reduction(const ir::Kernel& kernel, Isa isa);
/// Whether a kernel that reduces may find no registers beside its partial results, which depends on
/// what else lives then, so that only emitting it tells.
bool may_lack_registers(const ir::Kernel& kernel, Isa isa);

/// Vector registers that hold partial results; 0 if the kernel does not reduce.
int num_accumulators(const ir::Kernel& kernel);

}  // namespace weft::jit::xbyak
