// The loop nest and body of a kernel as LLVM IR.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"

#include <llvm/IR/Module.h>

#include <cstdint>

namespace weft::jit {

/// Whether instructions remember the value of the body that they compute.
enum class Lines : std::uint8_t {
  none,
  values,  ///< as debug information: line N is value N - 1, line 0 the loops around the body
};

/// Adds `void weft_kernel(const KernelArgs*)` to `module`: all of the kernel or, if it reduces,
/// what folds leaves (CodeObject::leaf).  Of kernels that CodeObject::rows is for, `weft_rows`
/// besides.
///
/// Requires: a kernel after ir::run_pipeline() that the backend does not refuse.
void emit_kernel(const ir::Kernel& kernel, const Target& target, llvm::Module& module,
                 Lines lines = Lines::none);

}  // namespace weft::jit
