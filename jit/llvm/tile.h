// The functions of a tile kernel (jit/tiles/tile.h) as LLVM IR.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"
#include "jit/tiles/functions.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <string>

namespace weft::jit {

/// Adds the entry, which leads to the walk, and all functions that the walk needs.
///
/// Requires: walks_in_tiles().
void emit_tile(const ir::Kernel& kernel, const Target& target, llvm::Module& module,
               llvm::DICompileUnit* debug_unit);

/// Adds a tiles::TransposeFunction.
void emit_transpose(const tiles::TransposeShape& shape, const Target& target, llvm::Module& module,
                    const std::string& symbol);

/// Adds a tiles::ShortTransposeFunction.
///
/// Requires: tiles::has_short_transpose().
void emit_short_transpose(int itemsize, const Target& target, llvm::Module& module,
                          const std::string& symbol);

/// Adds a tiles::InterleaveFunction.
void emit_interleave(const tiles::InterleaveShape& shape, const Target& target,
                     llvm::Module& module, const std::string& symbol);

}  // namespace weft::jit
