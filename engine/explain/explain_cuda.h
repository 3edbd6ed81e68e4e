// Engine::explain for CUDA devices: no device is needed, since nothing is run.
#pragma once

#include "engine/plan/lower.h"
#include "jit/kernel_cache.h"

#include <weft/engine.h>

namespace weft {

/// What the story of a call for a device is told of.
struct CudaCall {
  jit::Signature signature;
  jit::CompiledKernel compiled;  ///< with code that can't be called
  Story::Chapter chapter;
};

/// Fills in what the CUDA tier makes of a lowered call: signature, schedule, texts.
///
/// Errors: ArgumentError for an unknown architecture, UnsupportedError for a kernel that the tier
///         has no code for and for "sass" without a disassembler, CompileError where NVRTC is not
///         there or fails.
CudaCall explain_cuda(const Lowered& lowered, const TensorIterator& iterator,
                      const Program& program, const ExplainOptions& options,
                      Explanation& explanation);

}  // namespace weft
