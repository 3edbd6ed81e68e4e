// The CUDA tier as the rest of weft sees it: what it refuses, and the way of a lowered kernel to
// source and to code for a device.
#pragma once

#include "ir/split_complex.h"
#include "jit/nvrtc/compiler.h"
#include "jit/nvrtc/launch.h"

#include <string>

namespace weft::jit::nvrtc {

/// A kernel that source is written for: after the passes, and in parts if it computes with complex
/// numbers.
struct Prepared {
  ir::Kernel kernel;
  std::vector<ir::PartOf> operands, params;  ///< of the kernel that was given
  std::string refusal;                       ///< why there is no such kernel; empty if there is
};

/// Runs the passes on a kernel as lowered.
///
/// Errors: UnsupportedError if the body gets too long.
Prepared prepare(ir::Kernel kernel);

/// What the prepared kernel is launched on, of what the given one is.
Nest nest_of_parts(const Prepared& prepared, const Nest& whole);

/// Why no source can be written for a kernel after the passes; empty if it can.
std::string refuses(const ir::Kernel& kernel);

/// Errors: ArgumentError, with a list of those that weft writes code for, if `arch` is not among
/// them.
void check_arch(std::string_view arch);

}  // namespace weft::jit::nvrtc
