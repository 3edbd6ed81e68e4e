// What becomes of a file's place when OutputFile takes it.
#include "runtime/file.h"
#include "tests/temporary_folder.h"

#include <weft/error.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace weft {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
 protected:
  std::string path(std::string_view name) const { return (folder_.path() / name).string(); }

  static void write(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t num_files() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }

  TemporaryFolder folder_;
};

TEST_F(OutputFiles, KeepThePermissionsOfWhatTheyReplace) {
  for (const unsigned mode : {0600u, 0640u, 0666u, 0755u, 0777u}) {
    write(path("x"), "old");
    fs::permissions(path("x"), fs::perms(mode));
    write(path("x"), "new");
    EXPECT_EQ(read(path("x")), "new");
    EXPECT_EQ(fs::status(path("x")).permissions(), fs::perms(mode)) << std::oct << mode;
  }
  EXPECT_EQ(num_files(), 1);
}

TEST_F(OutputFiles, LendNobodysRights) {
  write(path("x"), "old");
  fs::permissions(path("x"), fs::perms(04755));
  write(path("x"), "new");
  EXPECT_EQ(fs::status(path("x")).permissions(), fs::perms(0755));
}

TEST_F(OutputFiles, AreOnlyTheirOwnersUntilTheyReplace) {
  write(path("x"), "old");
  fs::permissions(path("x"), fs::perms(0666));
  const OutputFile file(path("x"));
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
    if (entry.path().filename() == "x") continue;
    EXPECT_EQ(entry.status().permissions(), fs::perms(0600)) << entry.path();
  }
  EXPECT_EQ(num_files(), 2);
}

TEST_F(OutputFiles, NewOnesHaveWhatTheProcessGives) {
  std::ofstream(path("other")) << "made by somebody else";
  write(path("x"), "new");
  EXPECT_EQ(fs::status(path("x")).permissions(), fs::status(path("other")).permissions());
}

TEST_F(OutputFiles, FollowLinksToWhatIsNotThereYet) {
  fs::create_directory(path("folder"));
  fs::create_symlink("folder/second", path("first"));  // from where the link lies, not from here
  fs::create_symlink(path("target"), path("folder/second"));
  write(path("first"), "made");
  EXPECT_TRUE(fs::is_symlink(path("first")) && fs::is_symlink(path("folder/second")));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("target"))));
  write(path("first"), "written again");
  EXPECT_EQ(read(path("target")), "written again");
}

// As /dev/stdout leads to one.
TEST_F(OutputFiles, FollowLinksToPipes) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor reader(ends[0]), writer(ends[1]);
  fs::create_symlink("/proc/self/fd/" + std::to_string(writer.get()), path("out"));
  write(path("out"), "through it");
  std::string text(10, ' ');
  ASSERT_EQ(::read(reader.get(), text.data(), text.size()), 10);
  EXPECT_EQ(text, "through it");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(OutputFiles, AreNotMadeBehindLinksThatLeadNowhere) {
  fs::create_symlink("no/such/folder", path("lost"));
  fs::create_symlink("round", path("and round"));
  fs::create_symlink("and round", path("round"));
  for (const char* name : {"lost", "round"}) EXPECT_THROW(OutputFile(path(name)), DeviceError);
  EXPECT_EQ(num_files(), 3);
}

}  // namespace
}  // namespace weft
