// Machine code that transposes planes of few lines, many of them in one call.
#pragma once

#include "jit/xbyak/assembler.h"

#include <cstddef>
#include <cstdint>

namespace weft::jit::xbyak {

/// `count` rectangles as TransposeFunction has them (jit/xbyak/transpose.h), all of the same shape.
struct ShortPlanes {
  const std::byte* from;
  std::int64_t from_stride_bytes;  ///< between lines
  std::byte* to;
  std::int64_t to_stride_bytes;
  std::int64_t num_lines;        ///< 1 to most_short_lines(itemsize)
  std::int64_t num_items;        ///< of a line, at least least_short_items(itemsize)
  std::int64_t count;            ///< at least 1
  std::int64_t from_step_bytes;  ///< between rectangles
  std::int64_t to_step_bytes;
};
using ShortTransposeFunction = void(const ShortPlanes* planes);

/// Whether there is such a function for items of that size.
inline bool has_short_transpose(const CpuFeatures& features, int itemsize) {
  return features.isa == Isa::avx512 && (itemsize == 4 || itemsize == 8);
}
constexpr std::int64_t most_short_lines(int itemsize) { return 64 / itemsize; }
constexpr std::int64_t least_short_items(int itemsize) { return 16 / itemsize; }

/// Emits a ShortTransposeFunction at the end of `code`.
void emit_short_transpose(Assembler& code, int itemsize);

}  // namespace weft::jit::xbyak
