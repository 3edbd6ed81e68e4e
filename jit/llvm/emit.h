// The loop nest and body of a kernel as LLVM IR.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"

#include <llvm/IR/Module.h>

namespace weft::jit {

/// Adds `void weft_kernel(const KernelArgs*)` to `module`.
///
/// Requires: a kernel after ir::run_pipeline() that the backend does not refuse.
void emit_kernel(const ir::Kernel& kernel, const Target& target, llvm::Module& module);

}  // namespace weft::jit
