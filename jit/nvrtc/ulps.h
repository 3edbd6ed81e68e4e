// How far results on a device may lie from the interpreter's.
#pragma once

#include <weft/dtype.h>
#include <weft/numerics.h>
#include <weft/op.h>

namespace weft::jit::nvrtc {

/// Units in the last place by which the result of an op of exact arguments may differ from the
/// interpreter's, of a complex number those of the larger part: 0 if it has the same bits, and
/// unknown_ulps (jit/nvrtc/operators.h) where what follows a function in a composite is more than
/// choice, sign and scale.
///
/// Fused sums of Numerics::fast have the interpreter's bits: they are instructions of the kernel.
///
/// Requires: the op computes in `dtype`.
double ulps_of_result(Op op, DType dtype, Numerics numerics);

}  // namespace weft::jit::nvrtc
