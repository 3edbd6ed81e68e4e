#include "runtime/disk_entry.h"

#include "runtime/hash.h"
#include "runtime/text.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft {
namespace {

constexpr std::array<char, 8> magic{'W', 'E', 'F', 'T', 'C', 'O', 'D', 'E'};
/// Raised when the header changes.  What the blobs mean is part of their keys.
constexpr std::uint32_t format_version = 1;

/// In the byte order of x86, which is the only machine that the code in it runs on.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t key_bytes;
  std::uint64_t blob_bytes;
  std::uint64_t checksum[2];  ///< of the header with zeros here, key, padding and blob
  std::uint64_t reserved[2];
};
static_assert(sizeof(Header) == 64);

constexpr std::size_t padded(std::size_t size_bytes) { return (size_bytes + 7) & ~std::size_t{7}; }

/// Fills in the checksum of a header and what follows it in `file`.
void seal(Header& header, std::span<const std::byte> file) {
  header.checksum[0] = header.checksum[1] = 0;
  const std::span<const std::byte> body = file.subspan(sizeof(header));
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(body.data(), body.size(), hash_bytes(&header, sizeof(header)));
  header.checksum[0] = hash.low64;
  header.checksum[1] = hash.high64;
}

/// A bundle begins with the header of an entry that has no key; its blob is the length of each
/// entry and the entry, padded.
constexpr std::array<char, 8> bundle_magic{'W', 'E', 'F', 'T', 'P', 'A', 'C', 'K'};

constexpr std::string_view name_begin = "w-", name_end = ".weft";
constexpr std::size_t name_digits = 32;

}  // namespace

std::vector<std::byte> encode_entry(std::span<const std::byte> key,
                                    std::span<const std::byte> blob) {
  std::vector<std::byte> file(sizeof(Header) + padded(key.size()) + blob.size());
  Header header{magic, format_version, sizeof(Header), key.size(), blob.size(), {}, {}};
  std::ranges::copy(key, file.begin() + sizeof(Header));
  std::ranges::copy(blob, file.end() - static_cast<std::ptrdiff_t>(blob.size()));
  seal(header, file);
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

DecodedEntry decode_entry(std::span<const std::byte> file) {
  const auto fault = [](const char* why) { return DecodedEntry{why, {}, {}}; };
  Header header;
  if (file.size() < sizeof(header)) return fault("is shorter than a header");
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.magic != magic) return fault("is no entry of the cache");
  if (header.version != format_version) return fault("is of another version");
  if (header.header_bytes != sizeof(header)) return fault("has a damaged header");
  if (header.key_bytes > max_entry_bytes || header.blob_bytes > max_entry_bytes)
    return fault("has a damaged header");
  const std::size_t blob_at = sizeof(header) + padded(header.key_bytes);
  if (file.size() != blob_at + header.blob_bytes) return fault("has the wrong length");
  Header sealed = header;
  seal(sealed, file);
  if (std::memcmp(&sealed, &header, sizeof(header)) != 0) return fault("has a wrong checksum");
  return {{}, file.subspan(sizeof(header), header.key_bytes), file.subspan(blob_at)};
}

std::vector<std::byte> encode_bundle(std::span<const std::vector<std::byte>> entries) {
  std::vector<std::byte> file(sizeof(Header));
  for (const std::vector<std::byte>& entry : entries) {
    const std::uint64_t size_bytes = entry.size();
    const auto* begin = reinterpret_cast<const std::byte*>(&size_bytes);
    file.insert(file.end(), begin, begin + sizeof(size_bytes));
    file.insert(file.end(), entry.begin(), entry.end());
    file.resize(padded(file.size()));
  }
  Header header{
      bundle_magic, format_version, sizeof(Header), 0, file.size() - sizeof(Header), {}, {}};
  seal(header, file);
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

bool may_be_bundle(std::span<const std::byte> start, std::size_t file_bytes) {
  static_assert(bundle_start_bytes == sizeof(Header));
  Header header{};
  if (start.size() < sizeof(header)) return false;
  std::memcpy(&header, start.data(), sizeof(header));
  return header.magic == bundle_magic && header.blob_bytes == file_bytes - sizeof(header);
}

DecodedBundle decode_bundle(std::span<const std::byte> file) {
  DecodedBundle bundle;
  Header header{};
  if (file.size() >= sizeof(header)) std::memcpy(&header, file.data(), sizeof(header));
  if (header.magic != bundle_magic) return {"is no bundle of cache entries", {}};
  if (header.version != format_version) return {"is a bundle of another version", {}};
  Header sealed = header;
  seal(sealed, file);
  if (std::memcmp(&sealed, &header, sizeof(header)) != 0 ||
      header.blob_bytes != file.size() - sizeof(header))
    return {"is a damaged bundle", {}};
  std::span<const std::byte> rest = file.subspan(sizeof(header));
  while (!rest.empty()) {
    std::uint64_t size_bytes = 0;
    if (rest.size() < sizeof(size_bytes)) return {"is a damaged bundle", {}};
    std::memcpy(&size_bytes, rest.data(), sizeof(size_bytes));
    rest = rest.subspan(sizeof(size_bytes));
    if (size_bytes > max_entry_bytes || padded(size_bytes) > rest.size())
      return {"is a damaged bundle", {}};
    bundle.entries.push_back(rest.first(size_bytes));
    rest = rest.subspan(padded(size_bytes));
    if (const DecodedEntry entry = decode_entry(bundle.entries.back()); !entry.fault.empty())
      return {"has an entry that " + entry.fault, {}};
  }
  return bundle;
}

std::string entry_name(std::span<const std::byte> key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return std::string(name_begin) + hex16(hash.high64) + hex16(hash.low64) + std::string(name_end);
}

bool is_entry_name(std::string_view name) {
  if (name.size() != name_begin.size() + name_digits + name_end.size() ||
      !name.starts_with(name_begin) || !name.ends_with(name_end))
    return false;
  const std::string_view digits = name.substr(name_begin.size(), name_digits);
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace weft
