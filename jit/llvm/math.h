// The functions that no instruction computes: calls of SLEEF's vector variants, which give the same
// bits at every width, and integer powers.
#pragma once

#include "ir/kernel.h"
#include "jit/llvm/builder.h"

#include <span>
#include <string>

namespace weft::jit {

/// Requires: has_operator(), and that no instruction computes it.
llvm::Value* emit_math(Builder& builder, Op op, DType dtype, std::span<llvm::Value* const> args);

}  // namespace weft::jit
