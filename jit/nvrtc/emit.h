// Kernels as CUDA C++.  One source is one kernel, `weft_kernel`, for one variant; what it takes as
// its argument is made by launch.h.
#pragma once

#include "ir/kernel.h"

#include <string>

namespace weft::jit::nvrtc {

inline constexpr int threads_per_block = 256;
inline constexpr int warp_size = 32;
inline constexpr int warps_per_block = threads_per_block / warp_size;
inline constexpr const char* kernel_symbol = "weft_kernel";

/// What a launch decides about the code: how wide it may access memory, and how far it counts.
struct Variant {
  /// Neighbouring items that a thread handles at once.  Linear: items of a vector.  Tile: items
  /// along both sides of the small squares that a thread turns in registers.  Reductions: items
  /// of a vector, of which a thread may have several neighbours.  Else 1.
  int items = 1;
  int index_bits = 32;  ///< 32 or 64
  /// Elements that are accessed one by one are so in two halves: complex numbers lie at multiples
  /// of their parts, and a device only moves what lies at a multiple of its size.
  bool halves = false;

  friend bool operator==(const Variant&, const Variant&) = default;
};
/// "4 items, 32-bit indices": different for different variants, to stand in keys.
std::string text(const Variant& variant);

/// Vectors that a thread has on the way at once.
int vectors_in_flight(const ir::Kernel& kernel);
/// The most items a vector that fit the widest access, 16 bytes; 1 for schedules without vectors.
int most_items(const ir::Kernel& kernel);
/// Items along one side of a tile.
inline int tile_side(const Variant& variant) { return warp_size * variant.items; }

/// Shared memory that a tile is turned in.  A row holds 32 groups of `items` items and one word or
/// group of padding, which sends the groups of a column to different banks.
struct SharedTile {
  int group_bytes;  ///< items * bytes of an item
  int row_groups;   ///< groups from one row to the next
  int rows;         ///< 32 * items

  int size_bytes() const { return group_bytes * row_groups * rows; }
};
SharedTile shared_tile(int item_bytes, const Variant& variant);

/// Requires: a kernel after the passes that refuses() has nothing against.
std::string emit_source(const ir::Kernel& kernel, const Variant& variant);

}  // namespace weft::jit::nvrtc
