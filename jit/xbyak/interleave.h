// Machine code that joins a few lines into one whose items alternate between them (planes of an
// image into pixels), and the reverse.
#pragma once

#include "jit/xbyak/assembler.h"

#include <cstddef>
#include <cstdint>

namespace weft::jit::xbyak {

/// Pixel i of `ways` items is at pixels + i * ways * itemsize, item k of it at
/// planes + k * plane_stride_bytes + i * itemsize.  Moves whole groups of group_items() pixels, as
/// many of them as num_pixels has, from the one place to the other.
using InterleaveFunction = void(std::byte* planes, std::int64_t plane_stride_bytes,
                                std::byte* pixels, std::int64_t num_pixels);

struct InterleaveShape {
  int itemsize = 4;  ///< 1, 2, 4 or 8
  int ways = 3;      ///< 2, 3 or 4
  bool to_pixels = true;
  /// Writes past the caches; what is written must be aligned to a cache line, in every plane.
  bool is_streaming = false;
};

/// Pixels that one step of the code moves.
int group_items(const CpuFeatures& features, const InterleaveShape& shape);

/// Emits an InterleaveFunction at the end of `code`.
void emit_interleave(Assembler& code, const InterleaveShape& shape);

}  // namespace weft::jit::xbyak
