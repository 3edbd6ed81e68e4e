// Folds that take turns: each folds some slices of what all of them read, and the next one finds
// these in the cache.  One fold alone has a single turn.
#include "engine/fold/fold_run.h"

#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace weft {
namespace {

class Turns {
 public:
  explicit Turns(std::span<const FoldRun> folds)
      : folds_(folds), lead_(*std::ranges::min_element(folds, {}, slices_per_turn)) {
    for (const FoldRun& fold : folds) work_ns_ += fold.plan().work_ns;
  }

  void run() const {
    if (is_row_each(lead_.plan())) return run_rows();
    const std::int64_t num_units = lead_.num_units(), num_blocks = lead_.plan().num_blocks;
    const std::int64_t threads = lead_.num_threads(), worth = num_fold_parts(work_ns_);
    if (num_units >= 2 * threads || num_blocks == 1 || threads == 1 || worth < 2)
      return run_units(num_units, (num_units + worth - 1) / worth);
    run_cut_units(num_units, std::min(worth, 4 * threads));
  }

 private:
  static std::int64_t slices_per_turn(const FoldRun& fold) { return fold.plan().slices_per_turn; }

  std::size_t scratch_bytes() const {
    std::size_t sum = 0;
    for (const FoldRun& fold : folds_) sum += fold.scratch_bytes();
    return sum;
  }
  /// Of a part of each fold.
  std::int64_t result_bytes() const {
    std::size_t sum = 0;
    for (const FoldRun& fold : folds_) sum += fold.result_bytes();
    return static_cast<std::int64_t>(sum);
  }

  void share(std::int64_t count, std::int64_t grain, RangeFunction run) const {
    parallel_for(0, count, grain, run, {lead_.plan().max_threads, work_ns_});
  }

  /// Each row is an output.
  void run_rows() const {
    const std::int64_t num_rows = lead_.plan().num_kept, worth = num_fold_parts(work_ns_);
    const std::int64_t per_turn = std::min(slices_per_turn(lead_), num_rows);
    share(num_rows, (num_rows + worth - 1) / worth, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin; first < end; first += per_turn)
        for (const FoldRun& fold : folds_) fold.fold_rows(first, std::min(first + per_turn, end));
    });
  }

  /// Calls `done(fold, part)` for the part of each fold that is number `number` of a unit's, when
  /// all are folded.
  template <class Done>
  void fold_part(std::int64_t unit, std::int64_t number, std::int64_t blocks, std::byte* scratch,
                 const Done& done) const {
    // One alone is what calls mostly are, and room for parts of others is a tenth of a short sum.
    if (folds_.size() == 1) {
      const FoldRun& fold = folds_[0];
      const std::int64_t first = number * blocks;
      FoldRun::Part part =
          fold.begin(unit, first, std::min(blocks, fold.plan().num_blocks - first), scratch);
      while (fold.take_turn(part, slices_per_turn(fold))) {
      }
      return done(fold, part);
    }
    std::array<std::optional<FoldRun::Part>, max_joint_folds> parts;
    for (std::size_t i = 0; i < folds_.size(); ++i) {
      const FoldRun& fold = folds_[i];
      const std::int64_t own = blocks_of(fold, blocks);
      parts[i].emplace(fold.begin(unit, number * own,
                                  std::min(own, fold.plan().num_blocks - number * own), scratch));
      scratch += fold.scratch_bytes();
    }
    for (bool is_left = true; is_left;) {
      is_left = false;
      for (std::size_t i = 0; i < folds_.size(); ++i)
        is_left |= folds_[i].take_turn(*parts[i], slices_per_turn(folds_[i]));
    }
    for (std::size_t i = 0; i < folds_.size(); ++i) done(folds_[i], *parts[i]);
  }

  /// As many blocks of a fold as have the elements of `blocks` of the first one's.
  std::int64_t blocks_of(const FoldRun& fold, std::int64_t blocks) const {
    return blocks * (slices_per_turn(fold) / slices_per_turn(lead_));
  }

  void run_units(std::int64_t num_units, std::int64_t grain) const {
    const bool is_alone = folds_.size() == 1;
    if (is_alone && lead_.has_rows_of_leaves())
      return share(num_units, grain, [&](std::int64_t begin, std::int64_t end) {
        lead_.fold_rows_of_leaves(begin, end);
      });
    if (is_alone && has_short_columns(lead_.plan()))
      return share(num_units, grain, [&](std::int64_t begin, std::int64_t end) {
        lead_.fold_short_columns(begin, end);
      });
    if (is_alone && lead_.has_rows_in_turn())
      return share(num_units, grain, [&](std::int64_t begin, std::int64_t end) {
        lead_.fold_rows_in_turn(begin, end);
      });
    if (const std::int64_t slices = is_alone ? lead_.slices_before_next_unit() : 0; slices != 0)
      return share(num_units, grain, [&](std::int64_t begin, std::int64_t end) {
        run_neighbours(begin, end, slices);
      });
    const std::size_t memory_bytes = scratch_bytes();
    share(num_units, grain, [&](std::int64_t begin, std::int64_t end) {
      FoldScratch scratch(memory_bytes);
      for (std::int64_t unit = begin; unit < end; ++unit)
        fold_part(unit, 0, lead_.plan().num_blocks, scratch.data(),
                  [&](const FoldRun& fold, FoldRun::Part& part) { fold.write(part); });
    });
  }

  /// Units in turn, `slices` of each, which is the order in which they lie in memory.
  void run_neighbours(std::int64_t begin, std::int64_t end, std::int64_t slices) const {
    constexpr std::int64_t most_together = 128;
    const std::int64_t together = std::min(end - begin, most_together);
    const auto pending_bytes = static_cast<std::int64_t>(lead_.pending_bytes());
    // What is folded where it lies needs no buffer, so that they can share one.
    FoldScratch scratch(lead_.scratch_bytes() +
                        static_cast<std::size_t>((together - 1) * pending_bytes));
    std::vector<FoldRun::Part> parts;
    parts.reserve(static_cast<std::size_t>(together));
    for (; begin < end; begin += together) {
      parts.clear();
      const std::int64_t num_parts = std::min(together, end - begin);
      for (std::int64_t i = 0; i < num_parts; ++i)
        parts.push_back(
            lead_.begin(begin + i, 0, lead_.plan().num_blocks, scratch.data() + i * pending_bytes));
      for (bool is_left = true; is_left;) {
        is_left = false;
        for (FoldRun::Part& part : parts) is_left |= lead_.take_turn(part, slices);
      }
      for (FoldRun::Part& part : parts) lead_.write(part);
    }
  }

  /// Too few outputs for the threads: they share the blocks of each, in subtrees of a power of two.
  void run_cut_units(std::int64_t num_units, std::int64_t wanted_parts) const {
    const std::int64_t num_blocks = lead_.plan().num_blocks;
    const std::int64_t parts_per_unit = (wanted_parts + num_units - 1) / num_units;
    const auto blocks = static_cast<std::int64_t>(std::bit_ceil(
        static_cast<std::uint64_t>((num_blocks + parts_per_unit - 1) / parts_per_unit)));
    const std::int64_t num_parts = (num_blocks + blocks - 1) / blocks;
    const std::size_t memory_bytes = scratch_bytes();
    const std::int64_t part_bytes = result_bytes();
    std::vector<std::byte> results(static_cast<std::size_t>(num_units * num_parts * part_bytes));
    share(num_units * num_parts, 1, [&](std::int64_t begin, std::int64_t end) {
      FoldScratch scratch(memory_bytes);
      for (std::int64_t i = begin; i < end; ++i) {
        std::byte* to = results.data() + i * part_bytes;
        fold_part(i / num_parts, i % num_parts, blocks, scratch.data(),
                  [&](const FoldRun& fold, FoldRun::Part& part) {
                    to = std::copy_n(fold.result(part), fold.result_bytes(), to);
                  });
      }
    });
    for (std::int64_t unit = 0; unit < num_units; ++unit) {
      std::byte* of_unit = results.data() + unit * num_parts * part_bytes;
      for (const FoldRun& fold : folds_) {
        fold.combine_results(unit, of_unit, num_parts, part_bytes);
        fold.write(unit, of_unit);
        of_unit += fold.result_bytes();
      }
    }
  }

  std::span<const FoldRun> folds_;
  const FoldRun& lead_;  ///< has the largest blocks
  std::int64_t work_ns_ = 0;
};

}  // namespace

void run_in_turns(std::span<const FoldRun> folds) { Turns(folds).run(); }

}  // namespace weft
