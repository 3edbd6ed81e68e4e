// The common dtype of two dtypes: PyTorch's table, and the array API standard's for u16, u32, u64.
// Categories of operands (dimensioned, 0-dim, bare numbers) are not known here.
#pragma once

#include <weft/dtype.h>

namespace [[gnu::visibility("default")]] weft {

/// The dtype in which values of both dtypes meet: `u8` and `i8` in `i16`, any integer and `f16` in
/// `f16`, `f16` and `bf16` in `f32`, `f32` and `c32` in `c64`.  Symmetric.
///
/// Errors: ArgumentError for an f8 type with any other dtype, and for u64 with a signed integer.
/// Mirrors: promoteTypes (c10/core/ScalarType.h).
DType promote_types(DType a, DType b);

}  // namespace weft
