// How a tile kernel walks through its loops: which rectangles it moves, in which order.
#include "jit/tiles/move.h"
#include "runtime/thread_owned.h"

#include <weft/tuning.h>

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

namespace weft::jit::tiles {
namespace {

/// Pixels for which what is the same for all of them is repeated.
constexpr std::int64_t pixels_a_row = 512;

/// Planes of at most so many bytes of an operand are asked for while the one before is at work.
constexpr std::int64_t prefetched_bytes = 32 << 10;

/// Asks for the inputs of a plane, which lie in too many places for the processor to guess.
void prefetch(const TileCode& code, const Plane& plane) {
  for (std::size_t i = 0; i < code.operands.size(); ++i) {
    const TileOperand& operand = code.operands[i];
    if (operand.is_output) continue;
    if (operand.is_staged)
      prefetch_lines(plane.base[i], plane.column_stride[i], plane.columns,
                     plane.rows * plane.row_stride[i]);
    else if (plane.column_stride[i] == operand.itemsize && plane.row_stride[i] != 0)
      prefetch_lines(plane.base[i], plane.row_stride[i], plane.rows,
                     plane.columns * plane.column_stride[i]);
  }
}

/// Whether the plane's operands are pixels without gaps, or the same for every pixel.
bool is_pixel_plane(const TileCode& tile, const Plane& plane) {
  if (tile.pixel_rows == 0) return false;
  std::int64_t constant_bytes = 0;
  for (std::size_t i = 0; i < tile.operands.size(); ++i) {
    const bool is_constant = tile.operands[i].ways == 0;
    if (!is_constant && !is_pixels(tile.operands[i], plane, i)) return false;
    if (is_constant) constant_bytes += tile.operands[i].itemsize;
  }
  return constant_bytes * pixels_a_row * plane.rows <= stage_bytes;
}

/// Writes an operand's items for one pixel `count` times; returns where the next may start.
std::byte* repeat_pixel(std::byte* to, const Plane& plane, std::size_t operand,
                        std::int64_t itemsize, std::int64_t count) {
  for (std::int64_t row = 0; row < plane.rows; ++row)
    std::memcpy(to + row * itemsize, plane.base[operand] + row * plane.row_stride[operand],
                static_cast<std::size_t>(itemsize));
  const std::int64_t total_bytes = count * plane.rows * itemsize;
  for (std::int64_t done = plane.rows * itemsize; done < total_bytes; done *= 2)
    std::memcpy(to + done, to, static_cast<std::size_t>(std::min(done, total_bytes - done)));
  return to + total_bytes;
}

/// Runs the kernel over pixels as they lie, a row of them at a time; what is the same for every
/// pixel is repeated in a buffer first.
void run_pixels(const TileCode& tile, const KernelArgs& args, const Plane& plane, Stage buffer,
                bool streams) {
  const FunctionOffset rows = streams ? tile.streaming_pixel_rows : tile.pixel_rows;
  std::byte* stage = buffer.data();
  const std::size_t num_operands = tile.operands.size();
  const std::int64_t repeats = std::min(pixels_a_row, plane.columns);
  std::array<std::byte*, ir::max_launch_operands> base;
  std::array<std::int64_t, 2 * ir::max_launch_operands> strides;
  for (std::size_t i = 0; i < num_operands; ++i) {
    const TileOperand& operand = tile.operands[i];
    const bool is_constant = operand.ways == 0;
    base[i] = is_constant ? stage : plane.base[i];
    strides[i] = is_constant ? 0 : repeats * plane.column_stride[i];
    strides[num_operands + i] = operand.itemsize;
    if (is_constant) stage = repeat_pixel(stage, plane, i, operand.itemsize, repeats);
  }
  const auto run = [&](std::int64_t num_rows, std::int64_t num_pixels) {
    const std::int64_t extents[] = {num_rows, num_pixels * plane.rows};
    const KernelArgs part{base.data(), extents, strides.data(), args.params, nullptr};
    tile.at<void(const KernelArgs*)>(rows)(&part);
  };
  const std::int64_t whole_rows = plane.columns / repeats;
  const std::int64_t rest = plane.columns % repeats;
  run(whole_rows, repeats);
  if (rest == 0) return;
  for (std::size_t i = 0; i < num_operands; ++i) base[i] += whole_rows * strides[i];
  run(1, rest);
}

struct LargeStage {
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory{
      static_cast<std::byte*>(std::aligned_alloc(4096, large_stage_bytes))};
};

/// Kept for the thread's next large call; empty if there is no memory, or no thread any more.
Stage large_stage() {
  const LargeStage* stage = thread_owned<LargeStage>();
  if (stage == nullptr || stage->memory == nullptr) return {};
  return {stage->memory.get(), std::size_t{large_stage_bytes}};
}

/// What a call moves.
std::int64_t total_bytes(const TileCode& tile, const KernelArgs& args) {
  std::int64_t bytes = 0;
  for (const TileOperand& operand : tile.operands) bytes += operand.itemsize;
  for (std::size_t loop = 0; loop < tile.num_loops; ++loop) bytes *= args.extents[loop];
  return bytes;
}

/// The loops around the two innermost, the last of them fastest.
class Nest {
 public:
  Nest(const KernelArgs& args, const TileCode& tile)
      : args_(args), num_operands_(tile.operands.size()), num_outer_(tile.num_loops - 2) {
    const std::int64_t* strides = args.stride_bytes + num_outer_ * num_operands_;
    plane_.rows = args.extents[num_outer_];
    plane_.columns = args.extents[num_outer_ + 1];
    plane_.row_stride = strides;
    plane_.column_stride = strides + num_operands_;
    std::copy_n(args.base, num_operands_, plane_.base.begin());
    std::fill_n(position_.begin(), num_outer_, 0);
    std::fill_n(step_.begin(), num_outer_, 1);
  }

  const Plane& plane() const { return plane_; }
  /// plane(), to keep while the nest goes on; without the bases of operands that there are not.
  Plane current() const {
    Plane plane;
    for (std::size_t i = 0; i < num_operands_; ++i) plane.base[i] = plane_.base[i];
    plane.rows = plane_.rows;
    plane.columns = plane_.columns;
    plane.row_stride = plane_.row_stride;
    plane.column_stride = plane_.column_stride;
    return plane;
  }

  std::size_t num_loops() const { return num_outer_; }
  /// [operand]
  const std::int64_t* strides(std::size_t loop) const {
    return args_.stride_bytes + loop * num_operands_;
  }
  std::int64_t extent(std::size_t loop) const { return args_.extents[loop]; }

  /// Iterations of a loop that advance() takes at once, where so many are left.
  void set_step(std::size_t loop, std::int64_t step) { step_[loop] = step; }
  std::int64_t step(std::size_t loop) const {
    return std::min(step_[loop], args_.extents[loop] - position_[loop]);
  }

  /// On to the next planes; false, and back at the first, if there is none.
  bool advance() {
    for (std::size_t loop = num_outer_; loop-- > 0;) {
      std::int64_t steps = step(loop);
      position_[loop] += steps;
      const bool wraps = position_[loop] == args_.extents[loop];
      if (wraps) {
        steps -= args_.extents[loop];
        position_[loop] = 0;
      }
      for (std::size_t i = 0; i < num_operands_; ++i) plane_.base[i] += steps * strides(loop)[i];
      if (!wraps) return true;
    }
    return false;
  }

 private:
  const KernelArgs& args_;
  const std::size_t num_operands_;
  const std::size_t num_outer_;
  Plane plane_;
  std::array<std::int64_t, ir::max_launch_loops> position_;
  std::array<std::int64_t, ir::max_launch_loops> step_;
};

/// The loops along which a large copy takes several planes at once; the nest is set to such steps.
class JoinedPlanes {
 public:
  JoinedPlanes(const TileCode& tile, Nest& nest, Stage stage) : nest_(nest) {
    if (nest.num_loops() == 0) return;
    along_ = nest.num_loops() - 1;
    const std::int64_t count =
        planes_at_once(tile, nest.plane(), nest.strides(along_), nest.extent(along_), stage);
    is_joined_ = count > 1;
    if (!is_joined_) return;
    nest.set_step(along_, count);
    for (run_loop_ = 0; run_loop_ < along_; ++run_loop_) {
      const std::int64_t runs =
          runs_at_once(tile, nest.plane(), count, nest.strides(run_loop_), stage);
      nest.set_step(run_loop_, runs);
      if (runs > 1) return;
    }
  }

  bool is_joined() const { return is_joined_; }
  /// Those where the nest is.
  Planes current() const {
    Planes planes{.count = nest_.step(along_), .stride = nest_.strides(along_)};
    if (run_loop_ == along_) return planes;
    planes.runs = nest_.step(run_loop_);
    planes.run_stride = nest_.strides(run_loop_);
    return planes;
  }

 private:
  const Nest& nest_;
  bool is_joined_ = false;
  std::size_t along_ = 0;
  std::size_t run_loop_ = 0;
};

/// All planes of a large copy, those that belong together at once.
void copy_joined_planes(const TileCode& tile, Nest& nest, const JoinedPlanes& joined, Stage stage,
                        const Reach& reach) {
  do copy_planes(tile, nest.plane(), joined.current(), stage, reach);
  while (nest.advance());
}

/// All planes of any other copy.  `prefetches` one while the one before is at work.
void copy_each_plane(const TileCode& tile, const PlaneCopy& copy, Nest& nest, bool prefetches) {
  bool is_last = false;
  while (!is_last) {
    std::byte* const to = nest.plane().base[0];
    std::byte* const from = nest.plane().base[1];
    is_last = !nest.advance();
    if (prefetches && !is_last) prefetch(tile, nest.plane());
    copy.run(to, from);
  }
}

/// All planes of a copy that have few lines each.  One call takes those along the loop on which
/// they lie closest to one another.
void copy_short_planes(const PlaneCopy& copy, Nest& nest) {
  static constexpr std::int64_t alone[2] = {};
  const std::int64_t* stride = alone;
  std::size_t along = nest.num_loops();
  for (std::size_t loop = 0; loop < nest.num_loops(); ++loop) {
    const std::int64_t* const other = nest.strides(loop);
    if (along < nest.num_loops() &&
        std::abs(other[0]) + std::abs(other[1]) >= std::abs(stride[0]) + std::abs(stride[1]))
      continue;
    along = loop;
    stride = other;
  }
  const std::int64_t count = along < nest.num_loops() ? nest.extent(along) : 1;
  if (along < nest.num_loops()) nest.set_step(along, count);
  do copy.run_many(nest.plane().base[0], nest.plane().base[1], count, stride);
  while (nest.advance());
}

/// A call that needs the buffer of its tiles.
[[gnu::noinline]] void run_staged(const KernelArgs& args, const TileCode& tile, std::int64_t bytes,
                                  const Reach& reach) {
  alignas(64) std::array<std::byte, stage_bytes> small_stage;
  Stage stage = bytes >= tile.large_bytes ? large_stage() : Stage();
  if (!tile.is_copy && !stage.empty())
    stage = stage.first(static_cast<std::size_t>(
        bytes < tile.last_cache_bytes ? tile.cached_buffer_bytes : tile.large_buffer_bytes));
  if (stage.empty()) stage = small_stage;
  Nest nest(args, tile);
  const std::int64_t* const sides = args.extents + tile.num_loops - 2;
  const bool prefetches =
      reach.streams && sides[0] * sides[1] * tile.operands[0].itemsize <= prefetched_bytes;
  if (tile.is_copy) {
    const JoinedPlanes joined(tile, nest, stage);
    if (joined.is_joined()) return copy_joined_planes(tile, nest, joined, stage, reach);
    return copy_each_plane(tile, PlaneCopy(tile, nest.plane(), stage, reach), nest, prefetches);
  }
  bool is_last = false;
  while (!is_last) {
    const Plane plane = nest.current();
    is_last = !nest.advance();
    if (prefetches && !is_last) prefetch(tile, nest.plane());
    if (is_pixel_plane(tile, plane)) {
      run_pixels(tile, args, plane, stage, reach.streams);
      continue;
    }
    if (!run_fused(tile, args, plane, bytes, reach.streams))
      run_staged_plane(tile, args, plane, stage, reach);
  }
}

}  // namespace

// Measured: docs/decisions/transposition.md.  On Zen 3 what copies do best says nothing of others.
StreamingThresholds streaming_thresholds(const CpuFeatures& features, const Tuning& tuning) {
  constexpr std::int64_t least = std::int64_t{4} << 20;
  const bool is_zen3 = runs_on_zen3(features);
  const std::int64_t measured = tuning.tile_streaming_bytes;
  if (measured > 0) return {is_zen3 ? std::min(measured, least) : measured, measured};
  return {least, is_zen3 ? std::max(least, features.l3_bytes / 4) : least};
}

void set_thresholds(TileCode& tile, const CpuFeatures& features) {
  const Tuning& tuning = current_tuning();
  const StreamingThresholds streaming = streaming_thresholds(features, tuning);
  tile.streaming_bytes = streaming.bytes;
  tile.copy_streaming_bytes = streaming.copy_bytes;
  tile.large_bytes = tuning.tile_large_bytes;
  const bool has_small_l2 = features.l2_bytes < 1 << 20;
  tile.large_buffer_bytes = std::clamp(features.l2_bytes / 4, stage_bytes, large_stage_bytes);
  tile.cached_buffer_bytes =
      has_small_l2 ? std::max(tile.large_buffer_bytes / 2, stage_bytes) : tile.large_buffer_bytes;
  tile.last_cache_bytes = features.l3_bytes;
  // Measured: docs/decisions/transposition.md.
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least_fused_side = 512;
  tile.panel_bytes = features.pages_in_turn ? 128 : 64;
  tile.stages_aliases = !features.pages_in_turn;
  tile.fused_side = features.pages_in_turn ? never : least_fused_side;
  const bool is_amd = features.amd_family >= zen3_family,
             is_zen5 = features.amd_family >= zen5_family;
  const bool is_zen3 = runs_on_zen3(features);
  const std::int64_t beyond_l3 = features.l3_bytes + features.l3_bytes / 4;
  tile.most_fused_bytes = is_zen3 ? features.l3_bytes / 2 : is_amd ? beyond_l3 : never;
  tile.fuses_aliases = is_amd && !is_zen5 && !is_zen3;
  tile.stages_fighting_lines = is_zen3;
  tile.most_large_fused_bytes = is_zen5 ? never : is_zen3 ? features.l3_bytes / 2 : beyond_l3;
  tile.least_fighting_fused_bytes = is_zen5 ? features.l3_bytes / 8 * 5 : never;
  tile.least_pairs_bytes = is_amd ? features.l3_bytes : never;
  tile.least_joined_bytes = std::min<std::int64_t>(features.l3_bytes / 2, 16 << 20);
  tile.least_fetched_bytes = is_zen5   ? 0
                             : is_zen3 ? features.l3_bytes / 4
                             : is_amd  ? features.l3_bytes
                                       : never;
  tile.fetches_along = is_zen5;
  tile.copies_fetch_along = is_zen5 || is_zen3;
}

void run_tiles(const KernelArgs* args, const TileCode* tile) {
  const std::int64_t bytes = total_bytes(*tile, *args);
  const std::int64_t streaming_bytes =
      tile->is_copy ? tile->copy_streaming_bytes : tile->streaming_bytes;
  const Reach reach{.streams = bytes >= streaming_bytes,
                    .fetches_ahead = bytes >= tile->least_fetched_bytes,
                    .joins_lines = bytes >= tile->least_joined_bytes};
  if (tile->is_copy && !reach.streams) {  // from memory to memory
    Nest nest(*args, *tile);
    const PlaneCopy copy(*tile, nest.plane(), {}, {});
    if (copy.is_short()) return copy_short_planes(copy, nest);
    if (!run_items(*tile, *args)) copy_each_plane(*tile, copy, nest, false);
    return;
  }
  if (run_items(*tile, *args)) return;
  run_staged(*args, *tile, bytes, reach);
  if (reach.streams) _mm_sfence();
}

}  // namespace weft::jit::tiles
