// Reductions and scans on devices, made of elementwise calls.
#pragma once

#include <weft/engine.h>

namespace weft {

/// The value of a fold whose argument has no folds, in `given` or, if that is undefined, in a new
/// tensor.  Each call combines some slices of what is to be folded, as a balanced tree, until one
/// is left: the first reads everything, the others a fraction.  The order depends on the shape
/// alone.
///
/// A scan takes a call, over everything, for each binary digit of its extent.
///
/// Requires: what is_single_fold() asks.
Tensor fold_on_device(Engine::State& state, const Expr& fold, const Tensor& given);

}  // namespace weft
