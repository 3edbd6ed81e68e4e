// Engine::prepare: a plan and the addresses of its operands, ready to run.
#include "engine/device_plan.h"
#include "engine/engine_state.h"
#include "engine/fold_call.h"
#include "engine/operators.h"
#include "engine/pass_list.h"
#include "engine/tensor_impl.h"
#include "runtime/storage_moves.h"

#include <weft/error.h>

#include <array>
#include <utility>

namespace weft {
namespace {

PreparedPlan prepared(std::shared_ptr<const CallPlan> plan, const CallKey& key,
                      std::vector<Tensor> outputs, std::vector<Tensor> inputs) {
  auto state = std::make_shared<PreparedPlan::State>();
  state->params.resize(plan->params.size());
  fill_params(*plan, key, state->params.data());
  state->plan = std::move(plan);
  state->outputs = std::move(outputs);
  state->inputs = std::move(inputs);
  state->num_storage_moves = detail::num_storage_moves.load(std::memory_order_relaxed);
  for (const std::vector<Tensor>* operands : {&state->outputs, &state->inputs})
    for (const Tensor& operand : *operands) {
      const TensorImpl& impl = *operand.impl();
      const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(impl.dtype));
      std::byte* data = impl.storage->data();
      const std::int64_t offset_bytes = impl.storage_offset * itemsize;
      state->addresses.push_back({impl.storage.get(), offset_bytes});
      state->base.push_back(data + offset_bytes);
    }
  const LaunchPlan& launch = state->plan->launch;
  state->kernel = launch.kernel.get();
  if (launch.kernel != nullptr) launch.kernel->request();
  state->args = {state->base.data(), launch.extents.data(), launch.stride_bytes.data(),
                 state->params.data(), launch.kernel.get()};
  return PreparedPlan(std::move(state));
}

/// Runs the call, which leaves its plan.
PreparedPlan prepare_passes(Engine::State& engine, const CallKey& key, std::span<const Expr> exprs,
                            std::span<const Tensor> given) {
  std::vector<Tensor> outputs = compute_exprs(engine, exprs, given);
  const CallPlan* const plan = engine.plans.find(key, key.hash());
  WEFT_CHECK(plan != nullptr, UnsupportedError,
             "prepare(): the passes of this expression depend on values or on an output that is "
             "resized or overlaps an input; use eval()");
  std::vector<Tensor> inputs;
  for (const std::uint32_t leaf : plan->leaves) inputs.push_back(*key.inputs[leaf]);
  return prepared(plan->shared_from_this(), key, std::move(outputs), std::move(inputs));
}

}  // namespace

PreparedPlan Engine::prepare(const Expr& expr, const Tensor& out) {
  return prepare(std::span(&expr, 1), std::span(&out, 1));
}

PreparedPlan Engine::prepare(std::span<const Expr> exprs, std::span<const Tensor> outs) {
  WEFT_CHECK(!exprs.empty(), ArgumentError, "prepare(): no expression is given");
  WEFT_CHECK(outs.empty() || outs.size() == exprs.size(), ArgumentError,
             "prepare(): ", exprs.size(), " expressions, but ", outs.size(), " outputs");
  std::vector<Tensor> given(outs.begin(), outs.end());
  given.resize(exprs.size());
  CallKey key;
  make_key(key, exprs, given);
  const bool is_fold = is_single_fold(key, exprs, given, fold_order(state_->options.numerics));
  const bool is_on_device =
      is_for_device({key.inputs.data(), key.inputs.size()}, given, state_->options.backend);
  WEFT_CHECK(key.num_folds == 0 || !is_on_device, UnsupportedError,
             "prepare(): reductions on a device run pass by pass; use eval()");
  if (key.num_folds > 0 && !is_fold) return prepare_passes(*state_, key, exprs, given);
  const ExprNode& root = exprs[0].node();
  const Expr argument = is_fold ? Expr(root.args[0]) : exprs[0];
  const Program program = is_fold ? flatten(std::span(&argument, 1), {}) : flatten(exprs, given);
  WEFT_CHECK(program.integer_divisors.empty(), UnsupportedError,
             "prepare(): integer division looks at its divisors before each run; use eval()");
  PlannerOptions options = state_->planner_options();
  options.is_prepared = true;
  PlannedCall call =
      is_fold ? plan_fold_call(key, root, program, given[0], options, state_->kernels, {})
              : plan_call(key, program, given, options, state_->kernels);
  return prepared(std::move(call.plan), key, std::move(call.outputs), std::move(call.inputs));
}

void PreparedPlan::run() const {
  const State& state = *state_;
  const LaunchPlan& plan = state.plan->launch;
  const std::uint64_t num_moves = detail::num_storage_moves.load(std::memory_order_relaxed);
  if (plan.is_single_call && num_moves == state.num_storage_moves) [[likely]]
    return state.kernel->entry()(&state.args);
  std::array<std::byte*, ir::max_launch_operands> base;
  for (std::size_t i = 0; i < state.addresses.size(); ++i)
    base[i] = state.addresses[i].storage->data() + state.addresses[i].offset_bytes;
  if (!state.plan->is_empty) weft::run(*state.plan, base.data(), state.params.data());
}

void PreparedPlan::run(std::span<std::byte* const> data) const {
  WEFT_CHECK(data.size() == static_cast<std::size_t>(num_operands()), ArgumentError,
             "run(): the plan has ", num_operands(), " operands, but ", data.size(),
             " addresses were given");
  if (!state_->plan->is_empty) weft::run(*state_->plan, data.data(), state_->params.data());
}

int PreparedPlan::num_operands() const {
  return static_cast<int>(state_->outputs.size() + state_->inputs.size());
}

const std::vector<Tensor>& PreparedPlan::outputs() const { return state_->outputs; }

}  // namespace weft
