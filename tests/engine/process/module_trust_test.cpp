// Where the LLVM module is looked for, and who must not be able to put one there: the program of
// environment_report.cpp beside files that are no modules, which it says of those that it opens.
#include "tests/matchers.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace weft {
namespace {

namespace fs = std::filesystem;
using matchers::HasSubstr;

class ModuleTrust : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* sub : {"dumps", "prefix/bin", "prefix/lib/weft"})
      fs::create_directories(root_ / sub);
    for (const char* sub : {"prefix", "prefix/bin", "prefix/lib", "prefix/lib/weft"})
      set_mode(sub, 0755);
    fs::copy_file(WEFT_ENVIRONMENT_REPORT, root_ / "prefix/bin/report");
    set_mode("prefix/bin/report", 0755);
  }

  void set_mode(const char* place, mode_t mode) {
    ASSERT_EQ(chmod((root_ / place).c_str(), mode), 0);
  }
  void put_module(const char* place) {
    std::ofstream(root_ / place) << "no module";
    set_mode(place, 0755);
  }

  /// Why there is no LLVM, as the program sees it.
  std::string reason() const {
    const fs::path output = root_ / "output";
    const std::string command = "env -u WEFT_LLVM_MODULE '" +
                                (root_ / "prefix/bin/report").string() + "' '" +
                                (root_ / "dumps").string() + "' > '" + output.string() + "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream lines(output);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("llvm: ")) return line.substr(6);
    return "nothing is said";
  }
  std::string place(const char* name) const { return fs::canonical(root_ / name).string(); }

  TemporaryFolder folder_;
  fs::path root_ = folder_.path();
};

constexpr const char* in_lib = "prefix/lib/libweft_llvm.so";
constexpr const char* in_bin = "prefix/bin/libweft_llvm.so";

TEST_F(ModuleTrust, AllPlacesAreNamedWhereThereIsNone) {
  const std::string told = reason();
  for (const char* sub : {"lib", "lib/weft", "bin", "bin/weft"})
    EXPECT_THAT(told, HasSubstr(place("prefix") + "/" + sub + "/libweft_llvm.so"));
}

TEST_F(ModuleTrust, WhatOnlyItsOwnerCanWriteIsOpened) {
  put_module(in_lib);
  EXPECT_THAT(reason(), HasSubstr(place(in_lib) + ": "));  // as dlopen() begins
}

TEST_F(ModuleTrust, WhatOthersCanWriteIsNotOpened) {
  put_module(in_lib);
  set_mode(in_lib, 0757);
  EXPECT_EQ(reason(), place(in_lib) + " can be written by other users");
  set_mode(in_lib, 0775);
  EXPECT_EQ(reason(), place(in_lib) + " can be written by other users");
  set_mode(in_lib, 0755);
  set_mode("prefix/lib", 0777);
  EXPECT_EQ(reason(), place("prefix/lib") + " can be written by other users");
  // Others may add to such a folder, and not replace what is there.
  set_mode("prefix/lib", 01777);
  EXPECT_THAT(reason(), HasSubstr(place(in_lib) + ": "));
}

// A build with the group's bit set, as many users have it, is as much the group's as its module.
TEST_F(ModuleTrust, TheGroupThatCanWriteTheProgramMayWriteTheModule) {
  put_module(in_lib);
  for (const char* sub : {"prefix/bin/report", in_lib, "prefix/lib"}) set_mode(sub, 0775);
  EXPECT_THAT(reason(), HasSubstr(place(in_lib) + ": "));
  // Who can write the program's folder can replace the program.
  set_mode("prefix/bin/report", 0755);
  set_mode("prefix/bin", 0775);
  EXPECT_THAT(reason(), HasSubstr(place(in_lib) + ": "));
}

TEST_F(ModuleTrust, OfAnotherUserIsNotOpened) {
  if (geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can give files away";
  put_module(in_lib);
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(chown((root_ / in_lib).c_str(), nobody, 0), 0);
  EXPECT_EQ(reason(), place(in_lib) + " belongs to another user");
  // Who has given the program itself may give its module.
  ASSERT_EQ(chown((root_ / "prefix/bin/report").c_str(), nobody, 0), 0);
  EXPECT_THAT(reason(), HasSubstr(place(in_lib) + ": "));
}

TEST_F(ModuleTrust, LinksAreAsGoodAsWhatTheyLeadTo) {
  fs::create_directories(root_ / "elsewhere");
  put_module("elsewhere/libweft_llvm.so");
  set_mode("elsewhere", 0777);
  fs::create_symlink(root_ / "elsewhere/libweft_llvm.so", root_ / in_lib);
  EXPECT_EQ(reason(), place("elsewhere") + " can be written by other users");
}

TEST_F(ModuleTrust, TheSearchGoesOn) {
  put_module(in_lib);
  set_mode(in_lib, 0777);
  put_module(in_bin);
  const std::string told = reason();
  EXPECT_THAT(told, HasSubstr(place(in_lib) + " can be written by other users; "));
  EXPECT_THAT(told, HasSubstr(place(in_bin) + ": "));
}

}  // namespace
}  // namespace weft
