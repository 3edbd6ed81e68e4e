// How far results of a backend may lie from the interpreter's.
#pragma once

#include "engine/expression/expr_node.h"

#include <limits>
#include <string_view>

namespace weft::fuzzing {

/// Backends have the interpreter's bits but for `nvrtc`, whose functions of floats are CUDA's and
/// those of complex numbers its own (jit/nvrtc/operators.def says which, and what they are off by).
/// Arithmetic, comparisons, roundings and casts of those on a device are defined to the bit, fused
/// sums of Numerics::fast too.
///
/// So a result in which there is no such function is compared bit for bit, and one that such a
/// function gives for exact arguments to within the sum of the errors of both functions.  What is
/// computed from that further than by sign, choice and conversion between floats is not compared:
/// floor() and the like make much of little.  Nor are folds, of which random expressions have none.
struct Tolerance {
  double ulps = 0;          ///< 0: the same bits
  DType unit = DType::f32;  ///< a real dtype in whose places `ulps` count

  bool is_exact() const { return ulps == 0; }
  bool is_unknown() const { return ulps == std::numeric_limits<double>::infinity(); }
};

/// Of the expression's value as a `dtype`, computed by `backend`.
Tolerance tolerance_of(const Expr& expr, DType dtype, Numerics numerics, std::string_view backend);

}  // namespace weft::fuzzing
