// Engine::prepare: a plan and the addresses of its operands, ready to run.
#include "engine/device/device_plan.h"
#include "engine/dispatch/operators.h"
#include "engine/engine_state.h"
#include "engine/expression/parts.h"
#include "engine/expression/program.h"
#include "engine/expression/rebuild.h"
#include "engine/expression/walk.h"
#include "engine/fold/fold_call.h"
#include "engine/fold/unrolled.h"
#include "engine/plan/call.h"
#include "engine/plan/pass_list.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/limits.h"
#include "runtime/storage_moves.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

/// Asks for the best code at once.
void request_kernels(const CallPlan& plan) {
  for (jit::TieredKernel* const kernel : {plan.launch.kernel.get(), plan.reduction.get()})
    if (kernel != nullptr) kernel->request();
  for (const auto& step : plan.steps) request_kernels(*step);
}

PreparedPlan prepared(std::shared_ptr<const CallPlan> plan, const CallKey& key,
                      std::vector<Tensor> outputs, std::vector<Tensor> inputs) {
  auto state = std::make_shared<PreparedPlan::State>();
  state->params.resize(plan->params.size());
  fill_params(*plan, key, state->params.data());
  state->plan = std::move(plan);
  state->outputs = std::move(outputs);
  state->inputs = std::move(inputs);
  if (state->plan->launch.is_single_call)
    state->direct_until_move = detail::num_storage_moves.load(std::memory_order_relaxed);
  for (const std::vector<Tensor>* operands : {&state->outputs, &state->inputs})
    for (const Tensor& operand : *operands) {
      const TensorImpl& impl = *operand.impl();
      const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(impl.dtype));
      std::byte* data = impl.storage->data();
      // Without elements any offset is allowed.
      const std::int64_t offset_bytes = impl.numel == 0 ? 0 : impl.storage_offset * itemsize;
      state->addresses.push_back({impl.storage.get(), offset_bytes});
      state->base.push_back(data + offset_bytes);
    }
  const LaunchPlan& launch = state->plan->launch;
  state->code = launch.code.get();
  request_kernels(*state->plan);
  state->args = {state->base.data(), launch.extents.data(), launch.stride_bytes.data(),
                 state->params.data(), launch.code == nullptr ? nullptr : launch.code->context()};
  return PreparedPlan(std::move(state));
}

/// A call on memory of its own wherever it writes, so that it can run before it is asked to.
class Rehearsal {
 public:
  Rehearsal(std::span<const Expr> exprs, std::span<const Tensor> given) {
    for (const Tensor& output : given) given_.push_back(written_elsewhere(output));
    const auto change = [this](const Rebuilder::Node& node) { return read_elsewhere(node); };
    Rebuilder rebuilder(change);
    for (const Expr& expr : exprs) exprs_.push_back(rebuilder.rebuild(expr));
  }

  /// Runs the call, and returns the plan that it leaves for calls of `key`; null if it leaves none.
  std::shared_ptr<const CallPlan> run(Engine::State& engine, const CallKey& key) const {
    CallKey own;
    make_key(own, exprs_, given_);
    // Other storages may share their bytes as these no longer do.
    if (!std::ranges::equal(own.words, key.words)) return nullptr;
    for (;;) {
      const std::uint64_t generation = engine.plans.generation();
      compute_exprs(engine, exprs_, given_);
      const CallPlan* const plan = engine.plans.find(own, own.hash());
      if (plan != nullptr) return plan->shared_from_this();
      // Plans that another thread's set_num_threads() dropped in the meantime are made again.
      if (engine.plans.generation() == generation) return nullptr;
    }
  }

 private:
  Tensor written_elsewhere(const Tensor& output) {
    if (!output.defined() || output.storage()->data() == nullptr) return output;
    const Storage& from = *output.storage();
    std::shared_ptr<Storage>& to = moved_[&from];
    if (to == nullptr) {
      to = Storage::allocate(from.size_bytes());
      std::memcpy(to->data(), from.data(), from.size_bytes());
    }
    return moved(output);
  }

  Rebuilder::Node read_elsewhere(const Rebuilder::Node& node) {
    if (node->kind != ExprNode::Kind::tensor || !moved_.contains(node->tensor.storage().get()))
      return node;
    auto result = std::make_shared<ExprNode>(*node);
    result->tensor = moved(node->tensor);
    return result;
  }

  /// One view stays one: calls are known by how many there are.
  Tensor moved(const Tensor& tensor) {
    Tensor& result = views_[tensor.impl().get()];
    if (result.defined()) return result;
    auto impl = std::make_shared<TensorImpl>(*tensor.impl());
    impl->storage = moved_.at(tensor.storage().get());
    return result = Tensor(std::move(impl));
  }

  std::vector<Expr> exprs_;
  std::vector<Tensor> given_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> moved_;
  std::unordered_map<const TensorImpl*, Tensor> views_;
};

/// Refuses divisions whose divisors are looked at before each run, and those of any element by the
/// number 0.
void refuse_integer_divisions(std::span<const Expr> exprs) {
  const auto divides_by_number = [](const ExprNode& node) {
    return may_divide_by_zero(node) && node.args[1]->kind == ExprNode::Kind::scalar;
  };
  const auto is_empty = [](const ExprNode& node) {
    return node.kind == ExprNode::Kind::tensor && node.tensor.numel() == 0;
  };
  WEFT_CHECK(any_node(exprs, is_empty) || !any_node(exprs, divides_by_number), ArithmeticError,
             integer_division_by_zero, ": the divisor is the number 0");
  WEFT_CHECK(!any_node(exprs, may_divide_by_zero), UnsupportedError,
             "prepare(): integer division by anything but numbers looks at its divisors before "
             "each run; use eval()");
}

PreparedPlan prepare_passes(Engine::State& engine, const CallKey& key, std::span<const Expr> exprs,
                            std::span<const Tensor> given) {
  refuse_integer_divisions(exprs);
  std::shared_ptr<const CallPlan> plan;
  if (const CallPlan* const known = engine.plans.find(key, key.hash()); known != nullptr)
    plan = known->shared_from_this();
  else
    plan = Rehearsal(exprs, given).run(engine, key);
  WEFT_CHECK(plan != nullptr, UnsupportedError,
             "prepare(): the passes of this expression depend on values or on an output that is "
             "resized or overlaps an input; use eval()");
  std::vector<Tensor> outputs, inputs;
  for (std::size_t i = 0; i < given.size(); ++i)
    outputs.push_back(plan->outputs[i].is_new ? new_output(plan->outputs[i]) : given[i]);
  for (const std::uint32_t leaf : plan->leaves) inputs.push_back(*key.inputs[leaf]);
  return prepared(std::move(plan), key, std::move(outputs), std::move(inputs));
}

/// What one kernel has room for.
PreparedPlan prepare_kernel(Engine::State& engine, const CallKey& key, std::span<const Expr> exprs,
                            std::span<const Tensor> given) {
  const std::string_view backend = engine.options.backend;
  const bool is_fold =
      is_single_fold(key, exprs, given, fold_order(engine.options.numerics), backend);
  const bool is_on_device = is_for_device({key.inputs.data(), key.inputs.size()}, given, backend);
  PlannerOptions options = engine.planner_options();
  options.is_prepared = true;
  PlannedCall unrolled = plan_unrolled(key, exprs, given, options, engine.kernels);
  if (unrolled.plan != nullptr)
    return prepared(std::move(unrolled.plan), key, std::move(unrolled.outputs),
                    std::move(unrolled.inputs));
  const bool takes_passes = (key.num_folds > 0 && !is_fold) || !have_equal_sizes(exprs);
  WEFT_CHECK((key.num_folds == 0 && !takes_passes) || !is_on_device, UnsupportedError,
             "prepare(): what takes several passes on a device can't be prepared; use eval()");
  if (takes_passes) return prepare_passes(engine, key, exprs, given);
  const ExprNode& root = exprs[0].node();
  const Expr argument = is_fold ? Expr(root.args[0]) : exprs[0];
  const Program program = is_fold ? flatten(std::span(&argument, 1), {}) : flatten(exprs, given);
  if (!program.integer_divisors.empty()) refuse_integer_divisions(exprs);
  PlannedCall call = is_fold
                         ? plan_fold_call(key, root, program, given[0], options, engine.kernels, {})
                         : plan_call(key, program, given, options, engine.kernels);
  return prepared(std::move(call.plan), key, std::move(call.outputs), std::move(call.inputs));
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
  const bool is_on_device =
      is_for_device({key.inputs.data(), key.inputs.size()}, given, state_->options.backend);
  if (exprs.size() == 1 && !is_on_device && has_many_streams(exprs[0]))
    return prepare_passes(*state_, key, exprs, given);
  try {
    return prepare_kernel(*state_, key, exprs, given);
  } catch (const ir::KernelLimitError&) {
    if (is_on_device) throw;
    return prepare_passes(*state_, key, exprs, given);
  }
}

void PreparedPlan::run() const {
  const State& state = *state_;
  const std::uint64_t num_moves = detail::num_storage_moves.load(std::memory_order_relaxed);
  if (num_moves == state.direct_until_move) [[likely]]
    return state.code->entry()(&state.args);
  InlineArray<std::byte*, ir::max_launch_operands> base;  // lists of passes may have more
  for (const auto& address : state.addresses)
    base.push_back(address.storage->data() + address.offset_bytes);
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
