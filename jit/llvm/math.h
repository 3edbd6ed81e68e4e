// The functions that no instruction computes: calls of SLEEF's vector variants, which give the same
// bits at every width, and integer powers.
#pragma once

#include "ir/kernel.h"
#include "jit/llvm/builder.h"

#include <span>
#include <string>
#include <string_view>

namespace weft::jit {

/// Requires: has_operator(), and that no instruction computes it.
llvm::Value* emit_math(Builder& builder, Op op, DType dtype, std::span<llvm::Value* const> args);

/// Where a function lies that emitted code calls; null if no emitted code may call it.
const void* find_math_function(std::string_view symbol);

}  // namespace weft::jit
