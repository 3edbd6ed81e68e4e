#include "engine/plan/call.h"

#include "engine/device/device_fold.h"
#include "engine/device/device_plan.h"
#include "engine/dispatch/operators.h"
#include "engine/expression/parts.h"
#include "engine/fold/fold_call.h"
#include "engine/plan/call_match.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/limits.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace weft {

Tensor new_output(const CallPlan::Output& output) {
  auto impl = std::make_shared<TensorImpl>(output.layout);
  impl->storage = output.device.type == DeviceType::cpu
                      ? Storage::allocate(output.storage_bytes)
                      : Storage::allocate(output.storage_bytes, output.device);
  return Tensor(std::move(impl));
}

void find_operands(const CallPlan& plan, const Tensor* const* inputs, std::span<const Tensor> given,
                   std::span<Tensor> results, std::byte** base) {
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    if (plan.outputs[i].is_new) results[i] = new_output(plan.outputs[i]);
    const Tensor& output = plan.outputs[i].is_new ? results[i] : given[i];
    *base++ = output.impl()->data();
  }
  if (plan.is_empty) return;
  for (const std::uint32_t leaf : plan.leaves) *base++ = inputs[leaf]->impl()->data();
}

namespace {

/// Apart, so that calls that need no memory for it have less to do.
[[gnu::noinline, gnu::cold]] void run_with_many_params(const CallPlan& plan, const CallKey& key,
                                                       std::byte* const* base) {
  std::vector<Bits> params(plan.params.size());
  fill_params(plan, key, params.data());
  run(plan, base, params.data());
}

/// The node outlives the call, so that the handle need not own it.
Expr handle_of(const ExprNode* node) {
  const std::shared_ptr<const ExprNode> nobody;
  return Expr(std::shared_ptr<const ExprNode>(nobody, node));
}

/// Runs a plan on the memory of its operands.
void run_at(const CallPlan& plan, const CallKey& key, std::byte* const* base) {
  if (plan.params.empty()) return run(plan, base, nullptr);
  if (plan.params.size() > ir::max_launch_params) [[unlikely]]
    return run_with_many_params(plan, key, base);
  std::array<Bits, ir::max_launch_params> params;
  fill_params(plan, key, params.data());
  run(plan, base, params.data());
}

[[gnu::noinline, gnu::cold]] void run_with_many_operands(const CallPlan& plan, const CallKey& key,
                                                         std::span<const Tensor> given,
                                                         std::span<Tensor> results) {
  std::vector<std::byte*> base(plan.num_operands());
  find_operands(plan, key.inputs.data(), given, results, base.data());
  run_at(plan, key, base.data());
}

/// Runs a plan on tensors of the layouts that it was made for.
void run_plan(const CallPlan& plan, const CallKey& key, std::span<const Tensor> given,
              std::span<Tensor> results) {
  if (plan.passes != nullptr && plan.num_operands() > ir::max_launch_operands) [[unlikely]]
    return run_with_many_operands(plan, key, given, results);
  std::array<std::byte*, ir::max_launch_operands> base;
  find_operands(plan, key.inputs.data(), given, results, base.data());
  if (!plan.is_empty) run_at(plan, key, base.data());
}

}  // namespace

void Call::run_on(const CallPlan& plan, std::span<const Tensor> outputs) const {
  std::array<std::byte*, ir::max_launch_operands> base;
  std::byte** next = base.data();
  for (const Tensor& output : outputs) *next++ = output.impl()->data();
  for (const std::uint32_t leaf : plan.leaves) *next++ = key_.inputs[leaf]->impl()->data();
  run_at(plan, key_, base.data());
}

bool have_equal_sizes(std::span<const Expr> exprs) {
  if (exprs.size() < 2) return true;
  const Dims sizes = sizes_of(exprs[0].node());
  const auto has_sizes = [&](const Expr& expr) { return sizes_of(expr.node()) == sizes; };
  return std::all_of(exprs.begin() + 1, exprs.end(), has_sizes);
}

void Call::eager(Op op, std::span<const Tensor* const> inputs, const Tensor& given, Tensor& result,
                 std::uint64_t hash) {
  const std::span<const Tensor> outputs(&given, 1);
  const std::span<Tensor> results(&result, 1);
  make_key(key_, {op, inputs, given});
  hash_ = hash;
  if (run_cached(outputs, results)) return;
  std::vector<Expr> args;
  for (const Tensor* input : inputs) args.emplace_back(*input);
  const Expr expr = op == Op::load ? args[0] : apply(op, std::span<const Expr>(args));
  run_checked(std::span(&expr, 1), outputs, results, op == Op::load);
}

void Call::dispatched(std::span<const Expr> exprs, std::span<const Tensor> given,
                      std::span<Tensor> results) {
  make_key(key_, exprs, given);
  hash_ = key_.hash();
  DispatchKeySet keys;
  for (const Tensor* input : key_.inputs) keys = keys | dispatch_keys_of(*input);
  for (const Tensor& output : given) keys = keys | dispatch_keys_of(output);
  if (keys.empty()) keys = DispatchKeySet{DispatchKey::cpu, DispatchKey::autograd_cpu};
  if (operators().eval.is_builtin(keys)) [[likely]]
    return keyed_expressions(exprs, given, results, false);
  const std::vector<Tensor> computed =
      dispatch_eval(state_, {exprs, given, {key_.inputs.data(), key_.inputs.size()}}, keys);
  WEFT_CHECK(computed.size() == results.size(), ArgumentError, "a kernel of weft::eval returned ",
             computed.size(), " tensors for ", results.size(), " expressions");
  std::ranges::copy(computed, results.begin());
}

void Call::expressions(std::span<const Expr> exprs, std::span<const Tensor> given,
                       std::span<Tensor> results, bool divisors_checked) {
  make_key(key_, exprs, given);
  add_to_key(key_, part_);
  hash_ = key_.hash();
  keyed_expressions(exprs, given, results, divisors_checked);
}

void Call::keyed_expressions(std::span<const Expr> exprs, std::span<const Tensor> given,
                             std::span<Tensor> results, bool divisors_checked) {
  // What the cache has needs no second look at the layouts.
  if (!run_cached(given, results, divisors_checked))
    plan_and_run(exprs, given, results, divisors_checked);
}

void Call::plan_and_run(std::span<const Expr> exprs, std::span<const Tensor> given,
                        std::span<Tensor> results, bool divisors_checked) {
  const bool may_have_streams =
      exprs.size() == 1 && key_.inputs.size() > most_streams && !is_for_device(given);
  if (may_have_streams && run_parts(exprs, given, results, Parts::of_few_streams)) return;
  try {
    in_one_kernel(exprs, given, results, divisors_checked);
  } catch (const ir::KernelLimitError&) {
    if (!run_parts(exprs, given, results, Parts::that_fit)) throw;
  }
}

void Call::in_one_kernel(std::span<const Expr> exprs, std::span<const Tensor> given,
                         std::span<Tensor> results, bool divisors_checked) {
  if (!have_equal_sizes(exprs)) return run_passes(exprs, given, results);
  if (key_.num_folds > 0) {
    if (run_unrolled(exprs, given, results)) return;
    if (!is_single_fold(key_, exprs, given, order(), state_.options.backend))
      return run_passes(exprs, given, results);
  }
  run_checked(exprs, given, results, false, divisors_checked);
}

bool Call::is_for_device(std::span<const Tensor> given) const {
  return weft::is_for_device({key_.inputs.data(), key_.inputs.size()}, given,
                             state_.options.backend);
}

bool Call::run_cached(std::span<const Tensor> given, std::span<Tensor> results,
                      bool divisors_checked) {
  const CallPlan* plan = state_.plans.find(key_, hash_);
  is_planned_ = plan != nullptr;
  if (plan == nullptr || (plan->divides_integers && !divisors_checked)) return false;
  state_.plan_hits.add();
  run_plan(*plan, key_, given, results);
  record(*plan, given, results);
  return true;
}

void Call::run_checked(std::span<const Expr> exprs, std::span<const Tensor> given,
                       std::span<Tensor> results, bool is_copy, bool divisors_checked) {
  const ExprNode& root = exprs[0].node();
  const bool is_fold = root.kind == ExprNode::Kind::fold;
  const Expr argument = is_fold ? Expr(root.args[0]) : exprs[0];
  const Program program = is_fold ? flatten(std::span(&argument, 1), {}) : flatten(exprs, given);
  if (is_planned_) {
    check_divisors(program);
    if (run_cached(given, results, true)) return;
    divisors_checked = true;
  }
  state_.plan_misses.fetch_add(1, std::memory_order_relaxed);
  const auto check_values = [&] {
    if (!divisors_checked) check_divisors(program);
  };
  const std::uint64_t generation = state_.plans.generation();
  const PlannerOptions options = planner_options(is_copy);
  const PlannedCall call =
      is_fold ? plan_fold_call(key_, root, program, given[0], options, state_.kernels, check_values)
              : plan_call(key_, program, given, options, state_.kernels, check_values);
  if (call.plan == nullptr) {
    results[0] = fold_on_device(state_, exprs[0], given[0]);
    if (recorder_ != nullptr) recorder_->give_up();
    return;
  }
  run_new(call, given, results, generation);
}

PlannerOptions Call::planner_options(bool is_copy) const {
  PlannerOptions options = state_.planner_options(is_copy);
  if (part_.writes_past_caches) options.streaming_bytes = 1, options.is_unfenced = true;
  options.ahead_bytes = part_.ahead_bytes;
  return options;
}

void Call::run_new(const PlannedCall& call, std::span<const Tensor> given,
                   std::span<Tensor> results, std::uint64_t generation) {
  run_planned(call);
  std::ranges::copy(call.outputs, results.begin());
  note_keys(*call.plan, given);
  if (call.is_cacheable) {
    record(*call.plan, given, results);
  } else if (recorder_ != nullptr) {
    recorder_->give_up();
  }
  if (call.is_cacheable) state_.plans.insert(key_, hash_, call.plan, generation);
}

void Call::run_planned(const PlannedCall& call) {
  if (call.plan->is_empty) return;
  std::array<std::byte*, ir::max_launch_operands> base;
  std::size_t operand = 0;
  for (const Tensor& output : call.outputs) base[operand++] = output.data();
  for (const Tensor& input : call.inputs) base[operand++] = input.data();
  std::array<Bits, ir::max_launch_params> params;
  fill_params(*call.plan, key_, params.data());
  run(*call.plan, base.data(), params.data());
}

void Call::record(const CallPlan& plan, std::span<const Tensor> given,
                  std::span<const Tensor> results) const {
  if (recorder_ == nullptr) return;
  if (plan.divides_integers) return recorder_->give_up();
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i)
    outputs.push_back(plan.outputs[i].is_new ? results[i] : given[i]);
  recorder_->add(plan.shared_from_this(), outputs, key_);
}

void Call::note_keys(CallPlan& plan, std::span<const Tensor> given) const {
  for (const Tensor* input : key_.inputs) plan.keys = plan.keys | dispatch_keys_of(*input);
  for (const Tensor& output : given) plan.keys = plan.keys | dispatch_keys_of(output);
}

void Call::check_divisors(const Program& program) {
  const auto is_empty = [](const ExprNode* leaf) { return leaf->tensor.numel() == 0; };
  if (std::ranges::any_of(program.leaves, is_empty)) return;  // nothing is divided
  // Of divisors on a device only numbers are looked at: for the others the call would have to
  // wait.
  std::vector<Program::Param> divisors = program.integer_divisors;
  const auto is_on_device = [](const ExprNode* leaf) {
    return leaf->tensor.device().type == DeviceType::cuda;
  };
  if (std::ranges::any_of(program.leaves, is_on_device))
    std::erase_if(divisors, [](const Program::Param& divisor) {
      return divisor.node->kind != ExprNode::Kind::scalar;
    });
  if (any_zero(divisors)) throw_division_by_zero(divisors, program);
}

void Call::throw_division_by_zero(std::span<const Program::Param> divisors,
                                  const Program& program) {
  std::vector<Expr> results;
  for (const ExprNode* result : program.results) results.push_back(handle_of(result));
  // All were looked at together: now which of them it is.
  for (const Program::Param& divisor : divisors) {
    if (!any_zero({&divisor, 1})) continue;
    const bool is_number = divisor.node->kind == ExprNode::Kind::scalar;
    throw ArithmeticError(detail::concat(
        integer_division_by_zero, ": the divisor ", short_text(handle_of(divisor.node), results),
        is_number ? detail::concat(" is 0 in ", name(divisor.dtype))
                  : detail::concat(", ", name(divisor.node->dtype),
                                   dims_text(sizes_of(*divisor.node)), ", has an element 0")));
  }
  throw ArithmeticError(std::string(integer_division_by_zero));
}

bool Call::any_zero(std::span<const Program::Param> divisors) {
  std::optional<Expr> test;
  for (const Program::Param& divisor : divisors) {
    if (divisor.node->kind == ExprNode::Kind::scalar) {
      if (divisor.node->scalar.bits(divisor.dtype) == Bits()) return true;
      continue;
    }
    const Expr is_zero = apply(Op::eq, {cast(handle_of(divisor.node), divisor.dtype), Expr(0)});
    test = test ? *test | is_zero : is_zero;
  }
  if (!test) return false;
  Tensor found;
  const Tensor given;
  Call(state_).expressions(std::span(&*test, 1), std::span(&given, 1), std::span(&found, 1), true);
  const auto numel = static_cast<std::size_t>(found.numel());
  return numel != 0 && std::memchr(found.storage()->data(), 1, numel) != nullptr;
}

}  // namespace weft
