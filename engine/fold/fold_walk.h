// The walk of a planned fold through its operands: what running it in one order or another has in
// common.
#pragma once

#include "engine/fold/fold_plan.h"

#include <weft/cancel.h>
#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

namespace weft {

/// An output, places.
inline constexpr std::size_t max_fold_operands = ir::max_launch_operands + 2;

/// In bytes, one an operand.  Only those that there are get copied.
class FoldOffsets {
 public:
  explicit FoldOffsets(std::size_t count) : count_(count) { std::fill_n(values_, count, 0); }
  FoldOffsets(const FoldOffsets& other) : count_(other.count_) {
    std::copy_n(other.values_, count_, values_);
  }
  FoldOffsets& operator=(const FoldOffsets&) = delete;
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }

 private:
  std::size_t count_;
  std::int64_t values_[max_fold_operands];  // NOLINT: what is not written is not read
};

/// Generated code, and what that finds in the arguments.
struct FoldCode {
  jit::KernelFunction function = nullptr;
  const void* context = nullptr;
};

/// One of two loops over what a map computes.
struct MapLoop {
  const FoldDim& dim;
  std::int64_t extent;
};
/// The loops, and where values go: dense along the inner one.
struct MapLoops {
  const MapLoop& outer;
  const MapLoop& inner;
  std::byte* buffer;
  std::int64_t pitch_bytes;  ///< from one iteration of the outer loop to the next
  std::int64_t itemsize;
};

/// Whether the inputs lie as if both loops were one.
inline bool is_one_loop(const MapLoop& outer, const MapLoop& inner) {
  for (std::size_t k = 1; k < outer.dim.stride_bytes.size(); ++k)
    if (outer.dim.stride_bytes[k] != inner.extent * inner.dim.stride_bytes[k]) return false;
  return true;
}

/// Computes values of the inputs behind base[0], from `offsets` on.
inline void launch_map(const jit::TieredKernel& map, std::byte* const* base_of_all,
                       const FoldOffsets& offsets, const Bits* params, const MapLoops& loops) {
  const MapLoop &outer = loops.outer, &inner = loops.inner;
  const std::size_t num_operands = map.kernel().operands.size();
  std::array<std::byte*, max_fold_operands> base;
  std::array<std::int64_t, 2 * max_fold_operands> stride_bytes;
  base[0] = loops.buffer;
  stride_bytes[0] = loops.pitch_bytes;
  stride_bytes[num_operands] = loops.itemsize;
  for (std::size_t i = 1; i < num_operands; ++i) {
    base[i] = base_of_all[i] + offsets[i];
    stride_bytes[i] = outer.dim.stride_bytes[i];
    stride_bytes[num_operands + i] = inner.dim.stride_bytes[i];
  }
  std::array<std::int64_t, 2> extents{outer.extent, inner.extent};
  const bool is_one =
      loops.pitch_bytes == inner.extent * loops.itemsize && is_one_loop(outer, inner);
  if (is_one) extents = {1, outer.extent * inner.extent};
  const jit::KernelArgs args{base.data(), extents.data(), stride_bytes.data(), params,
                             map.context()};
  map.entry()(&args);
}

template <class T>
void divide_as(double divisor, std::byte* values, std::int64_t stride_bytes, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i, values += stride_bytes) {
    T value;
    std::memcpy(&value, values, sizeof value);
    value /= static_cast<T>(divisor);
    std::memcpy(values, &value, sizeof value);
  }
}
/// What lies `stride_bytes` apart, divided by how many elements became one, if that is asked for.
inline void divide_results(const jit::Fold& fold, double divisor, std::byte* values,
                           std::int64_t stride_bytes, std::int64_t count) {
  if (divisor == 0) return;
  if (fold.dtype == DType::f32) return divide_as<float>(divisor, values, stride_bytes, count);
  divide_as<double>(divisor, values, stride_bytes, count);
}

/// So many bytes or more, in whole lines of the cache.
constexpr std::int64_t in_whole_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Values in rows: those of the one tensor that is folded as it lies, or computed ones.
struct FoldChunk {
  const std::byte* data;
  std::int64_t row_stride_bytes;
};

/// Memory for one thread's part, on the stack if it is little.
class FoldScratch {
 public:
  explicit FoldScratch(std::size_t size) {
    if (size > sizeof inline_) heap_.resize(size);
  }
  std::byte* data() { return heap_.empty() ? inline_ : heap_.data(); }

 private:
  alignas(64) std::byte inline_[fold_buffer_bytes + 4096];
  std::vector<std::byte> heap_;
};

/// What waits in a tree of many folds at once.
struct FoldLevels {
  std::byte* data;
  std::int64_t stride_bytes;
  std::byte* operator[](std::int64_t depth) const { return data + depth * stride_bytes; }
};

/// Immutable, like the plan: threads share it.
class FoldWalk {
 public:
  /// `code`: for the whole fold; null if `plan.map` and the loops compiled ahead do it.  `base`:
  /// the output, the inputs, and the outputs of FoldPlan::also.
  FoldWalk(const FoldPlan& plan, const jit::CodeObject* code, std::byte* const* base,
           const Bits* params)
      : plan_(plan),
        fold_(plan.fold),
        code_(code),
        base_(base),
        params_(params),
        fold_bytes_(plan.is_inner ? jit::Fold::lanes_bytes
                                  : in_whole_lines(strip_extent() * fold_.itemsize())),
        token_(plan.work_ns < fold_worth_a_thread_ns ? nullptr : CancellationScope::current()) {}

 protected:
  /// Asked before each block: a fold may have one output, which no loop over outputs can cut.
  void stop_if_cancelled() const {
    if (token_ != nullptr) [[unlikely]]
      token_->throw_if_cancelled();
  }

  std::int64_t num_threads() const {
    return plan_.max_threads > 0 ? plan_.max_threads : weft::num_threads();
  }
  /// Whether what is folded is computed into a buffer first.
  bool is_computed_apart() const { return code_ == nullptr && plan_.map != nullptr; }
  std::int64_t strip_extent() const {
    return is_computed_apart() ? plan_.computed_strip_extent : plan_.strip_extent;
  }
  std::int64_t num_strips() const {
    if (plan_.is_inner) return 1;
    return (plan_.vector.extent + strip_extent() - 1) / strip_extent();
  }

  std::int64_t block_of(std::int64_t slice) const { return slice >> slice_bits_; }
  std::int64_t slice_within_block(std::int64_t slice) const {
    return slice & (plan_.slices_per_block - 1);
  }

  static void advance(FoldOffsets& offsets, const FoldDim& dim, std::int64_t steps) {
    for (std::size_t i = 0; i < dim.stride_bytes.size(); ++i)
      offsets[i] += steps * dim.stride_bytes[i];
  }
  /// Moves to element number `linear` of `dims`.
  static void advance(FoldOffsets& offsets, const std::vector<FoldDim>& dims, std::int64_t linear) {
    for (const FoldDim& dim : dims) {
      if (linear == 0) return;
      advance(offsets, dim, linear % dim.extent);
      linear /= dim.extent;
    }
  }

  /// The values of `num_rows` rows along `row_dim`, `count` of each.
  FoldChunk fetch(const FoldOffsets& offsets, const FoldDim& row_dim, std::int64_t num_rows,
                  std::int64_t count, std::byte* buffer) const {
    if (!is_computed_apart()) return {base_[1] + offsets[1], row_dim.stride_bytes[1]};
    const std::int64_t row_stride_bytes = count * fold_.itemsize();
    const MapLoop rows{row_dim, num_rows}, elements{plan_.vector, count};
    launch_map(*plan_.map, base_, offsets, params_,
               {rows, elements, buffer, row_stride_bytes, fold_.itemsize()});
    return {buffer, row_stride_bytes};
  }

  /// A loop of generated code: how often it runs, and how far its output then moves.
  struct ReductionLoop {
    const FoldDim& dim;
    std::int64_t extent;
    std::int64_t output_bytes;
  };
  /// Arguments of generated code: operands, and loops with the outermost first.
  class ReductionLaunch {
   public:
    /// Inputs from `offsets` on.
    ReductionLaunch(const FoldWalk& walk, const FoldOffsets& offsets, std::byte* output,
                    std::initializer_list<ReductionLoop> loops)
        : num_more_outputs_(walk.plan_.also.size()) {
      base_[0] = output;
      for (std::size_t i = 1; i < walk.plan_.num_operands; ++i)
        base_[num_more_outputs_ + i] = walk.base_[i] + offsets[i];
      std::size_t at = 0;
      for (const ReductionLoop& loop : loops) {
        extents_[num_loops_++] = loop.extent;
        for (std::size_t i = 0; i <= num_more_outputs_; ++i)
          stride_bytes_[at++] = loop.output_bytes;
        for (std::size_t i = 1; i < walk.plan_.num_operands; ++i)
          stride_bytes_[at++] = loop.dim.stride_bytes[i];
      }
    }
    /// That of FoldPlan::also[i].
    void set_output(std::size_t i, std::byte* output) { base_[1 + i] = output; }
    void run(const FoldCode& code, const Bits* params) const {
      const jit::KernelArgs args{base_.data(), extents_.data(), stride_bytes_.data(), params,
                                 code.context};
      code.function(&args);
    }

   private:
    // Only what is used is written.
    std::array<std::byte*, max_fold_operands> base_;
    std::array<std::int64_t, 3> extents_;
    std::array<std::int64_t, 3 * max_fold_operands> stride_bytes_;
    std::size_t num_more_outputs_, num_loops_ = 0;
  };

  /// For `count` elements of each of `num_rows` rows along `row_dim`; the partial results of the
  /// folds lie fold_bytes_ apart.
  ReductionLaunch leaf_launch(const FoldOffsets& offsets, const FoldDim& row_dim,
                              std::int64_t num_rows, std::int64_t count, std::byte* partial) const {
    const ReductionLoop one_output{plan_.kept[0], 1, 0};
    const ReductionLoop rows{row_dim, num_rows, 0};
    const ReductionLoop vectors{plan_.vector, count, plan_.is_inner ? 0 : fold_.itemsize()};
    ReductionLaunch launch =
        fold_has_rows(plan_) ? ReductionLaunch(*this, offsets, partial, {one_output, rows, vectors})
                             : ReductionLaunch(*this, offsets, partial, {one_output, vectors});
    for (std::size_t i = 0; i < plan_.also.size(); ++i)
      launch.set_output(i, partial + static_cast<std::int64_t>(i + 1) * fold_bytes_);
    return launch;
  }
  /// Folds these by generated code.
  void fold_leaf(const FoldOffsets& offsets, const FoldDim& row_dim, std::int64_t num_rows,
                 std::int64_t count, std::byte* partial) const {
    leaf_launch(offsets, row_dim, num_rows, count, partial).run({code_->leaf}, params_);
  }

  /// Rows that a chunk of `count` values each may have.
  std::int64_t rows_at_once(std::int64_t count) const {
    // Of few columns the sums stay in registers, and nothing is read again for others.
    constexpr std::int64_t most_in_registers_bytes = 128;
    const bool is_wide = count * fold_.itemsize() > most_in_registers_bytes;
    if (code_ != nullptr && !plan_.is_inner && is_wide) return fold_.rows_at_once;
    if (!is_computed_apart()) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(fold_buffer_bytes / (count * fold_.itemsize()), 1);
  }

  /// Calls `function(offsets, chunk, first row, rows)` for the rows [begin, end) that are reduced.
  template <class Function>
  void for_each_chunk(const FoldOffsets& at, std::int64_t begin, std::int64_t end,
                      std::int64_t count, std::byte* buffer, const Function& function) const {
    const FoldDim& fastest = plan_.reduced[0];
    while (begin < end) {
      const std::int64_t rows =
          std::min({end - begin, fastest.extent - begin % fastest.extent, rows_at_once(count)});
      FoldOffsets offsets = at;
      advance(offsets, plan_.reduced, begin);
      function(offsets, fetch(offsets, fastest, rows, count, buffer), rows);
      begin += rows;
    }
  }

  /// Where a unit begins, and how many outputs side by side it has.
  struct Place {
    // Written out, because GCC fills what is made of a list with zeros first: 25 ns a sum.
    explicit Place(std::size_t num_operands) : offsets(num_operands) {}

    FoldOffsets offsets;
    std::int64_t num_columns = 1;
  };
  Place place_of(std::int64_t unit) const {
    Place place(plan_.num_operands);
    if (plan_.is_inner) {
      advance(place.offsets, plan_.kept, unit);
      return place;
    }
    const std::int64_t strips = num_strips();
    advance(place.offsets, plan_.kept, unit / strips);
    const std::int64_t first = unit % strips * strip_extent();
    advance(place.offsets, plan_.vector, first);
    place.num_columns = std::min(strip_extent(), plan_.vector.extent - first);
    return place;
  }

  /// Calls `function(offsets, chunk, rows, count)` for the values of one slice: a block of the
  /// tree's leaves, or some rows of one.
  template <class Function>
  void for_each_chunk_of(const Place& place, std::int64_t slice, std::byte* buffer,
                         const Function& function) const {
    const std::int64_t block = block_of(slice);
    const std::int64_t rows_per_slice = plan_.rows_per_block >> slice_bits_;
    const std::int64_t first_row = block / plan_.segments_per_row * plan_.rows_per_block +
                                   slice_within_block(slice) * rows_per_slice;
    const std::int64_t last_row = std::min(first_row + rows_per_slice, plan_.num_rows);
    FoldOffsets at = place.offsets;
    std::int64_t count = plan_.is_inner ? plan_.vector.extent : place.num_columns;
    if (plan_.segments_per_row > 1) {
      const std::int64_t size = fold_block_elements(fold_);
      const std::int64_t first = block % plan_.segments_per_row * size;
      advance(at, plan_.vector, first);
      count = std::min(size, count - first);
    }
    for_each_chunk(at, first_row, last_row, count, buffer,
                   [&](const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows) {
                     function(offsets, chunk, rows, count);
                   });
  }

  /// divide_results() of the first fold.
  void divide(std::byte* values, std::int64_t stride_bytes, std::int64_t count) const {
    divide_results(plan_.fold, plan_.divisor, values, stride_bytes, count);
  }

  /// Calls `function(fold, divisor, number, output)` for each of the plan's folds.
  template <class Function>
  void for_each_fold(const Function& function) const {
    function(plan_.fold, plan_.divisor, std::int64_t{0}, base_[0]);
    for (std::size_t i = 0; i < plan_.also.size(); ++i)
      function(plan_.also[i].fold, plan_.also[i].divisor, static_cast<std::int64_t>(i + 1),
               base_[plan_.num_operands + i]);
  }

  const FoldPlan& plan_;
  const jit::Fold& fold_;
  const jit::CodeObject* code_;
  std::byte* const* base_;
  const Bits* params_;
  const std::int64_t fold_bytes_;  ///< of a fold's partial results: what lies behind is aligned

 private:
  const int slice_bits_ = std::countr_zero(static_cast<std::uint64_t>(plan_.slices_per_block));
  const CancellationToken* token_;  ///< of the scope that the call is in; null without one
};

}  // namespace weft
