// The bytes of one entry of the disk cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Larger files are no entries: nothing is read into memory because its header asks for it.
inline constexpr std::size_t max_entry_bytes = std::size_t{64} << 20;

/// Header, key and blob as one file.
std::vector<std::byte> encode_entry(std::span<const std::byte> key,
                                    std::span<const std::byte> blob);

struct DecodedEntry {
  std::string fault;  ///< why the bytes are no sound entry; empty if they are
  std::span<const std::byte> key;
  std::span<const std::byte> blob;  ///< at a multiple of 8 bytes from the start of the file
};

/// Looks at every length before it is used and at the checksum of all.
DecodedEntry decode_entry(std::span<const std::byte> file);

/// Many entries as one file.
std::vector<std::byte> encode_bundle(std::span<const std::vector<std::byte>> entries);

struct DecodedBundle {
  std::string fault;  ///< why the bytes are no sound bundle; empty if they are
  std::vector<std::span<const std::byte>> entries;  ///< all of them sound
};
DecodedBundle decode_bundle(std::span<const std::byte> file);

/// Whether a file of so many bytes may be a bundle, by its first bundle_start_bytes or what there
/// is of them: where not, decode_bundle() refuses these alone.
bool may_be_bundle(std::span<const std::byte> start, std::size_t file_bytes);
inline constexpr std::size_t bundle_start_bytes = 64;

/// The name of the file of a key: "w-" and 32 digits, then ".weft".
std::string entry_name(std::span<const std::byte> key);
bool is_entry_name(std::string_view name);

}  // namespace weft
