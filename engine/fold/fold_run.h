// One fold, part by part: what runs it alone, or in turns with others that read the same memory,
// asks of it.
#pragma once

#include "engine/fold/fold_walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

/// Where an extremum is.
inline constexpr std::int64_t place_bytes = sizeof(std::int64_t);

/// Immutable: threads share it, and each has parts of its own.
class FoldRun : FoldWalk {
 public:
  /// As for a FoldWalk.
  FoldRun(const FoldPlan& plan, const jit::CodeObject* code, std::byte* const* base,
          const Bits* params);

  using FoldWalk::num_threads;

  const FoldPlan& plan() const { return plan_; }
  std::int64_t num_units() const { return plan_.num_kept * num_strips(); }

  /// Where is_row_each(): the outputs [begin, end).
  void fold_rows(std::int64_t begin, std::int64_t end) const;
  /// Whether each output is a row of few leaves.
  bool has_rows_of_leaves() const;
  /// Then the outputs [begin, end).
  void fold_rows_of_leaves(std::int64_t begin, std::int64_t end) const;
  /// Whether units lie row by row in memory, and it pays to read them in that order
  /// (FoldPlan::units_are_neighbours).
  bool has_rows_in_turn() const;
  /// Then the units [begin, end).
  void fold_rows_in_turn(std::int64_t begin, std::int64_t end) const;

  /// The units [begin, end), of has_short_columns().
  void fold_short_columns(std::int64_t begin, std::int64_t end) const;

  /// Some of a unit's leaves, which are a subtree, as far as they have been folded.
  struct Part {
    Part(const Place& place, std::int64_t first_block, std::int64_t num_slices, std::byte* scratch)
        : place(place), first_block(first_block), num_slices(num_slices), scratch(scratch) {}

    Place place;
    std::int64_t first_block;
    std::int64_t num_slices;
    std::byte* scratch;
    std::int64_t slice = 0;  ///< the next one, counted from the first of the part
    std::int64_t depth = 0;  ///< partial results that wait to be combined
  };
  std::size_t scratch_bytes() const;
  /// Requires: `first_block` is a multiple of the smallest power of two that is `num_blocks` or
  /// more.
  Part begin(std::int64_t unit, std::int64_t first_block, std::int64_t num_blocks,
             std::byte* scratch) const;
  /// One turn of so many slices.  Returns whether anything is left to fold.
  bool take_turn(Part& part, std::int64_t slices) const;

  /// How many slices of a unit lie in memory just before those of the next one, where it pays that
  /// units take turns (FoldPlan::units_are_neighbours); else 0.
  std::int64_t slices_before_next_unit() const;
  /// What parts that take turns need each, behind what scratch_bytes() has for one.
  std::size_t pending_bytes() const;

  /// Bytes of what has become of a part, a multiple of 64.
  std::size_t result_bytes() const;
  /// That, once nothing is left to fold.
  std::byte* result(Part& part) const;
  /// Combines the results of a unit's parts, `stride_bytes` apart, into the first.
  void combine_results(std::int64_t unit, std::byte* results, std::int64_t num_parts,
                       std::int64_t stride_bytes) const;
  /// Writes the outputs of a unit.  The result is used up.
  void write(std::int64_t unit, std::byte* result) const;
  /// Those of a part that is a whole unit.
  void write(Part& part) const { write_at(part.place, result(part)); }

 private:
  bool finds_places() const { return plan_.form == FoldForm::index; }
  /// Elements that a partial result of a unit has.
  std::int64_t partial_of(const Place& place) const {
    return plan_.is_inner ? num_lanes_ : place.num_columns;
  }
  /// Where that of the next leaf goes.
  std::byte* next_partial(const Part& part) const {
    return part.scratch + fold_buffer_bytes + part.depth * partial_bytes_;
  }

  /// Calls `function(offsets, chunk, to, stride of to in bytes, rows)` for rows [begin, end) that
  /// each become one output, at most `max_rows` that lie behind one another at a time.
  template <class Function>
  void for_each_row(std::int64_t begin, std::int64_t end, std::int64_t max_rows,
                    const Function& function) const;
  std::size_t num_levels() const;
  void fold_in_turn(std::span<const std::byte* const> data, std::byte* lanes,
                    std::size_t level_bytes) const;
  void fold_extrema_of_rows(std::int64_t begin, std::int64_t end) const;
  void fold_rows_whole(std::int64_t begin, std::int64_t end) const;
  void place_rows(std::int64_t begin, std::int64_t end) const;

  void fold_slice(const Place& place, std::int64_t slice, std::byte* partial,
                  std::byte* buffer) const;
  void fold_leaves_of_rows(Part& part, std::int64_t end) const;
  void fold_leaves_of_short_rows(Part& part, std::int64_t end) const;
  void fold_leaves_of_narrow_columns(Part& part, std::int64_t end) const;
  void fold_columns_of_units(const std::byte* data, std::int64_t units, std::byte* scratch) const;
  std::int64_t subtree_blocks(const Part& part, std::int64_t available) const;
  void fold_subtree(const FoldOffsets& at, std::int64_t count, std::byte* partial) const;
  void fold_subtree_by_code(const FoldOffsets& at, std::int64_t count, std::byte* partial) const;
  void fold_next(Part& part) const;
  void clear(std::byte* partial, std::int64_t num_elements) const;
  void combine(std::byte* to, const std::byte* from, std::int64_t num_elements) const;
  void write_at(const Place& place, std::byte* result) const;
  void combine_pending(Part& part, std::int64_t taken) const;

  std::size_t place_operand() const { return plan_.num_operands - 1; }
  std::int64_t* places_of(std::byte* result) const;
  void find_next(Part& part) const;
  void find_in_rows(const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows,
                    std::int64_t count, std::byte* result) const;
  void find_in_columns(const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows,
                       std::int64_t count, std::byte* result) const;

  // What each slice needs and takes divisions to tell.
  const std::int64_t num_lanes_;
  const std::int64_t partial_bytes_;  ///< of all folds
  const std::int64_t block_elements_;
  const bool folds_together_;
  const bool walks_rows_;            ///< by fold_leaves_of_rows()
  const bool walks_short_rows_;      ///< by fold_leaves_of_short_rows()
  const bool walks_narrow_columns_;  ///< by fold_leaves_of_narrow_columns()
};

/// The most folds that share a pass.
inline constexpr std::size_t max_joint_folds = 8;

/// Runs folds in turns, the threads sharing units, or subtrees of them where there are few.
///
/// Requires: one fold, or several that fit (joint_fold.h); none is a fill or exact.
void run_in_turns(std::span<const FoldRun> folds);

template <class Function>
void FoldRun::for_each_row(std::int64_t begin, std::int64_t end, std::int64_t max_rows,
                           const Function& function) const {
  const FoldDim& fastest = plan_.kept[0];
  const std::int64_t count = plan_.vector.extent;
  const std::int64_t most = std::min(max_rows, rows_at_once(count));
  alignas(64) std::byte buffer[fold_buffer_bytes];
  while (begin < end) {
    const std::int64_t rows =
        std::min({end - begin, fastest.extent - begin % fastest.extent, most});
    FoldOffsets offsets(plan_.num_operands);
    advance(offsets, plan_.kept, begin);
    function(offsets, fetch(offsets, fastest, rows, count, buffer), base_[0] + offsets[0],
             fastest.stride_bytes[0], rows);
    begin += rows;
  }
}

}  // namespace weft
