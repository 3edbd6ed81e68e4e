// Running a finished plan: the argument block and the share of each thread.
#pragma once

#include "jit/kernel_cache.h"

#include <weft/scalar.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// Everything about a call but its addresses and scalar values.  Immutable once made.
struct LaunchPlan {
  std::shared_ptr<jit::TieredKernel> kernel;  ///< its code may change from call to call
  std::shared_ptr<jit::EntryPoint> code;      ///< `kernel`, or what has code for this shape alone
  std::vector<std::int64_t> extents;          ///< [loop], outermost first
  std::vector<std::int64_t> stride_bytes;     ///< [loop * num_operands + operand]
  std::int64_t block_extent = 0;  ///< iterations of the innermost loop a call of the kernel; 0: all
  int max_threads = 0;            ///< 0: as many as num_threads() says
  bool is_single_call =
      false;  ///< too small for threads and blocks: launch() calls the kernel once
  int num_operands = 0;
  int cut_loop = 0;           ///< the loop that threads share
  std::int64_t cut_unit = 1;  ///< iterations of it that stay together
  std::int64_t grain = 0;     ///< units that are worth a thread
  std::int64_t bytes = 0;     ///< moved by the call, broadcast operands counted once
  std::int64_t work_ns = 0;   ///< about how long one thread takes
};

/// Completes a plan from its kernel, extents and strides.  `may_specialise`: hot shapes may get
/// code of their own.
void finish(LaunchPlan& plan, bool may_specialise);

/// launch() where one call of the kernel is not enough: several threads, or block by block.
void launch_parts(const LaunchPlan& plan, std::byte* const* base, const Bits* params);

/// Runs the kernel over the whole nest, on as many threads as its size is worth and the plan
/// allows.
[[gnu::always_inline]] inline void launch(const LaunchPlan& plan, std::byte* const* base,
                                          const Bits* params) {
  if (!plan.is_single_call) return launch_parts(plan, base, params);
  const jit::KernelArgs args{base, plan.extents.data(), plan.stride_bytes.data(), params,
                             plan.code->context()};
  plan.code->entry()(&args);
}

}  // namespace weft
