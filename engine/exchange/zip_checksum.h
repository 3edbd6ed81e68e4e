// The checksum of ZIP members.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

/// CRC-32 of what `checksum` is of, and `bytes` behind it.
inline std::uint32_t checksum_of(std::uint32_t checksum, std::span<const std::byte> bytes) {
  // zlib takes null for a wish to begin anew, and no bytes may well be at null.
  if (bytes.empty()) return checksum;
  return static_cast<std::uint32_t>(
      crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace weft
