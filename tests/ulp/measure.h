// Measures how far an op of the table is from the exact result, in units in the last place.
#pragma once

#include "tests/ulp/reference.h"

#include <cstdint>

namespace weft::ulp {

struct Worst {
  double ulps = 0;  ///< infinite where one of the two is NaN and the other is not
  double x = 0, y = 0, actual = 0;
  std::uint64_t num_tested = 0;
};

struct Sampling {
  std::uint64_t stride = 1;       ///< one argument: every so many bit patterns of f32
  std::uint64_t num_samples = 0;  ///< two arguments, or f64: so many pairs of random bits
  std::uint64_t seed = 1;
};

/// The largest error of `reference.op` in f32 or f64.  Measured against the exact result, so that a
/// correctly rounded one has at most 0.5; the last place below the normal numbers is that of the
/// smallest of them.  Threads: none shared.
Worst measure(const Reference& reference, DType dtype, const Sampling& sampling);

}  // namespace weft::ulp
