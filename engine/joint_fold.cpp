#include "engine/joint_fold.h"

#include "engine/fold_call.h"
#include "engine/fold_run.h"
#include "engine/pass_list.h"
#include "engine/tensor_impl.h"

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

/// Fills in what a fold reads; false if it can share no pass whatever the others are.
bool can_be_joined(const ExprNode& node, const PlannerOptions& options, Member& member) {
  if (node.fold->is_scan() || compares_nothing(node)) return false;
  if (std::ranges::find(node.fold->arg_sizes, 0) != node.fold->arg_sizes.end()) return false;
  if (order_of(node, options.fold_order) == FoldOrder::exact) return false;
  const Expr argument(node.args[0]);
  member.program = flatten(std::span(&argument, 1), {});
  if (!member.program.unsupported.empty() || !member.program.integer_divisors.empty()) return false;
  std::vector<const Tensor*> leaves;
  for (const ExprNode* leaf : member.program.leaves) {
    member.inputs.push_back(leaf->tensor);
    leaves.push_back(&leaf->tensor);
  }
  const auto is_large = [&](const Tensor& input) {
    return touched_bytes(input) > options.features.l2_bytes;
  };
  if (std::none_of(member.inputs.begin(), member.inputs.end(), is_large)) return false;
  return is_walkable(node, options.fold_order, Tensor(), leaves);
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

/// Whether two folds read, in the same order, a tensor that is at least half of what the second
/// one reads.
bool share_reading(const Member& a, const Member& b, const PlannerOptions& options) {
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
  return shared > options.features.l2_bytes && shared >= all / 2;
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
  std::size_t num_operands = other.inputs.size() + 1, num_params = other.program.params.size();
  for (const auto& member : members) {
    num_operands += member->inputs.size() + 1;
    num_params += member->program.params.size();
    if (!have_equal_loops(*member->plan, *other.plan) ||
        is_row_each(*member->plan) != is_row_each(*other.plan))
      return false;
    if (!have_blocks_that_meet(*member->plan, *other.plan)) return false;
  }
  return share_reading(*members[0], other, options) && members.size() < max_joint_folds &&
         num_operands <= ir::max_launch_operands && num_params <= ir::max_launch_params;
}

/// What plan_joint_call() has made: runs on the outputs, and then the inputs of the call.
struct JointPass {
  struct Fold {
    std::shared_ptr<const FoldPlan> plan;
    std::vector<std::uint32_t> inputs;
    std::size_t num_params;
  };
  std::vector<Fold> folds;

  void run(std::byte* const* base, const Bits* params) const {
    std::byte* operands[max_joint_folds + ir::max_launch_operands];
    std::vector<FoldRun> runs;
    runs.reserve(folds.size());
    std::byte** own = operands;
    for (std::size_t i = 0; i < folds.size(); ++i) {
      const FoldPlan& plan = *folds[i].plan;
      const jit::CodeObject* const code =
          plan.reduction == nullptr ? nullptr : plan.reduction->folding_code();
      runs.emplace_back(plan, code, own, params);
      *own++ = base[i];
      for (const std::uint32_t input : folds[i].inputs) *own++ = base[folds.size() + input];
      params += folds[i].num_params;
    }
    run_in_turns(runs);
  }
};

}  // namespace

std::vector<JointFolds> join_folds(std::span<const Expr> folds, const PlannerOptions& options,
                                   jit::KernelCache& kernels) {
  if (folds.size() < 2) return {};
  std::vector<std::shared_ptr<Member>> members;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const ExprNode& node = folds[i].node();
    auto member = std::make_shared<Member>();
    member->fold = i;
    if (!can_be_joined(node, options, *member)) continue;
    check_dtype(node);
    const Tensor output = contiguous_layout(node.fold->sizes, node.dtype);
    member->plan = plan_fold(node, member->program, output, member->inputs, options, kernels);
    members.push_back(std::move(member));
  }
  std::vector<JointFolds> result;
  while (!members.empty()) {
    JointFolds joint;
    std::vector<std::shared_ptr<Member>> others;
    for (const auto& member : members) {
      const bool is_joined = joint.members.empty() || fits(joint.members, *member, options);
      (is_joined ? joint.members : others).push_back(member);
    }
    members = std::move(others);
    if (joint.members.size() < 2) continue;
    plan_turns(joint, options.features.l2_bytes / 4);
    result.push_back(std::move(joint));
  }
  return result;
}

PlannedCall plan_joint_call(const CallKey& key, const JointFolds& joint,
                            std::span<const Expr> exprs) {
  PlannedCall call;
  call.plan = std::make_shared<CallPlan>();
  JointPass pass;
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const Member& member = *joint.members[i];
    PlannedCall own = begin_call(key, member.program);
    call.plan->params.insert(call.plan->params.end(), own.plan->params.begin(),
                             own.plan->params.end());
    const Dims& sizes = exprs[i].node().fold->sizes;
    call.outputs.push_back(empty({sizes.data(), sizes.size()}, {exprs[i].dtype()}));
    call.plan->outputs.push_back(planned_output(call.outputs.back(), true));
    pass.folds.push_back({member.plan, std::move(own.plan->leaves), member.program.params.size()});
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
