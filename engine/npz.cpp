// .npz: a ZIP archive of .npy files.
#include <weft/npy.h>

#include <weft/error.h>

#include "engine/npy_stream.h"
#include "engine/zip.h"
#include "runtime/file.h"

#include <algorithm>
#include <set>

namespace weft {
namespace {

constexpr std::string_view suffix = ".npy";

/// An archive in memory, its arrays and where they are.
class Archive {
 public:
  explicit Archive(const std::string& path) {
    const InputFile file(path);
    mapping_ = file.map();
    bytes_ = {mapping_.get(), file.size_bytes()};
    std::set<std::string_view> names;
    members_ = zip_directory(bytes_);
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
      const std::unique_ptr<ZipSource> source = zip_open(bytes_, member);
      Tensor tensor = npy_read_from(*source);
      source->finish();
      return tensor;
    });
  }

 private:
  std::shared_ptr<std::byte> mapping_;
  std::span<const std::byte> bytes_;
  std::vector<ZipMember> members_;
};

void check_names(std::span<const NamedTensor> tensors) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t most_bytes = max_zip_name_bytes - suffix.size();
    WEFT_CHECK(!name.empty() && name.size() <= most_bytes && name.find('\0') == std::string::npos,
               ArgumentError, "expected names of 1 to ", most_bytes,
               " bytes without a zero byte, got one of ", name.size(), " bytes");
    WEFT_CHECK(names.insert(name).second, ArgumentError, "the name '", name, "' is given twice");
    naming_file(detail::concat("'", name, "'"), [&] { check_npy_writable(tensor); });
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
