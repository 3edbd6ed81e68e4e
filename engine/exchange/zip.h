// Archives in the ZIP format as far as .npz files need it: members that are stored or deflated, one
// file, 64-bit sizes.  No encryption, and nothing is ever unpacked to a path.
#pragma once

#include "engine/exchange/npy_stream.h"
#include "runtime/file.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class ZipMethod : std::uint16_t { stored = 0, deflated = 8 };

inline constexpr std::size_t max_zip_name_bytes = 0xffff;

struct ZipMember {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;  ///< CRC-32 of what is unpacked
  std::uint64_t packed_bytes = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t header_offset_bytes = 0;
};

/// The members that an archive's directory lists.
///
/// Errors: ArgumentError for a file that is no archive, or only the beginning of one, and where
///         members have more bytes together than the file.
std::vector<ZipMember> zip_directory(const InputFile& archive);

/// The unpacked bytes of one member.
///
/// Errors: ArgumentError from every function where the packed bytes make no sense.
class ZipSource : public ByteSource {
 public:
  explicit ZipSource(const ZipMember& member)
      : size_bytes_(member.size_bytes), checksum_(member.checksum) {}
  std::size_t size_bytes() const override { return size_bytes_; }
  std::size_t read(std::span<std::byte> bytes) override;
  /// Reads what is left, and compares size and checksum with those that the directory says.
  void finish();

 private:
  virtual std::size_t unpack(std::span<std::byte> bytes) = 0;

  std::size_t size_bytes_;
  std::uint32_t checksum_;
  std::size_t read_bytes_ = 0;
  std::uint32_t read_checksum_ = 0;
};

/// `archive` must live as long as the source.
///
/// Errors: ArgumentError for a member that does not lie in the archive, UnsupportedError for one
///         that is encrypted or packed by another method.
std::unique_ptr<ZipSource> zip_open(const InputFile& archive, const ZipMember& member);

/// Writes members one after the other, and in the end the directory.
class ZipWriter {
 public:
  using Contents = std::function<void(ByteSink&)>;

  explicit ZipWriter(ByteSink& sink) : sink_(sink) {}
  /// `contents` is called twice for a stored member, whose size and checksum come before it, and
  /// must write the same both times.
  void add(std::string_view name, ZipMethod method, const Contents& contents);
  void finish();

 private:
  void write(std::string_view bytes);

  ByteSink& sink_;
  std::uint64_t offset_bytes_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace weft
