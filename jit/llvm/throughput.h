// How fast a loop of machine code runs, by LLVM's scheduling models.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weft::jit {

struct ModelCycles {
  double cycles = 0;      ///< an iteration takes, once the loop has been running for a while
  std::string processor;  ///< whose model it is, in LLVM's spelling
};

/// Simulates the instructions, from the first to the jump back, on the model of this machine's
/// processor, or of one that has all of them.  Memory is as fast as the first cache.
///
/// Requires: initialise_llvm().   Errors: CompileError that says which instruction no model has.
ModelCycles loop_cycles(std::span<const std::byte> loop);

}  // namespace weft::jit
