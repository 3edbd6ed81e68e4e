// Rounding f32 to bf16 by the instruction of AVX512_BF16.
#pragma once

#include "jit/llvm/builder.h"

#include <span>
#include <vector>

namespace weft::jit {

/// The values as bf16, rounded as weft/convert.h does, with one test for all of them.  Ends in
/// another block than it began in.
///
/// Requires: a target with AVX512_BF16.
std::vector<llvm::Value*> emit_bf16(Builder& builder, std::span<llvm::Value* const> values);

}  // namespace weft::jit
