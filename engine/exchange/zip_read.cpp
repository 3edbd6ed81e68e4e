#include "engine/exchange/zip.h"

#include "engine/exchange/zip_checksum.h"
#include "engine/exchange/zip_format.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace weft {
namespace {

using Bytes = std::span<const std::byte>;

/// Deflate packs 1032 bytes at most into one.
constexpr std::uint64_t most_unpacked_per_byte = 1032;

/// Reads numbers in little endian and never beyond the end.
class Cursor {
 public:
  Cursor(Bytes bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  Bytes take(std::uint64_t count) {
    WEFT_CHECK(count <= bytes_.size(), ArgumentError, "the archive ends within ", what_);
    const Bytes taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  void skip(std::uint64_t count) { take(count); }
  bool is_at_end() const { return bytes_.empty(); }

 private:
  Bytes bytes_;
  std::string_view what_;
};

using Buffer = std::vector<std::byte>;

Buffer part(const InputFile& archive, std::uint64_t offset, std::uint64_t count,
            std::string_view what) {
  const std::size_t size = archive.size_bytes();
  WEFT_CHECK(offset <= size && count <= size - offset, ArgumentError, what,
             " lies outside the archive: ", count, " bytes at ", offset, ", the archive has ",
             size);
  Buffer bytes(count);
  // Read and not mapped: another process may make the file shorter at any time.
  WEFT_CHECK(archive.read_at(offset, bytes) == count, ArgumentError, "the archive ends within ",
             what);
  return bytes;
}

/// The record at the archive's end, behind which there may be a comment.
std::uint64_t find_end(const InputFile& archive) {
  const std::size_t most = zip::end_bytes + zip::max_comment_bytes;
  const std::size_t size = archive.size_bytes();
  const std::size_t first = size > most ? size - most : 0;
  const Buffer tail = part(archive, first, size - first, "its end");
  for (std::size_t at = tail.size() + 1; at-- > zip::end_bytes;) {
    Cursor record(Bytes(tail).subspan(at - zip::end_bytes), "the record at its end");
    if (record.number<std::uint32_t>() != zip::end_signature) continue;
    record.skip(zip::end_bytes - sizeof(std::uint32_t) - sizeof(std::uint16_t));
    if (at + record.number<std::uint16_t>() == tail.size()) return first + at - zip::end_bytes;
  }
  throw ArgumentError(
      "not an .npz archive, or only the beginning of one: the record at the end of every ZIP file "
      "is missing");
}

struct Directory {
  std::uint64_t num_members = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};

/// The record of 64-bit sizes that belongs to the record at `end`, if there is one.
std::optional<Directory> read_end64(const InputFile& archive, std::uint64_t end) {
  if (end < zip::locator_bytes) return {};
  const Buffer found = part(archive, end - zip::locator_bytes, zip::locator_bytes, "the locator");
  Cursor locator(found, "the locator");
  if (locator.number<std::uint32_t>() != zip::locator_signature) return {};
  locator.skip(4);
  const Buffer bytes = part(archive, locator.number<std::uint64_t>(), zip::end64_bytes,
                            "the record of 64-bit sizes");
  Cursor record(bytes, "the record of 64-bit sizes");
  WEFT_CHECK(record.number<std::uint32_t>() == zip::end64_signature, ArgumentError,
             "the archive's record of 64-bit sizes is damaged");
  record.skip(28);
  Directory directory;
  directory.num_members = record.number<std::uint64_t>();
  directory.size_bytes = record.number<std::uint64_t>();
  directory.offset_bytes = record.number<std::uint64_t>();
  return directory;
}

Directory read_end(const InputFile& archive) {
  const std::uint64_t end = find_end(archive);
  const Buffer bytes = part(archive, end, zip::end_bytes, "the record at its end");
  Cursor record(bytes, "the record at its end");
  record.skip(4);
  const auto disk = record.number<std::uint16_t>();
  const auto directory_disk = record.number<std::uint16_t>();
  record.skip(2);
  Directory directory;
  directory.num_members = record.number<std::uint16_t>();
  directory.size_bytes = record.number<std::uint32_t>();
  directory.offset_bytes = record.number<std::uint32_t>();
  if (directory.num_members == zip::in_extra16 || directory.size_bytes == zip::in_extra32 ||
      directory.offset_bytes == zip::in_extra32) {
    // Without that record the numbers mean themselves: 65535 members need none.
    if (const std::optional<Directory> directory64 = read_end64(archive, end)) return *directory64;
  }
  WEFT_CHECK(disk == 0 && directory_disk == 0, UnsupportedError,
             "archives in several files are not supported");
  return directory;
}

/// Replaces what stands for "see the extra field" by what stands there.
void read_extra64(Bytes extra, ZipMember& member) {
  const std::array<std::uint64_t*, 3> numbers = {&member.size_bytes, &member.packed_bytes,
                                                 &member.header_offset_bytes};
  const auto is_missing = [](const std::uint64_t* number) { return *number == zip::in_extra32; };
  if (std::ranges::none_of(numbers, is_missing)) return;
  Cursor fields(extra, "an extra field of its directory");
  while (!fields.is_at_end()) {
    const auto id = fields.number<std::uint16_t>();
    const Bytes contents = fields.take(fields.number<std::uint16_t>());
    if (id != zip::extra64_id) continue;
    Cursor field(contents, "the 64-bit sizes of a member");
    for (std::uint64_t* number : numbers)
      if (is_missing(number)) *number = field.number<std::uint64_t>();
    return;
  }
  throw ArgumentError("the archive's directory has no 64-bit sizes for " + member.name);
}

ZipMember read_member(Cursor& directory) {
  WEFT_CHECK(directory.number<std::uint32_t>() == zip::central_signature, ArgumentError,
             "the archive's directory is damaged");
  directory.skip(4);
  ZipMember member;
  member.flags = directory.number<std::uint16_t>();
  member.method = directory.number<std::uint16_t>();
  directory.skip(4);
  member.checksum = directory.number<std::uint32_t>();
  member.packed_bytes = directory.number<std::uint32_t>();
  member.size_bytes = directory.number<std::uint32_t>();
  const auto name_bytes = directory.number<std::uint16_t>();
  const auto extra_bytes = directory.number<std::uint16_t>();
  const auto comment_bytes = directory.number<std::uint16_t>();
  directory.skip(8);
  member.header_offset_bytes = directory.number<std::uint32_t>();
  const Bytes name = directory.take(name_bytes);
  member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  read_extra64(directory.take(extra_bytes), member);
  directory.skip(comment_bytes);
  return member;
}

/// The packed bytes of a member, read in order.
class PackedBytes {
 public:
  PackedBytes(const InputFile& archive, std::uint64_t offset, std::uint64_t count)
      : archive_(archive), offset_(offset), left_(count) {}

  /// Fills `bytes` as far as the member goes and returns how far that was.
  std::size_t read(std::span<std::byte> bytes) {
    const std::size_t wanted = std::min<std::uint64_t>(bytes.size(), left_);
    WEFT_CHECK(archive_.read_at(offset_, bytes.first(wanted)) == wanted, ArgumentError,
               "the archive ends within the data");
    offset_ += wanted;
    left_ -= wanted;
    return wanted;
  }

 private:
  const InputFile& archive_;
  std::uint64_t offset_;
  std::uint64_t left_;
};

class StoredSource : public ZipSource {
 public:
  StoredSource(const ZipMember& member, PackedBytes packed) : ZipSource(member), packed_(packed) {}

 private:
  std::size_t unpack(std::span<std::byte> bytes) override { return packed_.read(bytes); }

  PackedBytes packed_;
};

class DeflatedSource : public ZipSource {
 public:
  DeflatedSource(const ZipMember& member, PackedBytes packed)
      : ZipSource(member), packed_(packed), buffer_(buffer_bytes) {
    // Negative: as ZIP has it, without the header of zlib.
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~DeflatedSource() override { inflateEnd(&stream_); }

 private:
  static constexpr std::size_t buffer_bytes = 1 << 17;

  std::size_t unpack(std::span<std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size() && !is_at_end_) {
      if (stream_.avail_in == 0) {
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(packed_.read(buffer_));
      }
      // zlib counts in 32 bits.
      const std::size_t room = std::min<std::size_t>(bytes.size() - done, 1 << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      is_at_end_ = status == Z_STREAM_END;
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      WEFT_CHECK(status == Z_OK || is_at_end_, ArgumentError, "the packed data is damaged",
                 stream_.msg == nullptr ? "" : ": ", stream_.msg == nullptr ? "" : stream_.msg);
    }
    return done;
  }

  z_stream stream_{};
  PackedBytes packed_;
  Buffer buffer_;
  bool is_at_end_ = false;
};

/// Members take turns: what several of them shared would be unpacked once for each, and a small
/// file would ask for any amount of memory.
void check_apart(std::span<const ZipMember> members, std::uint64_t archive_bytes) {
  std::uint64_t left = archive_bytes;
  for (const ZipMember& member : members) {
    WEFT_CHECK(zip::local_bytes <= left && member.packed_bytes <= left - zip::local_bytes,
               ArgumentError, "the archive's members lie over each other: they have more than its ",
               archive_bytes, " bytes");
    left -= zip::local_bytes + member.packed_bytes;
  }
}

}  // namespace

std::vector<ZipMember> zip_directory(const InputFile& archive) {
  const Directory found = read_end(archive);
  const Buffer bytes = part(archive, found.offset_bytes, found.size_bytes, "the directory");
  Cursor directory(bytes, "its directory");
  std::vector<ZipMember> members;
  for (std::uint64_t i = 0; i < found.num_members; ++i) members.push_back(read_member(directory));
  check_apart(members, archive.size_bytes());
  return members;
}

std::unique_ptr<ZipSource> zip_open(const InputFile& archive, const ZipMember& member) {
  WEFT_CHECK((member.flags & zip::flag_encrypted) == 0, UnsupportedError,
             "encrypted archives are not supported");
  const bool is_stored = member.method == static_cast<std::uint16_t>(ZipMethod::stored);
  WEFT_CHECK(is_stored || member.method == static_cast<std::uint16_t>(ZipMethod::deflated),
             UnsupportedError, "expected stored (0) or deflated (8) data, got compression method ",
             member.method);
  const Buffer bytes = part(archive, member.header_offset_bytes, zip::local_bytes, "the header");
  Cursor header(bytes, "the header");
  WEFT_CHECK(header.number<std::uint32_t>() == zip::local_signature, ArgumentError,
             "the header is damaged");
  header.skip(22);
  const std::uint64_t name_bytes = header.number<std::uint16_t>();
  const std::uint64_t extra_bytes = header.number<std::uint16_t>();
  const std::uint64_t data_offset =
      member.header_offset_bytes + zip::local_bytes + name_bytes + extra_bytes;
  const std::uint64_t size = archive.size_bytes();
  WEFT_CHECK(data_offset <= size && member.packed_bytes <= size - data_offset, ArgumentError,
             "the data lies outside the archive: ", member.packed_bytes, " bytes at ", data_offset,
             ", the archive has ", size);
  const PackedBytes packed(archive, data_offset, member.packed_bytes);
  // A size that can't be would be allocated before it is found out.
  WEFT_CHECK(is_stored ? member.size_bytes == member.packed_bytes
                       : member.size_bytes / most_unpacked_per_byte <= member.packed_bytes,
             ArgumentError, "the directory says that ", member.packed_bytes, " bytes unpack to ",
             member.size_bytes, ", which can't be");
  if (is_stored) return std::make_unique<StoredSource>(member, packed);
  return std::make_unique<DeflatedSource>(member, packed);
}

std::size_t ZipSource::read(std::span<std::byte> bytes) {
  const std::size_t count = unpack(bytes.first(std::min(bytes.size(), size_bytes_ - read_bytes_)));
  read_bytes_ += count;
  read_checksum_ = checksum_of(read_checksum_, bytes.first(count));
  return count;
}

void ZipSource::finish() {
  std::array<std::byte, 4096> rest;
  while (read(rest) > 0) continue;
  const std::size_t more = unpack(std::span(rest).first(1));
  WEFT_CHECK(read_bytes_ == size_bytes_ && more == 0, ArgumentError, "expected ", size_bytes_,
             " bytes of data, got ", more == 0 ? "" : "more than ", read_bytes_);
  WEFT_CHECK(read_checksum_ == checksum_, ArgumentError,
             "the data is damaged: its checksum is wrong");
}

}  // namespace weft
