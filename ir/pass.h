// Passes: functions from kernel to kernel, and the one table that lists them in order.
#pragma once

#include "ir/kernel.h"

#include <functional>
#include <span>
#include <string_view>

namespace weft::ir {

/// Returns whether it changed the kernel.
using PassFunction = bool (*)(Kernel&);

struct Pass {
  std::string_view name;
  PassFunction run;
};

/// The passes in the order in which run_pipeline() applies them.
std::span<const Pass> pipeline();

/// Called after each pass: its name, whether it changed anything, and the kernel.
using PassObserver = std::function<void(std::string_view pass, bool changed, const Kernel&)>;

/// Runs all passes.  Verifies after each in debug builds.
///
/// Errors: UnsupportedError if the body gets too long (check_size()).
void run_pipeline(Kernel& kernel, const PassObserver& observer = {});

// The passes.  Requires: a verified kernel; each leaves one.  Idempotent: a second run returns
// false.

/// Makes ops on types that machines don't compute in (f16, bf16, f8, and bool arithmetic) compute
/// in wider ones: casts around the op; with Numerics::standard the casts between two such ops
/// vanish.
bool legalise_dtypes(Kernel& kernel);
/// With Numerics::fast takes the fast variants of functions of f32.
bool approximate_functions(Kernel& kernel);
/// With Numerics::fast makes one fma of an f32 or f64 product and the sum or difference that alone
/// uses it.
bool contract_products(Kernel& kernel);
/// Rebuilds composite ops from primitives, by running their rows' expressions on ir::Value.
bool expand_composites(Kernel& kernel);
/// Rebuilds the casts that no machine has (bf16, f8, f64 to f16) from integer primitives.
bool expand_casts(Kernel& kernel);
/// Evaluates ops on constants.  Exact only: the bits are those of ir/evaluate.h.
bool fold_constants(Kernel& kernel);
/// Common subexpressions: equal instructions are computed once.
bool share_common_values(Kernel& kernel);
/// Removes instructions whose result nothing uses.
bool eliminate_dead_code(Kernel& kernel);
/// Moves what does not change along the innermost loop in front of it (num_hoisted).
bool hoist_invariants(Kernel& kernel);
/// Fills in Kernel::schedule; for the tile schedule also the kind of the loop around the innermost.
bool choose_schedule(Kernel& kernel);
/// Makes the innermost loop a vector loop: lanes from vector_bytes and the widest value.
bool vectorise(Kernel& kernel);
/// Chooses how many vectors an iteration of the main loop takes; of a reduction along the innermost
/// loop the tree says it, and vectorise() has done it.
bool unroll(Kernel& kernel);

// Not in the pipeline: for backends, of what their target has.

/// Makes one cast of the integer arithmetic that expand_casts() leaves of one from f32 to bf16.
bool restore_bf16_casts(Kernel& kernel);

}  // namespace weft::ir
