// Scans of long rows in blocks, which wait for one another's totals only: one thread takes several
// at a time, several threads share them.
#pragma once

#include "jit/fold/scan.h"

#include <array>
#include <cstdint>

namespace weft::jit {

/// Rows of as many elements are scanned in blocks of `scan_block_elements`.  Whether they are
/// decides in which order floats are added, so it depends on the length of the row alone.
inline constexpr std::int64_t long_scan_elements = 32768;
inline constexpr std::int64_t scan_block_elements = 4096;
/// Blocks that are worth scanning at the same time.  Partial results of more than four complex
/// numbers don't stay in registers.
inline constexpr std::int64_t scan_blocks_together = 8;
constexpr std::int64_t scan_blocks_together_of(DType dtype) {
  return is_complex(dtype) ? scan_blocks_together / 2 : scan_blocks_together;
}

/// The loops of one op and dtype.  ScanOperand::row_stride_bytes leads from a block to the next.
struct BlockScan {
  /// A partial result, which for sums and products of f32 is an f64, for complex numbers a c128,
  /// and for sums of exponentials as jit/fold/log_scan.h has it.
  using Kept = std::array<std::uint64_t, 2>;

  Kept identity{};
  /// totals[i]: block i from its first element to its last, in order.
  void (*totals)(const BlockScan& scan, Kept* totals, const ScanOperand& from,
                 std::int64_t num_blocks, std::int64_t count) = nullptr;
  /// before[i] combined with the elements of block i, one after the other.
  void (*run)(const BlockScan& scan, const Kept* before, const ScanOperand& to,
              const ScanOperand& from, std::int64_t num_blocks, std::int64_t count) = nullptr;
  Kept (*combine)(const BlockScan& scan, const Kept& a, const Kept& b) = nullptr;
  // Of scans by logaddexp:
  DType dtype = DType::f32;
  const LogMath* math = nullptr;
};

/// What rounds: sums and products of i64, f32, f64 and complex numbers, and scans by logaddexp. For
/// others `run` is null.
BlockScan block_scan(Op op, DType dtype, Isa isa);

}  // namespace weft::jit
