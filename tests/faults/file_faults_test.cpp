// Faults of files: the disk cache with all that `weft cache` does, and tuning.
#include "tests/faults/fixture.h"

#include <weft/disk_cache.h>
#include <weft/error.h>
#include <weft/tuning.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::faults {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// A folder with three entries, one that is none, a folder where an entry might be, and a file that
/// its writer has left behind.
class FilesOfCache : public Faults {
 protected:
  FilesOfCache() {
    DiskCache cache(at(model_, 1 << 20));
    for (const char* key : {"a", "b", "c"}) cache.store(bytes(key), bytes(blob_));
    std::ofstream(model_ + "/w-" + std::string(32, '0') + ".weft") << "nothing";
    std::ofstream(model_ + "/.weft-1-1.tmp") << "begun";
    fs::create_directory(model_ + "/w-" + std::string(32, '1') + ".weft");
  }

  static DiskCacheOptions at(const std::string& folder, std::uint64_t max_bytes) {
    return {CacheMode::on, folder, max_bytes};
  }
  /// A copy that nobody has used for a day.
  void begin() const {
    fs::remove_all(cache_);
    fs::copy(model_, cache_, fs::copy_options::recursive);
    for (const fs::directory_entry& entry : fs::directory_iterator(cache_))
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - 24h);
  }
  std::uint64_t num_files() const {
    std::uint64_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(cache_)) ++count;
    return count;
  }

  const std::string model_ = folder() + "/model", cache_ = folder() + "/cache",
                    bundle_ = folder() + "/bundle", other_ = folder() + "/other",
                    blob_ = std::string(1000, 'x');
};

TEST_F(FilesOfCache, AreLookedThrough) {
  begin();
  run_with_faults(Kind::system, [&] {
    const DiskCache cache(at(cache_, 1 << 20));
    EXPECT_EQ(cache.content().num_entries, 5u);
    EXPECT_EQ(cache.content().num_unfinished, 1u);
    EXPECT_GE(cache.damaged().size(), 2u);
    return std::uint64_t{1};
  });
}

TEST_F(FilesOfCache, AreUsed) {
  run_with_faults(Kind::system, [&] {
    begin();
    DiskCache cache(at(cache_, 1 << 20));
    const auto found = cache.find(bytes("a"));
    EXPECT_TRUE(!found || std::ranges::equal(*found, bytes(blob_)));
    return std::uint64_t{1};
  });
}

TEST_F(FilesOfCache, AreRemoved) {
  run_with_faults(Kind::system, [&] {
    begin();
    const std::uint64_t before = num_files();
    const std::uint64_t removed = DiskCache(at(cache_, 1 << 20)).clear();
    EXPECT_GE(before - num_files(), removed);
    EXPECT_LE(before - num_files(), removed + 1) << "the unfinished file is no entry";
    return std::uint64_t{1};
  });
}

TEST_F(FilesOfCache, MakeWayForOthers) {
  run_with_faults(Kind::system, [&] {
    begin();
    DiskCache cache(at(cache_, 3000));
    cache.store(bytes("d"), bytes(blob_));
    const auto found = cache.find(bytes("d"));
    EXPECT_TRUE(!found || std::ranges::equal(*found, bytes(blob_)));
    return std::uint64_t{1};
  });
}

TEST_F(FilesOfCache, TakeThePlaceOfAnEmptyFolder) {
  run_with_faults(Kind::system, [&] {
    begin();
    for (const fs::directory_entry& entry : fs::directory_iterator(cache_)) {
      fs::remove(entry.path());
      fs::create_directory(entry.path());
    }
    DiskCache cache(at(cache_, 1 << 20));
    cache.store(bytes("a"), bytes(blob_));
    const auto found = cache.find(bytes("a"));
    EXPECT_TRUE(!found || std::ranges::equal(*found, bytes(blob_)));
    return std::uint64_t{1};
  });
}

TEST_F(FilesOfCache, AreNotInAFile) {
  begin();
  const std::string file = cache_ + "/.weft-1-1.tmp";
  run_with_faults(Kind::system, [&] {
    std::uint64_t num_entries = 0;
    try {
      num_entries = DiskCache(at(file, 1 << 20)).content().num_entries;
    } catch (const DeviceError&) {  // it is no folder, or that can't be seen
    }
    return num_entries;
  });
}

/// All of them or none: a bundle that lacks what could not be read would be believed.
TEST_F(FilesOfCache, GoIntoABundleAndOutOfIt) {
  begin();
  run_with_faults(Kind::system, [&] {
    fs::remove(bundle_);
    fs::remove_all(other_);
    const std::uint64_t exported = DiskCache(at(cache_, 1 << 20)).export_to(bundle_);
    return exported * 10 + DiskCache(at(other_, 1 << 20)).import_from(bundle_);
  });
}

class Thresholds : public Faults {};

TEST_F(Thresholds, AreStoredAndLoaded) {
  const std::string file = folder() + "/new/tuning";
  for (const Kind kind : {Kind::system, Kind::memory}) {
    run_with_faults(kind, [&] {
      fs::remove_all(folder() + "/new");
      Tuning tuning;
      tuning.thread_work_ns = 777;
      check_tuning_file(file);
      fs::remove_all(folder() + "/new");  // each of them makes it
      store_tuning(file, tuning);
      const StoredTuning stored = load_tuning(file);
      EXPECT_TRUE(stored.is_stored ? stored.tuning == tuning : !stored.fault.empty());
      return std::uint64_t{1};
    });
  }
}

/// What is written over may be a link, or must not be written: neither is found out by a fault.
TEST_F(Thresholds, LeaveLinksAndReadOnlyFilesAlone) {
  const std::string file = folder() + "/tuning", link = folder() + "/link";
  store_tuning(file, Tuning());
  fs::create_symlink(file, link);
  run_with_faults(Kind::system, [&] {
    check_tuning_file("/dev/null");
    check_tuning_file(link);
    store_tuning(link, Tuning());
    return std::uint64_t{1};
  });
  EXPECT_TRUE(fs::is_symlink(link));
}

}  // namespace
}  // namespace weft::faults
