// What walk.cpp, copy.cpp, staged.cpp, items.cpp and fused.cpp share: planes, and how rectangles of
// them are moved.
#pragma once

#include "jit/tiles/tile.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::jit::tiles {

/// What a tile's buffers share: of a call that fits the caches, the first cache with what is read
/// and written besides; of a larger one so much of the second that long runs are read and written.
inline constexpr std::int64_t stage_bytes = 32 << 10;
inline constexpr std::int64_t large_stage_bytes = 256 << 10;
using Stage = std::span<std::byte>;

/// Runs of this length are read and written at a time where the buffers allow it: processors notice
/// them and read ahead.
inline constexpr std::int64_t wanted_run_bytes = 1 << 10;

/// Shorter rows have too few whole cache lines to write past the caches; where their ends share
/// lines with others, wanted_run_bytes are too few.
inline constexpr std::int64_t least_streamed_bytes = 256;

/// An item of 16 bytes.
struct Wide {
  std::uint64_t halves[2];
};

/// What the size of a call says of memory.
struct Reach {
  bool streams = false;        ///< what is written goes past the caches
  bool fetches_ahead = false;  ///< what is read later is asked for
  bool joins_lines = false;    ///< rows that share lines of the cache leave by a buffer
};

/// What TransposeFunction asks for.
struct FetchAhead {
  std::int64_t bytes = 0;
  bool in_order = false;
};

/// A rectangle to transpose: as TransposeFunction has it.
struct Rectangle {
  const std::byte* from;
  std::int64_t from_stride;
  std::byte* to;
  std::int64_t to_stride;
  std::int64_t num_lines;
  std::int64_t num_items;
  FetchAhead fetch_ahead = {};
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

/// The same, as many lines at a time as there are streams that processors keep track of.  Asks for
/// what fetch_ahead() says where the rectangle doesn't.
void transpose_panels(const TileCode& tile, const TileOperand& operand, const Rectangle& r,
                      const Reach& reach);

/// How far ahead of what it reads in memory a transposition should ask for more.
FetchAhead fetch_ahead(const TileCode& tile, const TileOperand& operand, const Rectangle& r,
                       const Reach& reach);

/// `total` in parts of about the same size, at most `most` and where it can be a multiple of 16.
std::int64_t even_part(std::int64_t total, std::int64_t most);

/// Whether lines that start there, `stride` apart, start with a cache line each.
bool starts_lines(const std::byte* at, std::int64_t stride);

/// Sides of about `rows` and `columns`, smaller where so many items would not fit.
struct Sides {
  std::int64_t rows, columns;
};
Sides fitting_sides(std::int64_t rows, std::int64_t columns, std::int64_t num_items);

/// Asks for `count` pieces of memory, `stride` apart.
void prefetch_lines(const std::byte* at, std::int64_t stride, std::int64_t count,
                    std::int64_t size_bytes);

/// Whether lines of some staged operand fight for the first cache.
bool lines_fight(const TileCode& tile, const Plane& plane);

/// Whether an operand's part of a plane is a run of pixels of `ways` channels, all of them there.
bool is_pixels(const TileOperand& operand, const Plane& plane, std::size_t index);

/// Moves whole pixels; `streams` what it writes past the caches if it can.
void interleave_pixels(const TileCode& tile, const TileOperand& operand, std::byte* planes,
                       std::int64_t plane_stride, std::byte* pixels, std::int64_t count,
                       bool streams);

/// Copies planes of one shape, one at a time: what is the same for all of them is decided once.
class PlaneCopy {
 public:
  /// `tile` and `stage` must outlive the object.
  PlaneCopy(const TileCode& tile, const Plane& plane, Stage stage, const Reach& reach);

  /// The plane whose first elements are there.
  void run(std::byte* to, std::byte* from) const;

  /// Whether planes have so few lines that many of them are copied by one call: run_many().
  bool is_short() const { return is_short_; }
  /// `count` planes, `stride` [operand] apart.  Requires: is_short().
  void run_many(std::byte* to, std::byte* from, std::int64_t count,
                const std::int64_t* stride) const;

 private:
  const TileCode& tile_;
  const TileOperand& operand_;  ///< the staged one
  const Stage stage_;
  const Reach reach_;
  const bool is_pixels_;
  bool is_short_ = false;
  Rectangle shape_;                          ///< without addresses
  std::array<std::int64_t, 2> offset_ = {};  ///< of the rectangle's first line, [operand]
  TransposeFunction* whole_ = nullptr;       ///< moves it at once, if one function can
};

/// Runs the row kernel over a plane, tile by tile, with the staged operands' buffers in place of
/// their memory.
void run_staged_plane(const TileCode& tile, const KernelArgs& args, const Plane& plane, Stage stage,
                      const Reach& reach);

/// Runs the kernel over a plane with its transposed inputs in registers; does nothing and returns
/// false where that is impossible, or slower in a call that moves so many bytes.  `streams`:
/// whether they are many enough to write past the caches.
bool run_fused(const TileCode& tile, const KernelArgs& args, const Plane& plane, std::int64_t bytes,
               bool streams);

/// Runs a kernel whose planes are too small to transpose; does nothing and returns false if they
/// are not.
bool run_items(const TileCode& tile, const KernelArgs& args);

/// Planes of a copy that are better copied together.
struct Planes {
  std::int64_t count = 1;                ///< that follow one another in what is written
  const std::int64_t* stride = nullptr;  ///< from one to the next, [operand]
  std::int64_t runs = 1;                 ///< so many times, and follow one another in what is read
  const std::int64_t* run_stride = nullptr;
};

/// How many planes along the loop around the plane, of these strides and so many iterations, are to
/// be written together; 1 if none.
std::int64_t planes_at_once(const TileCode& tile, const Plane& plane, const std::int64_t* stride,
                            std::int64_t num_planes, Stage stage);

/// How often so many planes are to be read together along another loop of these strides; 1 if not.
std::int64_t runs_at_once(const TileCode& tile, const Plane& plane, std::int64_t num_planes,
                          const std::int64_t* run_stride, Stage stage);

/// Copies planes, past the caches.
void copy_planes(const TileCode& tile, const Plane& plane, const Planes& planes, Stage stage,
                 const Reach& reach);

}  // namespace weft::jit::tiles
