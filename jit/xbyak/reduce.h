// What folds leaves of a reduction (ir::Tree): loops whose partial results stay in registers.
#pragma once

#include "ir/kernel.h"
#include "runtime/cpu_features.h"

#include <string>
#include <vector>

namespace weft::jit::xbyak {

/// Why there is no code for a kernel that reduces, or an empty string.
std::string refuses_reduction(const ir::Kernel& kernel, Isa isa);
/// Whether a kernel that reduces may find no registers beside its partial results, which depends on
/// what else lives then, so that only emitting it tells.
bool may_lack_registers(const ir::Kernel& kernel, Isa isa);

/// The instructions that accumulate, each into an output of its own.
std::vector<ir::ValueId> accumulations_of(const ir::Kernel& kernel);
/// Vector registers that hold partial results of each output; 0 if the kernel does not reduce.
int accumulators_per_fold(const ir::Kernel& kernel, Isa isa);
/// Whether these are all lanes of the tree, so that a row's partial results can become its result.
bool holds_whole_tree(const ir::Kernel& kernel, Isa isa);

}  // namespace weft::jit::xbyak
