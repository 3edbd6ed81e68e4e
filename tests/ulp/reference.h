// Correctly rounded-enough references: each function of the table that has one in MPFR, evaluated
// with many more bits than f64 has.
#pragma once

#include <weft/op.h>

#include <mpfr.h>

#include <span>

namespace weft::ulp {

/// Computes one function of one or two arguments into `result`, which has `precision` bits.
using Function = void (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y);
inline constexpr mpfr_prec_t precision = 120;

struct Reference {
  Op op;
  Function function;
};

std::span<const Reference> references();
/// Null if there is none.
const Reference* find_reference(Op op);

}  // namespace weft::ulp
