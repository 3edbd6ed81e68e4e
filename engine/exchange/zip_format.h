// Signatures, sizes and flags of the ZIP format's records.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t central_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50;
inline constexpr std::uint32_t locator_signature = 0x07064b50;

inline constexpr std::size_t local_bytes = 30;  ///< before the name
inline constexpr std::size_t end_bytes = 22;    ///< before the comment
inline constexpr std::size_t end64_bytes = 56;
inline constexpr std::size_t locator_bytes = 20;
inline constexpr std::size_t max_comment_bytes = 0xffff;

inline constexpr std::uint16_t flag_encrypted = 1;
inline constexpr std::uint16_t flag_utf8 = 1 << 11;
inline constexpr std::uint16_t extra64_id = 1;
inline constexpr std::uint16_t version64 = 45;  ///< of the format, that knows 64-bit sizes
inline constexpr std::uint16_t in_extra16 = 0xffff;
inline constexpr std::uint32_t in_extra32 = 0xffffffff;  ///< the number is in the 64-bit record

}  // namespace weft::zip
