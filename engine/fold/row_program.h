// The passes of a block of rows, called again and again with nothing between them but addresses
// that move on: a block is so short that looking at plans would take as long as its rows.
#pragma once

#include "engine/plan/pass_list.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

/// Blocks that one thread runs.
class RowProgram {
 public:
  /// Whether each pass is one call: of an elementwise kernel, of code that folds and has settled,
  /// or of loops that are compiled ahead.
  static bool can_run(const PassList& list);

  /// `base`: the operands of the first block, of `rows` rows; `row_bytes`: of each from row to row.
  RowProgram(const PassList& list, std::byte* const* base, std::span<const std::int64_t> row_bytes,
             std::int64_t rows, const Bits* params);
  RowProgram(const RowProgram&) = delete;  // steps point into it
  RowProgram& operator=(const RowProgram&) = delete;

  /// The next blocks.  Never asks whether the call is cancelled: who cuts the blocks does.
  void run(std::int64_t num_blocks);

 private:
  static constexpr std::size_t most_steps = 8, most_operands = 32;

  struct Step {
    const FoldPlan* fold = nullptr;  ///< whose loops compiled ahead run, or whose results are means
    jit::KernelFunction function = nullptr;  ///< null: the loops
    jit::KernelArgs args{};
    std::array<std::int64_t, 2> extents{};
  };

  void call(const Step& step) const;

  std::array<Step, most_steps> steps_;
  std::size_t num_steps_ = 0;
  std::array<std::byte*, most_operands> base_;  // of all steps; only what is used is written
  std::array<std::int64_t, most_operands> block_bytes_;
  std::size_t num_operands_ = 0;
  Temporaries temporaries_;
};

}  // namespace weft
