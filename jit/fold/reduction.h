// Kernels that reduce, as code: the walk over their leaves in the order of ir::Tree, whatever folds
// a leaf.
#pragma once

#include "ir/kernel.h"
#include "jit/code_object.h"

#include <memory>

namespace weft::jit {

/// Code for `kernel` whose leaves are folded by `leaf` (CodeObject::leaf), which it keeps.  The
/// walk allocates nothing.
///
/// Requires: ir::is_reduction(kernel).
std::shared_ptr<CodeObject> reduction_code(const ir::Kernel& kernel, const CodeObject& leaf);

}  // namespace weft::jit
