// A planned fold as loop IR.
#include "engine/fold/fold_plan.h"

#include <weft/error.h>

namespace weft {
namespace {

/// The loops of a kernel, outermost first: some over what is kept, some over what is reduced, and
/// the vectors'.
struct Loops {
  std::vector<const FoldDim*> kept, reduced;
  ir::StrideClass output_column;  ///< along the vectors, where they are kept
};

constexpr int place_lanes = ir::max_partial_bytes / sizeof(std::int64_t);

DType result_dtype(const FoldPlan& plan) {
  return plan.form == FoldForm::index ? DType::i64 : plan.fold.dtype;
}

class FoldLowering {
 public:
  FoldLowering(const FoldPlan& plan, const Program& program, std::span<const Tensor> inputs,
               const Loops& loops)
      : plan_(plan), program_(program), inputs_(inputs), loops_(loops) {}

  std::unique_ptr<Lowered> run(Numerics numerics) {
    ir::Kernel& kernel = lowered_->kernel;
    kernel.numerics = numerics;
    kernel.body = program_.body;
    for (const Program::Param& param : program_.params) kernel.params.push_back(param.dtype);
    WEFT_ASSERT(num_folds() == static_cast<std::size_t>(program_.num_outputs),
                "a fold has several arguments, or an argument no fold");
    add_loops();
    kernel.tree = plan_.is_inner ? ir::Tree{static_cast<int>(plan_.fold.num_lanes()),
                                            static_cast<int>(fold_block_elements(plan_.fold))}
                                 : ir::Tree{1, static_cast<int>(fold_block_rows)};
    const ir::StrideClass column = plan_.is_inner ? 0 : loops_.output_column;
    add_operand(result_dtype(plan_), ir::Role::output, 0, column);
    for (const FoldResult& result : plan_.also)
      add_operand(result.fold.dtype, ir::Role::output, 0, column);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const DType dtype = inputs_[i].dtype();
      add_operand(dtype, ir::Role::input, ir::stride_any,
                  inner_class(plan_.vector.stride_bytes[i + 1], plan_.vector.extent, dtype));
    }
    for (ir::Inst& inst : kernel.body) accumulate(inst);
    if (plan_.form == FoldForm::index) accumulate_places();
    WEFT_ASSERT(lowered_->stride_bytes.size() == kernel.loops.size() * kernel.operands.size(),
                "an operand of a fold has no stride along a loop");
    return std::move(lowered_);
  }

 private:
  void add_loop(const FoldDim& dim, std::int64_t extent, ir::LoopKind kind) {
    lowered_->extents.push_back(extent);
    std::vector<std::int64_t>& strides = lowered_->stride_bytes;
    strides.insert(strides.end(), plan_.also.size(), dim.stride_bytes[0]);
    strides.insert(strides.end(), dim.stride_bytes.begin(), dim.stride_bytes.end());
    lowered_->kernel.loops.push_back({kind});
  }

  std::size_t num_folds() const { return 1 + plan_.also.size(); }

  void accumulate(ir::Inst& inst) const {
    if (inst.op != Op::store) return;
    const jit::Fold& fold = inst.operand == 0 ? plan_.fold : plan_.also[inst.operand - 1U].fold;
    WEFT_ASSERT(inst.dtype == fold.dtype,
                "the argument of a fold is not stored in the dtype that it is folded in");
    inst.op = Op::accumulate;
    inst.combine = fold.op;
  }

  /// The plan's last operand says places.  No order of combining changes which is found: there are
  /// as many lanes as IR has room for.
  void accumulate_places() {
    ir::Kernel& kernel = lowered_->kernel;
    kernel.tree.lanes = std::min(kernel.tree.lanes, place_lanes);
    const auto place = static_cast<std::uint8_t>(kernel.operands.size());
    add_operand(DType::i64, ir::Role::place, ir::stride_any, ir::stride_any);
    ir::Inst last = kernel.body.back();
    last.op = Op::accumulate_place;
    last.args[1] = static_cast<ir::ValueId>(kernel.body.size() - 1);
    kernel.body.back() = {.op = Op::load, .dtype = DType::i64, .operand = place};
    kernel.body.push_back(last);
  }

  void add_loops() {
    // A single loop stands for all of them.
    const bool is_one_kept = loops_.kept.size() == 1, is_one_reduced = loops_.reduced.size() == 1;
    for (const FoldDim* dim : loops_.kept)
      add_loop(*dim, is_one_kept ? plan_.num_kept : dim->extent, ir::LoopKind::parallel);
    for (const FoldDim* dim : loops_.reduced)
      add_loop(*dim, is_one_reduced ? plan_.num_rows : dim->extent, ir::LoopKind::reduce);
    add_loop(plan_.vector, plan_.vector.extent,
             plan_.is_inner ? ir::LoopKind::reduce : ir::LoopKind::parallel);
  }

  void add_operand(DType dtype, ir::Role role, ir::StrideClass row, ir::StrideClass inner) {
    std::vector<ir::StrideClass> strides(loops_.kept.size(), ir::stride_any);
    strides.insert(strides.end(), loops_.reduced.size(), row);
    strides.push_back(inner);
    lowered_->kernel.operands.push_back({dtype, role, std::move(strides)});
  }

  const FoldPlan& plan_;
  const Program& program_;
  std::span<const Tensor> inputs_;
  const Loops& loops_;
  std::unique_ptr<Lowered> lowered_ = std::make_unique<Lowered>();
};

bool is_said_by_ir(const FoldPlan& plan) { return plan.order != FoldOrder::exact && !plan.is_fill; }

}  // namespace

std::unique_ptr<Lowered> lower_fold(const FoldPlan& plan, const Program& program,
                                    std::span<const Tensor> inputs, Numerics numerics) {
  if (!is_said_by_ir(plan) || plan.form == FoldForm::index) return {};
  // Columns are folded in partial results that lie densely, wherever the outputs are.
  Loops loops{{&plan.kept[0]}, {}, 1};
  if (fold_has_rows(plan)) loops.reduced.push_back(&plan.reduced[0]);
  return FoldLowering(plan, program, inputs, loops).run(numerics);
}

std::unique_ptr<Lowered> lower_whole_fold(const FoldPlan& plan, const Program& program,
                                          std::span<const Tensor> inputs, Numerics numerics) {
  if (!is_said_by_ir(plan)) return {};
  Loops loops{
      {}, {}, inner_class(plan.vector.stride_bytes[0], plan.vector.extent, result_dtype(plan))};
  for (std::size_t dim = plan.kept.size(); dim-- > 0;) loops.kept.push_back(&plan.kept[dim]);
  for (std::size_t dim = plan.reduced.size(); fold_has_rows(plan) && dim-- > 0;)
    loops.reduced.push_back(&plan.reduced[dim]);
  return FoldLowering(plan, program, inputs, loops).run(numerics);
}

}  // namespace weft
