// What damaged entries, foreign folders, killed writers and full disks do to the disk cache:
// nothing worse than a miss.
#include "tests/in_child.h"
#include "tests/matchers.h"
#include "tests/runtime/disk_cache_fixture.h"

#include <weft/error.h>

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>

namespace weft {
namespace {

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
    EXPECT_EQ(cache.fault_of_folder(), "is a folder that other users can write to") << mode;
    EXPECT_TRUE(cache.damaged().empty()) << mode;
    EXPECT_THROW(cache.import_from(bundle), DeviceError) << mode;
  }
  ASSERT_EQ(::chmod(folder().c_str(), 0755), 0);
  EXPECT_TRUE(cache.find(bytes("key")));
  EXPECT_EQ(cache.fault_of_folder(), "");
}

TEST_F(DiskCaches, AFolderThatCannotBeLookedAtIsNotUsed) {
  const std::string loop = (root_ / "loop").string();
  ASSERT_EQ(::symlink("loop", loop.c_str()), 0);
  DiskCacheOptions options;
  options.folder = loop;
  DiskCache cache(options);
  const std::string bundle = folder() + ".bundle";
  DiskCache(this->options()).export_to(bundle);
  EXPECT_THROW(cache.export_to(bundle), DeviceError);
  EXPECT_FALSE(cache.find(bytes("key")));
  EXPECT_EQ(cache.stats().damaged, 1u);
  cache.store(bytes("key"), blob(100, 3));
  EXPECT_EQ(cache.stats().failures, 1u);
  EXPECT_THROW(cache.damaged(), DeviceError);
  EXPECT_THROW(cache.import_from(bundle), DeviceError);
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
    if (folder == (root_ / "file").string())  // whoever asks for it is told
      EXPECT_THROW(cache.content(), DeviceError);
    else
      EXPECT_EQ(cache.content().num_entries, 0u);
  }
}

TEST_F(DiskCaches, WithoutPermissionNothingIsStored) {
  DiskCache(options()).store(bytes("a"), blob(100, 1));
  // Root may do everything, so this is another user's process.
  const int status = in_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 9;
    ::chmod(folder().c_str(), 0500);
    DiskCache cache(options());
    cache.find(bytes("a"));
    cache.store(bytes("b"), blob(100, 1));
    return cache.stats().failures == 1 ? 0 : 1;
  });
  ::chmod(folder().c_str(), 0700);  // or else the folder stays
  if (status == 9) GTEST_SKIP() << "NOT TESTED: root has no other user to become";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(DiskCache(options()).content().num_entries, 1u);
}

TEST_F(DiskCaches, AKilledWriterLeavesNoHalfEntry) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork_flushed();
    ASSERT_GE(child, 0);
    if (child == 0)
      work_and_exit([&]() -> int {
        DiskCache cache(options());
        unsigned i = 0;
        for (; cache.stats().failures == 0; ++i)
          cache.store(bytes(std::to_string(i % 10)), blob(100000, i % 10));
        return 1;
      });
    // The first one lives until it has stored something, however busy the machine is.
    while (round == 0 && DiskCache(options()).content().num_entries == 0) {
      ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "the writer has ended";
      ::usleep(1000);
    }
    ::usleep(1000 + random() % 10000);
    ::kill(child, SIGKILL);
    EXPECT_EQ(exit_status(child), 1000 + SIGKILL);
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

}  // namespace
}  // namespace weft
