// One value, written many times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace weft {

/// Elements of any size that are `stride_bytes` apart, the first at `to`: all of them `value`.
inline void fill_elements(std::byte* to, std::int64_t stride_bytes, const std::byte* value,
                          std::int64_t count, std::int64_t itemsize) {
  const auto size = static_cast<std::size_t>(itemsize);
  if (std::abs(stride_bytes) != itemsize) {
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * stride_bytes, value, size);
    return;
  }
  constexpr std::int64_t at_once_bytes = 4096;
  std::byte* const lowest = to + (stride_bytes < 0 ? (count - 1) * stride_bytes : 0);
  std::memcpy(lowest, value, count > 0 ? size : 0);
  for (std::int64_t done = 1; done < count;) {
    const std::int64_t copied = std::min({done, count - done, at_once_bytes / itemsize});
    std::memcpy(lowest + done * itemsize, lowest, static_cast<std::size_t>(copied) * size);
    done += copied;
  }
}

}  // namespace weft
