// Entries are read whole, checked, and only then used; they are written beside their place, synced,
// and renamed into it.
#include <weft/disk_cache.h>

#include "runtime/disk_entry.h"
#include "runtime/file.h"
#include "runtime/log.h"
#include "runtime/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished_begin = ".weft-", unfinished_end = ".tmp";
constexpr std::time_t unfinished_age_s = 15 * 60;  ///< older than any write in progress
constexpr std::time_t touch_after_s = 60 * 60;     ///< how exact "used last" is

enum Fault : unsigned { unreadable, unsound, unusable, unwritable, differs };

bool is_unfinished_name(std::string_view name) {
  return name.starts_with(unfinished_begin) && name.ends_with(unfinished_end);
}

/// A file as it was read, or why it was not.
struct Read {
  std::vector<std::byte> bytes;
  std::string fault;
  bool is_missing = false;
  bool has_failed = false;  ///< the system's fault, which says nothing about the file
};

/// Whether another attempt may go well.
bool is_failure(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
}

/// Whether nobody can be writing a file any more.
bool is_abandoned(const struct stat& status) {
  return std::time(nullptr) - status.st_mtime > unfinished_age_s;
}

/// Whether this errno says that there is no such file or folder; one of too long a name can't be.
bool is_nowhere(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

/// "" if only this user and root put files into the folder, or it is not there yet; else what
/// belongs behind "a folder that".
std::string reason_to_distrust(const std::string& folder) {
  struct stat status;
  if (::stat(folder.c_str(), &status) == 0) return is_own(status) ? "" : "other users can write to";
  return is_nowhere(errno) ? "" : "can't be looked at: " + errno_text(errno);
}

Read read_file(const std::string& path, bool touch) {
  Read read;
  // O_NONBLOCK: a pipe must fail below, not wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) {
    read.is_missing = is_nowhere(errno);
    read.has_failed = is_failure(errno);
    read.fault = errno == ELOOP ? "is a symbolic link" : errno_text(errno);
    return read;
  }
  struct stat status;
  if (::fstat(file.get(), &status) != 0) {
    read.has_failed = true;
    read.fault = errno_text(errno);
  } else if (!S_ISREG(status.st_mode)) {
    read.fault = "is no file";
  } else if (!is_own(status)) {
    read.fault = "could have been written by another user";
  } else if (static_cast<std::uint64_t>(status.st_size) > max_entry_bytes) {
    read.fault = "is too large";
  } else {
    read.bytes.resize(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < read.bytes.size()) {
      const ssize_t count = ::read(file.get(), read.bytes.data() + done, read.bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        read.has_failed = true;
        read.fault = errno_text(errno);
      }
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    read.bytes.resize(done);
    if (touch && std::time(nullptr) - status.st_mtime > touch_after_s)
      ::futimens(file.get(), nullptr);  // where that isn't allowed the entry just ages
  }
  return read;
}

/// One file of the folder that may be an entry.
struct Found {
  std::string path;
  std::string name;
  struct stat status {};
};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// Reads a folder.  Not by std::filesystem, whose iterators end the process where memory runs out.
class FolderReader {
 public:
  /// Errors: DeviceError if it is there and is none, or can't be read.
  explicit FolderReader(const std::string& folder)
      : folder_(folder), open_(::opendir(folder.c_str())) {
    if (open_ != nullptr) return;
    const int error = errno;
    struct stat status;
    WEFT_CHECK(error != ENOTDIR || ::stat(folder.c_str(), &status) != 0, DeviceError, folder,
               " is not a folder");
    check(is_nowhere(error), error);
  }

  /// The next file that the cache may have made.  Whatever else lies there is none of its business.
  /// Errors: DeviceError if that can't be said of all.
  bool next(Found& found) {
    while (open_ != nullptr) {
      errno = 0;
      const dirent* const entry = ::readdir(open_.get());
      if (entry == nullptr) check(errno == 0, errno);
      if (entry == nullptr) break;
      found = {folder_ + "/" + entry->d_name, entry->d_name, {}};
      if (!is_entry_name(found.name) && !is_unfinished_name(found.name)) continue;
      if (::lstat(found.path.c_str(), &found.status) == 0) return true;
      check(errno == ENOENT, errno);  // removed meanwhile
    }
    return false;
  }

 private:
  void check(bool is_good, int error) const {
    WEFT_CHECK(is_good, DeviceError, folder_, " can't be read: ", errno_text(error));
  }

  const std::string& folder_;
  std::unique_ptr<DIR, CloseFolder> open_;
};

/// Visits all files of the folder that the cache may have made.   Errors: as FolderReader's.
template <class Visit>
void for_each_file(const std::string& folder, const Visit& visit) {
  FolderReader files(folder);
  for (Found found; files.next(found);) visit(found);
}

DiskCacheOptions with_folder(DiskCacheOptions options) {
  if (options.folder.empty() || options.folder.find('\0') != std::string::npos)
    options.mode = CacheMode::off;
  return options;
}

}  // namespace

DiskCache::DiskCache(DiskCacheOptions options)
    : options_(with_folder(std::move(options))),
      // The first entry written has the folder looked through once.
      unswept_bytes_(options_.max_bytes) {}

std::string DiskCache::path_of(Bytes key) const { return options_.folder + "/" + entry_name(key); }

void DiskCache::say_once(unsigned kind, std::string_view message) noexcept {
  if ((said_.fetch_or(1u << kind, std::memory_order_relaxed) >> kind & 1u) != 0) return;
  try {
    log(LogTopic::cache, message);
  } catch (const std::exception&) {  // no memory for a line that nobody needs
  }
}

DiskCache::Outcome DiskCache::use_entry(Bytes key, const Use& use) {
  const std::string path = path_of(key);
  const Read read = read_file(path, is_writable());
  if (read.is_missing) return Outcome::unusable;
  const auto refused = [&](Fault kind, Outcome outcome, std::string_view why) {
    say_once(kind, detail::concat(path, " ", why, "; it is not used"));
    return outcome;
  };
  if (const std::string fault = reason_to_distrust(options_.folder); !fault.empty())
    return refused(unreadable, Outcome::damaged, "lies in a folder that " + fault);
  if (!read.fault.empty()) return refused(unreadable, Outcome::damaged, read.fault);
  const DecodedEntry entry = decode_entry(read.bytes);
  if (!entry.fault.empty()) return refused(unsound, Outcome::damaged, entry.fault);
  if (!std::ranges::equal(entry.key, key))
    return refused(unsound, Outcome::damaged, "belongs to another key");
  counters_.read_bytes.fetch_add(read.bytes.size(), std::memory_order_relaxed);
  const Verdict verdict = use(entry.blob);
  switch (verdict.outcome) {
    case Outcome::used: return Outcome::used;
    case Outcome::unusable: return refused(unusable, Outcome::unusable, verdict.why);
    case Outcome::damaged: return refused(unsound, Outcome::damaged, verdict.why);
    case Outcome::outdated: return refused(differs, Outcome::outdated, verdict.why);
  }
  return Outcome::unusable;
}

bool DiskCache::find(Bytes key, const Use& use, Ask ask) noexcept {
  if (!is_readable()) return false;
  Outcome outcome = Outcome::unusable;
  try {
    outcome = use_entry(key, use);
  } catch (const std::exception& error) {
    say_once(unreadable, error.what());
  }
  const auto count = [](std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  };
  if (outcome == Outcome::used) {
    count(counters_.hits);
  } else if (ask == Ask::first) {
    count(counters_.misses);
    if (outcome == Outcome::damaged) count(counters_.damaged);
    if (outcome == Outcome::outdated) count(counters_.mismatches);
  }
  return outcome == Outcome::used;
}

std::optional<std::vector<std::byte>> DiskCache::find(Bytes key) noexcept {
  std::optional<std::vector<std::byte>> found;
  find(key, [&](Bytes blob) -> Verdict {
    found.emplace(blob.begin(), blob.end());
    return {};
  });
  return found;
}

namespace {

/// Makes what is missing of the path, for its owner alone whatever the umask; 0 or the errno of
/// what refused.
int make_folders(const fs::path& path) {
  fs::path made;
  for (const fs::path& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) return errno;
  }
  return 0;
}

/// A new file in the folder, which is made if it is not there.
FileDescriptor create_unfinished(const std::string& folder, std::string& path) {
  static std::atomic<unsigned> counter{0};
  int error = 0;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    path =
        detail::concat(folder, "/", unfinished_begin, ::getpid(), "-", counter++, unfinished_end);
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() >= 0) return file;
    error = errno;
    if (error == EEXIST || error == EINTR) continue;  // of a process that died with this number
    if (error != ENOENT) break;
    if (const int refused = make_folders(folder); refused != 0) {
      error = refused;
      break;
    }
  }
  path.clear();
  throw DeviceError(detail::concat(folder, " can't be written: ", errno_text(error)));
}

/// Removes a file unless it was renamed.
struct Unfinished {
  std::string path;
  bool is_finished = false;
  ~Unfinished() {
    if (!is_finished && !path.empty()) ::unlink(path.c_str());
  }
};

}  // namespace

void DiskCache::write_entry(const std::string& path, Bytes entry) {
  Unfinished unfinished;
  FileDescriptor file = create_unfinished(options_.folder, unfinished.path);
  Bytes rest = entry;
  while (!rest.empty()) {
    const ssize_t count = ::write(file.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    WEFT_CHECK(count > 0, DeviceError, path, " can't be written: ", errno_text(errno));
    rest = rest.subspan(static_cast<std::size_t>(count));
  }
  WEFT_CHECK(::fsync(file.get()) == 0, DeviceError, path, " can't be written: ", errno_text(errno));
  WEFT_CHECK(file.close(), DeviceError, path, " can't be written: ", errno_text(errno));
  const auto rename = [&] { return std::rename(unfinished.path.c_str(), path.c_str()) == 0; };
  // An empty folder in the entry's place is nobody's.
  unfinished.is_finished = rename() || (::rmdir(path.c_str()) == 0 && rename());
  WEFT_CHECK(unfinished.is_finished, DeviceError, path, " can't be written: ", errno_text(errno));
  counters_.written_bytes.fetch_add(entry.size(), std::memory_order_relaxed);
}

void DiskCache::store(Bytes key, Bytes blob) noexcept {
  if (!is_writable()) return;
  try {
    const std::vector<std::byte> entry = encode_entry(key, blob);
    if (entry.size() > max_entry_bytes || entry.size() > options_.max_bytes) return;
    const std::string fault = reason_to_distrust(options_.folder);
    WEFT_CHECK(fault.empty(), DeviceError, path_of(key), " lies in a folder that ", fault);
    write_entry(path_of(key), entry);
    counters_.stores.fetch_add(1, std::memory_order_relaxed);
    // Many processes may write: each looks at the whole folder now and then.
    const std::uint64_t since = unswept_bytes_.fetch_add(entry.size()) + entry.size();
    if (since > options_.max_bytes / 16) {
      unswept_bytes_ = 0;
      sweep();
    }
  } catch (const std::exception& error) {
    counters_.failures.fetch_add(1, std::memory_order_relaxed);
    say_once(unwritable, error.what());
  }
}

void DiskCache::remove(Bytes key) noexcept {
  if (!is_writable()) return;
  try {
    ::unlink(path_of(key).c_str());
  } catch (const std::exception& error) {  // no memory for a name
    say_once(unwritable, error.what());
  }
}

void DiskCache::sweep() {
  std::vector<Found> entries;
  std::uint64_t bytes = 0;
  for_each_file(options_.folder, [&](const Found& found) {
    if (is_unfinished_name(found.name)) {
      if (is_abandoned(found.status)) ::unlink(found.path.c_str());
      return;
    }
    if (!S_ISREG(found.status.st_mode)) return;
    bytes += static_cast<std::uint64_t>(found.status.st_size);
    entries.push_back(found);
  });
  if (bytes <= options_.max_bytes) return;
  std::ranges::sort(entries, [](const Found& a, const Found& b) {
    return std::pair(a.status.st_mtim.tv_sec, a.status.st_mtim.tv_nsec) <
           std::pair(b.status.st_mtim.tv_sec, b.status.st_mtim.tv_nsec);
  });
  // Some room, lest the next entry makes all this necessary again.
  const std::uint64_t wanted = options_.max_bytes - options_.max_bytes / 8;
  for (const Found& entry : entries) {
    if (bytes <= wanted) break;
    // Gone already: another process sweeps, too.
    if (::unlink(entry.path.c_str()) == 0)
      counters_.evictions.fetch_add(1, std::memory_order_relaxed);
    bytes -= static_cast<std::uint64_t>(entry.status.st_size);
  }
}

DiskCacheStats DiskCache::stats() const {
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  return {read(counters_.hits),       read(counters_.misses),     read(counters_.damaged),
          read(counters_.stores),     read(counters_.failures),   read(counters_.evictions),
          read(counters_.mismatches), read(counters_.read_bytes), read(counters_.written_bytes)};
}

DiskCache::Content DiskCache::content() const {
  Content content;
  for_each_file(options_.folder, [&](const Found& found) {
    content.bytes += static_cast<std::uint64_t>(found.status.st_size);
    (is_unfinished_name(found.name) ? content.num_unfinished : content.num_entries) += 1;
  });
  return content;
}

std::string DiskCache::fault_of_folder() const {
  const std::string fault = reason_to_distrust(options_.folder);
  return fault.empty() ? fault : "is a folder that " + fault;
}

std::vector<std::string> DiskCache::damaged() const {
  std::vector<std::string> damaged;
  for_each_file(options_.folder, [&](const Found& found) {
    if (is_unfinished_name(found.name)) return;
    const Read read = read_file(found.path, false);
    if (read.is_missing) return;  // removed meanwhile
    std::string fault = read.fault;
    if (fault.empty()) {
      const DecodedEntry entry = decode_entry(read.bytes);
      fault = entry.fault;
      if (fault.empty() && entry_name(entry.key) != found.name) fault = "belongs to another key";
    }
    if (!fault.empty()) damaged.push_back(found.name + ": " + fault);
  });
  std::ranges::sort(damaged);
  return damaged;
}

void DiskCache::check_writable() const {
  WEFT_CHECK(is_writable(), UnsupportedError, "the cache in '", options_.folder,
             "' is not written where its mode is '", name(options_.mode),
             "'; the modes 'on' and 'check' allow it");
}

std::uint64_t DiskCache::clear() {
  check_writable();
  std::uint64_t removed = 0;
  for_each_file(options_.folder, [&](const Found& found) {
    if (is_unfinished_name(found.name) && !is_abandoned(found.status)) return;
    const bool is_gone = S_ISDIR(found.status.st_mode) ? ::rmdir(found.path.c_str()) == 0
                                                       : ::unlink(found.path.c_str()) == 0;
    if (is_gone && is_entry_name(found.name)) ++removed;
  });
  return removed;
}

std::uint64_t DiskCache::export_to(const std::string& file) const {
  std::vector<Found> files;
  for_each_file(options_.folder, [&](const Found& found) {
    if (!is_unfinished_name(found.name)) files.push_back(found);
  });
  // The order of a folder is arbitrary, and equal caches should make equal bundles.
  std::ranges::sort(files, {}, &Found::name);
  std::vector<std::vector<std::byte>> entries;
  for (const Found& found : files) {
    Read read = read_file(found.path, false);
    WEFT_CHECK(!read.has_failed, DeviceError, found.path, " can't be read: ", read.fault);
    if (!read.fault.empty()) continue;
    const DecodedEntry entry = decode_entry(read.bytes);
    if (entry.fault.empty() && entry_name(entry.key) == found.name)
      entries.push_back(std::move(read.bytes));
  }
  OutputFile output(file);
  output.write(encode_bundle(entries));
  output.commit();
  return entries.size();
}

std::uint64_t DiskCache::import_from(const std::string& file) {
  check_writable();
  const std::string fault = fault_of_folder();
  WEFT_CHECK(fault.empty(), DeviceError, "the cache in '", options_.folder,
             "' would not be used: it ", fault);
  InputFile input(file);
  std::vector<std::byte> bytes(std::min(input.size_bytes(), bundle_start_bytes));
  bytes.resize(input.read(bytes));
  if (may_be_bundle(bytes, input.size_bytes())) {
    bytes.resize(input.size_bytes());
    bytes.resize(bundle_start_bytes + input.read(std::span(bytes).subspan(bundle_start_bytes)));
  }
  const DecodedBundle bundle = decode_bundle(bytes);
  WEFT_CHECK(bundle.fault.empty(), ArgumentError, "the file ", bundle.fault);
  for (const Bytes entry : bundle.entries) write_entry(path_of(decode_entry(entry).key), entry);
  if (!bundle.entries.empty()) sweep();
  return bundle.entries.size();
}

}  // namespace weft
