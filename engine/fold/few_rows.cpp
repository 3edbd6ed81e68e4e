#include "engine/fold/few_rows.h"

#include "engine/fold/leaf_tree.h"

#include <weft/cancel.h>

#include <array>
#include <cstring>

namespace weft {
namespace {

/// Of partial results that have room on the stack.
constexpr std::int64_t most_columns_bytes = 4096;

/// Whether one row of several leaves becomes one output, in less time than another thread is worth.
bool is_short_row(const FoldPlan& plan) {
  return plan.is_inner && plan.num_kept == 1 && plan.num_rows == 1 &&
         plan.form == FoldForm::value && plan.num_blocks <= jit::FoldLoops::most_blocks &&
         num_fold_parts(plan.work_ns) == 1 &&
         !(folds_blocks_together(plan) && plan.fold.reads_side_by_side());
}

/// Whether outputs that lie evenly are rows of no more than a block each, and too few for threads.
bool has_few_rows(const FoldPlan& plan) {
  return is_row_each(plan) && plan.kept.size() == 1 && plan.form == FoldForm::value &&
         num_fold_parts(plan.work_ns) == 1;
}

/// Whether rows of neighbours, one block of few, become one row of outputs side by side.
bool has_few_columns(const FoldPlan& plan) {
  const std::int64_t itemsize = plan.fold.itemsize();
  return !plan.is_inner && plan.num_kept == 1 && plan.num_blocks == 1 && plan.reduced.size() == 1 &&
         plan.also.empty() && plan.form == FoldForm::value &&
         plan.vector.stride_bytes[0] == itemsize &&
         plan.vector.extent * itemsize <= most_columns_bytes && num_fold_parts(plan.work_ns) == 1;
}

void throw_if_cancelled() {
  if (const CancellationToken* const token = CancellationScope::current())
    token->throw_if_cancelled();
}

/// Of the operands of code: outputs, then inputs.
std::vector<std::int64_t> strides_of_rows(const FoldPlan& plan) {
  const std::vector<std::int64_t>& rows = plan.kept[0].stride_bytes;
  std::vector<std::int64_t> stride_bytes(1 + plan.also.size(), rows[0]);
  stride_bytes.insert(stride_bytes.end(), rows.begin() + 1, rows.end());
  stride_bytes.insert(stride_bytes.end(), 1 + plan.also.size(), 0);
  const std::vector<std::int64_t>& along = plan.vector.stride_bytes;
  stride_bytes.insert(stride_bytes.end(), along.begin() + 1, along.end());
  return stride_bytes;
}

}  // namespace

void plan_shortcut(FoldPlan& plan) {
  if (plan.order == FoldOrder::exact) return;
  if (has_few_rows(plan)) {
    plan.shortcut = FoldShortcut::few_rows;
    if (plan.reduction != nullptr) plan.row_stride_bytes = strides_of_rows(plan);
  } else if (is_short_row(plan)) {
    plan.shortcut = FoldShortcut::short_row;
  } else if (has_few_columns(plan) && folds_in_place(plan)) {
    plan.shortcut = FoldShortcut::few_columns;
  }
}

void fold_short_row(const FoldPlan& plan, std::byte* const* base) {
  throw_if_cancelled();
  alignas(64) std::array<std::byte, jit::Fold::lanes_bytes> lanes;
  plan.fold.loops.tree(plan.fold, lanes.data(), base[1], plan.vector.extent,
                       fold_block_elements(plan.fold));
  plan.fold.finish(base[0], lanes.data());
  divide_results(plan.fold, plan.divisor, base[0], 0, 1);
}

void fold_short_row_by_code(const FoldPlan& plan, const jit::CodeObject& code,
                            std::byte* const* base, const Bits* params) {
  throw_if_cancelled();
  alignas(64) std::array<std::byte, max_folds_of_loop * jit::Fold::lanes_bytes> lanes;
  fold_leaves_by_code(plan, code.leaf, base + 1, params, plan.vector.extent, lanes.data());
  plan.fold.finish(base[0], lanes.data());
  divide_results(plan.fold, plan.divisor, base[0], 0, 1);
  for (std::size_t i = 0; i < plan.also.size(); ++i) {
    const FoldResult& result = plan.also[i];
    std::byte* const to = base[plan.num_operands + i];
    result.fold.finish(to, lanes.data() + (i + 1) * jit::Fold::lanes_bytes);
    divide_results(result.fold, result.divisor, to, 0, 1);
  }
}

void fold_few_rows(const FoldPlan& plan, std::byte* const* base) {
  throw_if_cancelled();
  const FoldDim& rows = plan.kept[0];
  plan.fold.loops.rows(plan.fold, base[0], rows.stride_bytes[0], base[1], rows.stride_bytes[1],
                       rows.extent, plan.vector.extent);
  divide_results(plan.fold, plan.divisor, base[0], rows.stride_bytes[0], rows.extent);
}

void fold_few_rows_by_code(const FoldPlan& plan, const FoldCode& code, std::byte* const* base,
                           const Bits* params) {
  throw_if_cancelled();
  const FoldDim& rows = plan.kept[0];
  const std::size_t num_inputs = plan.num_operands - 1, num_outputs = 1 + plan.also.size();
  std::array<std::byte*, max_fold_operands> operands;  // only what is used is written
  for (std::size_t i = 0; i < num_outputs; ++i) operands[i] = base[i == 0 ? 0 : num_inputs + i];
  for (std::size_t i = 0; i < num_inputs; ++i) operands[num_outputs + i] = base[1 + i];
  const std::array<std::int64_t, 2> extents{rows.extent, plan.vector.extent};
  const jit::KernelArgs args{operands.data(), extents.data(), plan.row_stride_bytes.data(), params,
                             code.context};
  code.function(&args);
  divide_results(plan.fold, plan.divisor, operands[0], rows.stride_bytes[0], rows.extent);
  for (std::size_t i = 0; i < plan.also.size(); ++i)
    divide_results(plan.also[i].fold, plan.also[i].divisor, operands[1 + i], rows.stride_bytes[0],
                   rows.extent);
}

void fold_few_columns(const FoldPlan& plan, std::byte* const* base) {
  throw_if_cancelled();
  const std::int64_t count = plan.vector.extent, itemsize = plan.fold.itemsize();
  // Not in the output, which may be an input's memory.
  alignas(64) std::array<std::byte, most_columns_bytes> sums;
  plan.fold.clear(sums.data(), count);
  const FoldDim& rows = plan.reduced[0];
  plan.fold.loops.columns(plan.fold, sums.data(), base[1], rows.stride_bytes[1], rows.extent,
                          count);
  divide_results(plan.fold, plan.divisor, sums.data(), itemsize, count);
  std::memcpy(base[0], sums.data(), static_cast<std::size_t>(count * itemsize));
}

// Code that is tried is run as it is.
FoldCode code_of_rows(const FoldPlan& plan, const jit::CodeObject& code) {
  if (plan.rows == nullptr || &code != plan.reduction->folding_code()) return {code.rows};
  return {plan.rows->entry(), plan.rows->context()};
}

}  // namespace weft
