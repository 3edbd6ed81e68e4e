// One operator of the body as LLVM instructions, with the bits that ir/evaluate.h defines.
#pragma once

#include "ir/kernel.h"
#include "jit/llvm/builder.h"

#include <span>
#include <string>

namespace weft::jit {

/// Requires: has_operator(); as many arguments as the op has, builder.lanes() wide.
llvm::Value* emit_operator(Builder& builder, Op op, DType dtype,
                           std::span<llvm::Value* const> args);

/// Requires: has_cast().
llvm::Value* emit_cast(Builder& builder, llvm::Value* value, DType from, DType to);

}  // namespace weft::jit
