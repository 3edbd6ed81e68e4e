// Faults of what a process does once: each is tried in a process that has done nothing yet.
#include "tests/faults/fixture.h"
#include "tests/faults/sites.h"
#include "tests/in_child.h"
#include "tests/matchers.h"

#include <weft/parallel.h>
#include <weft/tuning.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

/// Sums and a copy, to the bit, and a function for which there is more than one library.
std::uint64_t calls_by(const char* tiers) {
  EngineOptions options = options_with("auto", tiers);
  options.threshold = 0;
  options.num_threads = 2;
  parallel_for(0, 2, 1, [](std::int64_t, std::int64_t) {}, {2});
  Engine engine(options);
  const Tensor x = engine.to(arange(60).view({5, 12}), DType::f32);
  const Tensor y = engine.eval(ops::tanh(Expr(x) * 0.125f));
  EXPECT_NEAR(reinterpret_cast<const float*>(y.data())[9], std::tanh(9 * 0.125f), 1e-6);
  const Tensor z = engine.eval(ops::sin(Expr(x)));
  EXPECT_NEAR(reinterpret_cast<const float*>(z.data())[9], std::sin(9.0f), 1e-6);
  return hash_of(engine, engine.eval(Expr(x) * 2 + 1)) + hash_of(engine, x.t());
}

const std::map<std::string, Scenario>& work() {
  static const std::map<std::string, Scenario> all = {
      {"start", [] { return calls_by("xbyak"); }},
      {"llvm", [] { return calls_by("llvm"); }},
      {"background",
       [] {
         EngineOptions options = options_with("auto", "llvm");
         options.threshold = 0;
         options.background = true;
         Engine engine(options);
         const Tensor x = engine.to(arange(60), DType::f32);
         const std::uint64_t hash = hash_of(engine, engine.eval(Expr(x) * 2 + 1));
         engine.wait_optimised();
         return hash;
       }},
  };
  return all;
}

using Environment = std::vector<std::pair<std::string, std::string>>;

class FreshProcess : public testing::Test {
 protected:
  const std::string& folder() const { return folder_; }

  /// Has the work done with each fault, of the system if WEFT_FAULTS_KIND says nothing else, in
  /// processes that descend from a new one, and thus share what it has done so far: nothing.
  /// `name` is what the program is called by.
  void run(const std::string& name, const std::string& work, Environment environment) {
    const std::string said = folder() + "/said";
    prepare_sites();
    environment.emplace_back("WEFT_FAULTS_WORK", work);
    environment.emplace_back("WEFT_FAULTS_MARKS", std::to_string(marks_file()));
    const int status = in_child([&] {
      for (const auto& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
      ::fcntl(marks_file(), F_SETFD, 0);
      if (std::freopen(said.c_str(), "w", stderr) == nullptr ||
          ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;
      ::execl("/proc/self/exe", name.c_str(), "--gtest_filter=FreshProcess.DISABLED_Works",
              "--gtest_also_run_disabled_tests", static_cast<char*>(nullptr));
      return 1;
    });
    std::ifstream file(said);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    constexpr std::size_t most = 4000;
    if (text.size() > most) text = text.substr(text.size() - most);
    EXPECT_EQ(status, 0) << text;
    EXPECT_NE(text.find("faults were tried"), text.npos) << text;
  }

 private:
  const TemporaryFolder temporary_{memory_folder()};
  const std::string folder_ = temporary_.path();
};

TEST_F(FreshProcess, Starts) {
  store_tuning(folder() + "/tuning", Tuning());
  const Environment environment{{"WEFT_TUNE", folder() + "/tuning"},
                                {"WEFT_PERF", "1"},
                                {"WEFT_LOG", "all"},
                                {"WEFT_DUMP", "signature,ir:" + folder() + "/dump"}};
  run("weft", "start", environment);
}

TEST_F(FreshProcess, StartsWithLittleMemory) {
  run("weft", "start", {{"WEFT_PERF", "1"}, {"WEFT_FAULTS_KIND", "memory"}});
}

#if WEFT_HAS_LLVM
TEST_F(FreshProcess, LoadsLlvm) { run(fs::read_symlink("/proc/self/exe"), "llvm", {}); }

/// The module is looked for beside the library, which lies where this program does.
TEST_F(FreshProcess, LoadsLlvmFromALibrary) {
  run("weft", "llvm", {{"WEFT_FAULTS_LIBRARY", fs::read_symlink("/proc/self/exe")}});
}

TEST_F(FreshProcess, CompilesInTheBackground) { run("weft", "background", {}); }
#endif

/// In the new process: exit statuses of the processes that are forked off.
enum Outcome { good, bad, not_hit };

/// The work, with the fault and once more without; a fault of the past may cost speed alone.
int work_with_fault(Kind kind, std::int64_t nth, Injection::Span span, const Scenario& scenario,
                    std::uint64_t expected) {
  bool has_hit = false;
  std::string surprise = outcome_of(kind, nth, span, scenario, expected, has_hit);
  if (surprise.empty() && scenario() != expected) surprise = "the next result is wrong";
  std::error_code ignored;
  fs::remove("/tmp/perf-" + std::to_string(::getpid()) + ".map", ignored);
  if (!surprise.empty())
    std::fprintf(stderr, "fault %lld: %s\n", static_cast<long long>(nth), surprise.c_str());
  if (!surprise.empty() || testing::Test::HasFailure()) return bad;
  return has_hit ? good : not_hit;
}

/// Run by the tests above.
TEST_F(FreshProcess, DISABLED_Works) {
  const char* const name = std::getenv("WEFT_FAULTS_WORK");
  if (name == nullptr) GTEST_SKIP() << "this is no process of its own";
  share_marks(std::atoi(std::getenv("WEFT_FAULTS_MARKS")));
  const Scenario& scenario = work().at(name);
  auto* const expected = static_cast<std::uint64_t*>(::mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(expected), MAP_FAILED);
  ASSERT_EQ(in_child([&] {
              *expected = scenario();
              return 0;
            }),
            0);
  const Kind kind = std::getenv("WEFT_FAULTS_KIND") == nullptr ? Kind::system : Kind::memory;
  // A new process allocates thousands of times: a sample of that, which takes seconds.
  const std::int64_t step = kind == Kind::memory ? 19 : 1;
  std::int64_t num_tried = 0;
  for (const auto span : {Injection::Span::once, Injection::Span::from_then_on}) {
    // Loading LLVM takes longest, and nothing follows on its first fault that could fail, too.
    if (span == Injection::Span::from_then_on && name != std::string("start")) break;
    for (std::int64_t nth = 1; nth < most_faults; nth += step) {
      const int outcome =
          in_child([&] { return work_with_fault(kind, nth, span, scenario, *expected); });
      ASSERT_NE(outcome, bad) << "fault " << nth;
      if (outcome == not_hit) break;
      ASSERT_EQ(outcome, good) << "fault " << nth;
      ++num_tried;
    }
  }
  std::fprintf(stderr, "%lld faults were tried\n", static_cast<long long>(num_tried));
}

}  // namespace
}  // namespace weft::faults
