// What tile_walk.cpp and tile_copy.cpp share: planes, and how rectangles of them are moved.
#pragma once

#include "jit/xbyak/tile.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::jit::xbyak {

/// A tile's buffers share this much; with what is read and written besides, it fits the first
/// cache.
inline constexpr std::int64_t stage_bytes = 32 << 10;

/// A rectangle to transpose: as TransposeFunction has it.
struct Rectangle {
  const std::byte* from;
  std::int64_t from_stride;
  std::byte* to;
  std::int64_t to_stride;
  std::int64_t num_lines;
  std::int64_t num_items;
};

/// The two innermost loops, at one position of the others.
struct Plane {
  std::array<std::byte*, ir::max_launch_operands> base;
  std::int64_t rows;  ///< iterations of the tile loop
  std::int64_t columns;
  const std::int64_t* row_stride;  ///< [operand]
  const std::int64_t* column_stride;
};

/// Transposes by the widest steps that the rectangle has room for.
void transpose(const TileCode& tile, const TileOperand& operand, const Rectangle& r);

/// `total` in parts of about the same size, at most `most` and where it can be a multiple of 16.
std::int64_t even_part(std::int64_t total, std::int64_t most);

/// Whether lines that start there, `stride` apart, start with a cache line each.
bool starts_lines(const std::byte* at, std::int64_t stride);

/// Copies a row to where it stays unread for a while: whole cache lines go past the caches.
void stream_row(std::byte* to, const std::byte* from, std::int64_t size_bytes);

/// Asks for `count` pieces of memory, `stride` apart.
void prefetch_lines(const std::byte* at, std::int64_t stride, std::int64_t count,
                    std::int64_t size_bytes);

/// Whether an operand's part of a plane is a run of pixels of `ways` channels, all of them there.
bool is_pixels(const TileOperand& operand, const Plane& plane, std::size_t index);

/// Moves whole pixels; `streams` what it writes past the caches if it can.
void interleave_pixels(const TileCode& tile, const TileOperand& operand, std::byte* planes,
                       std::int64_t plane_stride, std::byte* pixels, std::int64_t count,
                       bool streams);

/// A copy's plane; `streams` as above.  `stage` has stage_bytes.
void copy_plane(const TileCode& tile, const Plane& plane, std::byte* stage, bool streams);

/// How many planes that follow one another in what a copy writes are better copied together; 1 if
/// they are not.  `outer_stride` is that of the loop around the plane, [operand], which has
/// `num_planes` iterations.
std::int64_t planes_at_once(const TileCode& tile, const Plane& plane,
                            const std::int64_t* outer_stride, std::int64_t num_planes);

/// Copies so many planes, past the caches.
void copy_planes(const TileCode& tile, const Plane& plane, const std::int64_t* outer_stride,
                 std::int64_t count, std::byte* stage);

}  // namespace weft::jit::xbyak
