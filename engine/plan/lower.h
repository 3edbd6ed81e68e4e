// From an iterator's plan and a flattened expression to loop IR: the only place where the order of
// dimensions turns round (iterator: fastest first; IR: outermost first).
#pragma once

#include "engine/expression/program.h"
#include "ir/kernel.h"

#include <weft/iterator.h>
#include <weft/numerics.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// A kernel before the passes, and the arguments that fit it.
struct Lowered {
  ir::Kernel kernel;
  std::vector<std::int64_t> extents;       ///< [loop], outermost first
  std::vector<std::int64_t> stride_bytes;  ///< [loop * num_operands + operand]
  /// Iterations of the innermost loop to run the nest for before going on; 0: all at once.
  std::int64_t block_extent = 0;
  /// Whether operands disagree about the fastest dimension, so that the two innermost loops are to
  /// be walked through tile by tile.
  bool is_tiled = false;
  /// Whether the outer loops are in the order in which an input lies, and not the outputs.
  bool follows_reads = false;
};

/// The class under which a stride along the innermost loop takes part in the signature.
ir::StrideClass inner_class(std::int64_t stride_bytes, std::int64_t extent, DType dtype);

/// Calls that move `streaming_bytes` or more write past the caches (engine/plan/streaming.h).
/// `runs_on` need not be where the operands are; devices want other loops innermost.
///
/// Requires: the iterator's operands are the program's, in the same order.
Lowered lower(const TensorIterator& iterator, const Program& program, Numerics numerics,
              std::int64_t streaming_bytes, DeviceType runs_on = DeviceType::cpu);

/// Has the lines of inputs asked for so many bytes ahead, where all of an input lies in rows along
/// the innermost loop and no loop repeats it.
void ask_ahead(Lowered& lowered, std::int32_t bytes);

/// Why lower() does not walk the operands through tile by tile, or an empty string if it does.
std::string why_not_tiled(const TensorIterator& iterator, const Program& program,
                          DeviceType runs_on = DeviceType::cpu);

}  // namespace weft
