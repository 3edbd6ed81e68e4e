// The functions of machine code that move rectangles of items for a tile kernel: what each of them
// does.  Backends emit them, the walk calls them.
#pragma once

#include "runtime/cpu_features.h"

#include <cstddef>
#include <cstdint>

namespace weft::jit::tiles {

/// What a transposition reads of a line at once.
inline constexpr int lane_bytes = 16;

/// Lines that lie a multiple of so many bytes apart fight for the first cache.
inline constexpr int aliasing_bytes = 2048;

/// Item j of line i goes to item i of line j:
///
///     to[j * to_stride_bytes + i * itemsize] = from[i * from_stride_bytes + j * itemsize]
///
/// Where steps are cache lines, it asks for what lies `fetch_ahead_bytes` behind the items it
/// reads, unless that is 0; there need not be any memory.  If `fetches_in_order` is not 0, lines
/// follow one another without a gap, and it asks for as many bytes in the order of memory.
///
/// Requires: at least lines_a_step() lines and items_a_step() items; the two don't overlap.
using TransposeFunction = void(const std::byte* from, std::int64_t from_stride_bytes, std::byte* to,
                               std::int64_t to_stride_bytes, std::int64_t num_lines,
                               std::int64_t num_items, std::int64_t fetch_ahead_bytes,
                               std::int64_t fetches_in_order);

struct TransposeShape {
  int itemsize = 4;       ///< 1, 2, 4, 8 or 16
  int vector_bytes = 16;  ///< of the registers it works in: 16, 32 or 64
  int step_bytes = 16;    ///< written to a line at once: the same, or more of them
  /// Writes past the caches.  Every line written must be aligned to step_bytes, which should be
  /// those of a cache line, and num_lines be a multiple of lines_a_step().
  bool is_streaming = false;

  int lines_a_step() const { return step_bytes / itemsize; }
  int items_a_step() const { return lane_bytes / itemsize; }

  friend auto operator<=>(const TransposeShape&, const TransposeShape&) = default;
};

/// Bytes that the wide transpositions write to a line at once: a cache line.
inline constexpr int wide_step_bytes = 64;

/// Pixel i of `ways` items is at pixels + i * ways * itemsize, item k of it at
/// planes + k * plane_stride_bytes + i * itemsize.  Moves whole groups of group_items() pixels, as
/// many of them as num_pixels has, from the one place to the other.
using InterleaveFunction = void(std::byte* planes, std::int64_t plane_stride_bytes,
                                std::byte* pixels, std::int64_t num_pixels);

struct InterleaveShape {
  int itemsize = 4;  ///< 1, 2, 4 or 8
  int ways = 3;      ///< 2, 3 or 4
  bool to_pixels = true;
  /// Writes past the caches; what is written must be aligned to a cache line, in every plane.
  bool is_streaming = false;

  friend auto operator<=>(const InterleaveShape&, const InterleaveShape&) = default;
};

/// Whether items are put together by permutations of whole registers of 64 bytes; elsewhere it is
/// done within each 16 bytes.
inline bool can_permute(const CpuFeatures& features, int itemsize) {
  return features.isa == Isa::avx512 && (itemsize > 1 || features.avx512_vbmi);
}

/// Pixels that one step of the code moves.
inline int group_items(const CpuFeatures& features, const InterleaveShape& shape) {
  return (can_permute(features, shape.itemsize) ? 64 : 32) / shape.itemsize;
}

/// Where item `item` of vector `vector` of what is written comes from, among the `ways` vectors of
/// so many items that are read.
struct InterleaveSource {
  int vector;
  int item;
};
inline InterleaveSource interleave_source(const InterleaveShape& shape, int items, int vector,
                                          int item) {
  if (shape.to_pixels) {
    const int at = vector * items + item;
    return {at % shape.ways, at / shape.ways};
  }
  const int at = item * shape.ways + vector;
  return {at / items, at % items};
}

/// `count` rectangles as TransposeFunction has them, all of the same shape.
struct ShortPlanes {
  const std::byte* from;
  std::int64_t from_stride_bytes;  ///< between lines
  std::byte* to;
  std::int64_t to_stride_bytes;
  std::int64_t num_lines;        ///< least_short_lines() to most_short_lines()
  std::int64_t num_items;        ///< of a line, at least least_short_items()
  std::int64_t count;            ///< at least 1
  std::int64_t from_step_bytes;  ///< between rectangles
  std::int64_t to_step_bytes;
};
using ShortTransposeFunction = void(const ShortPlanes* planes);

/// Whether such a function pays for items of that size.
inline bool has_short_transpose(const CpuFeatures& features, int itemsize) {
  return features.isa >= Isa::avx2 && (itemsize == 4 || itemsize == 8);
}
/// Without masks a register must be full.
inline std::int64_t least_short_lines(const CpuFeatures& features, int itemsize) {
  return features.isa == Isa::avx512 ? 1 : lane_bytes / itemsize;
}
constexpr std::int64_t most_short_lines(int itemsize) { return 64 / itemsize; }
constexpr std::int64_t least_short_items(int itemsize) { return lane_bytes / itemsize; }

}  // namespace weft::jit::tiles
