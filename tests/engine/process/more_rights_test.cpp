// Programs that have more rights than their caller: the one of environment_report.cpp, owned by
// root and run by nobody with its set-user-ID bit.
#include "tests/in_child.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

using Environment = std::vector<std::string>;

struct Report {
  std::string text;
  int status = 0;
};

/// The scratch folder of one test: what nobody's programs may run and read, and nobody else's.
class MoreRights : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can give a program root's rights";
    struct statvfs system {};
    ASSERT_EQ(statvfs(folder_.path().c_str(), &system), 0);
    if ((system.f_flag & ST_NOSUID) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
      GTEST_SKIP() << "NOT TESTED: no program gains rights here";
    const fs::path path = folder_.path();
    for (const char* sub : {"dumps", "theirs/bin", "theirs/lib"})
      fs::create_directories(path / sub);
    fs::copy_file(WEFT_ENVIRONMENT_REPORT, program_);
    // No module, no library: where one of them is named in a report, it would have been opened.
    for (const char* file :
         {"theirs/bin/report", "theirs/bin/weft-tool", "theirs/lib/libweft_llvm.so"})
      std::ofstream(path / file) << "no program";
    // Whatever the tests' own umask is.
    for (const char* all_may_enter : {"theirs", "theirs/bin", "theirs/lib", "theirs/bin/weft-tool"})
      chmod((path / all_may_enter).c_str(), 0755);
    chmod(path.c_str(), 0710);
    for (const fs::path& shared : {path, program_}) ASSERT_EQ(chown(shared.c_str(), 0, nobody), 0);
    ASSERT_EQ(chown((path / "dumps").c_str(), nobody, nobody), 0);
    set_mode(0750);
    if (run({}).status != 0) GTEST_SKIP() << "NOT TESTED: there is no user 65534 here";
  }

  void set_mode(mode_t mode) { ASSERT_EQ(chmod(program_.c_str(), mode), 0); }

  /// Runs the program as nobody, who names it as they like.
  Report run(const Environment& environment, const std::string& argv0 = "report") {
    int output[2];
    if (pipe(output) != 0) return {"no pipe", -1};
    const pid_t child = fork_flushed();
    if (child == 0) {
      dup2(output[1], STDOUT_FILENO);
      dup2(output[1], STDERR_FILENO);
      close(output[0]);
      const std::string dumps = folder_.path() / "dumps";
      const std::array<const char*, 3> arguments{argv0.c_str(), dumps.c_str(), nullptr};
      std::vector<const char*> variables;
      for (const std::string& variable : environment) variables.push_back(variable.c_str());
      variables.push_back(nullptr);
      if (setgroups(0, nullptr) == 0 && setresgid(nobody, nobody, nobody) == 0 &&
          setresuid(nobody, nobody, nobody) == 0)
        execve(program_.c_str(), const_cast<char**>(arguments.data()),
               const_cast<char**>(variables.data()));
      _exit(127);
    }
    close(output[1]);
    Report report;
    std::array<char, 4096> buffer;
    for (ssize_t count; (count = read(output[0], buffer.data(), buffer.size())) > 0;)
      report.text.append(buffer.data(), static_cast<std::size_t>(count));
    close(output[0]);
    report.status = exit_status(child);
    for (const fs::directory_entry& dump : fs::directory_iterator(folder_.path() / "dumps"))
      fs::remove(dump.path());
    return report;
  }

  std::string theirs(const char* name = "") const { return folder_.path() / "theirs" / name; }

  /// Every variable that the library reads, with a value that shows in a report.
  Environment variables() const {
    return {
      "WEFT_ISA=none", "WEFT_JIT=off", "WEFT_LOG=all",
          "WEFT_DUMP=ir:" + (folder_.path() / "dumps").string(), "WEFT_PERF=1", "WEFT_CACHE=read",
          "WEFT_CACHE_DIR=" + theirs("cache"), "WEFT_CACHE_SIZE=12345",
          "WEFT_TUNE=" + theirs("tuning"), "WEFT_NVRTC=" + theirs("libnvrtc.so"),
          "WEFT_CUDA_DRIVER=" + theirs("libcuda.so"),
#if WEFT_HAS_LLVM
          "WEFT_LLVM_MODULE=" + theirs("lib/libweft_llvm.so"),
#endif
          "XDG_CACHE_HOME=" + theirs(), "XDG_CONFIG_HOME=" + theirs(), "CUDA_HOME=" + theirs(),
          "PATH=" + theirs("bin")
    };
  }

  TemporaryFolder folder_;
  fs::path program_ = folder_.path() / "report";
};

std::string name_of(const std::string& variable) { return variable.substr(0, variable.find('=')); }

TEST_F(MoreRights, NothingInTheEnvironmentIsHonoured) {
  const Report bare = run({});
  ASSERT_NE(bare.text.find("sum: right"), std::string::npos) << bare.text;
  // Each of them alone says something to a program without such rights.
  const std::string home = "HOME=/nonexistent/home";
  const Report usual = run({home});
  EXPECT_NE(usual.text, bare.text) << "HOME";
  Environment all{home};
  for (const std::string& variable : variables()) {
    const Report told = run({home, variable});
    EXPECT_EQ(told.status, 0) << told.text;
    EXPECT_NE(told.text, usual.text) << variable;
    all.push_back(variable);
  }

  set_mode(04750);
  const Report privileged = run(all);
  if (privileged.status == 0) GTEST_SKIP() << "NOT TESTED: no program gains rights here";
  ASSERT_EQ(privileged.status, 3);
  EXPECT_EQ(privileged.text, bare.text);
  for (const std::string& variable : variables())
    EXPECT_EQ(run({home, variable}).text, bare.text) << variable;
}

// The name that a program is called by is its caller's choice, too.
TEST_F(MoreRights, NamesOfTheProgramLeadNowhere) {
  const Report bare = run({});
  EXPECT_EQ(run({}, theirs("bin/report")).text, bare.text);
  set_mode(04750);
  if (run({}).status == 0) GTEST_SKIP() << "NOT TESTED: no program gains rights here";
  EXPECT_EQ(run({}, theirs("bin/report")).text, bare.text);
}

TEST_F(MoreRights, EveryDocumentedVariableIsTried) {
  std::ifstream page(WEFT_SOURCE_DIR "/docs/architecture.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  Environment tried;
  for (const std::string& variable : variables()) tried.push_back(name_of(variable));
#if !WEFT_HAS_LLVM
  tried.push_back("WEFT_LLVM_MODULE");
#endif
  int num_found = 0;
  const std::regex row("\n\\|([^|]*`WEFT_[^|]*)\\|"), variable("WEFT_[A-Z_]+");
  for (std::sregex_iterator line(text.begin(), text.end(), row), end; line != end; ++line) {
    const std::string names = (*line)[1];
    for (std::sregex_iterator found(names.begin(), names.end(), variable); found != end; ++found) {
      EXPECT_NE(std::ranges::find(tried, found->str()), tried.end()) << found->str();
      ++num_found;
    }
  }
  EXPECT_GT(num_found, 10);
}

}  // namespace
}  // namespace weft
