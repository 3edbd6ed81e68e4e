// Copies whose planes are too small to transpose: item by item, in the order in which they are
// written.  Where the items of a run come from is the same for all runs, and found once.
#include "jit/xbyak/tile_move.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weft::jit::xbyak {
namespace {

/// Items of a run at most: their offsets and the lines that they come from stay in the first cache,
/// and are used several times.
constexpr std::int64_t most_run_items = 256;
constexpr std::int64_t least_num_runs = 8;
/// Runs of so many are long enough to leave the loop that comes next whole.
constexpr std::int64_t enough_run_items = 64;
/// Shorter runs cost more between than within them.
constexpr std::int64_t least_run_items = 16;

/// Planes with two longer sides and more items, or with longer rows, are transposed faster.
constexpr std::int64_t longest_short_side = 7;
constexpr std::int64_t most_plane_items = 120;
constexpr std::int64_t most_row_items = 15;

bool has_short_rows(const TileCode& tile, const KernelArgs& args) {
  const std::int64_t rows = args.extents[tile.num_loops - 2];
  const std::int64_t columns = args.extents[tile.num_loops - 1];
  return columns <= most_row_items &&
         (std::min(rows, columns) <= longest_short_side || rows * columns <= most_plane_items);
}

/// The loops of a copy, as those along which runs are written without a gap and those around them.
struct Runs {
  std::int64_t num_items = 1;  ///< of a run
  std::array<std::int64_t, most_run_items>
      offset;                 ///< of an item from the run's first, in what is read, in bytes
  std::size_t num_loops = 0;  ///< around the runs, the last of them fastest
  std::array<std::int64_t, ir::max_launch_loops> extent;
  std::array<std::int64_t, ir::max_launch_loops>
      step;  ///< iterations that a run takes, if so many are left
  std::array<std::array<std::int64_t, 2>, ir::max_launch_loops> stride;  ///< [loop][operand]
};

/// The items so far, once more at each iteration of a loop.
void repeat(Runs& runs, std::int64_t extent, std::int64_t from_stride) {
  for (std::int64_t i = runs.num_items; i < runs.num_items * extent; ++i)
    runs.offset[static_cast<std::size_t>(i)] =
        runs.offset[static_cast<std::size_t>(i - runs.num_items)] + from_stride;
  runs.num_items *= extent;
}

/// Iterations of each loop that a run takes: 0 of those outside.
using Steps = std::array<std::int64_t, ir::max_launch_loops>;

std::int64_t stride(const KernelArgs& args, std::size_t loop, std::size_t operand) {
  return args.stride_bytes[2 * loop + operand];
}

/// Grows a run by the loops along which the output goes on where it ends, of the last of them by a
/// part.
Steps grow(const TileCode& tile, const KernelArgs& args, Runs& runs) {
  std::int64_t total_items = 1;
  for (std::size_t loop = 0; loop < tile.num_loops; ++loop) total_items *= args.extents[loop];
  const std::int64_t most_items = std::min(most_run_items, total_items / least_num_runs);
  Steps steps{};
  runs.offset[0] = 0;
  for (std::size_t loop = 0; loop < tile.num_loops;) {
    const bool follows =
        steps[loop] == 0 && stride(args, loop, 0) == runs.num_items * tile.operands[0].itemsize;
    const std::int64_t taken = std::min(args.extents[loop], most_items / runs.num_items);
    const bool is_whole = taken == args.extents[loop];
    if (!follows || taken < 2 || (!is_whole && runs.num_items >= enough_run_items)) {
      ++loop;
      continue;
    }
    repeat(runs, taken, stride(args, loop, 1));
    steps[loop] = taken;
    if (!is_whole) break;
    loop = 0;
  }
  return steps;
}

/// Around the runs goes first along what lies closest in the input, whose lines are still in the
/// cache.
void add_loop(const KernelArgs& args, Runs& runs, std::size_t loop, std::int64_t step) {
  std::size_t place = runs.num_loops++;
  for (; place > 0 && std::abs(runs.stride[place - 1][1]) < std::abs(stride(args, loop, 1));
       --place) {
    runs.extent[place] = runs.extent[place - 1];
    runs.step[place] = runs.step[place - 1];
    runs.stride[place] = runs.stride[place - 1];
  }
  runs.extent[place] = args.extents[loop];
  runs.step[place] = step;
  runs.stride[place] = {stride(args, loop, 0), stride(args, loop, 1)};
}

void find_runs(const TileCode& tile, const KernelArgs& args, Runs& runs) {
  const Steps steps = grow(tile, args, runs);
  for (std::size_t loop = 0; loop < tile.num_loops; ++loop)
    if (steps[loop] < args.extents[loop])
      add_loop(args, runs, loop, std::max<std::int64_t>(steps[loop], 1));
}

constexpr std::int64_t line_bytes = 64;

using Word = std::uint64_t;
constexpr std::int64_t words_a_line = line_bytes / 8;

/// The items of a word, the first of them lowest.
template <class Item>
Word gather_word(const std::byte* from, const std::int64_t* offset) {
  Word word = 0;
#pragma GCC unroll 8
  for (std::size_t k = 0; k < sizeof(Word) / sizeof(Item); ++k) {
    Item item;
    std::memcpy(&item, from + offset[k], sizeof(Item));
    word |= Word{item} << (8 * sizeof(Item) * k);
  }
  return word;
}

// A line is read before it is written: a load waits for every store before it whose address is the
// same within a page, as neighbours' are where both operands start with one.

// All of a line is read before it is written: a load waits for every store before it whose address
// within a page is the same, as it is for neighbours where both operands start with a page.
template <class Item>
void copy_line(std::byte* to, const std::byte* from, const std::int64_t* offset) {
  constexpr std::int64_t items_a_word = sizeof(Word) / sizeof(Item);
  std::array<Word, words_a_line> words;
#pragma GCC unroll 8
  for (std::int64_t k = 0; k < words_a_line; ++k)
    words[static_cast<std::size_t>(k)] = gather_word<Item>(from, offset + k * items_a_word);
#pragma GCC unroll 8
  for (std::size_t k = 0; k < words.size(); ++k)
    std::memcpy(to + k * sizeof(Word), &words[k], sizeof(Word));
}

struct Wide {
  Word halves[2];
};

template <class Item>
void copy_run(std::byte* to, const std::byte* from, const std::int64_t* offset,
              std::int64_t num_items) {
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(Item));
  constexpr std::int64_t items_a_line = line_bytes / itemsize;
  std::int64_t i = 0;
  if constexpr (sizeof(Item) <= sizeof(Word))
    for (; i + items_a_line <= num_items; i += items_a_line)
      copy_line<Item>(to + i * itemsize, from, offset + i);
  for (; i < num_items; ++i) std::memcpy(to + i * itemsize, from + offset[i], sizeof(Item));
}

template <class Item>
void copy_runs(const KernelArgs& args, const Runs& runs) {
  std::byte* to = args.base[0];
  const std::byte* from = args.base[1];
  // The loop, if there is one, of which a run takes a part: at its end there may be less.
  std::size_t split = 0;
  while (split < runs.num_loops && runs.step[split] == 1) ++split;
  const bool is_split = split < runs.num_loops;
  const std::int64_t items_a_step = is_split ? runs.num_items / runs.step[split] : 0;
  std::array<std::int64_t, ir::max_launch_loops> position{};
  for (;;) {
    const std::int64_t num_items =
        is_split ? std::min(runs.step[split], runs.extent[split] - position[split]) * items_a_step
                 : runs.num_items;
    copy_run<Item>(to, from, runs.offset.data(), num_items);
    for (std::size_t loop = runs.num_loops;;) {
      if (loop-- == 0) return;
      const std::int64_t next = position[loop] + runs.step[loop];
      const bool wraps = next >= runs.extent[loop];
      const std::int64_t steps = wraps ? -position[loop] : runs.step[loop];
      to += steps * runs.stride[loop][0];
      from += steps * runs.stride[loop][1];
      position[loop] = wraps ? 0 : next;
      if (!wraps) break;
    }
  }
}

}  // namespace

bool copy_items(const TileCode& tile, const KernelArgs& args) {
  if (!has_short_rows(tile, args)) return false;
  Runs runs;
  find_runs(tile, args, runs);
  if (runs.num_items < least_run_items) return false;
  switch (tile.operands[0].itemsize) {
    case 1: copy_runs<std::uint8_t>(args, runs); break;
    case 2: copy_runs<std::uint16_t>(args, runs); break;
    case 4: copy_runs<std::uint32_t>(args, runs); break;
    case 8: copy_runs<std::uint64_t>(args, runs); break;
    default: copy_runs<Wide>(args, runs);
  }
  return true;
}

}  // namespace weft::jit::xbyak
