// From an LLVM module to code that runs: code generation, linking, and the texts of both.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"

#include <memory>
#include <string>
#include <vector>

namespace weft::jit {

/// Registers the x86 target.  Threads: any number may call it; the work is done once.
void initialise_llvm();

/// "x86_64-unknown-linux-gnu".
const char* target_triple();

struct CompiledCode {
  std::string object;           ///< a relocatable ELF file
  const void* entry = nullptr;  ///< null unless it was linked
  std::size_t code_bytes = 0;
  std::shared_ptr<const void> memory;  ///< keeps `entry` alive
  std::string llvm_text;
  std::string assembly_text;
};

/// Compiles a kernel that the backend does not refuse.
///
/// Threads: may be called by many threads at once; each has its own code generator.
/// Errors:  CompileError, DeviceError, InternalError.
CompiledCode compile_with_llvm(const ir::Kernel& kernel, const Target& target);

}  // namespace weft::jit
