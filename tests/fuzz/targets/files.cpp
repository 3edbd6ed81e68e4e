// Files: arrays, archives of them, entries of the disk cache, compiled objects.
#include "tests/fuzz/targets/target.h"
#include "tests/temporary_folder.h"

#include "runtime/disk_entry.h"
#include "runtime/file.h"
#if WEFT_HAS_LLVM
#include "jit/llvm/object.h"
#endif

#include <weft/disk_cache.h>
#include <weft/npy.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>

namespace weft::fuzzing {
namespace {

/// A file of these bytes in memory, under a path of its own.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes) : file_(memfd_create("weft-fuzz", MFD_CLOEXEC)) {
    require(file_.get() >= 0, "the fuzzer has no files");
    write(bytes);
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  void write(Bytes bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      require(count > 0, "the fuzzer can't write its file");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  FileDescriptor file_;
};

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && std::ranges::equal(a.sizes(), b.sizes()) &&
         std::ranges::equal(a.strides(), b.strides()) &&
         std::ranges::equal(Bytes(a.storage()->data(), a.storage()->size_bytes()),
                            Bytes(b.storage()->data(), b.storage()->size_bytes()));
}

/// A folder of this process.
std::string own_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

}  // namespace

void fuzz_npy(Bytes input) {
  const MemoryFile file(input);
  Tensor read, mapped;
  const bool is_read = is_accepted([&] { read = npy_read(file.path()); });
  require(is_accepted([&] { mapped = npy_map(file.path()); }) == is_read,
          "reading a file and mapping it end differently");
  if (!is_read) return;
  require(std::ranges::equal(read.sizes(), mapped.sizes()), "a mapped array has another shape");
  require(are_equal(read, mapped), "a mapped array has other elements");
  const std::string copy = own_folder() + "/copy.npy";
  npy_write(copy, read);
  const Tensor again = npy_read(copy);
  require(std::ranges::equal(read.sizes(), again.sizes()) && read.dtype() == again.dtype(),
          "an array that was written reads back with another layout");
}

void fuzz_npz(Bytes input) {
  const MemoryFile file(input);
  std::vector<NamedTensor> arrays;
  if (!is_accepted([&] { arrays = npz_read(file.path()); })) return;
  for (const auto& [name, array] : arrays) {
    Tensor again;
    require(is_accepted([&again, &file, &name = name] { again = npz_read(file.path(), name); }),
            "an array of an archive can't be read by its name");
    require(are_equal(array, again), "an array of an archive has two values");
  }
}

namespace {

/// Whether a cache whose folder has `file` in the place of the key's entry uses it.
bool uses_entry(Bytes key, Bytes file) {
  DiskCacheOptions options;
  options.folder = own_folder();
  DiskCache cache(options);
  const std::string path = options.folder + "/" + entry_name(key);
  std::FILE* const written = std::fopen(path.c_str(), "wb");
  require(written != nullptr && std::fwrite(file.data(), 1, file.size(), written) == file.size(),
          "the fuzzer can't write an entry");
  std::fclose(written);
  const bool is_used = cache.find(key).has_value();
  std::filesystem::remove(path);
  return is_used;
}

/// An entry whose checksum is right, whatever is in it.
void check_sealed(Bytes key, Bytes blob) {
  const std::vector<std::byte> entry = encode_entry(key, blob);
  const DecodedEntry decoded = decode_entry(entry);
  require(decoded.fault.empty() && std::ranges::equal(decoded.key, key) &&
              std::ranges::equal(decoded.blob, blob),
          "an entry reads back as another");
  const std::vector<std::vector<std::byte>> entries{entry, {blob.begin(), blob.end()}};
  require(decode_bundle(encode_bundle(entries)).fault.empty() == decode_entry(blob).fault.empty(),
          "a bundle is as sound as its entries");
}

}  // namespace

void fuzz_cache_entry(Bytes input) {
  if (!input.empty() && input[0] == std::byte{0}) {
    Choices choices(input.subspan(1));
    const Bytes key = choices.take(choices.byte());
    check_sealed(key, choices.rest());
    return;
  }
  decode_bundle(input);
  const DecodedEntry decoded = decode_entry(input);
  const Bytes other_key = std::as_bytes(std::span("another key"));
  const bool is_sound = decoded.fault.empty();
  if (is_sound) {
    require(decoded.key.size() + decoded.blob.size() <= input.size(), "an entry exceeds its file");
    require(uses_entry(decoded.key, input), "a cache leaves a sound entry unused");
  }
  if (!is_sound || !std::ranges::equal(decoded.key, other_key))
    require(!uses_entry(other_key, input), "a cache uses what is not the key's entry");
}

#if WEFT_HAS_LLVM
void fuzz_object(Bytes input) {
  // As entries have them: at a multiple of 8 bytes.
  std::vector<std::uint64_t> words((input.size() + 7) / 8);
  if (!input.empty()) std::memcpy(words.data(), input.data(), input.size());
  const Bytes object = std::as_bytes(std::span(words)).first(input.size());
  is_accepted([&] {
    const jit::LoadedObject loaded = jit::load_object(object);
    require(loaded.entry != nullptr && loaded.instruction_bytes <= loaded.size_bytes,
            "an object's code lies outside of its memory");
  });
}
#endif

}  // namespace weft::fuzzing
