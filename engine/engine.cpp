// The public calls: raw key -> plan -> launch, and the slow way where there is no plan yet.
#include "engine/call_match.h"
#include "engine/device_copy.h"
#include "engine/device_fold.h"
#include "engine/device_plan.h"
#include "engine/engine_state.h"
#include "engine/fold_call.h"
#include "engine/operators.h"
#include "engine/pass_list.h"
#include "engine/row_blocks.h"
#include "engine/tensor_impl.h"
#include "runtime/storage_moves.h"

#include <weft/error.h>
#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace weft {
namespace {

Tensor new_output(const CallPlan::Output& output) {
  auto impl = std::make_shared<TensorImpl>(output.layout);
  impl->storage = output.device.type == DeviceType::cpu
                      ? Storage::allocate(output.storage_bytes)
                      : Storage::allocate(output.storage_bytes, output.device);
  return Tensor(std::move(impl));
}

/// Collects the addresses of a call's operands.  Outputs that the plan allocates go to `results`,
/// the others are `given`; `inputs` are those of the call's key.
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

/// Runs a plan on tensors of the layouts that it was made for.
void run_plan(const CallPlan& plan, const CallKey& key, std::span<const Tensor> given,
              std::span<Tensor> results) {
  std::array<std::byte*, ir::max_launch_operands> base;
  find_operands(plan, key.inputs.data(), given, results, base.data());
  if (plan.is_empty) return;
  if (plan.params.empty()) {
    run(plan, base.data(), nullptr);
    return;
  }
  std::array<Bits, ir::max_launch_params> params;
  fill_params(plan, key, params.data());
  run(plan, base.data(), params.data());
}

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

/// Where all that is asked for are new tensors with the values of different folds, these are the
/// results.
bool take_values(std::span<const Expr> exprs, std::span<const Expr> values,
                 std::span<const Tensor> given, std::span<Tensor> results) {
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    if (exprs[i].node().kind != ExprNode::Kind::fold || given[i].defined()) return false;
    const auto is_shared = [&](const Expr& other) {
      return other.node().tensor.storage() == values[i].node().tensor.storage();
    };
    if (std::any_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), is_shared))
      return false;
  }
  for (std::size_t i = 0; i < exprs.size(); ++i) results[i] = values[i].node().tensor;
  return true;
}

/// A call in progress: what the fast and the slow way share.
class Call {
 public:
  /// What runs is noted down by `recorder`, if there is one.
  explicit Call(Engine::State& state, PassRecorder* recorder = nullptr)
      : state_(state), recorder_(recorder) {}

  /// One op, see run_eager().
  void eager(Op op, std::span<const Tensor* const> inputs, const Tensor& given, Tensor& result,
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

  /// Engine::eval(): the kernel that the keys of its tensors and of this thread ask for.
  void dispatched(std::span<const Expr> exprs, std::span<const Tensor> given,
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

  void expressions(std::span<const Expr> exprs, std::span<const Tensor> given,
                   std::span<Tensor> results, bool divisors_checked = false) {
    make_key(key_, exprs, given);
    hash_ = key_.hash();
    keyed_expressions(exprs, given, results, divisors_checked);
  }

 private:
  void keyed_expressions(std::span<const Expr> exprs, std::span<const Tensor> given,
                         std::span<Tensor> results, bool divisors_checked) {
    if (key_.num_folds > 0 && is_for_device(given) && is_single_fold(key_, exprs, given, order())) {
      results[0] = fold_on_device(state_, exprs[0], given[0]);
      if (recorder_ != nullptr) recorder_->give_up();
      return;
    }
    if (key_.num_folds > 0 && !is_single_fold(key_, exprs, given, order())) {
      if (!run_cached(given, results)) run_passes(exprs, given, results);
      return;
    }
    if (!run_cached(given, results, divisors_checked))
      run_checked(exprs, given, results, false, divisors_checked);
  }

  bool is_for_device(std::span<const Tensor> given) const {
    return weft::is_for_device({key_.inputs.data(), key_.inputs.size()}, given,
                               state_.options.backend);
  }

  bool is_on_cpu() const {
    return std::all_of(key_.inputs.begin(), key_.inputs.end(),
                       [](const Tensor* input) { return input->device().type == DeviceType::cpu; });
  }

  /// Pass by pass for the first time; what was done is kept as a plan.
  void run_passes(std::span<const Expr> exprs, std::span<const Tensor> given,
                  std::span<Tensor> results) {
    const std::uint64_t generation = state_.plans.generation();
    PassRecorder recorder;
    std::shared_ptr<CallPlan> plan;
    const std::optional<RowBlocks> blocks = fold_in_blocks(exprs, given, results);
    const auto outputs = [&] {
      std::vector<Tensor> all(given.begin(), given.end());
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!all[i].defined()) all[i] = results[i];
      return all;
    };
    if (blocks) {
      plan = plan_of_blocks(*blocks, exprs, given, outputs());
    } else {
      fold_by_fold(exprs, given, results, recorder);
      plan = recorder.finish(key_, given, outputs());
    }
    if (plan == nullptr) {
      if (recorder_ != nullptr) recorder_->give_up();
      return;
    }
    note_keys(*plan, given);
    if (recorder_ != nullptr) recorder_->add(plan, outputs(), key_);
    state_.plans.insert(key_, hash_, plan, generation);
  }

  void note_keys(CallPlan& plan, std::span<const Tensor> given) const {
    for (const Tensor* input : key_.inputs) plan.keys = plan.keys | dispatch_keys_of(*input);
    for (const Tensor& output : given) plan.keys = plan.keys | dispatch_keys_of(output);
  }

  /// Tells the recorder of a plan that has run.
  void record(const CallPlan& plan, std::span<const Tensor> given,
              std::span<const Tensor> results) const {
    if (recorder_ == nullptr) return;
    if (plan.divides_integers) return recorder_->give_up();
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < plan.outputs.size(); ++i)
      outputs.push_back(plan.outputs[i].is_new ? results[i] : given[i]);
    recorder_->add(plan.shared_from_this(), outputs, key_);
  }

  /// What fold_in_blocks() did, from the plans that its blocks have left.
  std::shared_ptr<CallPlan> plan_of_blocks(const RowBlocks& blocks, std::span<const Expr> exprs,
                                           std::span<const Tensor> given,
                                           std::span<const Tensor> outputs) {
    const std::int64_t rows = blocks.rows_per_block, rest = blocks.num_rows % rows;
    RowPasses passes{blocks.num_rows, rows, state_.num_threads.load(std::memory_order_relaxed),
                     nullptr, nullptr};
    const auto block_plan = [&](const std::vector<Expr>& block, std::int64_t first,
                                std::int64_t count, CallKey& key) {
      std::vector<Tensor> parts;
      for (const Tensor& output : outputs) parts.push_back(output.narrow(0, first, count));
      make_key(key, block, parts);
      const CallPlan* const plan = state_.plans.find(key, key.hash());
      const bool is_fit = plan != nullptr && !plan->divides_integers;
      return is_fit ? plan->shared_from_this() : std::shared_ptr<const CallPlan>();
    };
    const std::vector<Expr> first_block = take_rows(blocks, exprs, 0, rows);
    CallKey first_key;
    passes.block = passes.last_block = block_plan(first_block, 0, rows, first_key);
    if (rest != 0) {
      CallKey last_key;
      const std::vector<Expr> last = take_rows(blocks, exprs, blocks.num_rows - rest, rest);
      passes.last_block = block_plan(last, blocks.num_rows - rest, rest, last_key);
    }
    if (passes.block == nullptr || passes.last_block == nullptr) return nullptr;
    return plan_row_passes(passes, key_, first_key, given, outputs);
  }

  /// The same on as many rows at a time as stay in the cache, where folds stay within rows.
  std::optional<RowBlocks> fold_in_blocks(std::span<const Expr> exprs,
                                          std::span<const Tensor> given,
                                          std::span<Tensor> results) {
    const std::int64_t cache_bytes = state_.features.l2_bytes;
    std::int64_t num_bytes = 0;
    for (const Tensor* input : key_.inputs)
      num_bytes += input->numel() * static_cast<std::int64_t>(itemsize_bytes(input->dtype()));
    if (num_bytes <= cache_bytes / 2 || is_for_device(given)) return {};
    const std::optional<RowBlocks> blocks = plan_row_blocks(exprs, cache_bytes);
    if (!blocks) return {};
    const std::optional<std::vector<Tensor>> outputs = new_or_apart(exprs, given);
    if (!outputs) return {};
    const std::int64_t rows = blocks->rows_per_block;
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin * rows; first < std::min(end * rows, blocks->num_rows);
           first += rows) {
        const std::int64_t count = std::min(rows, blocks->num_rows - first);
        std::vector<Tensor> parts;
        for (const Tensor& output : *outputs) parts.push_back(output.narrow(0, first, count));
        std::vector<Tensor> written = parts;
        Call(state_).expressions(take_rows(*blocks, exprs, first, count), parts, written);
      }
    };
    parallel_for(0, (blocks->num_rows + rows - 1) / rows, 1, run,
                 {state_.num_threads.load(std::memory_order_relaxed)});
    std::copy(outputs->begin(), outputs->end(), results.begin());
    return blocks;
  }

  /// Outputs that can be written part by part: new ones, and given ones that need no resizing and
  /// share nothing with an input.
  std::optional<std::vector<Tensor>> new_or_apart(std::span<const Expr> exprs,
                                                  std::span<const Tensor> given) const {
    const std::vector<Expr> rest = without_folds(exprs, Device());
    const Program program = flatten(rest, given);
    std::vector<Tensor> inputs;
    for (const ExprNode* leaf : program.leaves) inputs.push_back(leaf->tensor);
    for (std::size_t i = 0; i < exprs.size(); ++i) {
      const Tensor& output = given[i];
      if (!output.defined()) continue;
      const Dims sizes = sizes_of(exprs[i].node());
      const bool is_fit = std::ranges::equal(output.sizes(), sizes) && can_be_written(output, key_);
      if (!is_fit) return {};
    }
    std::vector<Tensor> outputs(given.begin(), given.end());
    const TensorIterator iterator = plan_iteration(program, outputs, inputs, true);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i] = iterator.output(static_cast<int>(i));
    return outputs;
  }

  FoldOrder order() const { return fold_order(state_.options.numerics); }

  /// The argument of a fold in memory: contiguous, so that it is walkable by its shape.
  Tensor argument_value(const ExprNode& fold, PassRecorder& recorder) {
    const Expr argument(fold.args[0]);
    const Dims& sizes = fold.fold->arg_sizes;
    const Tensor value = empty({sizes.data(), sizes.size()}, {argument.dtype()});
    Tensor result;
    Call(state_, &recorder)
        .expressions(std::span(&argument, 1), std::span(&value, 1), std::span(&result, 1));
    return value;
  }

  /// A pass for each fold, and one for what is elementwise around them.
  void fold_by_fold(std::span<const Expr> exprs, std::span<const Tensor> given,
                    std::span<Tensor> results, PassRecorder& recorder) {
    const auto value_of = [&](const Expr& expr) {
      Tensor result;
      const Tensor anew;
      Call(state_, &recorder)
          .expressions(std::span(&expr, 1), std::span(&anew, 1), std::span(&result, 1));
      return result;
    };
    const auto compute = [&](const Expr& fold) {
      CallKey key;
      const Tensor anew;
      make_key(key, std::span(&fold, 1), std::span(&anew, 1));
      if (is_single_fold(key, std::span(&fold, 1), std::span(&anew, 1), order()))
        return value_of(fold);
      const Expr argument(fold.node().args[0]);
      return value_of(with_argument(
          fold, is_on_cpu() ? argument_value(fold.node(), recorder) : value_of(argument)));
    };
    const std::vector<Expr> rest = without_folds(exprs, ComputeFold(compute));
    if (take_values(exprs, rest, given, results)) return;
    // Results that are reduced over different dimensions have different sizes.
    const Dims sizes = sizes_of(exprs[0].node());
    const auto has_sizes = [&](const Expr& expr) { return sizes_of(expr.node()) == sizes; };
    if (!std::all_of(exprs.begin(), exprs.end(), has_sizes)) {
      std::vector<Expr> values;  // all of them before an output is written, which may be an input
      for (const Expr& expr : rest) values.emplace_back(value_of(expr));
      for (std::size_t i = 0; i < rest.size(); ++i)
        if (given[i].defined()) {
          Call(state_, &recorder)
              .expressions(std::span(values).subspan(i, 1), given.subspan(i, 1),
                           results.subspan(i, 1));
        } else {
          results[i] = values[i].node().tensor;
        }
      return;
    }
    Call last(state_, &recorder);
    last.expressions(rest, given, results);
    // Reductions are contiguous.  What is elementwise keeps that, except where nothing is left.
    const auto is_own = [&](const Tensor* input) {
      return std::find(key_.inputs.begin(), key_.inputs.end(), input) != key_.inputs.end();
    };
    if (std::any_of(last.key_.inputs.begin(), last.key_.inputs.end(), is_own)) return;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!given[i].defined() && results[i].numel() == 0)
        results[i] = empty(results[i].sizes(), {results[i].dtype(), results[i].device()});
  }

  /// Leaves a plan that divides integers alone until its divisors have been looked at.
  bool run_cached(std::span<const Tensor> given, std::span<Tensor> results,
                  bool divisors_checked = false) {
    const CallPlan* plan = state_.plans.find(key_, hash_);
    is_planned_ = plan != nullptr;
    if (plan == nullptr || (plan->divides_integers && !divisors_checked)) return false;
    state_.plan_hits.add();
    run_plan(*plan, key_, given, results);
    record(*plan, given, results);
    return true;
  }

  /// What run_cached() left.  Divisors are looked at last, when layouts and dtypes are known to
  /// fit.
  void run_checked(std::span<const Expr> exprs, std::span<const Tensor> given,
                   std::span<Tensor> results, bool is_copy, bool divisors_checked = false) {
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
    const PlannerOptions options = state_.planner_options(is_copy);
    const PlannedCall call =
        is_fold
            ? plan_fold_call(key_, root, program, given[0], options, state_.kernels, check_values)
            : plan_call(key_, program, given, options, state_.kernels, check_values);
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

  void run_planned(const PlannedCall& call) {
    if (call.plan->is_empty) return;
    std::array<std::byte*, ir::max_launch_operands> base;
    std::size_t operand = 0;
    for (const Tensor& output : call.outputs) base[operand++] = output.data();
    for (const Tensor& input : call.inputs) base[operand++] = input.data();
    std::array<Bits, ir::max_launch_params> params;
    fill_params(*call.plan, key_, params.data());
    run(*call.plan, base.data(), params.data());
  }

  /// Integer division by zero is found before anything is written, at the price of a pass over the
  /// divisors.
  void check_divisors(const Program& program) {
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
    WEFT_CHECK(!any_zero(divisors), ArithmeticError, "ZeroDivisionError: integer division by zero");
  }

  /// Whether a divisor is zero anywhere, in the dtype in which it divides.  All are looked at in
  /// one pass: what divides by zero inside of another divisor has a value too.
  bool any_zero(std::span<const Program::Param> divisors) {
    std::optional<Expr> test;
    for (const Program::Param& divisor : divisors) {
      if (divisor.node->kind == ExprNode::Kind::scalar) {
        if (divisor.node->scalar.bits(divisor.dtype) == Bits()) return true;
        continue;
      }
      // The node outlives the call, so that the handle made here need not own it.
      const std::shared_ptr<const ExprNode> nobody;
      const Expr value(std::shared_ptr<const ExprNode>(nobody, divisor.node));
      const Expr is_zero = apply(Op::eq, {cast(value, divisor.dtype), Expr(0)});
      test = test ? *test | is_zero : is_zero;
    }
    if (!test) return false;
    Tensor found;
    const Tensor given;
    Call(state_).expressions(std::span(&*test, 1), std::span(&given, 1), std::span(&found, 1),
                             true);
    const auto numel = static_cast<std::size_t>(found.numel());
    return numel != 0 && std::memchr(found.storage()->data(), 1, numel) != nullptr;
  }

  Engine::State& state_;
  PassRecorder* recorder_;
  CallKey key_;
  std::uint64_t hash_ = 0;
  bool is_planned_ = false;  ///< the cache has a plan for the key
};

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
  // The key of a copy; the other structural ops are refused when the call is planned.
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
