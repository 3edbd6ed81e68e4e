// Exponents and mantissas of f32, as weft/float_parts.def has them.
#pragma once

#include "ir/kernel.h"
#include "jit/llvm/builder.h"

#include <span>

namespace weft::jit {

/// Requires: scale_by_power of f32 or f64, or exponent, mantissa or table_entry of f32.
llvm::Value* emit_float_part(Builder& builder, Op op, std::span<llvm::Value* const> args);

}  // namespace weft::jit
