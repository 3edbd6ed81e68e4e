// Kernels of complex numbers on backends that compile real ones: ir/split_complex.h, and the way
// from the launch of the one to that of the other.
#pragma once

#include "ir/split_complex.h"
#include "jit/backend.h"

#include <memory>
#include <string>
#include <utility>

namespace weft::jit {

/// The kernel in parts, by the fewer operands.
inline ir::SplitKernel parts_of(const ir::Kernel& kernel) {
  return ir::treats_parts_alike(kernel) ? ir::interleave_parts(kernel) : ir::split_complex(kernel);
}

/// Code for `kernel` that hands every launch on to `parts`, the code of split.kernel.
std::shared_ptr<const CodeObject> code_of_parts(const ir::Kernel& kernel,
                                                const ir::SplitKernel& split,
                                                std::shared_ptr<const CodeObject> parts);

/// `refuses` on the parts of a kernel that it refuses as a whole.
template <class Refuses>
std::string refuses_parts(const ir::Kernel& kernel, const Target& target, std::string reason,
                          const Refuses& refuses) {
  if (reason.empty() || !ir::has_complex(kernel)) return reason;
  const ir::SplitKernel split = parts_of(kernel);
  if (split.has_functions && target.has_alternatives)
    return "functions of complex numbers would be computed once for each part";
  return split.reason.empty() ? refuses(split.kernel) : split.reason;
}

/// `compile` on the parts of a kernel.  Returns null if that does.
/// Requires: the kernel could be split.
template <class Compile>
std::shared_ptr<const CodeObject> compile_parts(const ir::Kernel& kernel,
                                                const ir::SplitKernel& split,
                                                const Compile& compile) {
  ir::Kernel reals = split.kernel;
  for (std::size_t i = 0; i < reals.operands.size(); ++i)
    reals.operands[i].is_imaginary = split.operands[i].offset_bytes != 0;
  std::shared_ptr<const CodeObject> parts = compile(reals);
  return parts == nullptr ? nullptr : code_of_parts(kernel, split, std::move(parts));
}

}  // namespace weft::jit
