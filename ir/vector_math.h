// Which ops are calls of the SLEEF library, and what its functions are called.  The scalar
// functions that ir/number.h calls and the vector functions that generated code calls return the
// same bits: they are the library's deterministic variants with fma.
#pragma once

#include <weft/dtype.h>
#include <weft/op.h>

#include <string>
#include <string_view>

namespace weft::ir {

/// One op of the library, for real numbers.  WEFT_VECTOR_MATH(op, stem, accuracy): SLEEF's name is
/// made of its stem ("exp"), the element type and count, and its error bound ("u10" is 1.0 ulp).
#define WEFT_VECTOR_MATH_ROWS(WEFT_VECTOR_MATH) \
  WEFT_VECTOR_MATH(library_exp, exp, u10)       \
  WEFT_VECTOR_MATH(library_log1p, log1p, u10)   \
  WEFT_VECTOR_MATH(library_sin, sin, u10)       \
  WEFT_VECTOR_MATH(library_cos, cos, u10)       \
  WEFT_VECTOR_MATH(library_tan, tan, u10)

/// Sine, cosine and tangent are calls of the library from here on: below, three parts of pi / 2 for
/// f32, and four for f64, are enough to take off the turns.
constexpr double largest_reduced(DType dtype) { return dtype == DType::f64 ? 0x1p20 : 8192; }

/// "exp" for Op::library_exp; empty for ops that are no call of SLEEF.
std::string_view sleef_stem(Op op);

/// The function for `lanes` elements of f32 or f64 at once: "Sleef_finz_expf16_u10avx512f".  One
/// lane is the scalar function; vectors have 16, 32 or 64 bytes.  Empty if there is none.
std::string sleef_symbol(Op op, DType dtype, int lanes);

/// That function's address, or of what takes its place (ir/library_repairs.h), found once the
/// library is in the process; null if there is none.
///
/// Threads: any.
const void* sleef_function(Op op, DType dtype, int lanes);
/// The same by its name.
const void* sleef_function(std::string_view symbol);

}  // namespace weft::ir
