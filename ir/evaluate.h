// What each op and each cast gives: the one definition that all backends are compared with.  Made
// from the rows of the op table, run on numbers.
#pragma once

#include "ir/kernel.h"

#include <cstddef>
#include <span>

namespace weft::ir {

/// Computes `num_elements` elements: `out` and each of `args` are arrays in their dtypes.  `out` is
/// not one of them.
using BlockFunction = void (*)(void* out, const void* const* args, std::size_t num_elements);

/// `op` of the table, computed in `dtype`; null if it does not compute in that.  The arrays have
/// dtype `dtype`, except for the mask of `where` and the results that result_dtype() says.
BlockFunction block_function(Op op, DType dtype);

/// The conversions of weft/convert.h, one array to another.
BlockFunction cast_function(DType to, DType from);

/// The value of a table op, cast or bitcast `inst` for these arguments.  `arg_dtype` is that of
/// args[0].
Bits evaluate(const Inst& inst, std::span<const Bits> args, DType arg_dtype);

}  // namespace weft::ir
