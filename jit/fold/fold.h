// Folding arrays with an associative op, in an order that is fixed once and for all: what is at
// the bottom of every reduction.  The loops are compiled ahead, once an instruction set; all of
// them, and the slow ones made of the op table's rows, give the same bits.
//
// Elements go to `num_lanes()` partial results in turn, element i to lane i % num_lanes, and the
// lanes are combined by halves: lane i with lane i + num_lanes / 2, and so on down to one.
#pragma once

#include "ir/evaluate.h"
#include "runtime/cpu_features.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::jit {

struct Fold;

/// The loops of one op and dtype.  Arrays are aligned to their elements or not at all.
struct FoldLoops {
  /// Folds `count` elements of each of `num_rows` rows into the lanes, the first into lane 0.
  void (*lanes)(const Fold& fold, std::byte* lanes, const std::byte* data,
                std::int64_t row_stride_bytes, std::int64_t num_rows, std::int64_t count) = nullptr;
  /// to[i] = op(... op(op(to[i], row 0 [i]), row 1 [i]) ...) for i < num_columns.
  void (*columns)(const Fold& fold, std::byte* to, const std::byte* data,
                  std::int64_t row_stride_bytes, std::int64_t num_rows,
                  std::int64_t num_columns) = nullptr;
  /// Folds each of `num_rows` rows to one element, through lanes that begin as the identity.
  void (*rows)(const Fold& fold, std::byte* to, std::int64_t to_stride_bytes, const std::byte* data,
               std::int64_t row_stride_bytes, std::int64_t num_rows, std::int64_t count) = nullptr;
  /// Combines the lanes to one element.  The lanes are used up.
  void (*finish)(const Fold& fold, std::byte* to, std::byte* lanes) = nullptr;
  /// The tree over the blocks of `block` elements that `count` make, at most `most_blocks` of them
  /// and the last of them maybe shorter, each folded to lanes that begin as the identity: what
  /// blocks in pairs become, and pairs of these, where what is left over waits for the end.
  ///
  /// Requires: `block` is a multiple of the number of lanes.
  void (*tree)(const Fold& fold, std::byte* lanes, const std::byte* data, std::int64_t count,
               std::int64_t block) = nullptr;
  /// The same for `blocks_together` blocks of `count` elements, `block_stride_bytes` apart, which
  /// are read side by side or in turn.  Null where that gains nothing.
  ///
  /// Requires: `count` is a multiple of the number of lanes.
  void (*tree_of_blocks)(const Fold& fold, std::byte* lanes, const std::byte* data,
                         std::int64_t block_stride_bytes, std::int64_t count) = nullptr;
  /// Fills the lanes of `count` blocks, one after the other, with the identity.
  void (*start_blocks)(const Fold& fold, std::byte* lanes, std::int64_t count) = nullptr;
  /// Combines the lanes of `count` blocks, `stride_bytes` apart, as `tree` does, to the first.
  ///
  /// Requires: `stride_bytes` is positive.
  void (*combine_blocks)(const Fold& fold, std::byte* lanes, std::int64_t stride_bytes,
                         std::int64_t count) = nullptr;

  /// `columns` for `blocks_together` groups of rows, `group_stride_bytes` apart, from the identity
  /// on: what they become lies one after the other.  Null where that gains nothing.
  ///
  /// Requires: the columns have at most `most_narrow_bytes`.
  void (*narrow_columns)(const Fold& fold, std::byte* to, const std::byte* data,
                         std::int64_t group_stride_bytes, std::int64_t row_stride_bytes,
                         std::int64_t num_rows, std::int64_t num_columns) = nullptr;
  static constexpr std::int64_t most_narrow_bytes = 64;

  static constexpr std::int64_t most_blocks = 256;
  /// Lanes that wait in a tree of so many.
  static constexpr std::int64_t most_pending =
      std::bit_width(static_cast<std::uint64_t>(most_blocks));
  /// Read side by side, blocks come from some memories faster than one after the other.
  static constexpr std::int64_t blocks_together = 4;
};

/// What arrays are folded with.  Immutable.
struct Fold {
  static constexpr std::int64_t lanes_bytes = 256;

  Op op = Op::add;
  DType dtype = DType::f32;
  Bits identity{};
  ir::BlockFunction row = nullptr;  ///< the op's row of the table
  FoldLoops loops;
  Isa isa = Isa::generic;                ///< that the loops are compiled for
  bool calls_row = true;                 ///< whether the loops call `row`
  bool prefetches = false;               ///< long rows are not in a near cache: asks for them ahead
  bool in_order = false;                 ///< rows and their blocks are not read side by side
  std::int64_t columns_ahead_bytes = 0;  ///< how far ahead extrema in order are asked for
  std::int64_t rows_at_once = 32;  ///< that `columns` reads side by side; not what it computes
  std::array<std::byte, lanes_bytes> identity_lanes{};

  std::int64_t itemsize() const { return static_cast<std::int64_t>(itemsize_bytes(dtype)); }
  std::int64_t num_lanes() const { return lanes_bytes / itemsize(); }
  /// Fills `count` elements with the identity.
  void clear(std::byte* to, std::int64_t count) const;
  void finish(std::byte* to, std::byte* lanes) const { loops.finish(*this, to, lanes); }
  /// Whether blocks of long rows are read by tree_of_blocks().
  bool reads_side_by_side() const { return loops.tree_of_blocks != nullptr && !in_order; }
};

/// Lanes that wait in a tree of blocks, of one fold or of several that share the tree.
template <std::size_t num_folds = 1>
using PendingLanes = std::byte[FoldLoops::most_pending][num_folds * Fold::lanes_bytes];

/// The order of FoldLoops::tree: `leaf(lanes, first, size)` folds so many elements of a block into
/// lanes of the identity, `combine(to, from)` takes lanes to those before them.  The result is in
/// pending[0].
///
/// Requires: 0 < count <= most_blocks * block.
template <class Pending, class Leaf, class Combine>
[[gnu::always_inline]] inline void fold_tree(Pending& pending, std::int64_t count,
                                             std::int64_t block, const Leaf& leaf,
                                             const Combine& combine) {
  int depth = 0;
  for (std::int64_t number = 0, first = 0; first < count; ++number) {
    leaf(pending[depth++], first, count - first < block ? count - first : block);
    first += block;
    // After the last block, whatever waits.
    std::int64_t digits = first < count ? number : (std::int64_t{1} << (depth - 1)) - 1;
    for (; (digits & 1) != 0; digits >>= 1) {
      --depth;
      combine(pending[depth - 1], pending[depth]);
    }
  }
}

/// The loops for this machine where there are some for the op and dtype, else those that call the
/// op's row.
///
/// Requires: the op has an identity and computes in `dtype`.
Fold make_fold(Op op, DType dtype, Isa isa);
/// The same by the op's row alone.
Fold make_plain_fold(Op op, DType dtype);

/// Where the largest (Op::maximum) or smallest (Op::minimum) elements are.  NaN is more than
/// either, and of equals the first counts.
struct ExtremumLoops {
  /// The first of `count` elements that is `value`, or NaN if `value` is.  Requires: there is one.
  std::int64_t (*find)(const std::byte* data, std::int64_t count, const std::byte* value) = nullptr;
  /// Whether an element `a` comes before `b` whatever their places: 1 yes, -1 b before a, 0 equal.
  int (*compare)(const std::byte* a, const std::byte* b) = nullptr;
  /// Of each column its extremum and the place of it, that of row i being first_place + i * step;
  /// at most `max_extremum_rows` rows.  `step` is positive.
  void (*columns)(std::byte* values, std::int64_t* places, const std::byte* data,
                  std::int64_t row_stride_bytes, std::int64_t num_rows, std::int64_t num_columns,
                  std::int64_t first_place, std::int64_t step) = nullptr;
  /// Takes `count` extrema of other elements, and their places, to those found before.
  void (*merge)(std::byte* values, std::int64_t* places, const std::byte* other_values,
                const std::int64_t* other_places, std::int64_t count) = nullptr;
  Isa isa = Isa::generic;  ///< that they are compiled for
};
inline constexpr std::int64_t max_extremum_rows = 128;

/// Requires: `op` is maximum or minimum, and `dtype` is real or bool and no small float.
ExtremumLoops extremum_loops(Op op, DType dtype, Isa isa);

}  // namespace weft::jit
