// Expressions whose folds stay within the rows of their operands, `x - mean(x, dims=[1])` and the
// like, block of rows by block of rows: what one pass has read the next finds in the cache.
#pragma once

#include "engine/expression/expr_node.h"
#include "engine/plan/call_key.h"
#include "runtime/cpu_features.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// Rows are what lies behind one another along dimension 0.
struct RowBlocks {
  std::int64_t num_rows = 0;
  std::int64_t rows_per_block = 0;
  class Finder;
  std::shared_ptr<const Finder> finder;  ///< knows which operands have the rows
  std::int64_t row_bytes = 0;            ///< that are read of a row
  PartOfCall part;                       ///< what each block is told

  /// Lets results of `written_bytes` go past the caches if they and what is read are
  /// `threshold_bytes` or more.
  void choose_stores(double written_bytes, std::int64_t threshold_bytes);
};

/// How to cut, if that gives the same bits and saves reading: no fold reduces dimension 0, every
/// fold reads an operand of full size in which dimension 0 is the slowest and another fills
/// vectors, nothing can fail halfway, and half of the second cache does not hold the operands.
std::optional<RowBlocks> plan_row_blocks(std::span<const Expr> exprs, const CpuFeatures& features);

/// How far ahead the last pass of a block asks, where no pass before it did: `ahead_bytes`, or 0.
std::int32_t asked_by_last(std::int32_t ahead_bytes, const CpuFeatures& features);

/// The expressions that were planned, on rows [first, first + count) only.
std::vector<Expr> take_rows(const RowBlocks& blocks, std::span<const Expr> exprs,
                            std::int64_t first, std::int64_t count);

}  // namespace weft
