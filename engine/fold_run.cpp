// Running a planned fold: the walk over rows and blocks, the tree over blocks, and threads.
#include "engine/fold_walk.h"

#include <weft/parallel.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace weft {
namespace {

class FoldRun : FoldWalk {
 public:
  using FoldWalk::FoldWalk;

  void run() const {
    if (plan_.is_fill) return fill();
    const bool is_row_each = plan_.is_inner && plan_.num_blocks == 1 && plan_.num_rows == 1;
    if (plan_.form == FoldForm::index && is_row_each) return place_rows();
    if (plan_.form == FoldForm::index)
      return run_parts(plan_.num_kept * num_strips(), &FoldRun::place_unit);
    if (is_row_each) return fold_rows();
    const std::int64_t num_units = plan_.num_kept * num_strips();
    const std::int64_t threads = num_threads();
    const std::int64_t worth = num_parts_worth();
    if (num_units >= 2 * threads || plan_.num_blocks == 1 || threads == 1 || worth < 2)
      return run_parts(num_units, &FoldRun::fold_unit);
    run_cut_trees(num_units, std::min(worth, 4 * threads));
  }

 private:
  using Unit = void (FoldRun::*)(std::int64_t unit, std::byte* scratch) const;

  void fill() const {
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        FoldOffsets offsets(1);
        advance(offsets, plan_.kept, i);
        std::memcpy(base_[0] + offsets[0], &fold_.identity,
                    static_cast<std::size_t>(fold_.itemsize()));
      }
    };
    constexpr std::int64_t ns_an_output = 4;
    parallel_for(0, plan_.num_kept, 1, run, {1, plan_.num_kept * ns_an_output});
  }

  /// Elements of a partial result.
  std::int64_t num_partial() const { return plan_.is_inner ? fold_.num_lanes() : strip_extent(); }
  /// Rounded up, so that what lies behind one is aligned.
  std::size_t partial_bytes() const {
    return (static_cast<std::size_t>(num_partial() * fold_.itemsize()) + 63) / 64 * 64;
  }
  /// For the tree's pending results, a buffer of values, and what an extremum needs.
  std::size_t scratch_bytes() const {
    const auto num_levels =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(plan_.num_blocks)) + 1);
    const std::size_t places =
        plan_.form == FoldForm::index ? static_cast<std::size_t>(strip_extent()) * 32 : 0;
    return num_levels * partial_bytes() + fold_buffer_bytes + places;
  }

  void run_parts(std::int64_t num_units, Unit unit) const {
    const std::int64_t worth = num_parts_worth();
    const std::int64_t grain = (num_units + worth - 1) / worth;
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      Scratch scratch(scratch_bytes());
      for (std::int64_t i = begin; i < end; ++i) (this->*unit)(i, scratch.data());
    };
    parallel_for(0, num_units, grain, run, {plan_.max_threads, plan_.work_ns});
  }

  /// Calls `function(offsets, chunk, to, stride of to in bytes, rows)` for rows that each become
  /// one output, at most `max_rows` that lie behind one another at a time.
  template <class Function>
  void for_each_row(std::int64_t max_rows, const Function& function) const {
    const FoldDim& fastest = plan_.kept[0];
    const std::int64_t count = plan_.vector.extent;
    const std::int64_t most = std::min(max_rows, rows_at_once(count));
    const std::int64_t worth = num_parts_worth();
    const auto run = [&](std::int64_t begin, std::int64_t end) {
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
    };
    parallel_for(0, plan_.num_kept, (plan_.num_kept + worth - 1) / worth, run,
                 {plan_.max_threads, plan_.work_ns});
  }

  void fold_rows() const {
    if (code_ != nullptr) return fold_rows_whole();
    for_each_row(std::numeric_limits<std::int64_t>::max(),
                 [&](const FoldOffsets&, const FoldChunk& chunk, std::byte* to,
                     std::int64_t stride_bytes, std::int64_t rows) {
                   fold_.loops.rows(fold_, to, stride_bytes, chunk.data, chunk.row_stride_bytes,
                                    rows, plan_.vector.extent);
                   divide(to, stride_bytes, rows);
                 });
  }

  /// By code that computes what it folds, and leaves the results.
  void fold_rows_whole() const {
    for_each_row(std::numeric_limits<std::int64_t>::max(),
                 [&](const FoldOffsets& offsets, const FoldChunk&, std::byte* to,
                     std::int64_t stride_bytes, std::int64_t rows) {
                   launch_reduction(code_->rows, offsets, to,
                                    {{plan_.kept[0], rows, stride_bytes},
                                     {plan_.vector, plan_.vector.extent, 0}});
                   divide(to, stride_bytes, rows);
                 });
  }

  void place_rows() const {
    constexpr std::int64_t max_rows = 256;
    const std::int64_t count = plan_.vector.extent, itemsize = fold_.itemsize();
    const std::int64_t step = plan_.vector.stride_bytes[place_operand()] / place_bytes;
    for_each_row(max_rows, [&](const FoldOffsets&, const FoldChunk& chunk, std::byte* to,
                               std::int64_t stride_bytes, std::int64_t rows) {
      alignas(16) std::byte values[max_rows * 16];
      fold_.loops.rows(fold_, values, itemsize, chunk.data, chunk.row_stride_bytes, rows, count);
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t place =
            step * plan_.extrema.find(chunk.data + row * chunk.row_stride_bytes, count,
                                      values + row * itemsize);
        std::memcpy(to + row * stride_bytes, &place, sizeof place);
      }
    });
  }

  /// Elements that a partial result of this unit has.
  std::int64_t partial_of(const Place& place) const {
    return plan_.is_inner ? fold_.num_lanes() : place.num_columns;
  }

  /// One block of the tree's leaves, folded in order.
  void fold_block(const Place& place, std::int64_t block, std::byte* partial,
                  std::byte* buffer) const {
    fold_.clear(partial, partial_of(place));
    const auto fold_chunk = [&](const FoldOffsets& offsets, const FoldChunk& chunk,
                                std::int64_t rows, std::int64_t count) {
      if (code_ != nullptr) return fold_leaf(offsets, plan_.reduced[0], rows, count, partial);
      if (!plan_.is_inner)
        return fold_.loops.columns(fold_, partial, chunk.data, chunk.row_stride_bytes, rows, count);
      for (std::int64_t row = 0; row < rows; ++row)
        fold_.loops.lanes(fold_, partial, chunk.data + row * chunk.row_stride_bytes, count);
    };
    for_each_chunk_of(place, block, buffer, fold_chunk);
  }

  /// Folds the leaf `block` of a tree that has leaves up to `end`, and where a subtree of several
  /// begins with it that lie in one row, those at once; how many it was.
  std::int64_t fold_leaves(const Place& place, std::int64_t block, std::int64_t end,
                           std::byte* partial, std::byte* buffer) const {
    stop_if_cancelled();
    constexpr std::int64_t together = jit::FoldLoops::blocks_together;
    if (folds_together_ && block % together == 0 && block + together <= end) {
      const std::int64_t first = block % plan_.segments_per_row * block_elements_;
      if (first + together * block_elements_ <= plan_.vector.extent) {
        FoldOffsets at = place.offsets;
        advance(at, plan_.reduced, block / plan_.segments_per_row);
        advance(at, plan_.vector, first);
        fold_.tree_of_blocks(partial, base_[1] + at[1], block_elements_ * fold_.itemsize(),
                             block_elements_);
        return together;
      }
    }
    fold_block(place, block, partial, buffer);
    return 1;
  }

  /// Combines the results of `leaf(i, partial)` for i < num_leaves as a binary tree; the result is
  /// the first partial of `pending`.  What is pending are the trees of the digits of i.  A leaf
  /// says how many it was, a power of two that divides i: more than one are a subtree.
  template <class Leaf>
  void combine_leaves(std::int64_t num_leaves, std::int64_t num_elements, std::byte* pending,
                      const Leaf& leaf) const {
    const auto size = static_cast<std::int64_t>(partial_bytes());
    std::int64_t depth = 0;
    const auto combine = [&](std::int64_t top) {
      fold_.loops.columns(fold_, pending + (top - 1) * size, pending + top * size, 0, 1,
                          num_elements);
    };
    for (std::int64_t i = 0; i < num_leaves;) {
      const std::int64_t taken = leaf(i, pending + depth++ * size);
      for (std::int64_t digits = i / taken; (digits & 1) != 0; digits >>= 1) combine(--depth);
      i += taken;
    }
    while (depth > 1) combine(--depth);
  }

  void write(const Place& place, std::byte* partial) const {
    std::byte* to = base_[0] + place.offsets[0];
    if (plan_.is_inner) {
      fold_.finish(to, partial);
      return divide(to, 0, 1);
    }
    divide(partial, fold_.itemsize(), place.num_columns);
    const auto itemsize = static_cast<std::size_t>(fold_.itemsize());
    const std::int64_t stride_bytes = plan_.vector.stride_bytes[0];
    if (stride_bytes == fold_.itemsize()) {
      std::memcpy(to, partial, static_cast<std::size_t>(place.num_columns) * itemsize);
      return;
    }
    for (std::int64_t i = 0; i < place.num_columns; ++i)
      std::memcpy(to + i * stride_bytes, partial + i * fold_.itemsize(), itemsize);
  }

  void fold_unit(std::int64_t unit, std::byte* scratch) const {
    const Place place = place_of(unit);
    std::byte* const pending = scratch + fold_buffer_bytes;
    combine_leaves(plan_.num_blocks, partial_of(place), pending,
                   [&](std::int64_t block, std::byte* partial) {
                     return fold_leaves(place, block, plan_.num_blocks, partial, scratch);
                   });
    write(place, pending);
  }

  /// Too few outputs for the threads: they share the blocks of each, in subtrees of a power of two.
  void run_cut_trees(std::int64_t num_units, std::int64_t wanted_parts) const {
    const std::int64_t parts_per_unit = (wanted_parts + num_units - 1) / num_units;
    const auto blocks_per_part = static_cast<std::int64_t>(std::bit_ceil(
        static_cast<std::uint64_t>((plan_.num_blocks + parts_per_unit - 1) / parts_per_unit)));
    const std::int64_t num_parts = (plan_.num_blocks + blocks_per_part - 1) / blocks_per_part;
    const auto size = static_cast<std::int64_t>(partial_bytes());
    std::vector<std::byte> results(static_cast<std::size_t>(num_units * num_parts * size));
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      Scratch scratch(scratch_bytes());
      std::byte* const pending = scratch.data() + fold_buffer_bytes;
      for (std::int64_t i = begin; i < end; ++i) {
        const Place place = place_of(i / num_parts);
        const std::int64_t first = i % num_parts * blocks_per_part;
        const std::int64_t count = std::min(blocks_per_part, plan_.num_blocks - first);
        combine_leaves(
            count, partial_of(place), pending, [&](std::int64_t block, std::byte* partial) {
              return fold_leaves(place, first + block, first + count, partial, scratch.data());
            });
        std::memcpy(results.data() + i * size, pending, static_cast<std::size_t>(size));
      }
    };
    parallel_for(0, num_units * num_parts, 1, run, {plan_.max_threads, plan_.work_ns});
    Scratch scratch(scratch_bytes());
    for (std::int64_t unit = 0; unit < num_units; ++unit) {
      const Place place = place_of(unit);
      combine_leaves(num_parts, partial_of(place), scratch.data(),
                     [&](std::int64_t part, std::byte* partial) {
                       std::memcpy(partial, results.data() + (unit * num_parts + part) * size,
                                   static_cast<std::size_t>(size));
                       return std::int64_t{1};
                     });
      write(place, scratch.data());
    }
  }

  /// Takes an extremum into account: `place` is its row-major place.
  void consider(std::byte* best, std::int64_t& best_place, const std::byte* value,
                std::int64_t place) const {
    if (best_place >= 0) {
      const int comparison = plan_.extrema.compare(value, best);
      if (comparison < 0 || (comparison == 0 && place > best_place)) return;
    }
    std::memcpy(best, value, static_cast<std::size_t>(fold_.itemsize()));
    best_place = place;
  }

  /// The places of the extrema of one unit.
  void place_unit(std::int64_t unit, std::byte* scratch) const {
    const Place place = place_of(unit);
    std::byte* const buffer = scratch;
    std::byte* const values = scratch + fold_buffer_bytes;
    auto* const places =
        reinterpret_cast<std::int64_t*>(values + static_cast<std::int64_t>(partial_bytes()));
    std::fill_n(places, place.num_columns, -1);
    if (plan_.is_inner) {
      find_in_rows(place, buffer, values, places[0]);
    } else {
      find_in_columns(place, buffer, values, places);
    }
    const std::int64_t stride_bytes = plan_.is_inner ? 0 : plan_.vector.stride_bytes[0];
    for (std::int64_t i = 0; i < place.num_columns; ++i)
      std::memcpy(base_[0] + place.offsets[0] + i * stride_bytes, &places[i], sizeof places[i]);
  }

  const std::int64_t block_elements_ = fold_block_elements(fold_);
  const bool folds_together_ = folds_blocks_together(plan_);

  std::size_t place_operand() const { return plan_.num_operands - 1; }
  static constexpr std::int64_t place_bytes = sizeof(std::int64_t);

  void find_in_rows(const Place& place, std::byte* buffer, std::byte* best,
                    std::int64_t& best_place) const {
    const std::int64_t block = fold_block_elements(fold_);
    const std::int64_t step = plan_.vector.stride_bytes[place_operand()] / place_bytes;
    for (std::int64_t first = 0; first < plan_.vector.extent; first += block) {
      const std::int64_t count = std::min(block, plan_.vector.extent - first);
      FoldOffsets at = place.offsets;
      advance(at, plan_.vector, first);
      const auto find = [&](const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows) {
        for (std::int64_t row = 0; row < rows; ++row) {
          stop_if_cancelled();
          const std::byte* const data = chunk.data + row * chunk.row_stride_bytes;
          alignas(16) std::byte value[16];
          fold_.loops.rows(fold_, value, 0, data, 0, 1, count);
          if (best_place >= 0 && plan_.extrema.compare(value, best) < 0) continue;
          const std::int64_t found = plan_.extrema.find(data, count, value);
          const std::int64_t row_place =
              (offsets[place_operand()] + row * plan_.reduced[0].stride_bytes[place_operand()]) /
              place_bytes;
          consider(best, best_place, data + found * fold_.itemsize(), row_place + found * step);
        }
      };
      for_each_chunk(at, 0, plan_.num_rows, count, buffer, find);
    }
  }

  void find_in_columns(const Place& place, std::byte* buffer, std::byte* best,
                       std::int64_t* best_places) const {
    auto* const rows_found = best_places + strip_extent();
    auto* const values = reinterpret_cast<std::byte*>(rows_found + strip_extent());
    const std::int64_t step = plan_.reduced[0].stride_bytes[place_operand()] / place_bytes;
    const auto find = [&](const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows) {
      const std::int64_t first_place = offsets[place_operand()] / place_bytes;
      for (std::int64_t first = 0; first < rows; first += jit::max_extremum_rows) {
        stop_if_cancelled();
        plan_.extrema.columns(values, rows_found, chunk.data + first * chunk.row_stride_bytes,
                              chunk.row_stride_bytes,
                              std::min(rows - first, jit::max_extremum_rows), place.num_columns);
        for (std::int64_t i = 0; i < place.num_columns; ++i)
          consider(best + i * fold_.itemsize(), best_places[i], values + i * fold_.itemsize(),
                   first_place + (first + rows_found[i]) * step);
      }
    };
    for_each_chunk(place.offsets, 0, plan_.num_rows, place.num_columns, buffer, find);
  }
};

}  // namespace

void run_fold(const FoldPlan& plan, std::byte* const* base, const Bits* params) {
  if (plan.order == FoldOrder::exact) return run_exact_fold(plan, base, params);
  const auto run = [&](const jit::CodeObject* code) { FoldRun(plan, code, base, params).run(); };
  if (plan.reduction == nullptr) return run(nullptr);
  plan.reduction->fold(
      static_cast<std::uint64_t>(plan.vector.extent * plan.num_rows * plan.num_kept), run);
}

}  // namespace weft
