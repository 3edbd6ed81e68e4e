// Calls of expressions whose folds are unrolled: one kernel, which reads parts of the call's
// inputs.
#include "engine/device/device_plan.h"
#include "engine/fold/fold_call.h"
#include "engine/fold/unrolled.h"
#include "engine/plan/pass_list.h"
#include "runtime/float_environment.h"

#include <algorithm>

namespace weft {
namespace {

/// Where the kernel's operands lie in those of the call.
std::vector<Origin> origins_of(const UnrolledFolds& unrolled, const CallKey& own,
                               const CallPlan& kernel, const CallKey& key) {
  std::vector<Origin> origins;
  for (std::size_t i = 0; i < kernel.outputs.size(); ++i) origins.push_back({i, 0});
  for (const std::uint32_t leaf : kernel.leaves) {
    const auto view = std::ranges::find_if(unrolled.views, [&](const UnrolledFolds::View& each) {
      return each.tensor.is_same(*own.inputs[leaf]);
    });
    const auto input = std::ranges::find_if(
        key.inputs, [&](const Tensor* each) { return each->is_same(view->input); });
    WEFT_ASSERT(input != key.inputs.end(), "what a fold reads is no input of its call");
    origins.push_back({kernel.outputs.size() + static_cast<std::size_t>(input - key.inputs.begin()),
                       view->offset_bytes});
  }
  return origins;
}

}  // namespace

PlannedCall plan_unrolled(const CallKey& key, std::span<const Expr> exprs,
                          std::span<const Tensor> given, const PlannerOptions& options,
                          jit::KernelCache& kernels) {
  if (key.num_folds == 0 ||
      is_for_device({key.inputs.data(), key.inputs.size()}, given, options.backend))
    return {};
  const FloatEnvironmentScope same_for_all(FloatEnvironment::standard());
  const std::optional<UnrolledFolds> unrolled = unroll_folds(exprs, given, options);
  if (!unrolled) return {};
  check_outputs(given);
  const std::optional<std::vector<Tensor>> outputs = new_or_apart(key, unrolled->rest, given);
  if (!outputs || key.inputs.size() + outputs->size() > ir::max_launch_operands) return {};
  const bool is_given = std::ranges::any_of(given, &Tensor::defined);
  const Program program = is_given ? flatten(unrolled->exprs, *outputs) : unrolled->program;
  CallKey own;
  make_key(own, unrolled->exprs, *outputs);
  const PlannedCall kernel = plan_call(own, program, *outputs, options, kernels);
  if (!kernel.is_cacheable || kernel.plan->is_empty) return {};

  PlannedCall call;
  call.plan = std::make_shared<CallPlan>();
  CallPlan& plan = *call.plan;
  call.outputs = *outputs;
  for (std::size_t i = 0; i < outputs->size(); ++i)
    plan.outputs.push_back(planned_output((*outputs)[i], !given[i].defined()));
  for (const Tensor* input : key.inputs) {
    plan.leaves.push_back(static_cast<std::uint32_t>(call.inputs.size()));
    call.inputs.push_back(*input);
  }
  for (const CallPlan::Param& param : kernel.plan->params) {
    const auto number = std::ranges::find(key.numbers, own.numbers[param.number]);
    WEFT_ASSERT(number != key.numbers.end(), "a number of a fold is none of its call");
    plan.params.push_back({static_cast<std::uint32_t>(number - key.numbers.begin()), param.dtype});
  }
  plan.steps = {kernel.plan};
  PassList list;
  list.passes.push_back({kernel.plan, origins_of(*unrolled, own, *kernel.plan, key), 0});
  plan.passes = std::make_shared<const PassList>(std::move(list));
  plan.pass = [list = plan.passes](std::byte* const* base, const Bits* params) {
    list->run(base, params);
  };
  return call;
}

}  // namespace weft
