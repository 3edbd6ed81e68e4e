// From an LLVM module to an object file: code generation, and the texts of both.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"

#include <string>

namespace weft::jit {

/// Registers the x86 target.  Threads: any number may call it; the work is done once.
void initialise_llvm();

/// "x86_64-unknown-linux-gnu".
const char* target_triple();

struct CompiledCode {
  std::string object;  ///< a relocatable ELF file
  std::string llvm_text;
  std::string assembly_text;
};

/// Compiles a kernel that the backend does not refuse.
///
/// Threads: may be called by many threads at once; each has its own code generator.
/// Errors:  CompileError, InternalError.
CompiledCode compile_with_llvm(ir::Kernel kernel, const Target& target);

}  // namespace weft::jit
