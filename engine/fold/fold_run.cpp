// What a planned fold does with its memory: leaves, and the tree over them.  Places of extrema are
// found in fold_places.cpp.
#include "engine/fold/fold_run.h"

#include "engine/fold/few_rows.h"
#include "engine/fold/fill_elements.h"
#include "engine/fold/leaf_tree.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace weft {
namespace {

/// Along what lies closest together, in pieces, between which a call can be cancelled.
void fill(const FoldPlan& plan, std::byte* output) {
  constexpr std::int64_t most_at_once = 1 << 16;
  const FoldDim one{1, {0}};
  const auto closest = std::ranges::min_element(plan.kept, {}, [](const FoldDim& dim) {
    return dim.extent > 1 ? std::abs(dim.stride_bytes[0])
                          : std::numeric_limits<std::int64_t>::max();
  });
  const FoldDim& along = closest == plan.kept.end() ? one : *closest;
  if (plan.num_kept == 0) return;
  const std::int64_t pieces = (along.extent + most_at_once - 1) / most_at_once;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t number = begin; number < end; ++number) {
      const std::int64_t first = number % pieces * most_at_once;
      std::int64_t offset = first * along.stride_bytes[0], linear = number / pieces;
      for (const FoldDim& dim : plan.kept) {
        if (&dim == &along) continue;
        offset += linear % dim.extent * dim.stride_bytes[0];
        linear /= dim.extent;
      }
      fill_elements(output + offset, along.stride_bytes[0],
                    reinterpret_cast<const std::byte*>(&plan.fold.identity),
                    std::min(most_at_once, along.extent - first), plan.fold.itemsize());
    }
  };
  constexpr std::int64_t ns_an_output = 1;
  parallel_for(0, plan.num_kept / along.extent * pieces, 1, run, {1, plan.num_kept * ns_an_output});
}

}  // namespace

FoldRun::FoldRun(const FoldPlan& plan, const jit::CodeObject* code, std::byte* const* base,
                 const Bits* params)
    : FoldWalk(plan, code, base, params),
      num_lanes_(fold_.num_lanes()),
      partial_bytes_(fold_bytes_ * static_cast<std::int64_t>(1 + plan.also.size())),
      block_elements_(fold_block_elements(fold_)),
      folds_together_(folds_blocks_together(plan) && fold_.reads_side_by_side()),
      walks_rows_(plan.is_inner && plan.segments_per_row > 1 && !finds_places() &&
                  !is_computed_apart()),
      walks_short_rows_(plan.is_inner && plan.segments_per_row == 1 && plan.reduced.size() == 1 &&
                        !finds_places() && code == nullptr && !is_computed_apart()),
      walks_narrow_columns_(plan.num_blocks >= jit::FoldLoops::blocks_together &&
                            reads_narrow_columns(plan)) {}

std::size_t FoldRun::num_levels() const {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(plan_.num_blocks))) + 1;
}

/// For a buffer of values, the tree's pending results, and what an extremum needs.
std::size_t FoldRun::scratch_bytes() const {
  const std::int64_t places = finds_places() ? in_whole_lines(strip_extent() * 32) : 0;
  return num_levels() * static_cast<std::size_t>(partial_bytes_) +
         static_cast<std::size_t>(fold_buffer_bytes + places);
}

std::size_t FoldRun::result_bytes() const {
  const std::int64_t places = finds_places() ? in_whole_lines(strip_extent() * place_bytes) : 0;
  return static_cast<std::size_t>(partial_bytes_ + places);
}

void FoldRun::fold_rows(std::int64_t begin, std::int64_t end) const {
  if (finds_places()) return place_rows(begin, end);
  if (code_ != nullptr) return fold_rows_whole(begin, end);
  for_each_row(begin, end, std::numeric_limits<std::int64_t>::max(),
               [&](const FoldOffsets&, const FoldChunk& chunk, std::byte* to,
                   std::int64_t stride_bytes, std::int64_t rows) {
                 fold_.loops.rows(fold_, to, stride_bytes, chunk.data, chunk.row_stride_bytes, rows,
                                  plan_.vector.extent);
                 divide(to, stride_bytes, rows);
               });
}

bool FoldRun::has_rows_of_leaves() const {
  return walks_rows_ && plan_.num_rows == 1 && !folds_together_ && plan_.also.empty() &&
         plan_.num_blocks <= jit::FoldLoops::most_blocks;
}

/// Extrema are the same without leaves.
void FoldRun::fold_extrema_of_rows(std::int64_t begin, std::int64_t end) const {
  constexpr std::int64_t leaves_at_once = 64;
  const std::int64_t rows =
      std::max<std::int64_t>(leaves_at_once * block_elements_ / plan_.vector.extent, 1);
  for (; begin < end; begin += rows) {
    stop_if_cancelled();
    fold_rows(begin, std::min(begin + rows, end));
  }
}

// What parts and turns take for a row is a fifth of the time of one of two leaves.
void FoldRun::fold_rows_of_leaves(std::int64_t begin, std::int64_t end) const {
  if (code_ == nullptr && (fold_.op == Op::maximum || fold_.op == Op::minimum))
    return fold_extrema_of_rows(begin, end);
  const auto fold_some = [&](const FoldOffsets& offsets, const FoldChunk&, std::byte* to,
                             std::int64_t stride_bytes, std::int64_t rows) {
    alignas(64) std::array<std::byte, jit::Fold::lanes_bytes> lanes;
    FoldOffsets at = offsets;
    for (std::int64_t row = 0; row < rows; ++row, advance(at, plan_.kept[0], 1)) {
      stop_if_cancelled();
      fold_subtree(at, plan_.vector.extent, lanes.data());
      fold_.finish(to + row * stride_bytes, lanes.data());
    }
    divide(to, stride_bytes, rows);
  };
  for_each_row(begin, end, std::numeric_limits<std::int64_t>::max(), fold_some);
}

/// By code that computes what it folds, and leaves the results.
void FoldRun::fold_rows_whole(std::int64_t begin, std::int64_t end) const {
  const FoldCode code = code_of_rows(plan_, *code_);
  for_each_row(
      begin, end, std::numeric_limits<std::int64_t>::max(),
      [&](const FoldOffsets& offsets, const FoldChunk&, std::byte* to, std::int64_t stride_bytes,
          std::int64_t rows) {
        ReductionLaunch launch(
            *this, offsets, to,
            {{plan_.kept[0], rows, stride_bytes}, {plan_.vector, plan_.vector.extent, 0}});
        for (std::size_t i = 0; i < plan_.also.size(); ++i)
          launch.set_output(i, base_[plan_.num_operands + i] + offsets[0]);
        launch.run(code, params_);
        for_each_fold([&](const jit::Fold& fold, double divisor, std::int64_t, std::byte* output) {
          divide_results(fold, divisor, output + offsets[0], stride_bytes, rows);
        });
      });
}

bool FoldRun::has_rows_in_turn() const {
  return walks_short_rows_ && plan_.units_are_neighbours && folds_in_place(plan_);
}

// A row takes less time than to find what parts keep apart in the caches again.
void FoldRun::fold_rows_in_turn(std::int64_t begin, std::int64_t end) const {
  constexpr std::int64_t most_together = 64;
  const auto together = static_cast<std::size_t>(std::min(end - begin, most_together));
  const std::size_t level_bytes = together * jit::Fold::lanes_bytes;
  FoldScratch scratch(level_bytes * num_levels());
  for (; begin < end; begin += most_together) {
    std::array<const std::byte*, most_together> data;
    const std::size_t count = std::min(together, static_cast<std::size_t>(end - begin));
    for (std::size_t i = 0; i < count; ++i)
      data[i] = base_[1] + place_of(begin + static_cast<std::int64_t>(i)).offsets[1];
    fold_in_turn(std::span(data.data(), count), scratch.data(), level_bytes);
    for (std::size_t i = 0; i < count; ++i)
      write(begin + static_cast<std::int64_t>(i), scratch.data() + i * jit::Fold::lanes_bytes);
  }
}

/// A row of each unit whose first one is at `data`, then the next of each, to the lanes of each,
/// one after the other at `lanes`.  What waits in the tree is `level_bytes` apart.
void FoldRun::fold_in_turn(std::span<const std::byte* const> data, std::byte* lanes,
                           std::size_t level_bytes) const {
  const auto count = static_cast<std::int64_t>(data.size());
  const std::int64_t stride_bytes = plan_.reduced[0].stride_bytes[1];
  const FoldLevels levels{lanes, static_cast<std::int64_t>(level_bytes)};
  std::int64_t row = 0;
  const auto fold_leaves = [&](std::byte* leaves, std::int64_t, std::int64_t num_rows) {
    stop_if_cancelled();
    fold_.loops.start_blocks(fold_, leaves, count);
    for (const std::int64_t last = row + num_rows; row < last; ++row)
      for (std::size_t i = 0; i < data.size(); ++i)
        fold_.loops.lanes(fold_, leaves + i * jit::Fold::lanes_bytes, data[i] + row * stride_bytes,
                          0, 1, plan_.vector.extent);
  };
  jit::fold_tree(levels, plan_.num_rows, plan_.rows_per_block, fold_leaves,
                 [&](std::byte* to, const std::byte* from) {
                   fold_.loops.columns(fold_, to, from, 0, 1, count * num_lanes_);
                 });
}

FoldRun::Part FoldRun::begin(std::int64_t unit, std::int64_t first_block, std::int64_t num_blocks,
                             std::byte* scratch) const {
  const Part part(place_of(unit), first_block, num_blocks * plan_.slices_per_block, scratch);
  if (finds_places()) *places_of(scratch + fold_buffer_bytes) = -1;  // nothing found yet
  return part;
}

std::int64_t FoldRun::slices_before_next_unit() const {
  return walks_rows_ && folds_in_place(plan_) && plan_.units_are_neighbours ? plan_.segments_per_row
                                                                            : 0;
}

std::size_t FoldRun::pending_bytes() const {
  return scratch_bytes() - static_cast<std::size_t>(fold_buffer_bytes);
}

bool FoldRun::take_turn(Part& part, std::int64_t slices) const {
  const std::int64_t end = part.slice + std::min(slices, part.num_slices - part.slice);
  if (walks_rows_) fold_leaves_of_rows(part, end);
  if (walks_short_rows_) fold_leaves_of_short_rows(part, end);
  if (walks_narrow_columns_) fold_leaves_of_narrow_columns(part, end);
  while (part.slice < end) {
    stop_if_cancelled();
    finds_places() ? find_next(part) : fold_next(part);
  }
  return part.slice < part.num_slices;
}

/// One slice of the tree's leaves, folded in order.
void FoldRun::fold_slice(const Place& place, std::int64_t slice, std::byte* partial,
                         std::byte* buffer) const {
  const auto fold_chunk = [&](const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows,
                              std::int64_t count) {
    if (code_ != nullptr) return fold_leaf(offsets, plan_.reduced[0], rows, count, partial);
    if (!plan_.is_inner)
      return fold_.loops.columns(fold_, partial, chunk.data, chunk.row_stride_bytes, rows, count);
    fold_.loops.lanes(fold_, partial, chunk.data, chunk.row_stride_bytes, rows, count);
  };
  for_each_chunk_of(place, slice, buffer, fold_chunk);
}

/// Leaves up to number `end` of a part, where rows are several leaves: mostly one row, in which
/// nothing has to be looked up from leaf to leaf.
void FoldRun::fold_leaves_of_rows(Part& part, std::int64_t end) const {
  std::int64_t row = (part.first_block + part.slice) / plan_.segments_per_row;
  std::int64_t segment = (part.first_block + part.slice) % plan_.segments_per_row;
  for (; part.slice < end; ++row, segment = 0) {
    FoldOffsets at = part.place.offsets;
    advance(at, plan_.reduced, row);
    advance(at, plan_.vector, segment * block_elements_);
    while (segment < plan_.segments_per_row && part.slice < end) {
      stop_if_cancelled();
      const std::int64_t taken =
          subtree_blocks(part, std::min(plan_.segments_per_row - segment, end - part.slice));
      const std::int64_t left = plan_.vector.extent - segment * block_elements_;
      fold_subtree(at, std::min(left, taken * block_elements_), next_partial(part));
      combine_pending(part, taken);
      advance(at, plan_.vector, taken * block_elements_);
      segment += taken;
    }
  }
}

/// Leaves up to number `end` of a part, where rows that lie where they are folded are parts of a
/// leaf.
void FoldRun::fold_leaves_of_short_rows(Part& part, std::int64_t end) const {
  const std::int64_t row_stride_bytes = plan_.reduced[0].stride_bytes[1];
  const std::byte* const data = base_[1] + part.place.offsets[1];
  while (part.slice < end) {
    stop_if_cancelled();
    std::byte* const partial = next_partial(part);
    fold_.loops.start_blocks(fold_, partial, 1);
    const std::int64_t row = (part.first_block + part.slice) * plan_.rows_per_block;
    fold_.loops.lanes(fold_, partial, data + row * row_stride_bytes, row_stride_bytes,
                      std::min(plan_.rows_per_block, plan_.num_rows - row), plan_.vector.extent);
    combine_pending(part, 1);
  }
}

/// How many of the `available` next leaves are folded at once: a subtree, which has a power of two,
/// or what the part ends with.
std::int64_t FoldRun::subtree_blocks(const Part& part, std::int64_t available) const {
  const std::int64_t at_once =
      folds_together_ ? jit::FoldLoops::blocks_together : jit::FoldLoops::most_blocks;
  const std::int64_t aligned = part.slice == 0 ? at_once : part.slice & -part.slice;
  if (available == part.num_slices - part.slice && available <= std::min(aligned, at_once))
    return available;
  const auto most = static_cast<std::uint64_t>(std::min(available, at_once));
  return std::min(static_cast<std::int64_t>(std::bit_floor(most)), aligned);
}

/// A subtree of leaves of one row, which have `count` elements.
void FoldRun::fold_subtree(const FoldOffsets& at, std::int64_t count, std::byte* partial) const {
  if (code_ != nullptr) return fold_subtree_by_code(at, count, partial);
  const std::byte* const data = base_[1] + at[1];
  if (folds_together_ && count == jit::FoldLoops::blocks_together * block_elements_)
    return fold_.loops.tree_of_blocks(fold_, partial, data, block_elements_ * fold_.itemsize(),
                                      block_elements_);
  fold_.loops.tree(fold_, partial, data, count, block_elements_);
}

void FoldRun::fold_subtree_by_code(const FoldOffsets& at, std::int64_t count,
                                   std::byte* partial) const {
  std::array<std::byte*, max_fold_operands> inputs;  // only what is used is written
  for (std::size_t i = 1; i < plan_.num_operands; ++i) inputs[i - 1] = base_[i] + at[i];
  fold_leaves_by_code(plan_, code_->leaf, inputs.data(), params_, count, partial);
}

/// The next slice.
void FoldRun::fold_next(Part& part) const {
  std::byte* const partial = next_partial(part);
  const std::int64_t within_block = slice_within_block(part.slice);
  if (within_block == 0) clear(partial, partial_of(part.place));
  fold_slice(part.place, part.first_block * plan_.slices_per_block + part.slice, partial,
             part.scratch);
  if (within_block + 1 == plan_.slices_per_block)
    combine_pending(part, 1);
  else
    ++part.slice;
}

void FoldRun::clear(std::byte* partial, std::int64_t num_elements) const {
  for_each_fold([&](const jit::Fold& fold, double, std::int64_t number, std::byte*) {
    fold.clear(partial + number * fold_bytes_, num_elements);
  });
}

void FoldRun::combine(std::byte* to, const std::byte* from, std::int64_t num_elements) const {
  for_each_fold([&](const jit::Fold& fold, double, std::int64_t number, std::byte*) {
    const std::int64_t at = number * fold_bytes_;
    if (plan_.is_inner) return fold.loops.combine_blocks(fold, to + at, from - to, 2);
    fold.loops.columns(fold, to + at, from + at, 0, 1, num_elements);
  });
}

/// Takes the next leaf, or the subtree of the next `taken` leaves, to what is pending: the trees of
/// the digits of how many leaves there have been.  With the last leaf all of them become one.
void FoldRun::combine_pending(Part& part, std::int64_t taken) const {
  const auto combine_last = [&] {
    --part.depth;
    std::byte* const last = next_partial(part);
    combine(last - partial_bytes_, last, partial_of(part.place));
  };
  const std::int64_t leaf = block_of(part.slice);
  part.slice = (leaf + taken) * plan_.slices_per_block;
  ++part.depth;
  if ((taken & (taken - 1)) == 0)
    for (std::int64_t digits = leaf / taken; (digits & 1) != 0; digits >>= 1) combine_last();
  while (part.slice == part.num_slices && part.depth > 1) combine_last();
}

std::byte* FoldRun::result(Part& part) const { return part.scratch + fold_buffer_bytes; }

void FoldRun::combine_results(std::int64_t unit, std::byte* results, std::int64_t num_parts,
                              std::int64_t stride_bytes) const {
  const Place place = place_of(unit);
  const auto combine_two = [&](std::byte* to, std::byte* from) {
    if (!finds_places()) return combine(to, from, partial_of(place));
    plan_.extrema.merge(to, places_of(to), from, places_of(from), place.num_columns);
  };
  for (std::int64_t width = 1; width < num_parts; width *= 2)
    for (std::int64_t i = 0; i + width < num_parts; i += 2 * width)
      combine_two(results + i * stride_bytes, results + (i + width) * stride_bytes);
}

void FoldRun::write(std::int64_t unit, std::byte* result) const {
  write_at(place_of(unit), result);
}

void FoldRun::write_at(const Place& place, std::byte* result) const {
  const std::int64_t itemsize = finds_places() ? place_bytes : fold_.itemsize();
  const auto size = static_cast<std::size_t>(itemsize);
  const std::int64_t stride_bytes = plan_.is_inner ? itemsize : plan_.vector.stride_bytes[0];
  for_each_fold([&](const jit::Fold& fold, double divisor, std::int64_t number, std::byte* output) {
    std::byte* const to = output + place.offsets[0];
    std::byte* from = result + number * fold_bytes_;
    if (plan_.is_inner && !finds_places()) {
      fold.finish(to, from);
      return divide_results(fold, divisor, to, 0, 1);
    }
    if (finds_places())
      from = reinterpret_cast<std::byte*>(places_of(result));
    else
      divide_results(fold, divisor, from, itemsize, place.num_columns);
    if (stride_bytes == itemsize) {
      std::memcpy(to, from, static_cast<std::size_t>(place.num_columns) * size);
      return;
    }
    for (std::int64_t i = 0; i < place.num_columns; ++i)
      std::memcpy(to + i * stride_bytes, from + i * itemsize, size);
  });
}

void run_fold(const FoldPlan& plan, std::byte* const* base, const Bits* params) {
  if (plan.order == FoldOrder::exact) return run_exact_fold(plan, base, params);
  if (plan.is_fill) return fill(plan, base[0]);
  const FoldShortcut shortcut = plan.shortcut;
  if (folds_in_place(plan)) {
    if (shortcut == FoldShortcut::few_rows) return fold_few_rows(plan, base);
    if (shortcut == FoldShortcut::short_row) return fold_short_row(plan, base);
    if (shortcut == FoldShortcut::few_columns) return fold_few_columns(plan, base);
  }
  const auto run = [&](const jit::CodeObject* code) {
    if (shortcut == FoldShortcut::few_rows && code != nullptr)
      return fold_few_rows_by_code(plan, code_of_rows(plan, *code), base, params);
    if (shortcut == FoldShortcut::short_row && code != nullptr)
      return fold_short_row_by_code(plan, *code, base, params);
    const FoldRun fold(plan, code, base, params);
    run_in_turns(std::span(&fold, 1));
  };
  if (plan.reduction == nullptr) return run(nullptr);
  plan.reduction->fold(
      static_cast<std::uint64_t>(plan.vector.extent * plan.num_rows * plan.num_kept), run);
}

}  // namespace weft
