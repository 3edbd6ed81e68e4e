// Kernels as CUDA C++.  One source is one kernel, `weft_kernel`, for one variant; what it takes as
// its argument is made by launch.h.
#pragma once

#include "ir/kernel.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace weft::jit::nvrtc {

inline constexpr int threads_per_block = 256;
inline constexpr int warp_size = 32;
inline constexpr int warps_per_block = threads_per_block / warp_size;
inline constexpr const char* kernel_symbol = "weft_kernel";

/// How many units there are of `number` things, the last one perhaps not full.
template <class Number>
constexpr Number quotient_up(Number number, std::type_identity_t<Number> unit) {
  return (number + unit - 1) / unit;
}

/// What a block of threads turns in shared memory at once: groups of neighbouring items along the
/// loop around the innermost and along the innermost, and as many such tiles along the loop around
/// both.
struct TileShape {
  int row_groups = 0, column_groups = 0, batch = 0;  ///< 0: there are no tiles

  int num_squares() const { return row_groups * column_groups * batch; }
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

/// What a launch decides about the code: how wide it may access memory, and how far it counts.
struct Variant {
  /// Neighbouring items that a thread handles at once.  Linear and strided: items of a vector.
  /// Tile: items along both sides of the small squares that a thread turns in registers.
  /// Reductions: items of a vector, of which a thread may have several neighbours.  Else 1.
  int items = 1;
  int index_bits = 32;  ///< 32 or 64
  /// Elements that are accessed one by one are so in two halves: complex numbers lie at multiples
  /// of their parts, and a device only moves what lies at a multiple of its size.
  bool halves = false;
  TileShape tile = {};  ///< of tile kernels

  friend bool operator==(const Variant&, const Variant&) = default;
};
/// "4 items, 32-bit indices": different for different variants, to stand in keys.
std::string text(const Variant& variant);

/// Vectors of so many items that a thread has on the way at once.  Requires: no tile kernel.
int vectors_in_flight(const ir::Kernel& kernel, int items);
/// The most items a vector that fit the widest access, 16 bytes; 1 for schedules without vectors.
int most_items(const ir::Kernel& kernel);
/// Indices of a loop that a thread's vector, or a block's tile, takes at once.
int loop_step(const ir::Kernel& kernel, const Variant& variant, std::size_t loop);
/// The shape of tiles of so many items a group, for loops of such extents: those around the
/// innermost, the innermost, and the one around both.
TileShape choose_tile(const ir::Kernel& kernel, int items, std::uint64_t rows,
                      std::uint64_t columns, std::uint64_t batches);

/// Shared memory that a tile is turned in.  Rows are padded so that the groups of a column lie in
/// different banks.
struct SharedTile {
  int group_bytes;  ///< items * bytes of an item
  int row_groups;   ///< groups from one row to the next
  int rows;         ///< of groups: one for each column of the tiles

  int size_bytes() const { return group_bytes * row_groups * rows; }
};
SharedTile shared_tile(int item_bytes, int items, const TileShape& shape);

/// Requires: a kernel after the passes that refuses() has nothing against.
std::string emit_source(const ir::Kernel& kernel, const Variant& variant);

}  // namespace weft::jit::nvrtc
