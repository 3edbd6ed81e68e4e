// Planes too small to transpose: inputs are gathered item by item, in the order in which outputs
// are written.  Where the items of a run come from is the same for all runs, and found once.
#include "jit/short_rows.h"
#include "jit/tiles/move.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weft::jit::tiles {
namespace {

/// Items of a run at most: their offsets and the lines that they come from stay in the first cache,
/// and are used several times.
constexpr std::int64_t most_run_items = 256;
constexpr std::int64_t least_num_runs = 8;
/// Runs of so many are long enough to leave the loop that comes next whole.
constexpr std::int64_t enough_run_items = 64;
/// Shorter runs cost more between than within them.
constexpr std::int64_t least_run_items = 16;
constexpr std::int64_t largest_item_bytes = 16;

/// Planes with two longer sides are transposed, but for those of few items.
constexpr std::int64_t longest_short_side = 7;

bool has_short_rows(const TileCode& tile, const KernelArgs& args) {
  const std::int64_t rows = args.extents[tile.num_loops - 2];
  const std::int64_t columns = args.extents[tile.num_loops - 1];
  return columns > 1 && columns <= most_short_row_items &&
         (std::min(rows, columns) <= longest_short_side ||
          rows * columns <= most_short_plane_items);
}

/// An input whose items are not in the order of the outputs.
struct Gathered {
  std::size_t operand = 0;
  std::array<std::int64_t, most_run_items> offset;  ///< of an item from the run's first, in bytes
};

/// The loops of a call, as those along which runs go and those around them.
class Runs {
 public:
  /// With runs of few items, or of 1, where the operands don't fit.
  Runs(const TileCode& tile, const KernelArgs& args);

  std::int64_t num_items() const { return num_items_; }
  std::span<const Gathered> gathered() const { return {gathered_.data(), num_gathered_}; }
  /// The kernel for a run.
  FunctionOffset rows() const {
    return gathers_others_ && tile_.gathered_rows != 0 ? tile_.gathered_rows : tile_.rows;
  }

  /// Calls `run(base, num_items)` for each run, with the addresses of its first items.
  template <class Run>
  void for_each(Run run) const;

 private:
  struct Loop {
    std::size_t index;
    std::int64_t extent;
    std::int64_t step;  ///< iterations that a run takes, if so many are left
  };

  std::int64_t stride(std::size_t loop, std::size_t operand) const {
    return args_.stride_bytes[loop * tile_.operands.size() + operand];
  }
  void find();
  bool has_layout_of_output(std::size_t operand) const;
  bool is_gathered(std::size_t operand) const;
  bool add_gathered(std::size_t operand);
  bool find_gathered();
  bool follows(std::size_t loop) const;
  void grow();
  void repeat(std::size_t loop, std::int64_t extent);
  void add_loop(std::size_t index, std::int64_t step);

  const TileCode& tile_;
  const KernelArgs& args_;
  bool gathers_others_ = false;  ///< not only what is transposed, but whatever lies otherwise
  std::int64_t num_items_ = 1;
  std::size_t num_gathered_ = 0;
  std::array<Gathered, most_gathered_inputs> gathered_;
  std::array<std::int64_t, ir::max_launch_loops> steps_{};  ///< of a loop; 0 of those outside
  std::size_t num_loops_ = 0;  ///< around the runs, the last of them fastest
  std::array<Loop, ir::max_launch_loops> loops_;
};

Runs::Runs(const TileCode& tile, const KernelArgs& args) : tile_(tile), args_(args) {
  find();
  if (num_items_ < least_run_items && !tile.is_copy) {
    gathers_others_ = true;
    find();
  }
  for (std::size_t loop = 0; loop < tile.num_loops; ++loop)
    if (steps_[loop] < args.extents[loop]) add_loop(loop, std::max<std::int64_t>(steps_[loop], 1));
}

void Runs::find() {
  num_items_ = 1;
  num_gathered_ = 0;
  steps_.fill(0);
  if (find_gathered()) grow();
}

bool Runs::has_layout_of_output(std::size_t operand) const {
  for (std::size_t loop = 0; loop < tile_.num_loops; ++loop)
    if (stride(loop, operand) * tile_.operands[0].itemsize !=
        stride(loop, 0) * tile_.operands[operand].itemsize)
      return false;
  return true;
}

bool Runs::is_gathered(std::size_t operand) const {
  if (tile_.is_copy) return operand == 1;
  if (tile_.operands[operand].is_staged) return true;
  return gathers_others_ && !tile_.operands[operand].is_output && !has_layout_of_output(operand);
}

bool Runs::add_gathered(std::size_t operand) {
  if (tile_.operands[operand].is_output || num_gathered_ == most_gathered_inputs) return false;
  gathered_[num_gathered_].offset[0] = 0;
  gathered_[num_gathered_++].operand = operand;
  return true;
}

/// What is transposed comes first.  False if there is something that can't be gathered.
bool Runs::find_gathered() {
  const std::size_t num_operands = tile_.operands.size();
  const auto is_first = [&](std::size_t i) { return tile_.is_copy || tile_.operands[i].is_staged; };
  for (std::size_t i = 0; i < num_operands; ++i)
    if (is_gathered(i) && is_first(i) && !add_gathered(i)) return false;
  for (std::size_t i = 0; i < num_operands; ++i) {
    if (!is_gathered(i) || is_first(i)) continue;
    const bool is_dense = stride(tile_.num_loops - 1, i) == tile_.operands[i].itemsize;
    if ((!is_dense && tile_.gathered_rows == 0) || !add_gathered(i)) return false;
  }
  return true;
}

/// Whether every operand that is not gathered goes on along the loop as it does within the run.
bool Runs::follows(std::size_t loop) const {
  if (steps_[loop] != 0) return false;
  for (std::size_t i = 0; i < tile_.operands.size(); ++i) {
    const std::int64_t step =
        tile_.is_copy ? tile_.operands[i].itemsize : stride(tile_.num_loops - 1, i);
    if (!is_gathered(i) && stride(loop, i) != num_items_ * step) return false;
  }
  return true;
}

/// The items so far, once more at each iteration of a loop.
void Runs::repeat(std::size_t loop, std::int64_t extent) {
  for (Gathered& input : std::span(gathered_.data(), num_gathered_))
    for (std::int64_t i = num_items_; i < num_items_ * extent; ++i)
      input.offset[static_cast<std::size_t>(i)] =
          input.offset[static_cast<std::size_t>(i - num_items_)] + stride(loop, input.operand);
  num_items_ *= extent;
}

/// By the loops along which the outputs go on where the run ends, of the last of them by a part.
void Runs::grow() {
  std::int64_t total_items = 1;
  for (std::size_t loop = 0; loop < tile_.num_loops; ++loop) total_items *= args_.extents[loop];
  const std::int64_t most_items = std::min(most_run_items, total_items / least_num_runs);
  for (std::size_t loop = 0; loop < tile_.num_loops;) {
    const std::int64_t taken = std::min(args_.extents[loop], most_items / num_items_);
    const bool is_whole = taken == args_.extents[loop];
    if (taken < 2 || (!is_whole && num_items_ >= enough_run_items) || !follows(loop)) {
      ++loop;
      continue;
    }
    repeat(loop, taken);
    steps_[loop] = taken;
    if (!is_whole) return;
    loop = 0;
  }
}

/// Around the runs goes first along what lies closest in the input, whose lines are still in the
/// cache.
void Runs::add_loop(std::size_t index, std::int64_t step) {
  const auto distance = [&](std::size_t loop) {
    return std::abs(stride(loop, gathered_[0].operand));
  };
  std::size_t place = num_loops_++;
  for (; place > 0 && distance(loops_[place - 1].index) < distance(index); --place)
    loops_[place] = loops_[place - 1];
  loops_[place] = {index, args_.extents[index], step};
}

template <class Run>
void Runs::for_each(Run run) const {
  const std::size_t num_operands = tile_.operands.size();
  // The loop, if there is one, of which a run takes a part: at its end there may be less.
  std::size_t split = 0;
  while (split < num_loops_ && loops_[split].step == 1) ++split;
  std::array<std::byte*, ir::max_launch_operands> base;
  std::copy_n(args_.base, num_operands, base.begin());
  std::array<std::int64_t, ir::max_launch_loops> position;
  std::fill_n(position.begin(), num_loops_, 0);
  for (;;) {
    std::int64_t num_items = num_items_;
    if (split < num_loops_) {
      const std::int64_t left = loops_[split].extent - position[split];
      if (left < loops_[split].step) num_items = num_items_ / loops_[split].step * left;
    }
    run(base.data(), num_items);
    for (std::size_t place = num_loops_;;) {
      if (place-- == 0) return;
      const Loop& loop = loops_[place];
      const std::int64_t next = position[place] + loop.step;
      const bool wraps = next >= loop.extent;
      const std::int64_t steps = wraps ? -position[place] : loop.step;
      for (std::size_t i = 0; i < num_operands; ++i) base[i] += steps * stride(loop.index, i);
      position[place] = wraps ? 0 : next;
      if (!wraps) break;
    }
  }
}

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

// All of a line is read before it is written: a load waits for every store before it whose address
// within a page is the same, as it is for neighbours where both operands start with a page.
template <class Item>
void gather_line(std::byte* to, const std::byte* from, const std::int64_t* offset) {
  constexpr std::int64_t items_a_word = sizeof(Word) / sizeof(Item);
  std::array<Word, words_a_line> words;
#pragma GCC unroll 8
  for (std::int64_t k = 0; k < words_a_line; ++k)
    words[static_cast<std::size_t>(k)] = gather_word<Item>(from, offset + k * items_a_word);
#pragma GCC unroll 8
  for (std::size_t k = 0; k < words.size(); ++k)
    std::memcpy(to + k * sizeof(Word), &words[k], sizeof(Word));
}

template <class Item>
void gather_items(std::byte* to, const std::byte* from, const std::int64_t* offset,
                  std::int64_t num_items) {
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(Item));
  constexpr std::int64_t items_a_line = line_bytes / itemsize;
  std::int64_t i = 0;
  if constexpr (sizeof(Item) <= sizeof(Word))
    for (; i + items_a_line <= num_items; i += items_a_line)
      gather_line<Item>(to + i * itemsize, from, offset + i);
  for (; i < num_items; ++i) std::memcpy(to + i * itemsize, from + offset[i], sizeof(Item));
}

using Gather = void(std::byte* to, const std::byte* from, const std::int64_t* offset,
                    std::int64_t num_items);

Gather* gather_of(int itemsize) {
  switch (itemsize) {
    case 1: return gather_items<std::uint8_t>;
    case 2: return gather_items<std::uint16_t>;
    case 4: return gather_items<std::uint32_t>;
    case 8: return gather_items<std::uint64_t>;
    default: return gather_items<Wide>;
  }
}

void copy_runs(const TileCode& tile, const Runs& runs) {
  Gather* const gather = gather_of(tile.operands[0].itemsize);
  const std::int64_t* const offset = runs.gathered()[0].offset.data();
  runs.for_each([&](std::byte* const* base, std::int64_t num_items) {
    gather(base[0], base[1], offset, num_items);
  });
}

/// The row kernel over each run, with what is gathered in a buffer, where it stays for the next
/// runs of the same.
void compute_runs(const TileCode& tile, const KernelArgs& args, const Runs& runs) {
  constexpr std::int64_t buffer_bytes = most_run_items * largest_item_bytes;
  alignas(64) std::array<std::byte, most_gathered_inputs * buffer_bytes> buffers;
  const std::size_t num_operands = tile.operands.size();
  std::array<std::int64_t, 2 * ir::max_launch_operands> strides;
  std::fill_n(strides.begin(), num_operands, 0);
  std::copy_n(args.stride_bytes + (tile.num_loops - 1) * num_operands, num_operands,
              strides.begin() + num_operands);
  for (const Gathered& input : runs.gathered())
    strides[num_operands + input.operand] = tile.operands[input.operand].itemsize;
  auto* const rows = tile.at<void(const KernelArgs*)>(runs.rows());
  std::array<std::byte*, ir::max_launch_operands> at;
  std::array<const std::byte*, most_gathered_inputs> held{};
  std::int64_t num_held_items = 0;
  runs.for_each([&](std::byte* const* base, std::int64_t num_items) {
    std::copy_n(base, num_operands, at.begin());
    std::byte* buffer = buffers.data();
    for (std::size_t k = 0; k < runs.gathered().size(); ++k) {
      const Gathered& input = runs.gathered()[k];
      const std::byte* const from = base[input.operand];
      if (held[k] != from || num_items > num_held_items)
        gather_of(tile.operands[input.operand].itemsize)(buffer, from, input.offset.data(),
                                                         num_items);
      held[k] = from;
      at[input.operand] = buffer;
      buffer += buffer_bytes;
    }
    num_held_items = num_items;
    const std::int64_t extents[] = {1, num_items};
    const KernelArgs run{at.data(), extents, strides.data(), args.params, nullptr};
    rows(&run);
  });
}

}  // namespace

bool run_items(const TileCode& tile, const KernelArgs& args) {
  if (!has_short_rows(tile, args)) return false;
  const Runs runs(tile, args);
  if (runs.num_items() < least_run_items) return false;
  tile.is_copy ? copy_runs(tile, runs) : compute_runs(tile, args, runs);
  return true;
}

}  // namespace weft::jit::tiles
