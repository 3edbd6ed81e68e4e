#include "engine/fold/row_program.h"

#include "engine/fold/few_rows.h"

namespace weft {
namespace {

/// Of a fold's rows: null if there is none for good.  What has settled stays.
FoldCode settled_code(const FoldPlan& fold) {
  if (fold.reduction == nullptr || !fold.reduction->is_settled()) return {};
  const jit::CodeObject* const code = fold.reduction->folding_code();
  return code == nullptr ? FoldCode() : code_of_rows(fold, *code);
}

bool is_one_call(const CallPlan& plan) {
  if (!plan.pass) return plan.launch.is_single_call;
  if (plan.fold == nullptr || plan.fold->shortcut != FoldShortcut::few_rows) return false;
  return folds_in_place(*plan.fold) || settled_code(*plan.fold).function != nullptr;
}

}  // namespace

bool RowProgram::can_run(const PassList& list) {
  std::size_t num_operands = 0;
  for (const Pass& pass : list.passes) {
    if (!is_one_call(*pass.plan)) return false;
    num_operands += pass.operands.size();
  }
  return list.passes.size() <= most_steps && num_operands <= most_operands;
}

RowProgram::RowProgram(const PassList& list, std::byte* const* base,
                       std::span<const std::int64_t> row_bytes, std::int64_t rows,
                       const Bits* params)
    : temporaries_(list.temporary_bytes) {
  for (const Pass& pass : list.passes) {
    Step& step = steps_[num_steps_++];
    const CallPlan& plan = *pass.plan;
    step.args.base = base_.data() + num_operands_;
    step.args.params = params + pass.first_param;
    for (const Origin& origin : pass.operands) {
      const bool moves = origin.operand != Origin::temporary;
      base_[num_operands_] = origin.address(base, temporaries_.data());
      block_bytes_[num_operands_++] = moves ? rows * row_bytes[origin.operand] : 0;
    }
    if (plan.fold == nullptr) {
      step.function = plan.launch.code->entry();
      step.args.context = plan.launch.code->context();
      step.args.extents = plan.launch.extents.data();
      step.args.stride_bytes = plan.launch.stride_bytes.data();
      continue;
    }
    step.fold = plan.fold.get();
    if (folds_in_place(*plan.fold)) continue;
    const FoldCode code = settled_code(*plan.fold);
    step.function = code.function;
    step.args.context = code.context;
    step.extents = {plan.fold->kept[0].extent, plan.fold->vector.extent};
    step.args.extents = step.extents.data();
    step.args.stride_bytes = plan.fold->row_stride_bytes.data();
  }
}

void RowProgram::run(std::int64_t num_blocks) {
  for (std::int64_t block = 0; block < num_blocks; ++block) {
    for (std::size_t i = 0; i < num_steps_; ++i) call(steps_[i]);
    for (std::size_t i = 0; i < num_operands_; ++i) base_[i] += block_bytes_[i];
  }
}

void RowProgram::call(const Step& step) const {
  if (step.function == nullptr) return fold_few_rows(*step.fold, step.args.base);
  step.function(&step.args);
  if (step.fold == nullptr) return;
  const FoldDim& rows = step.fold->kept[0];
  divide_results(step.fold->fold, step.fold->divisor, step.args.base[0], rows.stride_bytes[0],
                 rows.extent);
}

}  // namespace weft
