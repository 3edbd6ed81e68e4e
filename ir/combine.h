// The ops that reductions combine elements with: the associative rows of the op table that have an
// identity.
#pragma once

#include <weft/op.h>
#include <weft/scalar.h>

#include <cstddef>
#include <optional>

namespace weft::ir {

/// The element `e` of `dtype` for which op(e, x) is x for every x, -0 aside; nothing if `op` can't
/// reduce.  Whether `op` computes in `dtype` is not asked.
std::optional<Bits> identity_of(Op op, DType dtype);

/// Outputs that a kernel may accumulate into (rule V16).
inline constexpr std::size_t max_reduced_outputs = 4;

}  // namespace weft::ir
