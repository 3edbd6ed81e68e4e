// Every member and the directory get the records of 64-bit sizes, needed or not: one form is easier
// to get right than two, and all readers of .npz files know it.
#include "engine/exchange/zip.h"

#include "engine/exchange/zip_checksum.h"
#include "engine/exchange/zip_format.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace weft {
namespace {

/// Numbers in little endian.
class Record {
 public:
  template <class T>
  Record& add(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      text_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    return *this;
  }
  Record& add_text(std::string_view text) {
    text_ += text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// What local headers and the directory say of a member in the same words.
void add_description(Record& record, const ZipMember& member, std::size_t extra_bytes) {
  constexpr std::uint16_t midnight = 0, first_of_january_1980 = 0x21;  // the same file every time
  record.add(zip::version64)
      .add(member.flags)
      .add(member.method)
      .add(midnight)
      .add(first_of_january_1980)
      .add(member.checksum)
      .add(zip::in_extra32)
      .add(zip::in_extra32)
      .add(static_cast<std::uint16_t>(member.name.size()))
      .add(static_cast<std::uint16_t>(extra_bytes));
}

std::string local_record(const ZipMember& member) {
  Record extra;
  extra.add(zip::extra64_id).add(std::uint16_t{16}).add(member.size_bytes).add(member.packed_bytes);
  Record record;
  record.add(zip::local_signature);
  add_description(record, member, extra.text().size());
  return record.add_text(member.name).add_text(extra.text()).text();
}

std::string directory_record(const ZipMember& member) {
  Record extra;
  extra.add(zip::extra64_id)
      .add(std::uint16_t{24})
      .add(member.size_bytes)
      .add(member.packed_bytes)
      .add(member.header_offset_bytes);
  Record record;
  record.add(zip::central_signature).add(zip::version64);
  add_description(record, member, extra.text().size());
  constexpr std::uint16_t no_comment = 0, first_disk = 0, attributes = 0;
  constexpr std::uint32_t readable_file = 0600u << 16;
  record.add(no_comment).add(first_disk).add(attributes).add(readable_file).add(zip::in_extra32);
  return record.add_text(member.name).add_text(extra.text()).text();
}

/// Counts what goes through it.
class Measured : public ByteSink {
 public:
  explicit Measured(ZipMember& member) : member_(member) {}
  void write(std::span<const std::byte> bytes) override {
    member_.size_bytes += bytes.size();
    member_.checksum = checksum_of(member_.checksum, bytes);
  }

 private:
  ZipMember& member_;
};

/// Counts and packs.
class Deflated : public Measured {
 public:
  explicit Deflated(ZipMember& member) : Measured(member) {
    // Negative: without the header of zlib.
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Deflated() override { deflateEnd(&stream_); }

  void write(std::span<const std::byte> bytes) override {
    Measured::write(bytes);
    while (!bytes.empty()) {
      const std::size_t count = std::min<std::size_t>(bytes.size(), 1 << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(count);
      pack(Z_NO_FLUSH);
      bytes = bytes.subspan(count);
    }
  }
  std::string finish() {
    pack(Z_FINISH);
    return std::move(packed_);
  }

 private:
  void pack(int flush) {
    std::array<char, 16384> room;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(room.data());
      stream_.avail_out = static_cast<uInt>(room.size());
      deflate(&stream_, flush);
      packed_.append(room.data(), room.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::string packed_;
};

/// Passes on, and counts again.
class Forwarded : public Measured {
 public:
  Forwarded(ZipMember& member, ByteSink& sink) : Measured(member), sink_(sink) {}
  void write(std::span<const std::byte> bytes) override {
    Measured::write(bytes);
    sink_.write(bytes);
  }

 private:
  ByteSink& sink_;
};

}  // namespace

void ZipWriter::write(std::string_view bytes) {
  sink_.write(std::as_bytes(std::span(bytes)));
  offset_bytes_ += bytes.size();
}

void ZipWriter::add(std::string_view name, ZipMethod method, const Contents& contents) {
  const bool is_ascii = std::ranges::all_of(name, [](unsigned char c) { return c < 0x80; });
  ZipMember member;
  member.name = name;
  member.flags = is_ascii ? 0 : zip::flag_utf8;
  member.method = static_cast<std::uint16_t>(method);
  member.header_offset_bytes = offset_bytes_;
  if (method == ZipMethod::deflated) {
    Deflated sink(member);
    contents(sink);
    const std::string packed = sink.finish();
    member.packed_bytes = packed.size();
    write(local_record(member));
    write(packed);
  } else {
    Measured measured(member);
    contents(measured);
    member.packed_bytes = member.size_bytes;
    write(local_record(member));
    ZipMember again;
    Forwarded sink(again, sink_);
    contents(sink);
    WEFT_CHECK(again.size_bytes == member.size_bytes && again.checksum == member.checksum,
               ArgumentError, name, " was changed while it was written");
    offset_bytes_ += member.packed_bytes;
  }
  members_.push_back(std::move(member));
}

void ZipWriter::finish() {
  const std::uint64_t directory_offset = offset_bytes_;
  for (const ZipMember& member : members_) write(directory_record(member));
  const std::uint64_t directory_bytes = offset_bytes_ - directory_offset;
  const std::uint64_t num_members = members_.size();
  const std::uint64_t end64_offset = offset_bytes_;
  constexpr std::uint32_t first_disk = 0, one_disk = 1;
  Record end;
  end.add(zip::end64_signature)
      .add(std::uint64_t{zip::end64_bytes - 12})
      .add(zip::version64)
      .add(zip::version64)
      .add(first_disk)
      .add(first_disk)
      .add(num_members)
      .add(num_members)
      .add(directory_bytes)
      .add(directory_offset);
  end.add(zip::locator_signature).add(first_disk).add(end64_offset).add(one_disk);
  end.add(zip::end_signature)
      .add(std::uint32_t{0})  // both disks
      .add(zip::in_extra16)
      .add(zip::in_extra16)
      .add(zip::in_extra32)
      .add(zip::in_extra32)
      .add(std::uint16_t{0});  // no comment
  write(end.text());
}

}  // namespace weft
