// fork() and exit() at the worst moments.  In a program of its own: what registers with them in
// which order is decided by the first calls of a process.
#include "tests/engine/support/elements.h"
#include "tests/in_child.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/info.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

namespace weft::testing {
namespace {

constexpr int num_kernels = 4;

/// Every kernel is hot at once.
EngineOptions hot(const char* tiers) {
  EngineOptions options;
  options.tiers = tiers;
  options.threshold = 0;
  options.disk_cache = DiskCacheOptions{CacheMode::off, {}, 0};
  return options;
}

Tensor ramp() {
  std::vector<float> values;
  for (int i = 0; i < 100; ++i) values.push_back(static_cast<float>(i) / 16 - 2);
  return tensor_of(values);
}

/// Every number makes another kernel.
Expr kernel(const Tensor& a, int number) {
  Expr expr = ops::tan(Expr(a));
  for (int i = 0; i < number; ++i) expr = ops::tan(expr);
  return expr;
}

/// The exit status of what `work` returns in a process that weft has not been used in, which ends
/// by exit() with all that it has running.
template <class Work>
int in_fresh_process(Work&& work) {
  return in_child([&]() -> int { std::exit(work()); });
}

/// fork(), with a limit for the child, which gets none from its parent.
pid_t fork_with_limit() {
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) alarm(most_child_s);
  return child;
}

/// Returns while the background thread opens LLVM; in vain, later, if there is none.
void wait_for_llvm() {
  for (int i = 0; i < 1000; ++i) {
    std::ifstream maps("/proc/self/maps");
    const std::string all((std::istreambuf_iterator<char>(maps)), {});
    if (all.find("libweft_llvm") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Two processes that wait for each other.
class Meeting {
 public:
  Meeting() {
    for (auto& pipe : pipes_)
      if (::pipe(pipe.data()) != 0) std::abort();
  }
  void arrive(int side) {
    char token = 0;
    if (::write(pipes_[static_cast<std::size_t>(side)][1], &token, 1) != 1 ||
        ::read(pipes_[static_cast<std::size_t>(1 - side)][0], &token, 1) != 1)
      std::abort();
  }

 private:
  std::array<std::array<int, 2>, 2> pipes_{};
};

class Forks : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  }
};

TEST_F(Forks, BothSidesCompile) {
  // While the first kernel is compiled, and before there was any code memory.
  const int status = in_fresh_process([] {
    const Tensor a = ramp();
    std::vector<std::vector<float>> expected;
    Engine interpreter({"interp", Numerics::standard, 1});
    for (int i = 0; i < num_kernels; ++i)
      expected.push_back(elements<float>(interpreter.eval(kernel(a, i))));
    Meeting meeting;
    Engine engine(hot("llvm"));
    engine.eval(kernel(a, 0));
    wait_for_llvm();
    const pid_t child = fork_with_limit();
    const int side = child == 0 ? 1 : 0;
    const auto number = [&](int i) { return side == 0 ? i : num_kernels - 1 - i; };
    for (int i = 0; i < num_kernels; ++i) engine.eval(kernel(a, number(i)));
    engine.wait_optimised();
    meeting.arrive(side);
    int num_wrong = 0;
    for (int round = 0; round < 20; ++round)
      for (int i = 0; i < num_kernels; ++i)
        if (elements<float>(engine.eval(kernel(a, i))) != expected[static_cast<std::size_t>(i)])
          ++num_wrong;
    meeting.arrive(side);
    if (num_wrong != 0 || child == 0) return num_wrong;
    return exit_status(child);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Forks, APlanGetsTheChildToCompileWhatWasQueued) {
  constexpr int too_late = 2;        // all were compiled before the fork
  constexpr int nothing_is_hot = 3;  // there is no LLVM
  const auto fork_early = [] {
    const Tensor a = ramp();
    constexpr int num_queued = 12;  // of which a fork waits for one at most
    Engine engine(hot("llvm"));
    for (int i = 0; i < num_queued; ++i) engine.eval(kernel(a, i));
    if (engine.stats().hot_kernels == 0) return nothing_is_hot;
    const pid_t child = fork_with_limit();
    if (child != 0) return exit_status(child);
    const auto num_compiled = [&] {
      const auto compiles = engine.stats().compiles_by_backend;
      const auto found = compiles.find("llvm");
      return found == compiles.end() ? 0 : found->second;
    };
    if (num_compiled() == num_queued) return too_late;
    // Neither asks for a compilation nor waits for one.
    Engine other({"interp", Numerics::standard, 1});
    other.eval(Expr(a) + 1);
    while (num_compiled() < num_queued) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 0;
  };
  // A busy machine may keep the caller waiting for so long.
  int status = too_late;
  for (int attempt = 0; attempt < 10 && status == too_late; ++attempt)
    status = in_fresh_process(fork_early);
  if (status == nothing_is_hot)
    leave_out_without("llvm", "no kernel is compiled again");
  else
    EXPECT_EQ(status, 0);
}

TEST_F(Forks, ExitMayComeWhileTheBackgroundCompiles) {
  // While the module is opened, during the first kernel, which makes LLVM's static objects, and
  // later.
  for (int delay_ms = 0; delay_ms < 48; delay_ms += 2) {
    const int status = in_fresh_process([&] {
      const Tensor a = ramp();
      Engine engine(hot("llvm"));
      for (int i = 0; i < 12; ++i) engine.eval(kernel(a, i));
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      return 0;
    });
    EXPECT_EQ(status, 0) << "after " << delay_ms << " ms";
  }
}

TEST_F(Forks, CodeMemoryMayBeUsedAfterTheBackground) {
  const int status = in_fresh_process([] {
    const Tensor a = ramp();
    Engine interpreted(hot("llvm")), compiled(hot("xbyak"));
    interpreted.eval(kernel(a, 0));  // starts the background thread
    compiled.eval(Expr(a) + 1);      // needs code memory before that thread does
    const pid_t child = fork_with_limit();
    if (child == 0) _exit(0);
    return exit_status(child);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft::testing
