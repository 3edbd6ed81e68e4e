// Scans by logaddexp, for every i log(exp(x[0]) + ... + exp(x[i])).  One exponential and one
// logarithm an element: what has accumulated is the largest element and the sum of the exponentials
// relative to it, in f64, which is rounded only as it is written.
#pragma once

#include "jit/fold/block_scan.h"
#include "jit/fold/scan.h"

#include <cstdint>

namespace weft::jit {

/// A function of one f64, of arrays that share no memory.
struct ArrayFunction {
  /// Room for `count` numbers is rounded up to a multiple of it: more may be read and written.
  static constexpr std::int64_t unit = 8;

  void (*apply)(const void* function, double* out, const double* x, std::int64_t count) = nullptr;
  const void* function = nullptr;

  void operator()(double* out, const double* x, std::int64_t count) const {
    apply(function, out, x, count);
  }
};

/// The op table's, whose bits are the same with every instruction set.
struct LogMath {
  ArrayFunction exp, log1p;
};

/// Threads: any.
const LogMath& log_math(Isa isa);

/// Of f32 and f64; null for others.  They need Scan::math and BlockScan::math.
Scan::Run log_scan(DType dtype);
BlockScan log_block_scan(DType dtype, Isa isa);

}  // namespace weft::jit
