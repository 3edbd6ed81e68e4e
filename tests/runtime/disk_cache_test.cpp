// Entries of the disk cache, sound and otherwise.
#include <weft/disk_cache.h>

#include "runtime/disk_entry.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace weft {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::vector<std::byte> blob(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> result(size);
  for (std::byte& byte : result) byte = static_cast<std::byte>(random());
  return result;
}

class DiskCaches : public testing::Test {
 protected:
  DiskCaches() {
    std::string pattern = (fs::temp_directory_path() / "weft-cache-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~DiskCaches() override {
    std::error_code ignored;
    fs::permissions(root_, fs::perms::owner_all, ignored);
    fs::remove_all(root_, ignored);
  }

  std::string folder() const { return (root_ / "cache").string(); }
  DiskCacheOptions options(CacheMode mode = CacheMode::on) const {
    DiskCacheOptions options;
    options.mode = mode;
    options.folder = folder();
    return options;
  }
  /// The file of an entry.
  std::string file_of(std::string_view key) const {
    return folder() + "/" + entry_name(bytes(key));
  }
  static std::vector<std::byte> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    return bytes(text);
  }
  static void write(const std::string& path, std::span<const std::byte> content) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  }

  fs::path root_;
};

TEST_F(DiskCaches, KeepsWhatIsStored) {
  DiskCache cache(options());
  EXPECT_FALSE(cache.find(bytes("a")));
  cache.store(bytes("a"), blob(1000, 1));
  cache.store(bytes("b"), blob(0, 1));
  EXPECT_EQ(cache.find(bytes("a")), blob(1000, 1));
  EXPECT_EQ(cache.find(bytes("b")), blob(0, 1));
  cache.store(bytes("a"), blob(10, 2));
  EXPECT_EQ(DiskCache(options()).find(bytes("a")), blob(10, 2));
  cache.remove(bytes("b"));
  cache.remove(bytes("c"));
  const DiskCacheStats stats = cache.stats();
  EXPECT_EQ(stats.hits, 2u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.stores, 3u);
  EXPECT_EQ(stats.damaged + stats.failures, 0u);
  EXPECT_EQ(cache.content().num_entries, 1u);
  EXPECT_EQ(cache.content().num_unfinished, 0u);
  struct stat status;
  ASSERT_EQ(::stat(folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);  // code that runs is nobody else's to write
}

TEST_F(DiskCaches, ModesSayWhatIsTouched) {
  DiskCache(options()).store(bytes("a"), blob(8, 1));
  DiskCache off(options(CacheMode::off));
  EXPECT_FALSE(off.find(bytes("a")));
  off.store(bytes("b"), blob(8, 1));
  DiskCache read_only(options(CacheMode::read));
  EXPECT_TRUE(read_only.find(bytes("a")));
  read_only.store(bytes("b"), blob(8, 1));
  read_only.remove(bytes("a"));
  EXPECT_EQ(read_only.content().num_entries, 1u);
  EXPECT_EQ(read_only.stats().stores, 0u);
  const std::string bundle = (root_ / "bundle").string();
  EXPECT_EQ(read_only.export_to(bundle), 1u);
  for (DiskCache* const cache : {&off, &read_only}) {
    EXPECT_THROW(cache->clear(), UnsupportedError);
    EXPECT_THROW(cache->import_from(bundle), UnsupportedError);
  }
  EXPECT_TRUE(read_only.find(bytes("a")));
  EXPECT_EQ(DiskCache(DiskCacheOptions()).options().mode, CacheMode::off);  // no folder
}

TEST_F(DiskCaches, OnlyWhatIsUsedIsAHit) {
  using Outcome = DiskCache::Outcome;
  DiskCache cache(options());
  cache.store(bytes("a"), blob(40, 1));
  const auto find = [&](const char* key, Outcome outcome, DiskCache::Ask ask) {
    const auto use = [&](DiskCache::Bytes found) {
      EXPECT_TRUE(std::ranges::equal(found, blob(40, 1)));
      return DiskCache::Verdict{outcome, "is no good"};
    };
    EXPECT_EQ(cache.find(bytes(key), use, ask), key[0] == 'a' && outcome == Outcome::used);
    const DiskCacheStats stats = cache.stats();
    return std::array{stats.hits, stats.misses, stats.damaged, stats.mismatches};
  };
  using Counts = std::array<std::uint64_t, 4>;
  EXPECT_EQ(find("a", Outcome::used, DiskCache::Ask::first), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(find("b", Outcome::used, DiskCache::Ask::first), (Counts{1, 1, 0, 0}));
  EXPECT_EQ(find("a", Outcome::unusable, DiskCache::Ask::first), (Counts{1, 2, 0, 0}));
  EXPECT_EQ(find("a", Outcome::damaged, DiskCache::Ask::first), (Counts{1, 3, 1, 0}));
  EXPECT_EQ(find("a", Outcome::outdated, DiskCache::Ask::first), (Counts{1, 4, 1, 1}));
  // What was missed once is not missed again.
  for (const Outcome outcome : {Outcome::unusable, Outcome::damaged, Outcome::outdated})
    EXPECT_EQ(find("a", outcome, DiskCache::Ask::again), (Counts{1, 4, 1, 1}));
  EXPECT_EQ(find("b", Outcome::used, DiskCache::Ask::again), (Counts{1, 4, 1, 1}));
  EXPECT_EQ(find("a", Outcome::used, DiskCache::Ask::again), (Counts{2, 4, 1, 1}));
}

TEST_F(DiskCaches, NoPrefixIsUsed) {
  const std::vector<std::byte> whole = encode_entry(bytes("key"), blob(300, 3));
  ASSERT_EQ(decode_entry(whole).fault, "");
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_NE(decode_entry(std::span(whole).first(size)).fault, "") << size;

  DiskCache cache(options());
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{63}, std::size_t{64}, whole.size() - 1}) {
    cache.store(bytes("key"), blob(300, 3));
    write(file_of("key"), std::span(whole).first(size));
    EXPECT_FALSE(cache.find(bytes("key"))) << size;
    EXPECT_EQ(cache.damaged().size(), 1u);
  }
  EXPECT_EQ(cache.stats().damaged, 4u);
  cache.store(bytes("key"), blob(300, 3));
  EXPECT_TRUE(cache.find(bytes("key")));
  EXPECT_TRUE(cache.damaged().empty());
}

TEST_F(DiskCaches, NoFlippedBitIsMissed) {
  const std::vector<std::byte> whole = encode_entry(bytes("key"), blob(300, 3));
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::vector<std::byte> damaged = whole;
    damaged[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    ASSERT_NE(decode_entry(damaged).fault, "") << bit;
  }
}

TEST_F(DiskCaches, AnEntryOfAnotherKeyIsNotUsed) {
  DiskCache cache(options());
  cache.store(bytes("for avx2"), blob(100, 3));
  fs::copy_file(file_of("for avx2"), file_of("for avx512"));
  EXPECT_FALSE(cache.find(bytes("for avx512")));
  EXPECT_EQ(cache.stats().damaged, 1u);
  EXPECT_EQ(cache.damaged().size(), 1u);
}

TEST_F(DiskCaches, AnOlderVersionIsNotUsed) {
  DiskCache cache(options());
  cache.store(bytes("key"), blob(100, 3));
  std::vector<std::byte> file = read(file_of("key"));
  file[8] = std::byte{0};  // of the version's number
  write(file_of("key"), file);
  EXPECT_FALSE(cache.find(bytes("key")));
  ASSERT_EQ(cache.damaged().size(), 1u);
  EXPECT_NE(cache.damaged()[0].find("another version"), std::string::npos) << cache.damaged()[0];
}

TEST_F(DiskCaches, AHugeLengthIsNotBelieved) {
  DiskCache cache(options());
  cache.store(bytes("key"), blob(100, 3));
  for (const std::size_t at : {16u, 24u})  // the lengths of key and blob
    for (const std::uint64_t length :
         {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 30}) {
      std::vector<std::byte> file = read(file_of("key"));
      std::memcpy(file.data() + at, &length, sizeof(length));
      write(file_of("key"), file);
      EXPECT_FALSE(cache.find(bytes("key")));
      cache.store(bytes("key"), blob(100, 3));
    }
}

TEST_F(DiskCaches, LinksFoldersAndPipesAreNotOpened) {
  DiskCache cache(options());
  cache.store(bytes("key"), blob(100, 3));
  const std::string aside = (root_ / "aside").string();
  fs::rename(file_of("key"), aside);

  fs::create_symlink(aside, file_of("key"));
  EXPECT_FALSE(cache.find(bytes("key")));
  cache.store(bytes("key"), blob(100, 4));  // replaces the link, not what it leads to
  EXPECT_EQ(cache.find(bytes("key")), blob(100, 4));
  EXPECT_FALSE(fs::is_symlink(file_of("key")));
  EXPECT_EQ(decode_entry(read(aside)).fault, "");
  EXPECT_TRUE(std::ranges::equal(decode_entry(read(aside)).blob, blob(100, 3)));

  fs::remove(file_of("key"));
  fs::create_directory(file_of("key"));
  EXPECT_FALSE(cache.find(bytes("key")));
  cache.store(bytes("key"), blob(100, 5));  // an empty folder gives way
  EXPECT_EQ(cache.find(bytes("key")), blob(100, 5));

  fs::remove(file_of("key"));
  fs::create_directory(file_of("key"));
  write(file_of("key") + "/something", blob(1, 1));
  cache.store(bytes("key"), blob(100, 6));
  EXPECT_FALSE(cache.find(bytes("key")));
  EXPECT_EQ(cache.stats().failures, 1u);
  EXPECT_EQ(cache.content().num_unfinished, 0u);
  fs::remove_all(file_of("key"));

  ASSERT_EQ(::mkfifo(file_of("key").c_str(), 0600), 0);
  EXPECT_FALSE(cache.find(bytes("key")));
}

TEST_F(DiskCaches, WhatOthersMayWriteIsNotUsed) {
  DiskCache cache(options());
  cache.store(bytes("key"), blob(100, 3));
  ASSERT_EQ(::chmod(file_of("key").c_str(), 0666), 0);
  EXPECT_FALSE(cache.find(bytes("key")));
  ASSERT_EQ(::chmod(file_of("key").c_str(), 0644), 0);
  EXPECT_TRUE(cache.find(bytes("key")));
}

TEST_F(DiskCaches, AFolderThatOthersMayWriteIsNotUsed) {
  DiskCache cache(options());
  cache.store(bytes("key"), blob(100, 3));
  const std::string bundle = folder() + ".bundle";
  cache.export_to(bundle);
  for (const mode_t mode : {0777, 0770, 01777}) {
    ASSERT_EQ(::chmod(folder().c_str(), mode), 0);
    EXPECT_FALSE(cache.find(bytes("key"))) << mode;
    cache.store(bytes("other"), blob(100, 4));
    EXPECT_FALSE(fs::exists(file_of("other"))) << mode;
    EXPECT_THAT(cache.damaged(),
                testing::ElementsAre(testing::HasSubstr("other users can write to it")))
        << mode;
    EXPECT_THROW(cache.import_from(bundle), DeviceError) << mode;
  }
  ASSERT_EQ(::chmod(folder().c_str(), 0755), 0);
  EXPECT_TRUE(cache.find(bytes("key")));
}

TEST_F(DiskCaches, TheFolderMayVanish) {
  DiskCache cache(options());
  cache.store(bytes("a"), blob(100, 1));
  fs::remove_all(folder());
  EXPECT_FALSE(cache.find(bytes("a")));
  cache.store(bytes("a"), blob(100, 2));  // and comes back
  EXPECT_EQ(cache.find(bytes("a")), blob(100, 2));
  EXPECT_EQ(cache.stats().failures, 0u);
}

TEST_F(DiskCaches, AFolderThatCannotBeIsNoError) {
  write((root_ / "file").string(), blob(1, 1));
  for (const std::string& folder :
       {std::string("/proc/weft/cache"), (root_ / "file").string(), (root_ / "file/below").string(),
        std::string(5000, 'x'), std::string("a\0b", 3)}) {
    DiskCacheOptions options;
    options.folder = folder;
    DiskCache cache(options);
    cache.store(bytes("a"), blob(100, 1));
    EXPECT_FALSE(cache.find(bytes("a")));
    EXPECT_EQ(cache.stats().stores, 0u);
    EXPECT_EQ(cache.content().num_entries, 0u);
  }
}

TEST_F(DiskCaches, WithoutPermissionNothingIsStored) {
  DiskCache(options()).store(bytes("a"), blob(100, 1));
  // Root may do everything, so this is another user's process.
  const pid_t child = fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) _exit(9);
    ::chmod(folder().c_str(), 0500);
    DiskCache cache(options());
    cache.find(bytes("a"));
    cache.store(bytes("b"), blob(100, 1));
    _exit(cache.stats().failures == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(DiskCache(options()).content().num_entries, 1u);
}

TEST_F(DiskCaches, StaysWithinItsBudget) {
  DiskCacheOptions small = options();
  small.max_bytes = 32 << 10;
  DiskCache cache(small);
  const auto age = [&](int i, int seconds) {
    const struct timespec times[2] = {{}, {::time(nullptr) - seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file_of(std::to_string(i)).c_str(), times, 0), 0);
  };
  for (int i = 0; i < 100; ++i) {
    cache.store(bytes(std::to_string(i)), blob(1000, static_cast<unsigned>(i)));
    if (i < 20) age(i, 100000 - 100 * i);
  }
  EXPECT_LE(cache.content().bytes, small.max_bytes + small.max_bytes / 8);
  EXPECT_GT(cache.stats().evictions, 50u);
  EXPECT_TRUE(cache.find(bytes("99")));
  EXPECT_FALSE(cache.find(bytes("1")));
}

TEST_F(DiskCaches, TheEntryUsedLastGoesLast) {
  DiskCacheOptions small = options();
  small.max_bytes = 10 * 1100;
  for (int i = 0; i < 9; ++i) {
    DiskCache(options()).store(bytes(std::to_string(i)), blob(1000, 1));
    const struct timespec times[2] = {{}, {::time(nullptr) - 90000 + i, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file_of(std::to_string(i)).c_str(), times, 0), 0);
  }
  DiskCache cache(small);
  EXPECT_TRUE(cache.find(bytes("0")));
  for (int i = 9; i < 14; ++i) cache.store(bytes(std::to_string(i)), blob(1000, 1));
  EXPECT_TRUE(cache.find(bytes("0")));
  EXPECT_FALSE(cache.find(bytes("1")));
  EXPECT_TRUE(cache.find(bytes("13")));
}

TEST_F(DiskCaches, ClearTakesOnlyItsOwn) {
  DiskCache cache(options());
  cache.store(bytes("a"), blob(10, 1));
  cache.store(bytes("b"), blob(10, 1));
  write(folder() + "/notes.txt", blob(5, 1));
  write(folder() + "/.weft-1-1.tmp", blob(5, 1));  // may be in the making
  write(folder() + "/.weft-1-2.tmp", blob(5, 1));
  const struct timespec times[2] = {{}, {::time(nullptr) - 3600, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder() + "/.weft-1-2.tmp").c_str(), times, 0), 0);
  EXPECT_EQ(cache.content().num_unfinished, 2u);
  EXPECT_EQ(cache.clear(), 2u);
  EXPECT_EQ(cache.content().num_entries, 0u);
  EXPECT_EQ(cache.content().num_unfinished, 1u);
  EXPECT_TRUE(fs::exists(folder() + "/notes.txt"));
}

TEST_F(DiskCaches, BundlesCarryAllSoundEntries) {
  DiskCache cache(options());
  for (int i = 0; i < 20; ++i)
    cache.store(bytes(std::to_string(i)), blob(static_cast<std::size_t>(i) * 7, 1));
  write(file_of("3"), blob(10, 1));
  const std::string bundle = (root_ / "bundle").string();
  EXPECT_EQ(cache.export_to(bundle), 19u);
  DiskCacheOptions other = options();
  other.folder = (root_ / "other").string();
  DiskCache imported(other);
  EXPECT_EQ(imported.import_from(bundle), 19u);
  EXPECT_TRUE(imported.damaged().empty());
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(imported.find(bytes(std::to_string(i))).has_value(), i != 3) << i;

  // Damage anywhere: nothing is imported.
  const std::vector<std::byte> whole = read(bundle);
  std::mt19937_64 random(5);
  imported.clear();
  for (int round = 0; round < 60; ++round) {
    std::vector<std::byte> damaged = whole;
    if (round % 2 == 0)
      damaged.resize(random() % damaged.size());
    else
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1u << random() % 8);
    write(bundle, damaged);
    EXPECT_THROW(imported.import_from(bundle), ArgumentError);
  }
  EXPECT_EQ(imported.content().num_entries, 0u);
  EXPECT_THROW(imported.import_from((root_ / "nothing").string()), ArgumentError);
  EXPECT_THROW(cache.export_to("/proc/weft/bundle"), DeviceError);
}

TEST_F(DiskCaches, ManyThreadsAndProcesses) {
  const auto work = [&](unsigned seed) {
    DiskCache cache(options());
    std::mt19937 random(seed);
    bool all_right = true;
    for (int round = 0; round < 100; ++round) {
      const unsigned key = random() % 20;
      if (const auto found = cache.find(bytes(std::to_string(key))))
        all_right &= *found == blob(200 + key, key);
      else
        cache.store(bytes(std::to_string(key)), blob(200 + key, key));
      if (round == 50 && seed % 4 == 0) cache.clear();
    }
    return all_right && cache.stats().damaged == 0 && cache.stats().failures == 0;
  };
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 4; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    std::atomic<bool> is_right{true};
    std::vector<std::thread> threads;
    for (unsigned j = 0; j < 4; ++j)
      threads.emplace_back([&, j] {
        if (!work(4 * i + j)) is_right = false;
      });
    for (std::thread& thread : threads) thread.join();
    _exit(is_right ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_TRUE(DiskCache(options()).damaged().empty());
}

TEST_F(DiskCaches, AKilledWriterLeavesNoHalfEntry) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      DiskCache cache(options());
      for (unsigned i = 0;; ++i) cache.store(bytes(std::to_string(i % 10)), blob(100000, i % 10));
    }
    // The first one lives until it has stored something, however busy the machine is.
    while (round == 0 && DiskCache(options()).content().num_entries == 0) ::usleep(1000);
    ::usleep(1000 + random() % 10000);
    ::kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  DiskCache cache(options());
  EXPECT_TRUE(cache.damaged().empty());
  EXPECT_GT(cache.content().num_entries, 0u);
  for (unsigned i = 0; i < 10; ++i)
    if (const auto found = cache.find(bytes(std::to_string(i)))) {
      EXPECT_EQ(*found, blob(100000, i));
    }
  // What they left goes when it is old enough to be nobody's.
  for (const auto& file : fs::directory_iterator(folder())) {
    const struct timespec times[2] = {{}, {::time(nullptr) - 3600, 0}};
    ::utimensat(AT_FDCWD, file.path().c_str(), times, 0);
  }
  cache.store(bytes("one more"), blob(10, 1));
  EXPECT_EQ(cache.content().num_unfinished, 0u);
}

TEST_F(DiskCaches, AFullDiskIsNoError) {
  fs::create_directory(folder());
  if (::mount("tmpfs", folder().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
    GTEST_SKIP() << "NOT TESTED: a full disk; this process may not mount a small tmpfs: "
                 << std::strerror(errno);
  {
    DiskCache cache(options());
    for (int i = 0; i < 20; ++i) cache.store(bytes(std::to_string(i)), blob(10000, 1));
    EXPECT_GT(cache.stats().stores, 0u);
    EXPECT_GT(cache.stats().failures, 0u);
    EXPECT_EQ(cache.stats().stores + cache.stats().failures, 20u);
    EXPECT_EQ(cache.content().num_entries, cache.stats().stores);
    EXPECT_EQ(cache.content().num_unfinished, 0u);
    EXPECT_TRUE(cache.damaged().empty());
    EXPECT_TRUE(cache.find(bytes("0")));
  }
  ::umount(folder().c_str());
}

TEST(DiskCacheOptionsTest, ComeFromTheEnvironment) {
  const auto with = [](const char* mode, const char* folder, const char* xdg, const char* home,
                       const char* size) {
    const auto set = [](const char* name, const char* value) {
      value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    };
    set("WEFT_CACHE", mode);
    set("WEFT_CACHE_DIR", folder);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    set("WEFT_CACHE_SIZE", size);
    return DiskCacheOptions::from_environment();
  };
  EXPECT_EQ(with(nullptr, "/a", "/b", "/c", nullptr).folder, "/a");
  EXPECT_EQ(with(nullptr, nullptr, "/b", "/c", nullptr).folder, "/b/weft");
  EXPECT_EQ(with(nullptr, nullptr, "b", "/c", nullptr).folder, "/c/.cache/weft");
  EXPECT_EQ(with(nullptr, nullptr, nullptr, nullptr, nullptr).mode, CacheMode::off);
  EXPECT_EQ(with("read", "/a", nullptr, nullptr, nullptr).mode, CacheMode::read);
  EXPECT_EQ(with("check", "/a", nullptr, nullptr, nullptr).mode, CacheMode::check);
  EXPECT_EQ(with("off", "/a", nullptr, nullptr, nullptr).mode, CacheMode::off);
  EXPECT_EQ(with("on", "/a", nullptr, nullptr, "3M").max_bytes, 3u << 20);
  EXPECT_EQ(with("on", "/a", nullptr, nullptr, "12345").max_bytes, 12345u);
  const std::uint64_t usual = DiskCacheOptions().max_bytes;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(with("on", "/a", nullptr, nullptr, "3 elephants").max_bytes, usual);
  EXPECT_EQ(with("on", "/a", nullptr, nullptr, "99999999999999G").max_bytes, usual);
  EXPECT_EQ(with("always", "/a", nullptr, nullptr, nullptr).mode, CacheMode::on);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;  // once, whatever comes
  EXPECT_NE(said.find("3 elephants"), std::string::npos) << said;
}

}  // namespace
}  // namespace weft
