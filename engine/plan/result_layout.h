// Strides of new results.
#pragma once

#include "engine/expression/program.h"

#include <span>
#include <vector>

namespace weft {

/// Allocates those of the undefined `outputs` whose strides one plan of all leaves may not find:
/// those of PyTorch, which computes operator by operator.  There what several broadcast operands
/// become is dense, and decides where its operands say nothing.  The others stay undefined.
///
/// `inputs` are the leaves.  Errors: ArgumentError for operands that no iterator takes together.
std::vector<Tensor> lay_out_results(const Program& program, std::span<const Tensor> inputs,
                                    std::span<const Tensor> outputs);

}  // namespace weft
