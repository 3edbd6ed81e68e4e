// Loads and stores of whole vectors, by what is known of the stride.
#pragma once

#include "ir/kernel.h"
#include "jit/llvm/builder.h"

namespace weft::jit {

/// Where the lanes of one vector lie.
struct Access {
  DType dtype;
  ir::StrideClass stride;     ///< of the operand along the vector loop
  llvm::Value* address;       ///< of the first lane
  llvm::Value* stride_bytes;  ///< only where `stride` is stride_any
};

/// Whether load() and store() can leave out lanes of such an access.
bool can_mask(const Builder& builder, DType dtype, ir::StrideClass stride, ir::Role role);

/// Both touch the bytes of the lanes' elements and no others.  If `remaining` (an i64) is not null,
/// only the first so many lanes are meant; the rest of a loaded value is 0.
///
/// Requires: can_mask(), if `remaining` is not null.
llvm::Value* load(Builder& builder, const Access& access, llvm::Value* remaining);
void store(Builder& builder, const Access& access, llvm::Value* value, llvm::Value* remaining);

}  // namespace weft::jit
