// Folds of columns that are no more than what loops over them would take longer to set up for.
#include "engine/fold/fold_run.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// Of partial results.
constexpr std::int64_t most_columns_bytes = 1024;

constexpr std::int64_t groups = jit::FoldLoops::blocks_together;

}  // namespace

bool are_plain_columns(const FoldPlan& plan) {
  return !plan.is_inner && plan.reduced.size() == 1 && plan.also.empty() &&
         plan.form == FoldForm::value && folds_in_place(plan) && plan.slices_per_block == 1;
}

bool reads_narrow_columns(const FoldPlan& plan) {
  return are_plain_columns(plan) && plan.fold.loops.narrow_columns != nullptr &&
         plan.vector.extent * plan.fold.itemsize() <= jit::FoldLoops::most_narrow_bytes;
}

bool has_short_columns(const FoldPlan& plan) {
  return are_plain_columns(plan) && plan.num_kept > 1 && plan.num_blocks < groups &&
         plan.vector.stride_bytes[0] == plan.fold.itemsize() &&
         plan.vector.extent * plan.fold.itemsize() <= most_columns_bytes;
}

/// Whole leaves up to number `end` of a part, a subtree of them at once.
void FoldRun::fold_leaves_of_narrow_columns(Part& part, std::int64_t end) const {
  const std::int64_t row_stride_bytes = plan_.reduced[0].stride_bytes[1];
  const std::int64_t row_bytes = plan_.vector.extent * fold_.itemsize();
  const std::byte* const data = base_[1] + part.place.offsets[1];
  alignas(64) std::byte sums[groups * jit::FoldLoops::most_narrow_bytes];
  while (part.slice % groups == 0 && part.slice + groups <= end) {
    const std::int64_t row = (part.first_block + part.slice) * plan_.rows_per_block;
    if (row + groups * plan_.rows_per_block > plan_.num_rows) return;
    stop_if_cancelled();
    fold_.loops.narrow_columns(fold_, sums, data + row * row_stride_bytes,
                               plan_.rows_per_block * row_stride_bytes, row_stride_bytes,
                               plan_.rows_per_block, plan_.vector.extent);
    for (std::int64_t width = 1; width < groups; width *= 2)
      for (std::int64_t i = 0; i < groups; i += 2 * width)
        fold_.loops.columns(fold_, sums + i * row_bytes, sums + (i + width) * row_bytes, 0, 1,
                            plan_.vector.extent);
    std::memcpy(next_partial(part), sums, static_cast<std::size_t>(row_bytes));
    combine_pending(part, groups);
  }
}

void FoldRun::fold_short_columns(std::int64_t begin, std::int64_t end) const {
  constexpr std::int64_t units_between_questions = 64;
  const FoldDim& units = plan_.kept[0];
  const std::int64_t count = plan_.vector.extent, row_bytes = count * fold_.itemsize();
  const std::int64_t together = reads_narrow_columns(plan_) ? groups : 1;
  alignas(64) std::byte scratch[groups * most_columns_bytes];
  while (begin < end) {
    stop_if_cancelled();
    const std::int64_t some =
        std::min({end - begin, units.extent - begin % units.extent, units_between_questions});
    FoldOffsets offsets(plan_.num_operands);
    advance(offsets, plan_.kept, begin);
    const std::byte* data = base_[1] + offsets[1];
    std::byte* to = base_[0] + offsets[0];
    for (std::int64_t unit = 0; unit < some;) {
      const std::int64_t taken = some - unit < together ? 1 : together;
      fold_columns_of_units(data, taken, scratch);
      divide(scratch, fold_.itemsize(), taken * count);
      for (std::int64_t i = 0; i < taken; ++i, to += units.stride_bytes[0])
        std::memcpy(to, scratch + i * row_bytes, static_cast<std::size_t>(row_bytes));
      data += taken * units.stride_bytes[1];
      unit += taken;
    }
    begin += some;
  }
}

/// To the beginning of `scratch`, one after the other; one unit, or `groups` that are narrow.
void FoldRun::fold_columns_of_units(const std::byte* data, std::int64_t units,
                                    std::byte* scratch) const {
  const std::int64_t count = plan_.vector.extent;
  const std::int64_t row_stride_bytes = plan_.reduced[0].stride_bytes[1];
  const FoldLevels levels{scratch, units * count * fold_.itemsize()};
  jit::fold_tree(
      levels, plan_.num_rows, plan_.rows_per_block,
      [&](std::byte* sums, std::int64_t first, std::int64_t rows) {
        const std::byte* const from = data + first * row_stride_bytes;
        if (units != 1)
          return fold_.loops.narrow_columns(fold_, sums, from, plan_.kept[0].stride_bytes[1],
                                            row_stride_bytes, rows, count);
        fold_.clear(sums, count);
        fold_.loops.columns(fold_, sums, from, row_stride_bytes, rows, count);
      },
      [&](std::byte* to, const std::byte* from) {
        fold_.loops.columns(fold_, to, from, 0, 1, units * count);
      });
}

}  // namespace weft
