// The tree over leaves of one row that generated code folds.
#pragma once

#include "engine/fold/fold_plan.h"

#include <cstddef>
#include <cstdint>

namespace weft {

/// Folds `count` elements, at most jit::FoldLoops::most_blocks leaves, to the lanes of each of the
/// plan's folds, jit::Fold::lanes_bytes apart.  `leaf`: jit::CodeObject::leaf; `inputs`: where the
/// tensors that are read begin.
///
/// Requires: FoldPlan::is_inner and FoldForm::value.
void fold_leaves_by_code(const FoldPlan& plan, jit::KernelFunction leaf, std::byte* const* inputs,
                         const Bits* params, std::int64_t count, std::byte* lanes);

}  // namespace weft
