#include "engine/fold/joint_fold.h"

#include "engine/fold/few_rows.h"
#include "engine/fold/fold_call.h"
#include "engine/fold/fold_run.h"
#include "engine/fold/unrolled.h"
#include "engine/plan/pass_list.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/float_environment.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft {
namespace {

using Member = JointFolds::Member;

/// Bytes of an operand's elements, those of dimensions along which it stands still once; as many as
/// can be added up where no memory holds so many.
std::int64_t touched_bytes(const Tensor& tensor) {
  constexpr double most = 1e15;
  auto bytes = static_cast<double>(itemsize_bytes(tensor.dtype()));
  for (std::size_t dim = 0; dim < tensor.sizes().size(); ++dim)
    if (tensor.strides()[dim] != 0) bytes *= static_cast<double>(tensor.sizes()[dim]);
  return static_cast<std::int64_t>(std::min(bytes, most));
}

/// As for plan_fold().
Tensor output_of(const ExprNode& fold) { return contiguous_layout(fold.fold->sizes, fold.dtype); }

/// Fills in what a fold reads; false if it can share no pass whatever the others are.
bool can_be_joined(const ExprNode& node, const PlannerOptions& options, Member& member) {
  if (node.fold->is_scan() || compares_nothing(node)) return false;
  if (std::ranges::find(node.fold->arg_sizes, 0) != node.fold->arg_sizes.end()) return false;
  if (order_of(node, options.fold_order) == FoldOrder::exact) return false;
  const Expr argument(node.args[0]);
  member.program = flatten(std::span(&argument, 1), {});
  if (!member.program.unsupported.empty() || !member.program.integer_divisors.empty()) return false;
  member.inputs = leaves_of(member.program);
  return !member.inputs.empty() && is_walkable(node, options.fold_order, Tensor(), member.inputs);
}

/// Whether what a fold reads is worth taking turns.
bool is_large(const Member& member, const PlannerOptions& options) {
  return std::ranges::any_of(member.inputs, [&](const Tensor& input) {
    return touched_bytes(input) > options.features.l2_bytes;
  });
}

/// The strides of input `i` along each loop.
std::vector<std::int64_t> walk_of(const FoldPlan& plan, std::size_t i) {
  std::vector<std::int64_t> strides{plan.vector.stride_bytes[i + 1]};
  for (const auto* dims : {&plan.reduced, &plan.kept})
    for (const FoldDim& dim : *dims) strides.push_back(dim.stride_bytes[i + 1]);
  return strides;
}

/// How many blocks of `fine` each block of `coarse` is, a power of two; 0 if blocks don't meet.
std::int64_t blocks_in_block(const FoldPlan& coarse, const FoldPlan& fine) {
  if (!coarse.is_inner || is_row_each(coarse)) return 1;
  std::int64_t more = coarse.rows_per_block, less = fine.rows_per_block;
  if (coarse.segments_per_row > 1 || fine.segments_per_row > 1) {
    if (more != 1 || less != 1) return 0;
    more = fine.segments_per_row;
    less = coarse.segments_per_row;
    if (coarse.num_rows == 1) {  // its last block may be shorter
      more = fold_block_elements(coarse.fold);
      less = fold_block_elements(fine.fold);
    }
  }
  const std::int64_t ratio = more / less;
  return ratio * less == more && std::has_single_bit(static_cast<std::uint64_t>(ratio)) ? ratio : 0;
}

bool have_blocks_that_meet(const FoldPlan& a, const FoldPlan& b) {
  return a.num_blocks <= b.num_blocks ? blocks_in_block(a, b) != 0 : blocks_in_block(b, a) != 0;
}

/// Of what two folds read in the same order the bytes, if they are at least half of what the second
/// one reads; else 0.
std::int64_t shared_bytes(const Member& a, const Member& b) {
  std::int64_t shared = 0, all = 0;
  for (std::size_t j = 0; j < b.inputs.size(); ++j) {
    const std::int64_t bytes = touched_bytes(b.inputs[j]);
    all += bytes;
    const auto same = [&](const Tensor& input) { return input.is_same(b.inputs[j]); };
    const auto found = std::find_if(a.inputs.begin(), a.inputs.end(), same);
    if (found == a.inputs.end()) continue;
    const auto i = static_cast<std::size_t>(found - a.inputs.begin());
    if (walk_of(*a.plan, i) == walk_of(*b.plan, j)) shared += bytes;
  }
  return shared >= all / 2 ? shared : 0;
}

/// The sizes of what a pass reads, where what folds share counts once.
struct Reading {
  std::int64_t bytes = 0;
  std::int64_t element_bytes = 0;  ///< for a step along the vectors
};

Reading reading_of(const std::vector<std::shared_ptr<Member>>& members) {
  Reading reading;
  std::vector<const Tensor*> seen;
  for (const auto& member : members)
    for (std::size_t i = 0; i < member->inputs.size(); ++i) {
      const Tensor& input = member->inputs[i];
      const auto same = [&](const Tensor* other) { return other->is_same(input); };
      if (std::any_of(seen.begin(), seen.end(), same)) continue;
      seen.push_back(&input);
      reading.bytes += touched_bytes(input);
      if (member->plan->vector.stride_bytes[i + 1] != 0)
        reading.element_bytes += static_cast<std::int64_t>(itemsize_bytes(input.dtype()));
    }
  return reading;
}

std::int64_t floor_to_power(std::int64_t count) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1))));
}

/// Cuts a pass into turns of about `turn_bytes` each.
void plan_turns(JointFolds& joint, std::int64_t turn_bytes) {
  const Reading reading = reading_of(joint.members);
  joint.read_bytes = reading.bytes;
  const FoldPlan* lead = joint.members[0]->plan.get();  // with the largest blocks
  std::int64_t strip_extent = lead->strip_extent;
  for (const auto& member : joint.members) {
    const FoldPlan& plan = *member->plan;
    if (plan.num_blocks < lead->num_blocks) lead = &plan;
    strip_extent = std::min({strip_extent, plan.strip_extent,
                             plan.map == nullptr ? strip_extent : plan.computed_strip_extent});
  }
  std::int64_t row_elements = lead->is_inner ? lead->vector.extent : strip_extent;
  if (lead->segments_per_row > 1) row_elements = fold_block_elements(lead->fold);
  const std::int64_t row_bytes = row_elements * std::max<std::int64_t>(reading.element_bytes, 1);
  const std::int64_t rows = floor_to_power(turn_bytes / row_bytes);
  std::vector<std::shared_ptr<const FoldPlan>> plans;
  for (const auto& member : joint.members) {
    auto plan = std::make_shared<FoldPlan>(*member->plan);
    plan->strip_extent = plan->computed_strip_extent = strip_extent;
    if (is_row_each(*lead)) {
      plan->slices_per_turn = rows;
    } else if (lead->is_inner) {
      plan->slices_per_turn =
          floor_to_power(rows / lead->rows_per_block) * blocks_in_block(*lead, *plan);
    } else {
      plan->slices_per_block = std::max<std::int64_t>(fold_block_rows / rows, 1);
      plan->slices_per_turn = std::max<std::int64_t>(rows / fold_block_rows, 1);
    }
    plans.push_back(std::move(plan));
  }
  for (std::size_t i = 0; i < plans.size(); ++i) joint.members[i]->plan = plans[i];
}

/// Whether another fold can take turns with those that share a pass already.
bool fits(const std::vector<std::shared_ptr<Member>>& members, const Member& other,
          const PlannerOptions& options) {
  std::size_t num_operands = other.inputs.size() + other.folds.size(),
              num_params = other.program.params.size();
  for (const auto& member : members) {
    num_operands += member->inputs.size() + member->folds.size();
    num_params += member->program.params.size();
    if (!have_equal_loops(*member->plan, *other.plan) ||
        is_row_each(*member->plan) != is_row_each(*other.plan))
      return false;
    if (!have_blocks_that_meet(*member->plan, *other.plan)) return false;
  }
  return shared_bytes(*members[0], other) > options.features.l2_bytes &&
         members.size() < max_joint_folds && num_operands <= ir::max_launch_operands &&
         num_params <= ir::max_launch_params;
}

/// Whether a loop that reads `inputs` gives a fold the elements in the order and the blocks that it
/// has alone.
bool keeps_order(const FoldPlan& loop, std::span<const Tensor> inputs, const Member& alone) {
  if (!have_equal_loops(loop, *alone.plan)) return false;
  for (std::size_t i = 0; i < alone.inputs.size(); ++i) {
    const auto same = [&](const Tensor& input) { return input.is_same(alone.inputs[i]); };
    const auto found = std::ranges::find_if(inputs, same);
    WEFT_ASSERT(found != inputs.end(), "a loop reads less than one of its folds");
    if (walk_of(loop, static_cast<std::size_t>(found - inputs.begin())) != walk_of(*alone.plan, i))
      return false;
  }
  return true;
}

bool is_float_extremum(const ExprNode* fold) {
  return is_floating(fold->compute_dtype) && (fold->op == Op::maximum || fold->op == Op::minimum);
}

/// Whether the loops that are compiled ahead take less time.  They look for NaN once a block, and
/// generated code at each element, for which AVX2 needs three instructions and what is narrow
/// waits; and they fold some short rows side by side.
bool are_faster_apart(std::span<const ExprNode* const> folds, const Program& program,
                      const FoldPlan& layout, Isa isa) {
  constexpr std::int64_t short_row_bytes = 640, narrow_bytes = 256;
  const bool has_extremum = std::ranges::any_of(folds, is_float_extremum);
  if (has_extremum && isa != Isa::avx512) return true;
  const auto is_moved = [](const ir::Inst& inst) {
    return inst.op == Op::load || inst.op == Op::store;
  };
  const std::int64_t bytes = layout.vector.extent * layout.fold.itemsize();
  const bool is_small = layout.is_inner ? layout.num_rows == 1 && bytes < short_row_bytes
                                        : has_extremum && bytes < narrow_bytes;
  return is_small && std::ranges::all_of(program.body, is_moved);
}

/// Whether one kernel has room for both, and may gain: what is long computes, whoever loads it.
bool fit_one_kernel(const Member& a, const Member& b) {
  constexpr std::size_t most_instructions = 512;
  return a.folds.size() < max_folds_of_loop &&
         a.inputs.size() + b.inputs.size() + max_folds_of_loop <= ir::max_launch_operands &&
         a.program.params.size() + b.program.params.size() <= ir::max_launch_params &&
         a.program.body.size() + b.program.body.size() <= most_instructions;
}

/// Whether there may be one loop for two members.
bool may_share_loop(const Member& a, const Member& b, std::span<const Expr> folds) {
  const FoldNode &first = *folds[a.folds[0]].node().fold, &other = *folds[b.folds[0]].node().fold;
  return fit_one_kernel(a, b) && first.form == FoldForm::value && other.form == FoldForm::value &&
         first.sizes == other.sizes && first.arg_sizes == other.arg_sizes &&
         first.dims == other.dims && a.plan->fold.itemsize() == b.plan->fold.itemsize() &&
         a.plan->order == b.plan->order && shared_bytes(a, b) != 0;
}

/// One loop for two such members, the second of one fold; null if there is none.
std::shared_ptr<Member> share_loop(const Member& a, const Member& b, std::span<const Expr> folds,
                                   const PlannerOptions& options, jit::KernelCache& kernels) {
  const ExprNode& first = folds[a.folds[0]].node();
  auto both = std::make_shared<Member>();
  both->folds = a.folds;
  both->folds.push_back(b.folds[0]);
  std::vector<Expr> arguments;
  std::vector<const ExprNode*> nodes;
  for (const std::size_t fold : both->folds) {
    nodes.push_back(&folds[fold].node());
    arguments.emplace_back(nodes.back()->args[0]);
  }
  both->program = flatten(arguments, {});
  both->inputs = leaves_of(both->program);
  const auto layout = lay_out_fold(first, output_of(first), both->inputs, options);
  if (!keeps_order(*layout, both->inputs, a) || !keeps_order(*layout, both->inputs, b) ||
      are_faster_apart(nodes, both->program, *layout, options.features.isa))
    return nullptr;
  both->plan = plan_folds(*layout, nodes, both->program, both->inputs, options, kernels);
  return both->plan == nullptr ? nullptr : both;
}

/// Replaces members by such as share a loop.  To find that two don't takes as long as to plan one:
/// of many, only so many are asked.
void share_loops(std::vector<std::shared_ptr<Member>>& members, std::span<const Expr> folds,
                 const PlannerOptions& options, jit::KernelCache& kernels) {
  constexpr int most_refusals = 16;
  for (std::size_t i = 0; i < members.size(); ++i) {
    int num_refusals = 0;
    for (std::size_t j = i + 1; j < members.size() && num_refusals < most_refusals;) {
      const bool may_share = may_share_loop(*members[i], *members[j], folds);
      auto both = may_share ? share_loop(*members[i], *members[j], folds, options, kernels)
                            : std::shared_ptr<Member>();
      if (both == nullptr) {
        num_refusals += may_share;
        ++j;
        continue;
      }
      members[i] = std::move(both);
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

/// What plan_joint_call() has made: runs on the outputs, and then the inputs of the call.
class JointPass {
 public:
  explicit JointPass(std::size_t num_outputs) : num_outputs_(num_outputs) {}

  void add(const Member& member, std::vector<std::uint32_t> inputs) {
    loops_.push_back({member.plan, std::move(inputs), member.program.params.size()});
    num_operands_ += loops_.back().num_folds() + loops_.back().inputs.size();
    WEFT_ASSERT(num_operands_ <= most_operands, "loops that run together have too many operands");
  }

  void run(std::byte* const* base, const Bits* params) const {
    std::byte* operands[most_operands];
    if (loops_.size() == 1) {
      const FoldPlan& plan = *loops_[0].plan;
      const jit::CodeObject* const code = arrange(loops_[0], base, base + num_outputs_, operands);
      if (code != nullptr && plan.shortcut == FoldShortcut::few_rows)
        return fold_few_rows_by_code(plan, code_of_rows(plan, *code), operands, params);
      const FoldRun run(plan, code, operands, params);
      return run_in_turns(std::span(&run, 1));
    }
    std::vector<FoldRun> runs;
    runs.reserve(loops_.size());
    std::byte* const* outputs = base;
    std::byte** own = operands;
    for (const Loop& loop : loops_) {
      const jit::CodeObject* const code = arrange(loop, outputs, base + num_outputs_, own);
      runs.emplace_back(*loop.plan, code, own, params);
      outputs += loop.num_folds();
      own += loop.num_folds() + loop.inputs.size();
      params += loop.num_params;
    }
    run_in_turns(runs);
  }

 private:
  static constexpr std::size_t most_operands = max_joint_folds + ir::max_launch_operands;

  struct Loop {
    std::shared_ptr<const FoldPlan> plan;
    std::vector<std::uint32_t> inputs;
    std::size_t num_params;
    std::size_t num_folds() const { return 1 + plan->also.size(); }
  };

  /// Writes a loop's operands, and gives the code that it has.
  static const jit::CodeObject* arrange(const Loop& loop, std::byte* const* outputs,
                                        std::byte* const* inputs, std::byte** operands) {
    std::byte** next = operands;
    *next++ = outputs[0];
    for (const std::uint32_t input : loop.inputs) *next++ = inputs[input];
    std::copy_n(outputs + 1, loop.num_folds() - 1, next);
    const auto& reduction = loop.plan->reduction;
    return reduction == nullptr ? nullptr : reduction->folding_code();
  }

  std::vector<Loop> loops_;
  std::size_t num_operands_ = 0;  ///< of all of them
  std::size_t num_outputs_;
};

}  // namespace

std::size_t JointFolds::num_folds() const {
  std::size_t sum = 0;
  for (const auto& member : members) sum += member->folds.size();
  return sum;
}

std::vector<JointFolds> join_folds(std::span<const Expr> folds, const PlannerOptions& options,
                                   jit::KernelCache& kernels) {
  if (folds.size() < 2) return {};
  const FloatEnvironmentScope same_for_all(FloatEnvironment::standard());
  std::vector<std::shared_ptr<Member>> members;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const ExprNode& node = folds[i].node();
    auto member = std::make_shared<Member>();
    member->folds = {i};
    if (!can_be_joined(node, options, *member)) continue;
    if (unroll_folds(folds.subspan(i, 1), {}, options)) continue;  // which is faster
    check_dtype(node);
    member->plan = lay_out_fold(node, output_of(node), member->inputs, options);
    members.push_back(std::move(member));
  }
  share_loops(members, folds, options, kernels);
  for (const auto& member : members) {
    const ExprNode& node = folds[member->folds[0]].node();
    if (member->folds.size() == 1 && is_large(*member, options))
      member->plan =
          plan_fold(node, member->program, output_of(node), member->inputs, options, kernels);
  }
  std::vector<JointFolds> result;
  while (!members.empty()) {
    JointFolds joint;
    std::vector<std::shared_ptr<Member>> others;
    for (const auto& member : members) {
      const bool is_joined = joint.members.empty() ||
                             (is_large(*joint.members[0], options) && is_large(*member, options) &&
                              fits(joint.members, *member, options));
      (is_joined ? joint.members : others).push_back(member);
    }
    members = std::move(others);
    if (joint.num_folds() < 2) continue;
    if (joint.members.size() > 1)
      plan_turns(joint, options.features.l2_bytes / 4);
    else
      joint.read_bytes = reading_of(joint.members).bytes;
    result.push_back(std::move(joint));
  }
  return result;
}

PlannedCall plan_joint_call(const CallKey& key, const JointFolds& joint,
                            std::span<const Expr> exprs) {
  const FloatEnvironmentScope same_for_all(FloatEnvironment::standard());
  PlannedCall call;
  call.plan = std::make_shared<CallPlan>();
  JointPass pass(exprs.size());
  for (const auto& member : joint.members) {
    PlannedCall own = begin_call(key, member->program);
    call.plan->params.insert(call.plan->params.end(), own.plan->params.begin(),
                             own.plan->params.end());
    pass.add(*member, std::move(own.plan->leaves));
  }
  for (const Expr& expr : exprs) {
    const Dims& sizes = expr.node().fold->sizes;
    call.outputs.push_back(empty({sizes.data(), sizes.size()}, {expr.dtype()}));
    call.plan->outputs.push_back(planned_output(call.outputs.back(), true));
  }
  for (const Tensor* input : key.inputs) {
    call.plan->leaves.push_back(static_cast<std::uint32_t>(call.inputs.size()));
    call.inputs.push_back(*input);
  }
  call.plan->pass = [pass = std::move(pass)](std::byte* const* base, const Bits* params) {
    pass.run(base, params);
  };
  return call;
}

}  // namespace weft
