// Entries of the disk cache, sound and otherwise.
#include "tests/in_child.h"
#include "tests/runtime/disk_cache_fixture.h"

#include <weft/error.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

namespace weft {
namespace {

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
    age(i, 100000 - 100 * i);  // clocks of files are coarse: equal times would be in any order
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
  // What is longer than the bundle in it says is not read: it would not fit the memory.
  for (const std::vector<std::byte>& start : {whole, std::vector<std::byte>(100)}) {
    write(bundle, start);
    std::filesystem::resize_file(bundle, std::uintmax_t{1} << 40);
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
  const auto work_in_threads = [&](unsigned process) {
    std::atomic<bool> is_right{true};
    std::vector<std::thread> threads;
    for (unsigned j = 0; j < 4; ++j)
      threads.emplace_back([&, j] {
        if (!work(4 * process + j)) is_right = false;
      });
    for (std::thread& thread : threads) thread.join();
    return is_right ? 0 : 1;
  };
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 4; ++i) {
    children.push_back(fork_flushed());
    if (children.back() == 0) work_and_exit([&] { return work_in_threads(i); });
  }
  for (const pid_t child : children) EXPECT_EQ(exit_status(child), 0);
  EXPECT_TRUE(DiskCache(options()).damaged().empty());
}

/// In a process of its own: the environment is everybody's, and complaints come once.
void expect_options_of_the_environment() {
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
  EXPECT_EQ(with("on", "/a", nullptr, nullptr, "3 elephants").max_bytes, usual);
  EXPECT_EQ(with("on", "/a", nullptr, nullptr, "99999999999999G").max_bytes, usual);
  EXPECT_EQ(with("always", "/a", nullptr, nullptr, nullptr).mode, CacheMode::on);
}

TEST(DiskCacheOptionsTest, ComeFromTheEnvironment) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(in_child([] {
              expect_options_of_the_environment();
              return ::testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;  // once, whatever comes
  EXPECT_NE(said.find("3 elephants"), std::string::npos) << said;
}

}  // namespace
}  // namespace weft
