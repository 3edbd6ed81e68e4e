// Scans of arrays with an associative op: every partial result, in order.  Sums and products of
// f32 are kept in f64, as PyTorch keeps them, and rounded as they are written.
#pragma once

#include "runtime/cpu_features.h"

#include <weft/dtype.h>
#include <weft/op.h>

#include <cstddef>
#include <cstdint>

namespace weft {
class CancellationToken;
}

namespace weft::jit {

struct LogMath;  // jit/fold/log_scan.h

/// One operand of a scan: how far it is from a row to the next, and from an element of a row to the
/// next.
struct ScanOperand {
  std::byte* data;
  std::int64_t row_stride_bytes;
  std::int64_t stride_bytes;
};

/// Rows that are scanned part by part: what has accumulated in them so far, which only the loops
/// know how to read.
struct ScanParts {
  /// So much may be kept of a row.
  static constexpr std::int64_t bytes_a_row = 16;

  /// All but the last have this many elements, or a multiple.
  static constexpr std::int64_t unit = 8;

  std::byte* kept = nullptr;  ///< null: rows are whole
  bool is_first = true;       ///< nothing is kept yet
};

/// How arrays are scanned.  Immutable.
struct Scan {
  /// to[row][i] = op(... op(from[row][0], from[row][1]) ..., from[row][i]), where what is kept of
  /// the parts before these comes before from[row][0].
  ///
  /// Within long rows it looks at the token, if it gets one, and leaves the rest undone where that
  /// was cancelled.
  using Run = void (*)(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
                       std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
                       const CancellationToken* token);

  Op op = Op::add;
  DType dtype = DType::f32;
  Run run = nullptr;
  Isa isa = Isa::generic;         ///< that `run` is compiled for
  const char* source = "";        ///< its name and the file that it is in
  Run run_real = nullptr;         ///< of complex sums: real and imaginary parts as rows
  const LogMath* math = nullptr;  ///< of scans by logaddexp
  std::int64_t element_ns = 1;    ///< what one core takes for an element, about
  bool streams = false;           ///< writes rows that are neighbours past the caches where it can
  std::int64_t ahead_bytes = 1024;  ///< of such rows, how far ahead lines are asked for; 0: not
};

/// Requires: the op computes in `dtype`; the operands share no memory.
Scan make_scan(Op op, DType dtype, Isa isa);

/// The same by loops that scan one row after the other, without parts: what short rows want.  As it
/// is for other ops than sums and products of i64, f32 and f64.
Scan one_row_after_the_other(Scan scan);

/// Scans for where the extremum so far is: the last of equals, and of NaN.  `to` is i64, counted
/// from `first`, that of from[row][0], by `step`.  The rest as in Scan::Run.
using PlaceScan = void (*)(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
                           std::int64_t num_rows, std::int64_t count, std::int64_t first,
                           std::int64_t step, const ScanParts& parts,
                           const CancellationToken* token);

/// Requires: `op` is maximum or minimum, and `dtype` real or bool and no small float.
PlaceScan make_place_scan(Op op, DType dtype);

}  // namespace weft::jit
