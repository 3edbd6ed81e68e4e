// The LLVM tier as the rest of weft sees it.  LLVM itself lives in a module that is opened on first
// need.
#pragma once

#include "jit/backend.h"
#include "jit/llvm/module.h"

#include <string>
#include <string_view>

namespace weft::jit {

/// compile() looks into Target::disk first, and stores there what it compiles.
const Backend& llvm_backend();

/// The kernel's code from Target::disk alone; null if it is not there or can't be used.  Loads
/// nothing of LLVM, but for CacheMode::check.
std::shared_ptr<const CodeObject> load_llvm_code(const ir::Kernel& kernel, const Target& target);

/// What compile() of the backend does, for a kernel of which load_llvm_code() found no code.  Looks
/// once more, since another process may have stored it meanwhile.
///
/// Errors: those of compile().
std::shared_ptr<const CodeObject> compile_missed_llvm_code(const ir::Kernel& kernel,
                                                           const Target& target);

/// Why the module cannot be used here (not found, wrong version, ...); empty if it can.  Opens it.
std::string llvm_unavailable_reason();

/// The module's functions.
struct LlvmModule {
  WeftLlvmVersion version = nullptr;
  WeftLlvmCompile compile = nullptr;
  WeftLlvmDisassemble disassemble = nullptr;
  WeftLlvmDisassembleFunction disassemble_function = nullptr;
  WeftLlvmThroughput throughput = nullptr;
  WeftLlvmRelease release = nullptr;
};

/// Opens the module the first time.  Returns null, and says why, if that fails; it is not tried
/// again.
///
/// Threads: any number may call it; all see the same answer.
const LlvmModule* llvm_module(std::string& reason);

/// The version of LLVM that objects on the disk are looked for of, and stored with: that of the
/// module, once it is open.  Before, it is not known without opening LLVM, and is taken to be the
/// one that weft was built with.
std::string_view llvm_version();

}  // namespace weft::jit
