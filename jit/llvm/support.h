// What the LLVM tier has a way for.  Shared by both sides of the module, so no LLVM header here.
#pragma once

#include "ir/kernel.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::jit {

/// Whether a table op can be emitted in this dtype.
bool has_operator(Op op, DType dtype);
/// Whether it becomes a call, or several.
bool is_call(Op op, DType dtype);
/// What code calls an op's row of the interpreter: an ir::BlockFunction.
std::string row_symbol(Op op, DType dtype);
/// The op and dtype of such a symbol.
std::optional<std::pair<Op, DType>> parse_row_symbol(std::string_view symbol);
/// Whether a cast can be emitted; where not, ir::expand_casts() leaves no such cast.
bool has_cast(DType from, DType to);

}  // namespace weft::jit
