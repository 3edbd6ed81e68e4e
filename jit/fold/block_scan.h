// Scans of long rows in blocks, which wait for one another's totals only: one thread takes several
// at a time, several threads share them.
#pragma once

#include "jit/fold/scan.h"

#include <cstdint>

namespace weft::jit {

/// Rows of as many elements are scanned in blocks of `scan_block_elements`.  Whether they are
/// decides in which order floats are added, so it depends on the length of the row alone.
inline constexpr std::int64_t long_scan_elements = 32768;
inline constexpr std::int64_t scan_block_elements = 4096;
/// Blocks that are worth scanning at the same time.
inline constexpr std::int64_t scan_blocks_together = 8;

/// The loops of one op and dtype.  ScanOperand::row_stride_bytes leads from a block to the next.
struct BlockScan {
  /// A partial result, which for sums and products of f32 is an f64.
  using Kept = std::uint64_t;

  Kept identity = 0;
  /// totals[i]: block i from its first element to its last, in order.
  void (*totals)(Kept* totals, const ScanOperand& from, std::int64_t num_blocks,
                 std::int64_t count) = nullptr;
  /// before[i] combined with the elements of block i, one after the other.
  void (*run)(const Kept* before, const ScanOperand& to, const ScanOperand& from,
              std::int64_t num_blocks, std::int64_t count) = nullptr;
  Kept (*combine)(Kept a, Kept b) = nullptr;
};

/// Sums and products of i64, f32 and f64; for others `run` is null.
BlockScan block_scan(Op op, DType dtype);

}  // namespace weft::jit
