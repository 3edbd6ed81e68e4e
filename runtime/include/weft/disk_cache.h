// Compiled code on disk, shared by processes: a folder of entries, each a key and a blob.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

enum class CacheMode : std::uint8_t {
  on,
  off,    ///< neither read nor written
  read,   ///< never written
  check,  ///< what is found is made again and compared
};
std::string_view name(CacheMode mode);

struct DiskCacheOptions {
  CacheMode mode = CacheMode::on;
  std::string folder;                     ///< empty: there is none, and the mode is off
  std::uint64_t max_bytes = 256u << 20u;  ///< beyond it the entries that lay unused longest go

  /// WEFT_CACHE=on|off|read|check, WEFT_CACHE_DIR (else $XDG_CACHE_HOME/weft, else ~/.cache/weft)
  /// and WEFT_CACHE_SIZE, in bytes or with K, M or G.  What can't be understood is ignored, and
  /// said once on stderr.  Programs with more rights than their caller get no cache.
  static DiskCacheOptions from_environment();
};

/// Counters since the cache object was made.
struct DiskCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;      ///< no entry, or none that could be used
  std::uint64_t damaged = 0;     ///< of the misses: there was something, but not a sound entry
  std::uint64_t stores = 0;      ///< entries written
  std::uint64_t failures = 0;    ///< entries not written, or after which none could be evicted
  std::uint64_t evictions = 0;   ///< entries removed to stay within the budget
  std::uint64_t mismatches = 0;  ///< CacheMode::check: entries that differ from what is made now
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};

/// A folder of entries.  An entry is a file with a header (magic, version, lengths, checksum), the
/// key and the blob; it appears under its name at once and whole, and is believed only if all of it
/// fits together, it belongs to this user or to root, and nobody else may write it.
///
/// No fault of disk or folder is an error: what can't be read is missing, what can't be written is
/// not stored.  WEFT_LOG=cache says so, each kind of fault once.
///
/// Threads: all functions may be called by many threads, and by many processes on one folder.
class DiskCache {
 public:
  using Bytes = std::span<const std::byte>;

  explicit DiskCache(DiskCacheOptions options);

  const DiskCacheOptions& options() const { return options_; }
  bool is_readable() const { return options_.mode != CacheMode::off; }
  bool is_writable() const {
    return options_.mode == CacheMode::on || options_.mode == CacheMode::check;
  }

  /// What a caller makes of a blob.
  enum class Outcome : std::uint8_t {
    used,
    unusable,  ///< nothing is wrong with it, but it is of no use here
    damaged,   ///< it is not what belongs there
    outdated,  ///< CacheMode::check: it is not what is made now
  };
  struct Verdict {
    Outcome outcome = Outcome::used;
    std::string why = {};  ///< "is ...", if it is not used
  };
  /// The blob starts at a multiple of 8 bytes, and goes when the function returns.
  using Use = std::function<Verdict(Bytes blob)>;
  /// `again`: this process has missed the key before, which was counted then; what counts now is
  /// only whether it is used.
  enum class Ask : std::uint8_t { first, again };

  /// Passes the blob of this key to `use`.  Returns whether there is one and it was used, which is
  /// a hit; everything else is a miss.
  bool find(Bytes key, const Use& use, Ask ask = Ask::first) noexcept;
  /// The blob of this key.
  std::optional<std::vector<std::byte>> find(Bytes key) noexcept;
  /// Removes the entry of this key, so that nobody begins with it.
  void remove(Bytes key) noexcept;
  /// Writes an entry, in place of any other of this key, and keeps the folder within its budget.
  void store(Bytes key, Bytes blob) noexcept;
  DiskCacheStats stats() const;

  // What the `weft cache` command does.  Errors: DeviceError if the folder is there but can't be
  // read, or is none, besides those of each function.

  struct Content {
    std::uint64_t num_entries = 0;
    std::uint64_t bytes = 0;
    std::uint64_t num_unfinished = 0;  ///< files that their writers left behind
  };
  Content content() const;
  /// Why nothing of the folder is used, whatever its entries: "is a folder that other users can
  /// write to"; "" if it is used.
  std::string fault_of_folder() const;
  /// "NAME: REASON" of each file that is no sound entry.
  std::vector<std::string> damaged() const;
  /// Removes all entries, and what writers left behind a quarter of an hour ago or earlier; nothing
  /// else.  Returns how many entries they were.  Errors: UnsupportedError unless is_writable().
  std::uint64_t clear();
  /// Writes all sound entries to one file.  Returns how many.  Errors: DeviceError, also if one
  /// can't be read.
  std::uint64_t export_to(const std::string& file) const;
  /// Stores the entries of such a file.  Returns how many.  Its blobs are code that will be run:
  /// import only what you would run.
  /// Errors: UnsupportedError unless is_writable();
  ///         ArgumentError if the file is none of these, or damaged: then nothing is stored;
  ///         DeviceError if the folder can't be written.
  std::uint64_t import_from(const std::string& file);

 private:
  struct Counters {
    std::atomic<std::uint64_t> hits{0}, misses{0}, damaged{0}, stores{0}, failures{0}, evictions{0},
        mismatches{0}, read_bytes{0}, written_bytes{0};
  };

  std::string path_of(Bytes key) const;
  Outcome use_entry(Bytes key, const Use& use);
  void write_entry(const std::string& path, Bytes entry);
  void sweep();
  void check_writable() const;
  void say_once(unsigned kind, std::string_view message) noexcept;

  DiskCacheOptions options_;
  Counters counters_;
  std::atomic<std::uint64_t> unswept_bytes_;  ///< written since the last look at the budget
  std::atomic<std::uint32_t> said_{0};        ///< one bit a kind of fault
};

}  // namespace weft
