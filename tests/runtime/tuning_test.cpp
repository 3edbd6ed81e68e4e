// Files of thresholds: what is read back, and what is not believed.
#include "runtime/cpu_model.h"
#include "runtime/hash.h"
#include "runtime/log.h"
#include "tests/in_child.h"
#include "tests/matchers.h"
#include "tests/temporary_folder.h"

#include <weft/error.h>
#include <weft/tuning.h>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace weft {
namespace {

namespace fs = std::filesystem;
using matchers::HasSubstr;

Tuning unusual() { return {1 << 20, 2 << 20, 3 << 20, 12345, 678, 9000}; }

class Tunings : public testing::Test {
 protected:
  std::string text() const {
    std::stringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  void write(const std::string& text) const {
    std::ofstream(file_) << text;
    fs::permissions(file_, fs::perms::owner_read | fs::perms::owner_write);  // whatever the umask
  }
  /// Lines under a checksum that is right.
  void write_sealed(const std::string& lines) const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(hash_bytes(lines.data(), lines.size())));
    write(lines + "checksum " + digits + "\n");
  }
  void expect_ignored(const std::string& why) const {
    const StoredTuning stored = load_tuning(file_);
    EXPECT_THAT(stored.fault, HasSubstr(why));
    EXPECT_FALSE(stored.is_stored);
    EXPECT_EQ(stored.tuning, Tuning());
    EXPECT_EQ(stored.file, file_);
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  std::string file_ = folder_ + "/tuning";
};

TEST_F(Tunings, AreReadBack) {
  file_ = folder_ + "/a/b/tuning";
  store_tuning(file_, unusual());
  const StoredTuning stored = load_tuning(file_);
  EXPECT_EQ(stored.fault, "");
  EXPECT_TRUE(stored.is_stored);
  EXPECT_EQ(stored.tuning, unusual());
  EXPECT_THAT(text(), HasSubstr("cpu " + cpu_model() + "\n"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ + "/a/b"), {}), 1);
}

TEST_F(Tunings, EveryFieldIsStored) {
  EXPECT_EQ(tuning_fields().size() * sizeof(std::int64_t), sizeof(Tuning));
  for (const TuningField& field : tuning_fields()) {
    Tuning tuning;
    EXPECT_GE(tuning.*field.value, field.least) << field.name;
    EXPECT_LE(tuning.*field.value, field.most) << field.name;
    for (const std::int64_t value : {field.least, field.most}) {
      tuning.*field.value = value;
      store_tuning(file_, tuning);
      EXPECT_EQ(load_tuning(file_).tuning, tuning) << field.name;
    }
  }
}

TEST_F(Tunings, NoFileIsNoFault) {
  for (const std::string& file : {std::string(), file_, file_ + "/deeper"}) {
    const StoredTuning stored = load_tuning(file);
    EXPECT_EQ(stored.fault, "");
    EXPECT_FALSE(stored.is_stored);
  }
}

TEST_F(Tunings, NoFlippedBitAndNoBeginningIsUsed) {
  store_tuning(file_, unusual());
  const std::string whole = text();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    write(damaged);
    EXPECT_FALSE(load_tuning(file_).is_stored) << "byte " << at;
    write(whole.substr(0, at));
    EXPECT_FALSE(load_tuning(file_).is_stored) << at << " bytes";
    EXPECT_NE(load_tuning(file_).fault, "") << at << " bytes";
  }
  write(whole + "more\n");
  expect_ignored("checksum");
  write(std::string(100'000, 'x'));
  expect_ignored("too long");
}

TEST_F(Tunings, ForeignFilesAreNotUsed) {
  store_tuning(file_, unusual());
  const std::string whole = text(), lines = whole.substr(0, whole.rfind("checksum "));
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string changed = lines;
    EXPECT_NE(changed.find(old), changed.npos) << old;
    return changed.replace(changed.find(old), old.size(), other);
  };
  write_sealed(lines);
  EXPECT_TRUE(load_tuning(file_).is_stored) << "the test itself writes no sound files";
  write_sealed(with("weft tuning 1", "weft tuning 2"));
  expect_ignored("another version");
  write_sealed(with(cpu_model(), "Z80"));
  expect_ignored("another processor");
  write_sealed(with("thread_work_ns 9000", "thread_work_ns 0"));
  expect_ignored("expected thread_work_ns with a number from 10");
  write_sealed(with("thread_work_ns 9000", "thread_work_ns 9000x"));
  expect_ignored("expected thread_work_ns");
  write_sealed(with("thread_work_ns 9000\n", ""));
  expect_ignored("expected thread_work_ns");
  write_sealed(lines + "colour 5\n");
  expect_ignored("means nothing");
  write("no such thing\n");
  expect_ignored("is no tuning file");
}

TEST_F(Tunings, WhatOthersMayWriteIsNotUsed) {
  store_tuning(file_, unusual());
  for (const mode_t mode : {0666, 0660, 0622}) {
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
    expect_ignored("can be written by other users");
  }
  ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  expect_ignored("lies in a folder that other users can write to");
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);  // as /tmp is
  EXPECT_TRUE(load_tuning(file_).is_stored);
  // Only root can give a file away, and not every root.
  if (::geteuid() == 0 && ::chown(file_.c_str(), 12345, 12345) == 0)
    expect_ignored("belongs to another user");
}

TEST_F(Tunings, LinksFoldersAndPipesAreNotOpened) {
  const std::string other = folder_ + "/other";
  store_tuning(other, unusual());
  fs::create_symlink(other, file_);
  expect_ignored("is a symbolic link");
  fs::remove(file_);
  fs::create_directory(file_);
  expect_ignored("is no file");
  fs::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  expect_ignored("is no file");
}

TEST_F(Tunings, FilesThatCannotBeWrittenAreNamed) {
  write("keep me");
  for (const std::string& file : {file_ + "/deeper/tuning", folder_}) {
    for (const auto& work : {std::function<void()>([&] { store_tuning(file, unusual()); }),
                             std::function<void()>([&] { check_tuning_file(file); })}) {
      try {
        work();
        ADD_FAILURE() << file;
      } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(), HasSubstr(file));
      }
    }
  }
  check_tuning_file(folder_ + "/new/tuning");
  EXPECT_TRUE(fs::is_empty(folder_ + "/new"));
  EXPECT_EQ(text(), "keep me");
}

TEST_F(Tunings, AreUsedWhateverTheProcessLetsOthersDo) {
  EXPECT_EQ(in_child([&] {
              ::umask(0);
              store_tuning(folder_ + "/new/tuning", unusual());
              return load_tuning(folder_ + "/new/tuning").is_stored ? 0 : 1;
            }),
            0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_THROW(store_tuning(file_, unusual()), DeviceError);
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(Tunings, TheEnvironmentNamesTheFile) {
  const auto file_with = [](const char* tune, const char* config, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    };
    set("WEFT_TUNE", tune);
    set("XDG_CONFIG_HOME", config);
    set("HOME", home);
    return tuning_file();
  };
  // In a child: the environment is everybody's.
  EXPECT_EQ(in_child([&] {
              const bool is_right = file_with(nullptr, nullptr, nullptr).empty() &&
                                    file_with("off", "/c", "/h").empty() &&
                                    file_with("/my/file", "/c", "/h") == "/my/file" &&
                                    file_with("", "/c", "/h") == "/c/weft/tuning" &&
                                    file_with(nullptr, "c", "/h") == "/h/.config/weft/tuning" &&
                                    file_with(nullptr, nullptr, "h").empty();
              return is_right ? 0 : 1;
            }),
            0);
}

TEST_F(Tunings, AFaultIsLoggedOnce) {
  write("no such thing\n");
  const std::string told = folder_ + "/told";
  EXPECT_EQ(in_child([&] {
              ::setenv("WEFT_TUNE", file_.c_str(), 1);
              if (std::freopen(told.c_str(), "w", stderr) == nullptr) return 1;
              set_log_topics("tune");
              return machine_tuning().is_stored || machine_tuning().is_stored ? 2 : 0;
            }),
            0);
  std::stringstream lines;
  lines << std::ifstream(told).rdbuf();
  EXPECT_EQ(lines.str(), "weft tune: " + file_ + " is ignored: it is no tuning file\n");
}

}  // namespace
}  // namespace weft
