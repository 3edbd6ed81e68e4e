// Machine code that moves rectangles of items and swaps their two directions on the way.
#pragma once

#include "jit/xbyak/assembler.h"

#include <cstddef>
#include <cstdint>

namespace weft::jit::xbyak {

/// Item j of line i goes to item i of line j:
///
///     to[j * to_stride_bytes + i * itemsize] = from[i * from_stride_bytes + j * itemsize]
///
/// Requires: at least lines_a_step() lines and items_a_step() items; the two don't overlap.
using TransposeFunction = void(const std::byte* from, std::int64_t from_stride_bytes, std::byte* to,
                               std::int64_t to_stride_bytes, std::int64_t num_lines,
                               std::int64_t num_items);

struct TransposeShape {
  int itemsize = 4;       ///< 1, 2, 4, 8 or 16
  int vector_bytes = 16;  ///< of the registers it works in: 16, 32 or 64
  int step_bytes = 16;    ///< written to a line at once: the same, or more of them
  /// Writes past the caches.  Every line written must be aligned to step_bytes, which should be
  /// those of a cache line, and num_lines be a multiple of lines_a_step().
  bool is_streaming = false;

  int lines_a_step() const { return step_bytes / itemsize; }
  int items_a_step() const { return 16 / itemsize; }
};

/// Emits a TransposeFunction at the end of `code`.
void emit_transpose(Assembler& code, const TransposeShape& shape);

}  // namespace weft::jit::xbyak
