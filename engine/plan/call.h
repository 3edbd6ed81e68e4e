// A call in progress: key -> plan -> launch, and the slow way where there is no plan yet.
#pragma once

#include "engine/engine_state.h"
#include "engine/expression/program.h"
#include "engine/fold/row_blocks.h"
#include "engine/plan/call_key.h"
#include "engine/plan/pass_list.h"
#include "engine/plan/planner.h"
#include "ir/limits.h"

#include <weft/engine.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// The memory and the layout of an output that a plan allocates.
Tensor new_output(const CallPlan::Output& output);

/// Collects the addresses of a call's operands.  Outputs that the plan allocates go to `results`,
/// the others are `given`; `inputs` are those of the call's key.
void find_operands(const CallPlan& plan, const Tensor* const* inputs, std::span<const Tensor> given,
                   std::span<Tensor> results, std::byte** base);

/// Whether all results have the same sizes, so that one iteration can make them.
bool have_equal_sizes(std::span<const Expr> exprs);

/// Results of one kernel where all are too many for one: as many operands are left to be read.
/// What groups share is computed in each.
inline constexpr std::size_t most_results_together = ir::max_launch_operands / 2;
/// Results that share a pass where all have different sizes or are too many.
struct ResultGroup {
  std::vector<std::size_t> numbers;
  std::vector<Expr> exprs;
  std::vector<Tensor> outputs;
};
/// Those of equal sizes, as many as go; `outputs[i]` and `sizes[i]` are those of expression i.
std::vector<ResultGroup> groups_of_results(std::span<const Expr> exprs,
                                           std::span<const Tensor> outputs,
                                           std::span<const Dims> sizes);

struct JointFolds;

/// What the fast and the slow way share.
class Call {
 public:
  /// What runs is noted down by `recorder`, if there is one.
  explicit Call(Engine::State& state, PassRecorder* recorder = nullptr, PartOfCall part = {})
      : state_(state), recorder_(recorder), part_(part) {}

  /// One op, see run_eager().
  void eager(Op op, std::span<const Tensor* const> inputs, const Tensor& given, Tensor& result,
             std::uint64_t hash);
  /// Engine::eval(): the kernel that the keys of its tensors and of this thread ask for.
  void dispatched(std::span<const Expr> exprs, std::span<const Tensor> given,
                  std::span<Tensor> results);
  void expressions(std::span<const Expr> exprs, std::span<const Tensor> given,
                   std::span<Tensor> results, bool divisors_checked = false);

 private:
  void keyed_expressions(std::span<const Expr> exprs, std::span<const Tensor> given,
                         std::span<Tensor> results, bool divisors_checked);
  /// Of calls that the cache doesn't have: apart from those that it has, which it would slow down.
  [[gnu::noinline]] void plan_and_run(std::span<const Expr> exprs, std::span<const Tensor> given,
                                      std::span<Tensor> results, bool divisors_checked);
  /// Of expressions that one kernel has room for.
  void in_one_kernel(std::span<const Expr> exprs, std::span<const Tensor> given,
                     std::span<Tensor> results, bool divisors_checked);
  enum class Parts { that_fit, of_few_streams };
  /// Of larger ones.  Nothing is done where they can't be cut.
  bool run_parts(std::span<const Expr> exprs, std::span<const Tensor> given,
                 std::span<Tensor> results, Parts parts);
  bool is_for_device(std::span<const Tensor> given) const;
  /// The CPU if they all are there.
  Device device_of_inputs() const;
  /// By one kernel, where all folds are of a few elements; nothing is done where that can't be.
  bool run_unrolled(std::span<const Expr> exprs, std::span<const Tensor> given,
                    std::span<Tensor> results);
  /// Pass by pass for the first time; what was done is kept as a plan.
  void run_passes(std::span<const Expr> exprs, std::span<const Tensor> given,
                  std::span<Tensor> results);
  Tensor new_value(const Expr& expr, PassRecorder& recorder, PartOfCall part);
  /// `plan` is null where what was done can't be repeated.
  void keep_passes(const std::shared_ptr<CallPlan>& plan, std::span<const Tensor> given,
                   std::span<const Tensor> results, std::uint64_t generation);
  void note_keys(CallPlan& plan, std::span<const Tensor> given) const;
  /// Tells the recorder of a plan that has run.
  void record(const CallPlan& plan, std::span<const Tensor> given,
              std::span<const Tensor> results) const;
  /// Runs a plan of this call on its inputs and these outputs.
  void run_on(const CallPlan& plan, std::span<const Tensor> outputs) const;
  /// The plan of all blocks, from those that the first and the last one have left.
  std::shared_ptr<CallPlan> plan_of_blocks(const RowBlocks& blocks, std::span<const Expr> exprs,
                                           std::span<const Tensor> given,
                                           std::span<const Tensor> outputs);
  /// The same on as many rows at a time as stay in the cache, where folds stay within rows.  Gives
  /// the plan that it has found, or null; nothing where it has done nothing.
  std::optional<std::shared_ptr<CallPlan>> fold_in_blocks(std::span<const Expr> exprs,
                                                          std::span<const Tensor> given,
                                                          std::span<Tensor> results);
  /// The argument of a fold in memory: contiguous, so that it is walkable by its shape.
  /// `ahead_bytes`: as of a PartOfCall.
  Tensor argument_value(const ExprNode& fold, PassRecorder& recorder, std::int32_t ahead_bytes = 0);
  /// The values of those folds that share a pass with others.
  void share_passes(std::span<const Expr> folds, std::span<Tensor> values, PassRecorder& recorder);
  /// One pass for `exprs`, the folds of `joint`, which were joined in a generation of the cache.
  void joint_folds(const JointFolds& joint, std::span<const Expr> exprs, std::span<Tensor> results,
                   std::uint64_t generation);
  /// Passes for the folds, and one for what is elementwise around them.
  void fold_by_fold(std::span<const Expr> exprs, std::span<const Tensor> given,
                    std::span<Tensor> results, PassRecorder& recorder);
  /// Expressions without folds, where results have different sizes or are more than a kernel
  /// writes: as many of equal sizes as go share a pass.
  void run_in_groups(std::span<const Expr> exprs, std::span<const Tensor> given,
                     std::span<Tensor> results, PassRecorder& recorder);
  /// Leaves a plan that divides integers alone until its divisors have been looked at.
  bool run_cached(std::span<const Tensor> given, std::span<Tensor> results,
                  bool divisors_checked = false);
  /// What run_cached() left.  Divisors are looked at last, when layouts and dtypes are known to
  /// fit.
  void run_checked(std::span<const Expr> exprs, std::span<const Tensor> given,
                   std::span<Tensor> results, bool is_copy, bool divisors_checked = false);
  void run_planned(const PlannedCall& call);
  /// Runs what was planned since the cache was of `generation`, and keeps its plan.
  void run_new(const PlannedCall& call, std::span<const Tensor> given, std::span<Tensor> results,
               std::uint64_t generation);
  PlannerOptions planner_options(bool is_copy = false) const;
  /// Integer division by zero is found before anything is written, at the price of a pass over the
  /// divisors.
  void check_divisors(const Program& program);
  /// Whether a divisor is zero anywhere, in the dtype in which it divides.  All are looked at in
  /// one pass: what divides by zero inside of another divisor has a value too.
  bool any_zero(std::span<const Program::Param> divisors);
  [[noreturn]] void throw_division_by_zero(std::span<const Program::Param> divisors,
                                           const Program& program);
  FoldOrder order() const { return fold_order(state_.options.numerics); }

  Engine::State& state_;
  PassRecorder* recorder_;
  PartOfCall part_;
  CallKey key_;
  std::uint64_t hash_ = 0;
  bool is_planned_ = false;  ///< the cache has a plan for the key
};

}  // namespace weft
