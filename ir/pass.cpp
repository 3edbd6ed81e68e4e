// The pipeline, in one place.
#include "ir/pass.h"

#include "ir/limits.h"
#include "ir/verifier.h"

namespace weft::ir {
namespace {

constexpr Pass passes[] = {
    // Before the composites, so that sigmoid of bf16 computes wholly in f32 and rounds once.
    {"legalise_dtypes", legalise_dtypes},
    {"approximate_functions", approximate_functions},
    // Before the composites, whose own arithmetic must stay as it is written.
    {"contract_products", contract_products},
    {"expand_composites", expand_composites},
    {"expand_casts", expand_casts},
    {"fold_constants", fold_constants},
    {"share_common_values", share_common_values},
    {"eliminate_dead_code", eliminate_dead_code},
    {"hoist_invariants", hoist_invariants},
    {"choose_schedule", choose_schedule},
    {"vectorise", vectorise},
    {"unroll", unroll},
};

}  // namespace

std::span<const Pass> pipeline() { return passes; }

void run_pipeline(Kernel& kernel, const PassObserver& observer) {
  check_size(kernel);
  bool is_reduced = false;
  for (const Pass& pass : passes) {
    const bool changed = pass.run(kernel);
    // Before, most of what small floats are made of may be there several times, or for nothing.
    is_reduced |= pass.run == eliminate_dead_code;
    if (is_reduced) check_size(kernel);
#ifndef NDEBUG
    if (kernel.body.size() <= max_instructions) verify(kernel);
#endif
    if (observer) observer(pass.name, changed, kernel);
  }
}

}  // namespace weft::ir
