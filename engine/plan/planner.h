// The slow way of a call: checks, iterator, lowering, compilation.  What it finds out is kept as a
// CallPlan.
#pragma once

#include "engine/plan/plan_cache.h"
#include "jit/nvrtc/loader.h"

#include <weft/engine.h>
#include <weft/iterator.h>
#include <weft/numerics.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// How the result of planning depends on the engine.
struct PlannerOptions {
  std::string backend;
  Numerics numerics = Numerics::standard;
  CpuFeatures features;
  int num_threads = 0;   ///< at most so many a call; 0: as many as the process uses
  bool is_copy = false;  ///< the output has the call's shape, and any dtype converts to it
  std::int64_t streaming_bytes = 0;  ///< calls that move so many bytes write past the caches
  bool is_prepared = false;  ///< the plan outlives the call, so that no temporary can serve it
  std::shared_ptr<jit::nvrtc::KernelLoader> device_kernels = nullptr;  ///< for calls on a device
  std::int32_t ahead_bytes = 0;  ///< so far ahead of what is read code asks for what comes next
  bool is_unfenced = false;      ///< who calls fences what is written past the caches
  FoldOrder fold_order = FoldOrder::by_layout;  ///< of all folds, or what they ask for themselves
};

/// A call after planning: what to run and on which tensors.
struct PlannedCall {
  std::shared_ptr<CallPlan> plan;
  std::vector<Tensor> outputs;
  std::vector<Tensor> inputs;  ///< one a leaf; a temporary where an output overwrites the operand
                               ///< in the wrong order
  bool has_temporaries = false;
  bool is_cacheable = true;  ///< no output was resized and no temporary made
};

/// Refuses outputs of one call that can't be written, and two of them in one place.
void check_outputs(std::span<const Tensor> outputs);

/// Engine::infer(): checks what can be checked without data.
Inferred infer_result(const Expr& expr, const Tensor& out);

/// The iterator's plan of a flattened call.  Allocates undefined outputs, resizes given ones.
TensorIterator plan_iteration(const Program& program, std::span<const Tensor> outputs,
                              std::span<const Tensor> inputs, bool resize_outputs);

/// The signature under which a lowered kernel is compiled.
jit::Signature signature_of(ir::Kernel kernel, const PlannerOptions& options);

/// The beginning of a call's plan: its leaves, its numbers, its input tensors.
///
/// Errors: ArgumentError for an input without bytes.
PlannedCall begin_call(const CallKey& key, const Program& program);

/// Plans the call that `key` and `program` were made of.  Nothing is written to any output.
/// `check_values` is called after every check of layouts and dtypes: if it throws, given outputs
/// keep their layouts.
PlannedCall plan_call(const CallKey& key, const Program& program, std::span<const Tensor> outputs,
                      const PlannerOptions& options, jit::KernelCache& kernels,
                      const std::function<void()>& check_values = {});

}  // namespace weft
