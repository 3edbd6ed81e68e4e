// The public calls, and the short way of a call that this thread has made before.
#include "engine/device/device_copy.h"
#include "engine/dispatch/operators.h"
#include "engine/engine_state.h"
#include "engine/plan/call.h"
#include "engine/plan/call_match.h"
#include "engine/tensor/tensor_impl.h"
#include "jit/background.h"

#include <weft/error.h>
#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weft {
namespace {

bool same_data(const Tensor& a, const Tensor& b) {
  const TensorImpl& x = *a.impl();
  const TensorImpl& y = *b.impl();
  return x.storage == y.storage && x.storage_offset == y.storage_offset && x.dtype == y.dtype &&
         x.is_conj == y.is_conj && x.is_neg == y.is_neg && std::ranges::equal(x.sizes, y.sizes) &&
         std::ranges::equal(x.strides, y.strides);
}

/// How many inputs an operator of the table has at most.
constexpr std::size_t max_inputs = 8;

/// Whether a call of these keys ends in the engine's own kernel.  Null: it has come there already.
[[gnu::always_inline]] inline bool is_builtin(const Operators::TensorOperator* row,
                                              DispatchKeySet keys) {
  return row == nullptr || row->is_builtin(keys);
}

/// run_again() for calls of every kind.
[[gnu::noinline]] bool run_any_again(Engine::State& state, EagerCall call,
                                     const PlanCache::Local& known,
                                     const Operators::TensorOperator* row, Tensor& result) {
  std::array<const Tensor*, max_inputs> inputs;
  if (!is_key_of(call, known.words, inputs.data())) return false;
  const CallPlan& plan = *known.plan;
  if (plan.divides_integers || !plan.params.empty() || !is_builtin(row, plan.keys)) return false;
  state.plan_hits.add();
  std::array<std::byte*, max_inputs + 1> base;
  find_operands(plan, inputs.data(), std::span(&call.output, 1), std::span(&result, 1),
                base.data());
  if (!plan.is_empty) run(plan, base.data(), nullptr);
  return true;
}

/// Runs the plan of an equal call that this thread has made before.  Returns whether there is one
/// that `row` leads to.
[[gnu::always_inline]] inline bool run_again(Engine::State& state, const EagerCall& call,
                                             std::uint64_t hash,
                                             const Operators::TensorOperator* row, Tensor& result) {
  const PlanCache::Local* known = state.plans.candidate(hash);
  if (known == nullptr || call.inputs.size() > max_inputs) return false;
  const CallPlan& plan = *known->plan;
  std::array<std::byte*, max_inputs + 1> base;
  if (!plan.is_plain || !is_plain_key_of(call, known->words, base.data()))
    return run_any_again(state, call, *known, row, result);
  // Equal layouts are on equal devices, so the call has the keys that the plan was made with.
  if (!is_builtin(row, plan.keys)) [[unlikely]]
    return false;
  state.plan_hits.add();
  if (!call.output.defined()) {
    result = new_output(plan.outputs.front());
    base[0] = result.impl()->data();
  }
  launch(plan.launch, base.data(), nullptr);
  return true;
}

/// `op` on tensors.  Op::load copies.  An undefined `given` asks for a new tensor in `result`.
void run_eager(Engine::State& state, Op op, std::span<const Tensor* const> inputs,
               const Tensor& given, Tensor& result) {
  const EagerCall call{op, inputs, given};
  const std::uint64_t hash = hash_of(call);
  if (run_again(state, call, hash, nullptr, result)) [[likely]]
    return;
  Call(state).eager(op, inputs, given, result, hash);
}

}  // namespace

Engine::Engine(EngineOptions options) : state_(std::make_unique<State>(std::move(options))) {
  jit::prepare_for_fork();
  operators();
}

Engine::~Engine() = default;

void Engine::copy(const Tensor& dst, const Tensor& src, bool non_blocking) {
  WEFT_CHECK(dst.defined(), ArgumentError, "self is undefined");
  WEFT_CHECK(src.defined(), ArgumentError, "src is undefined");
  const NonBlockingCopies copies(non_blocking);
  dispatch_copy(*state_, dst, src);
}

void compute_copy(Engine::State& state, const Tensor& dst, const Tensor& src) {
  if (dst.is_same(src) || same_data(dst, src)) return;
  if (dst.device() != src.device()) [[unlikely]]
    return copy_between_devices(state, dst, src, NonBlockingCopies::are_asked_for());
  const Tensor* const inputs[] = {&src};
  Tensor result;
  run_eager(state, Op::load, inputs, dst, result);
}

Tensor compute_op(Engine::State& state, Op op, std::span<const Tensor* const> inputs,
                  const Tensor& given) {
  Tensor result;
  run_eager(state, op, inputs, given, result);
  return given.defined() ? given : result;
}

std::vector<Tensor> compute_exprs(Engine::State& state, std::span<const Expr> exprs,
                                  std::span<const Tensor> given) {
  std::vector<Tensor> results(given.begin(), given.end());
  Call(state).expressions(exprs, given, results);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].defined()) results[i] = given[i];
  return results;
}

void Engine::set_num_threads(int count) {
  WEFT_CHECK(count >= 0, ArgumentError, "num_threads must not be negative, but is ", count);
  state_->num_threads.store(count, std::memory_order_relaxed);
  state_->plans.clear();  // they hold the number
}

int Engine::num_threads() const {
  const int count = state_->num_threads.load(std::memory_order_relaxed);
  return count > 0 ? count : weft::num_threads();
}

namespace {

template <class... Inputs>
void check_inputs(Op op, const Inputs&... tensors) {
  // The key of a copy; the others that are no operators are refused where there is no plan.
  WEFT_CHECK(op != Op::load, ArgumentError, "'load' is not an operator that can be called");
  int position = 0;
  for (const Tensor* input : {&tensors...}) {
    WEFT_CHECK(input->defined(), ArgumentError, name(op), "(): input ", position, " is undefined");
    ++position;
  }
}

/// run_op() where this thread has no plan for the call, or the call goes elsewhere.
template <class... Inputs>
[[gnu::noinline]] void run_new_op(Engine::State& state, const Operators::TensorOperator* row, Op op,
                                  std::uint64_t hash, Tensor& result, const Tensor& out,
                                  const Inputs&... tensors) {
  WEFT_CHECK(is_callable(op), ArgumentError, "'", name(op),
             "' is not an operator that can be called");
  const DispatchKeySet keys = (dispatch_keys_of(tensors) | ... | dispatch_keys_of(out));
  if (!is_builtin(row, keys)) {
    const Tensor* const all[] = {&tensors..., &out};
    result = dispatch(state, *row, std::span(all, sizeof...(Inputs) + out.defined()));
    return;
  }
  const Tensor* const inputs[] = {&tensors...};
  Call(state).eager(op, inputs, out, result, hash);
}

/// One op on given operands, which may each be undefined by mistake.
template <class... Inputs>
Tensor run_op(Engine::State& state, Op op, const Tensor& out, const Inputs&... tensors) {
  check_inputs(op, tensors...);
  // What the table has no operator for is refused when it is planned.
  const auto* row = operators().find(op, sizeof...(Inputs), out.defined());
  const Tensor* const inputs[] = {&tensors...};
  const EagerCall call{op, inputs, out};
  const std::uint64_t hash = hash_of(call);
  Tensor result;
  if (!run_again(state, call, hash, row, result)) [[unlikely]]
    run_new_op(state, row, op, hash, result, out, tensors...);
  return result;
}

void check_output(const Tensor& out, Op op) {
  WEFT_CHECK(out.defined(), ArgumentError, name(op), "(): the given output is undefined");
}

}  // namespace

Tensor Engine::unary(Op op, const Tensor& a) { return run_op(*state_, op, Tensor(), a); }

void Engine::unary(Op op, const Tensor& a, const Tensor& out) {
  check_output(out, op);
  run_op(*state_, op, out, a);
}

Tensor Engine::binary(Op op, const Tensor& a, const Tensor& b) {
  return run_op(*state_, op, Tensor(), a, b);
}

void Engine::binary(Op op, const Tensor& a, const Tensor& b, const Tensor& out) {
  check_output(out, op);
  run_op(*state_, op, out, a, b);
}

Tensor Engine::ternary(Op op, const Tensor& a, const Tensor& b, const Tensor& c) {
  return run_op(*state_, op, Tensor(), a, b, c);
}

void Engine::ternary(Op op, const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& out) {
  check_output(out, op);
  run_op(*state_, op, out, a, b, c);
}

Tensor Engine::eval(const Expr& expr) {
  Tensor result;
  const Tensor given;
  Call(*state_).dispatched(std::span(&expr, 1), std::span(&given, 1), std::span(&result, 1));
  return result;
}

void Engine::eval(const Expr& expr, const Tensor& out) {
  WEFT_CHECK(out.defined(), ArgumentError, "eval(): the given output is undefined");
  Tensor result;
  Call(*state_).dispatched(std::span(&expr, 1), std::span(&out, 1), std::span(&result, 1));
}

std::vector<Tensor> Engine::eval(std::span<const Expr> exprs, std::span<const Tensor> outs) {
  WEFT_CHECK(outs.empty() || outs.size() == exprs.size(), ArgumentError, "eval(): ", exprs.size(),
             " expressions, but ", outs.size(), " outputs");
  if (exprs.empty()) return {};
  std::vector<Tensor> given(outs.begin(), outs.end());
  given.resize(exprs.size());
  std::vector<Tensor> results = given;
  Call(*state_).dispatched(exprs, given, results);
  return results;
}

void Engine::wait_optimised() { state_->kernels.wait_optimised(); }

const EngineOptions& Engine::options() const { return state_->options; }

}  // namespace weft
