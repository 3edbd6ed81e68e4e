// .npz: a ZIP archive of .npy files.
#include <weft/npy.h>

#include <weft/error.h>

#include "engine/exchange/npy_stream.h"
#include "engine/exchange/zip.h"
#include "runtime/file.h"

#include <algorithm>
#include <set>

namespace weft {
namespace {

constexpr std::string_view suffix = ".npy";

/// An open archive, its arrays and where they are.
class Archive {
 public:
  explicit Archive(const std::string& path) : file_(path), members_(zip_directory(file_)) {
    std::set<std::string_view> names;
    std::erase_if(members_, [](const ZipMember& member) { return !member.name.ends_with(suffix); });
    for (const ZipMember& member : members_)
      WEFT_CHECK(names.insert(member.name).second, ArgumentError, "the archive has two arrays '",
                 name_of(member), "'");
  }

  const std::vector<ZipMember>& members() const { return members_; }

  static std::string name_of(const ZipMember& member) {
    return member.name.substr(0, member.name.size() - suffix.size());
  }

  Tensor read(const ZipMember& member) const {
    return naming_file(detail::concat("'", name_of(member), "'"), [&] {
      const std::unique_ptr<ZipSource> source = zip_open(file_, member);
      Tensor tensor = npy_read_from(*source);
      source->finish();
      return tensor;
    });
  }

 private:
  InputFile file_;
  std::vector<ZipMember> members_;
};

/// Well-formed, as the Unicode standard's table of byte sequences has it: what Python reads back.
bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
    };
    const unsigned lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4) return false;
    // The shortest form only, no surrogates, nothing beyond the last plane.
    const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (length > 1 && (byte(1) < least || byte(1) > most)) return false;
    for (std::size_t i = 2; i < length; ++i)
      if (byte(i) < 0x80 || byte(i) > 0xbf) return false;
    at += length;
  }
  return true;
}

void check_names(std::span<const NamedTensor> tensors) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t most_bytes = max_zip_name_bytes - suffix.size();
    WEFT_CHECK(!name.empty() && name.size() <= most_bytes && name.find('\0') == std::string::npos,
               ArgumentError, "expected names of 1 to ", most_bytes,
               " bytes without a zero byte, got one of ", name.size(), " bytes");
    WEFT_CHECK(is_utf8(name), ArgumentError, "expected names in UTF-8, got other bytes in number ",
               names.size() + 1);
    WEFT_CHECK(names.insert(name).second, ArgumentError, "the name '", name, "' is given twice");
    naming_file(detail::concat("'", name, "'"), [&tensor = tensor] { check_npy_writable(tensor); });
  }
}

}  // namespace

std::vector<NamedTensor> npz_read(const std::string& path) {
  return naming_file(path, [&] {
    const Archive archive(path);
    std::vector<NamedTensor> tensors;
    for (const ZipMember& member : archive.members())
      tensors.emplace_back(Archive::name_of(member), archive.read(member));
    return tensors;
  });
}

Tensor npz_read(const std::string& path, std::string_view name) {
  return naming_file(path, [&] {
    const Archive archive(path);
    std::string names;
    for (const ZipMember& member : archive.members()) {
      const std::string own_name = Archive::name_of(member);
      if (own_name == name) return archive.read(member);
      names += (names.empty() ? "" : ", ") + own_name;
    }
    throw ArgumentError(detail::concat("there is no array '", name, "' in the archive; it has ",
                                       names.empty() ? "none" : names));
  });
}

void npz_write(const std::string& path, std::span<const NamedTensor> tensors,
               NpzCompression compression) {
  naming_file(path, [&] {
    check_names(tensors);
    const ZipMethod method =
        compression == NpzCompression::deflated ? ZipMethod::deflated : ZipMethod::stored;
    OutputFile file(path);
    FileSink sink(file);
    ZipWriter writer(sink);
    for (const auto& [name, tensor] : tensors)
      writer.add(name + std::string(suffix), method,
                 [&tensor = tensor](ByteSink& member) { npy_write_to(member, tensor); });
    writer.finish();
    file.commit();
  });
}

}  // namespace weft
