// Elements of a row that are moved as they are.
#pragma once

#include "jit/fold/scan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

/// Elements of any size, all of them `value`.
inline void fill_elements(const jit::ScanOperand& to, const std::byte* value, std::int64_t count,
                          std::int64_t itemsize) {
  const auto size = static_cast<std::size_t>(itemsize);
  if (std::abs(to.stride_bytes) != itemsize) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(to.data + i * to.stride_bytes, value, size);
    return;
  }
  constexpr std::int64_t at_once_bytes = 4096;
  std::byte* const lowest = to.data + (to.stride_bytes < 0 ? (count - 1) * to.stride_bytes : 0);
  std::memcpy(lowest, value, count > 0 ? size : 0);
  for (std::int64_t done = 1; done < count;) {
    const std::int64_t copied = std::min({done, count - done, at_once_bytes / itemsize});
    std::memcpy(lowest + done * itemsize, lowest, static_cast<std::size_t>(copied) * size);
    done += copied;
  }
}

}  // namespace weft
