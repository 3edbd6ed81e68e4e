// Elements of a row that are moved as they are.
#pragma once

#include "jit/fold/scan.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft {

/// Elements of 4, 8 or 16 bytes.
inline void copy_elements(const jit::ScanOperand& to, const jit::ScanOperand& from,
                          std::int64_t count, std::int64_t itemsize) {
  if (to.stride_bytes == itemsize && from.stride_bytes == itemsize) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(count * itemsize));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const at = to.data + i * to.stride_bytes;
    const std::byte* const element = from.data + i * from.stride_bytes;
    if (itemsize == 4)
      std::memcpy(at, element, 4);
    else
      for (std::int64_t half = 0; half < itemsize; half += 8)
        std::memcpy(at + half, element + half, 8);
  }
}

}  // namespace weft
