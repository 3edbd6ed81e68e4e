// A planned fold as loop IR.
#include "engine/fold_plan.h"

#include <weft/error.h>

namespace weft {

std::unique_ptr<Lowered> lower_fold(const FoldPlan& plan, const Program& program,
                                    std::span<const Tensor> inputs, Numerics numerics) {
  if (plan.form != FoldForm::value || plan.order == FoldOrder::exact || plan.is_fill) return {};
  auto lowered = std::make_unique<Lowered>();
  const bool has_rows = fold_has_rows(plan);
  std::vector<const FoldDim*> dims{&plan.kept[0], &plan.vector};
  lowered->extents = {plan.num_kept, plan.vector.extent};
  if (has_rows) {
    dims.insert(dims.begin() + 1, &plan.reduced[0]);
    lowered->extents.insert(lowered->extents.begin() + 1, plan.num_rows);
  }
  for (const FoldDim* dim : dims)
    lowered->stride_bytes.insert(lowered->stride_bytes.end(), dim->stride_bytes.begin(),
                                 dim->stride_bytes.end());
  ir::Kernel* const kernel = &lowered->kernel;
  kernel->numerics = numerics;
  kernel->body = program.body;
  for (const Program::Param& param : program.params) kernel->params.push_back(param.dtype);
  const ir::LoopKind along = plan.is_inner ? ir::LoopKind::reduce : ir::LoopKind::parallel;
  kernel->loops = {{ir::LoopKind::parallel}, {along}};
  if (has_rows) kernel->loops.insert(kernel->loops.begin() + 1, ir::Loop{ir::LoopKind::reduce});
  kernel->tree = plan.is_inner ? ir::Tree{static_cast<int>(plan.fold.num_lanes()),
                                          static_cast<int>(fold_block_elements(plan.fold))}
                               : ir::Tree{1, static_cast<int>(fold_block_rows)};
  // Columns are folded in partial results that lie densely, wherever the outputs are.
  const ir::StrideClass column = plan.is_inner ? 0 : 1;
  const auto add_operand = [&](DType dtype, ir::Role role, ir::StrideClass row,
                               ir::StrideClass inner) {
    kernel->operands.push_back({dtype, role, {ir::stride_any, inner}});
    auto& strides = kernel->operands.back().strides;
    if (has_rows) strides.insert(strides.begin() + 1, row);
  };
  add_operand(plan.fold.dtype, ir::Role::output, 0, column);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DType dtype = inputs[i].dtype();
    add_operand(dtype, ir::Role::input, ir::stride_any,
                inner_class(plan.vector.stride_bytes[i + 1], plan.vector.extent, dtype));
  }
  ir::Inst& last = kernel->body.back();
  WEFT_ASSERT(last.op == Op::store && last.dtype == plan.fold.dtype,
              "the argument of a fold is not stored in the dtype that it is folded in");
  last.op = Op::accumulate;
  last.combine = plan.fold.op;
  return lowered;
}

}  // namespace weft
