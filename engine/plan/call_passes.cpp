// Calls that take several passes: a fold each, or several that share one, and what is elementwise
// around them.
#include "engine/plan/call.h"

#include "engine/device/device_plan.h"
#include "engine/expression/parts.h"
#include "engine/fold/fold_call.h"
#include "engine/fold/joint_fold.h"
#include "engine/fold/unrolled.h"
#include "engine/plan/layout_guard.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/store_fence.h"

#include <weft/error.h>
#include <weft/iterator.h>
#include <weft/parallel.h>

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/// What is given, and the results where nothing is.
std::vector<Tensor> outputs_of(std::span<const Tensor> given, std::span<const Tensor> results) {
  std::vector<Tensor> all(given.begin(), given.end());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].defined()) all[i] = results[i];
  return all;
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

/// Outputs that grow may reach one another, and the first is written before the second is resized:
/// they are looked at as they will be, and then have their old layouts again.
void check_resized(std::span<const Tensor> outputs, std::span<const Dims> sizes) {
  const LayoutGuard layouts(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].defined() && !std::ranges::equal(outputs[i].sizes(), sizes[i]))
      outputs[i].resize_({sizes[i].data(), sizes[i].size()});
  if (layouts.has_changed()) check_outputs(outputs);
}

}  // namespace

Device Call::device_of_inputs() const {
  const auto is_elsewhere = [](const Tensor* input) {
    return input->device().type != DeviceType::cpu;
  };
  const auto found = std::find_if(key_.inputs.begin(), key_.inputs.end(), is_elsewhere);
  return found == key_.inputs.end() ? Device() : (*found)->device();
}

bool Call::run_unrolled(std::span<const Expr> exprs, std::span<const Tensor> given,
                        std::span<Tensor> results) {
  const std::uint64_t generation = state_.plans.generation();
  const PlannedCall call = plan_unrolled(key_, exprs, given, planner_options(), state_.kernels);
  if (call.plan == nullptr) return false;
  state_.plan_misses.fetch_add(1, std::memory_order_relaxed);
  run_new(call, given, results, generation);
  return true;
}

void Call::run_passes(std::span<const Expr> exprs, std::span<const Tensor> given,
                      std::span<Tensor> results) {
  const std::uint64_t generation = state_.plans.generation();
  if (const auto plan = fold_in_blocks(exprs, given, results))
    return keep_passes(*plan, given, results, generation);
  PassRecorder recorder;
  if (is_for_device(given)) recorder.give_up();  // temporaries of the list are on the host
  fold_by_fold(exprs, given, results, recorder);
  keep_passes(recorder.finish(key_, given, outputs_of(given, results)), given, results, generation);
}

bool Call::run_parts(std::span<const Expr> exprs, std::span<const Tensor> given,
                     std::span<Tensor> results, Parts parts) {
  const std::uint64_t generation = state_.plans.generation();
  PassRecorder recorder;
  if (is_for_device(given)) recorder.give_up();
  if (exprs.size() > most_results_together) {
    run_in_groups(exprs, given, results, recorder);
  } else {
    bool has_parts = false;
    const auto value_of = [&](const Expr& part) {
      has_parts = true;
      return new_value(part, recorder, {});
    };
    const std::vector<Expr> rest = parts == Parts::that_fit
                                       ? in_parts(exprs, ComputePart(value_of))
                                       : std::vector{in_few_streams(exprs[0], value_of)};
    if (!has_parts) return false;
    Call(state_, &recorder, part_).expressions(rest, given, results);
  }
  keep_passes(recorder.finish(key_, given, outputs_of(given, results)), given, results, generation);
  return true;
}

Tensor Call::new_value(const Expr& expr, PassRecorder& recorder, PartOfCall part) {
  Tensor result;
  const Tensor anew;
  Call(state_, &recorder, part)
      .expressions(std::span(&expr, 1), std::span(&anew, 1), std::span(&result, 1));
  return result;
}

void Call::keep_passes(const std::shared_ptr<CallPlan>& plan, std::span<const Tensor> given,
                       std::span<const Tensor> results, std::uint64_t generation) {
  if (plan == nullptr) {
    if (recorder_ != nullptr) recorder_->give_up();
    return;
  }
  note_keys(*plan, given);
  if (recorder_ != nullptr) recorder_->add(plan, outputs_of(given, results), key_);
  state_.plans.insert(key_, hash_, plan, generation);
}

std::shared_ptr<CallPlan> Call::plan_of_blocks(const RowBlocks& blocks, std::span<const Expr> exprs,
                                               std::span<const Tensor> given,
                                               std::span<const Tensor> outputs) {
  const std::int64_t rows = blocks.rows_per_block, rest = blocks.num_rows % rows;
  RowPasses passes;
  passes.num_rows = blocks.num_rows;
  passes.rows_per_block = rows;
  passes.max_threads = state_.num_threads.load(std::memory_order_relaxed);
  passes.needs_fence = blocks.part.writes_past_caches;
  const auto block_plan = [&](const std::vector<Expr>& block, std::int64_t first,
                              std::int64_t count, CallKey& key) {
    std::vector<Tensor> parts;
    for (const Tensor& output : outputs) parts.push_back(output.narrow(0, first, count));
    make_key(key, block, parts);
    add_to_key(key, blocks.part);
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

std::optional<std::shared_ptr<CallPlan>> Call::fold_in_blocks(std::span<const Expr> exprs,
                                                              std::span<const Tensor> given,
                                                              std::span<Tensor> results) {
  const auto bytes_of = [](const Tensor& tensor) {
    return static_cast<double>(tensor.numel()) *
           static_cast<double>(itemsize_bytes(tensor.dtype()));
  };
  double num_bytes = 0;
  for (const Tensor* input : key_.inputs) num_bytes += bytes_of(*input);
  if (num_bytes <= static_cast<double>(state_.features.l2_bytes / 2) || is_for_device(given))
    return {};
  std::optional<RowBlocks> blocks = plan_row_blocks(exprs, state_.features);
  if (!blocks) return {};
  check_outputs(given);  // blocks see parts of them
  const std::optional<std::vector<Tensor>> outputs =
      new_or_apart(key_, without_folds(exprs, Device()), given);
  if (!outputs) return {};
  double written_bytes = 0;
  for (const Tensor& output : *outputs) written_bytes += bytes_of(output);
  blocks->choose_stores(written_bytes, state_.row_streaming_bytes(state_.features));
  const std::int64_t rows = blocks->rows_per_block;
  const std::int64_t num_blocks = (blocks->num_rows + rows - 1) / rows;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin * rows; first < std::min(end * rows, blocks->num_rows);
         first += rows) {
      const std::int64_t count = std::min(rows, blocks->num_rows - first);
      std::vector<Tensor> parts;
      for (const Tensor& output : *outputs) parts.push_back(output.narrow(0, first, count));
      std::vector<Tensor> written = parts;
      Call(state_, nullptr, blocks->part)
          .expressions(take_rows(*blocks, exprs, first, count), parts, written);
    }
    if (blocks->part.writes_past_caches) store_fence();
  };
  // A block takes a hundred times as long to look up as by a plan of all, which these two leave.
  run(0, 1);
  run(num_blocks - 1, num_blocks);
  std::shared_ptr<CallPlan> plan = plan_of_blocks(*blocks, exprs, given, *outputs);
  if (plan != nullptr)
    run_on(*plan, *outputs);
  else
    parallel_for(1, num_blocks - 1, 1, run, {state_.num_threads.load(std::memory_order_relaxed)});
  std::copy(outputs->begin(), outputs->end(), results.begin());
  return plan;
}

Tensor Call::argument_value(const ExprNode& fold, PassRecorder& recorder,
                            std::int32_t ahead_bytes) {
  const Expr argument(fold.args[0]);
  const Dims& sizes = fold.fold->arg_sizes;
  const Tensor value = empty({sizes.data(), sizes.size()}, {argument.dtype(), device_of_inputs()});
  Tensor result;
  Call(state_, &recorder, {.ahead_bytes = ahead_bytes})
      .expressions(std::span(&argument, 1), std::span(&value, 1), std::span(&result, 1));
  return value;
}

std::vector<ResultGroup> groups_of_results(std::span<const Expr> exprs,
                                           std::span<const Tensor> outputs,
                                           std::span<const Dims> sizes) {
  std::vector<ResultGroup> groups;
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const auto has_room = [&](const ResultGroup& group) {
      return sizes[group.numbers[0]] == sizes[i] && group.numbers.size() < most_results_together;
    };
    auto group = std::ranges::find_if(groups, has_room);
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->numbers.push_back(i);
    group->exprs.push_back(exprs[i]);
    group->outputs.push_back(outputs[i]);
  }
  return groups;
}

void Call::run_in_groups(std::span<const Expr> exprs, std::span<const Tensor> given,
                         std::span<Tensor> results, PassRecorder& recorder) {
  check_outputs(given);
  // All are computed before an output is written: it may be an input, and what one of the calls
  // refuses must leave the outputs of the others as they were.
  std::vector<Tensor> values(exprs.size());
  std::vector<Dims> sizes;
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    sizes.push_back(sizes_of(exprs[i].node()));
    if (!given[i].defined()) continue;
    try {
      infer_result(exprs[i], given[i]);
    } catch (
        const ArgumentError& error) {  // which says "output 0", the only one of that expression
      throw ArgumentError(detail::concat("expression ", i, ": ", error.what()));
    }
    values[i] = empty({sizes[i].data(), sizes[i].size()}, {given[i].dtype(), given[i].device()});
  }
  for (const ResultGroup& group : groups_of_results(exprs, values, sizes)) {
    std::vector<Tensor> group_results = group.outputs;
    Call(state_, &recorder).expressions(group.exprs, group.outputs, group_results);
    for (std::size_t i = 0; i < group_results.size(); ++i)
      if (!group.outputs[i].defined()) values[group.numbers[i]] = group_results[i];
  }
  check_resized(given, sizes);
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    if (!given[i].defined()) {
      results[i] = values[i];
      continue;
    }
    const Expr value(values[i]);
    Call(state_, &recorder)
        .expressions(std::span(&value, 1), given.subspan(i, 1), results.subspan(i, 1));
  }
}

void Call::share_passes(std::span<const Expr> folds, std::span<Tensor> values,
                        PassRecorder& recorder) {
  const std::uint64_t generation = state_.plans.generation();
  for (const JointFolds& joint : join_folds(folds, state_.planner_options(), state_.kernels)) {
    std::vector<Expr> exprs;
    std::vector<std::size_t> numbers;
    for (const auto& member : joint.members)
      for (const std::size_t fold : member->folds) {
        exprs.push_back(folds[fold]);
        numbers.push_back(fold);
      }
    std::vector<Tensor> results(exprs.size());
    Call(state_, &recorder).joint_folds(joint, exprs, results, generation);
    for (std::size_t i = 0; i < results.size(); ++i) values[numbers[i]] = results[i];
  }
}

void Call::joint_folds(const JointFolds& joint, std::span<const Expr> exprs,
                       std::span<Tensor> results, std::uint64_t generation) {
  const std::vector<Tensor> given(exprs.size());
  make_key(key_, exprs, given);
  hash_ = key_.hash();
  if (run_cached(given, results)) return;
  state_.plan_misses.fetch_add(1, std::memory_order_relaxed);
  const PlannedCall call = plan_joint_call(key_, joint, exprs);
  run_planned(call);
  std::ranges::copy(call.outputs, results.begin());
  note_keys(*call.plan, given);
  record(*call.plan, given, results);
  state_.plans.insert(key_, hash_, call.plan, generation);
}

void Call::fold_by_fold(std::span<const Expr> exprs, std::span<const Tensor> given,
                        std::span<Tensor> results, PassRecorder& recorder) {
  const std::int32_t asked_by_folds = part_.folds_ask ? part_.ahead_bytes : 0;
  const auto value_of = [&](const Expr& expr) {
    return new_value(expr, recorder, {.ahead_bytes = asked_by_folds});
  };
  const auto compute = [&](const Expr& fold) {
    CallKey key;
    const Tensor anew;
    make_key(key, std::span(&fold, 1), std::span(&anew, 1));
    if (is_single_fold(key, std::span(&fold, 1), std::span(&anew, 1), order(),
                       state_.options.backend))
      return value_of(fold);
    return value_of(with_argument(fold, argument_value(fold.node(), recorder)));
  };
  const auto compute_all = [&](std::span<const Expr> folds) {
    std::vector<Tensor> values(folds.size());
    if (!is_for_device(given)) share_passes(folds, values, recorder);
    for (std::size_t i = 0; i < folds.size(); ++i)
      if (!values[i].defined()) values[i] = compute(folds[i]);
    return values;
  };
  // Memory has nothing to do while what is dear is computed from the caches.
  std::int32_t ahead_bytes = part_.ahead_bytes;
  const auto keep = [&](const Expr& fold) {
    if (is_for_device(given) || !is_worth_keeping(fold, state_.planner_options())) return Tensor();
    return argument_value(fold.node(), recorder, std::exchange(ahead_bytes, 0));
  };
  const std::vector<Expr> rest =
      without_folds(exprs, ComputeFolds(compute_all), KeepArgument(keep));
  if (take_values(exprs, rest, given, results)) return;
  if (!have_equal_sizes(exprs)) return run_in_groups(rest, given, results, recorder);
  const std::int32_t left_bytes = asked_by_last(ahead_bytes, state_.features);
  Call(state_, &recorder,
       {.writes_past_caches = part_.writes_past_caches, .ahead_bytes = left_bytes})
      .expressions(rest, given, results);
}

}  // namespace weft
