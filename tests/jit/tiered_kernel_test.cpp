// A kernel's way from one tier to the next, with tiers and a clock of our own: nothing here depends
// on time.
#include "jit/tiered_kernel.h"
#include "jit/background.h"
#include "tests/in_child.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace weft::jit {
namespace {

std::atomic<std::uint64_t> clock_ticks{0};
std::atomic<std::uint64_t> slow_calls{0}, fast_calls{0};

void slow_code(const KernelArgs* args) {
  clock_ticks += 1000;
  ++slow_calls;
  *args->base[0] = std::byte{7};
}
void fast_code(const KernelArgs* args) {
  clock_ticks += 100;
  ++fast_calls;
  *args->base[0] = std::byte{7};
}

std::shared_ptr<CodeObject> code_of(KernelFunction entry, const char* backend) {
  auto code = std::make_shared<CodeObject>();
  code->entry = entry;
  code->backend = backend;
  code->code_bytes = 10;
  return code;
}

std::shared_ptr<const CodeObject> compile_fast(const ir::Kernel&, const Target&) {
  return code_of(fast_code, "new");
}
std::shared_ptr<const CodeObject> compile_slow(const ir::Kernel&, const Target&) {
  return code_of(slow_code, "new");
}
std::shared_ptr<const CodeObject> fail(const ir::Kernel&, const Target&) {
  throw CompileError("not today");
}

std::counting_semaphore<> may_compile{0};
std::shared_ptr<const CodeObject> compile_when_allowed(const ir::Kernel&, const Target&) {
  may_compile.acquire();
  return code_of(fast_code, "new");
}

class TieredKernels : public testing::Test {
 protected:
  TieredKernels() {
    Trial::clock = [] { return clock_ticks.load(); };
    clock_ticks = slow_calls = fast_calls = 0;
    while (may_compile.try_acquire()) {
    }  // what a test before this one left
  }
  ~TieredKernels() override { Trial::clock = real_clock_; }

  std::shared_ptr<TierControl> control(bool in_background, std::uint32_t threshold = 20) {
    TierOptions options;
    options.threshold = threshold;
    options.in_background = in_background;
    return std::make_shared<TierControl>(options);
  }

  static std::shared_ptr<TieredKernel> kernel(KernelFunction first, TieredKernel::Compile next,
                                              const std::shared_ptr<TierControl>& control,
                                              const char* first_name = "old") {
    CompiledKernel compiled;
    compiled.kernel.loops.resize(1);
    compiled.code = code_of(first, first_name);
    return std::make_shared<TieredKernel>(std::move(compiled), control, next, Target());
  }

  static void call(const TieredKernel& kernel, std::int64_t elements = 8) {
    std::byte result{};
    std::byte* const base[] = {&result};
    const KernelArgs args{base, &elements, nullptr, nullptr, kernel.context()};
    kernel.entry()(&args);
    EXPECT_EQ(result, std::byte{7});
  }
  static void call_often(const TieredKernel& kernel, int times) {
    for (int i = 0; i < times; ++i) call(kernel);
  }

 private:
  Trial::Clock real_clock_ = Trial::clock;
};

/// A kernel that reduces, whose caller folds in its own way until there is code for it.
class TieredFolds : public TieredKernels {
 protected:
  static std::shared_ptr<TieredKernel> reducing(const char* first, TieredKernel::Compile next,
                                                const std::shared_ptr<TierControl>& control) {
    CompiledKernel compiled;
    compiled.kernel.loops = {{ir::LoopKind::reduce}};
    compiled.kernel.tree = {1, 1};
    compiled.code = code_of(slow_code, first);
    return std::make_shared<TieredKernel>(std::move(compiled), control, next, Target());
  }
  /// Which backend's code a fold takes; "own" for none.
  static std::string fold(TieredKernel& kernel, std::uint64_t own_ticks = 1000) {
    std::string taken;
    kernel.fold(8, [&](const CodeObject* code) {
      taken = code == nullptr ? "own" : code->backend;
      clock_ticks += code == nullptr ? own_ticks : 100;
    });
    return taken;
  }
};

TEST_F(TieredFolds, TakeCodeOnceItIsThereAndFaster) {
  const auto tiers = control(false);
  const auto kernel = reducing("interp", compile_fast, tiers);
  for (int call = 0; call < 20; ++call) EXPECT_EQ(fold(*kernel), "own");
  EXPECT_EQ(tiers->stats().requested, 1u);
  bool took_own = false, took_new = false;
  for (int call = 0; call < 18; ++call) (fold(*kernel) == "own" ? took_own : took_new) = true;
  EXPECT_TRUE(took_own && took_new);
  EXPECT_EQ(tiers->stats().promoted, 1u);
  EXPECT_EQ(kernel->folding_code()->backend, "new");
  EXPECT_EQ(fold(*kernel), "new");
  EXPECT_EQ(slow_calls, 0u);  // the interpreter's
}

TEST_F(TieredFolds, GoOnWithoutCodeThatIsSlowerOrMissing) {
  const auto tiers = control(false);
  const auto slower = reducing("interp", compile_fast, tiers);
  for (int call = 0; call < 60; ++call) fold(*slower, 10);
  EXPECT_EQ(tiers->stats().demoted, 1u);
  EXPECT_EQ(fold(*slower, 10), "own");
  const auto failing = reducing("interp", fail, tiers);
  for (int call = 0; call < 30; ++call) EXPECT_EQ(fold(*failing), "own");
  EXPECT_EQ(tiers->stats().failed, 1u);
  EXPECT_EQ(fold(*reducing("interp", nullptr, tiers)), "own");
}

TEST_F(TieredFolds, TakeCodeThatIsThereFromTheFirstCallOn) {
  const auto kernel = reducing("old", nullptr, control(false));
  EXPECT_EQ(kernel->folding_code()->backend, "old");
  EXPECT_EQ(fold(*kernel), "old");
}

TEST_F(TieredKernels, WithoutANextTierNothingIsCounted) {
  const auto tiers = control(false);
  const auto only = kernel(slow_code, nullptr, tiers);
  EXPECT_EQ(only->entry(), &slow_code);
  only->request();
  call_often(*only, 100);
  EXPECT_EQ(only->entry(), &slow_code);
  EXPECT_EQ(tiers->stats().requested, 0u);
}

TEST_F(TieredKernels, AFasterTierIsKept) {
  const auto tiers = control(false);
  const auto hot = kernel(slow_code, compile_fast, tiers);
  call_often(*hot, 19);
  EXPECT_EQ(tiers->stats().requested, 0u);
  EXPECT_EQ(hot->tier(), "old");
  call(*hot);
  EXPECT_EQ(tiers->stats().requested, 1u);
  EXPECT_EQ(hot->tier(), "new");
  EXPECT_EQ(tiers->stats().promoted, 0u);  // not before it was measured
  call_often(*hot, 100);
  EXPECT_EQ(hot->entry(), &fast_code);
  EXPECT_EQ(tiers->stats().promoted, 1u);
  EXPECT_EQ(tiers->stats().demoted, 0u);
  EXPECT_EQ(tiers->stats().compiles_by_backend.at("new"), 1u);
}

TEST_F(TieredKernels, ASlowerTierIsDemoted) {
  const auto tiers = control(false);
  const auto hot = kernel(fast_code, compile_slow, tiers);
  call_often(*hot, 120);
  EXPECT_EQ(hot->entry(), &fast_code);
  EXPECT_EQ(hot->tier(), "old");
  EXPECT_EQ(tiers->stats().promoted, 0u);
  EXPECT_EQ(tiers->stats().demoted, 1u);
  EXPECT_LE(slow_calls, 32u);  // and few calls paid for knowing
}

TEST_F(TieredKernels, TheInterpreterIsNotTimedAgain) {
  const auto tiers = control(false);
  const auto hot = kernel(slow_code, compile_fast, tiers, "interp");
  call_often(*hot, 100);
  EXPECT_EQ(slow_calls, 20u);
  EXPECT_EQ(hot->entry(), &fast_code);
}

TEST_F(TieredKernels, CallsOfManyElementsCountMore) {
  const auto tiers = control(false);
  const auto hot = kernel(slow_code, compile_fast, tiers);
  call(*hot, 20 * 4096);
  EXPECT_EQ(tiers->stats().requested, 1u);
}

TEST_F(TieredKernels, CallsOfEverOtherSizesComeToAnEnd) {
  const auto tiers = control(false);
  const auto hot = kernel(slow_code, compile_fast, tiers);
  call_often(*hot, 20);
  // No class of sizes gets as many calls of the old code as a comparison takes.
  for (int i = 0; i < 5000; ++i) call(*hot, std::int64_t{1} << (4 + i % 36));
  EXPECT_EQ(hot->entry(), &fast_code);
}

/// Code that counts its calls where its context says.
void counting_code(const KernelArgs* args) {
  const auto* const counter = static_cast<std::atomic<std::uint64_t>* const*>(args->context);
  ++**counter;
  clock_ticks += *counter == &fast_calls ? 100 : 1000;
  *args->base[0] = std::byte{7};
}

std::shared_ptr<CodeObject> counting_code_of(std::atomic<std::uint64_t>& counter) {
  const auto context = std::make_shared<std::atomic<std::uint64_t>*>(&counter);
  auto code = code_of(counting_code, "counting");
  code->context = context.get();
  code->memory = context;
  return code;
}

TEST_F(TieredKernels, EachTierFindsItsOwnContext) {
  const auto tiers = control(false);
  CompiledKernel compiled;
  compiled.kernel.loops.resize(1);
  compiled.code = counting_code_of(slow_calls);
  const auto next = [](const ir::Kernel&, const Target&) -> std::shared_ptr<const CodeObject> {
    return counting_code_of(fast_calls);
  };
  const auto hot = std::make_shared<TieredKernel>(std::move(compiled), tiers, next, Target());
  call_often(*hot, 20);
  EXPECT_EQ(slow_calls, 20u);
  call_often(*hot, 100);
  EXPECT_EQ(tiers->stats().promoted, 1u);
  EXPECT_EQ(slow_calls + fast_calls, 120u);
  const std::uint64_t before = fast_calls;
  call_often(*hot, 10);
  EXPECT_EQ(fast_calls, before + 10);
}

TEST_F(TieredKernels, AFailureLeavesTheFirstTier) {
  const auto tiers = control(false);
  const auto hot = kernel(slow_code, fail, tiers);
  call_often(*hot, 100);
  EXPECT_EQ(hot->entry(), &slow_code);
  EXPECT_EQ(tiers->stats().failed, 1u);
  EXPECT_EQ(tiers->stats().requested, 1u);
}

TEST_F(TieredKernels, CallsGoOnWhileTheNextTierIsCompiled) {
  const auto tiers = control(true);
  const auto hot = kernel(slow_code, compile_when_allowed, tiers);
  call_often(*hot, 500);
  EXPECT_EQ(slow_calls, 500u);
  EXPECT_EQ(hot->entry(), &slow_code);  // nothing is in front of it while it waits
  may_compile.release();
  tiers->wait();
  call_often(*hot, 100);
  EXPECT_EQ(hot->entry(), &fast_code);
}

TEST_F(TieredKernels, ManyThreadsCallAcrossTheSwap) {
  const auto tiers = control(true, 2000);
  const auto hot = kernel(slow_code, compile_when_allowed, tiers);
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      while (!is_done) call(*hot);
    });
  while (tiers->stats().requested == 0) std::this_thread::yield();
  may_compile.release();
  const auto is_settled = [&] {
    const TierStats stats = tiers->stats();
    return stats.promoted + stats.demoted + stats.failed != 0;
  };
  while (!is_settled()) std::this_thread::yield();
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tiers->stats().requested, 1u);
  EXPECT_EQ(tiers->stats().compiles_by_backend.at("new"), 1u);
}

TEST_F(TieredKernels, WhatIsCancelledIsNotCompiled) {
  const auto tiers = control(true);
  const auto first = kernel(slow_code, compile_when_allowed, tiers);
  const auto second = kernel(slow_code, fail, tiers);  // would be counted
  first->request();
  second->request();
  tiers->cancel();
  may_compile.release();
  tiers->wait();
  EXPECT_EQ(tiers->stats().failed, 0u);
  call_often(*second, 100);
  EXPECT_EQ(second->entry(), &slow_code);
}

TEST_F(TieredKernels, TheKernelMayDieWhileItIsCompiled) {
  const auto tiers = control(true);
  auto doomed = kernel(slow_code, compile_when_allowed, tiers);
  doomed->request();
  doomed.reset();
  may_compile.release();
  tiers->wait();
}

TEST_F(TieredKernels, AForkHasItsOwnThread) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  const auto tiers = control(true);
  may_compile.release(2);
  kernel(slow_code, compile_when_allowed, tiers)->request();
  tiers->wait();  // the thread runs and waits
  const auto hot = kernel(slow_code, compile_when_allowed, tiers);
  const int status = in_child([&] {
    hot->request();
    tiers->wait();
    for (int i = 0; i < 100; ++i) call(*hot);
    return hot->entry() == &fast_code ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  hot->request();
  tiers->wait();
  EXPECT_EQ(hot->tier(), "new");
}

TEST_F(TieredKernels, WhatWaitedAtAForkIsCompiledOnBothSides) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  const auto tiers = control(true);
  std::vector<std::shared_ptr<TieredKernel>> kernels;
  for (int i = 0; i < 40; ++i) kernels.push_back(kernel(slow_code, compile_fast, tiers));
  for (const auto& each : kernels) each->request();
  const auto all_new = [&] {
    tiers->wait();
    for (const auto& each : kernels)
      if (each->tier() != "new") return 1;
    return 0;
  };
  EXPECT_EQ(in_child(all_new), 0);
  EXPECT_EQ(all_new(), 0);
}

/// Whether a thread of this process sleeps: /proc has the state behind its name in parentheses.
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  return line.find(") S ") != line.npos;
}

std::atomic<bool> is_compiling{false}, fork_begins{false}, is_waited_for{false};
std::atomic<int> num_compiled{0};
std::atomic<pid_t> forking_thread{0};
std::counting_semaphore<> may_follow{0};

/// The first ends once a fork sleeps, which it does for the compilation alone; the others wait
/// until the fork is over.  Nobody waits for ever.
std::shared_ptr<const CodeObject> compile_around_a_fork(const ir::Kernel&, const Target&) {
  if (num_compiled == 0) {
    is_compiling = true;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!fork_begins || !is_asleep(forking_thread)) {
      if (std::chrono::steady_clock::now() > limit) {
        ++num_compiled;
        throw CompileError("no fork waits");
      }
      std::this_thread::yield();
    }
  } else if (!is_waited_for) {
    is_waited_for = !may_follow.try_acquire_for(std::chrono::seconds(60));
  }
  ++num_compiled;
  return code_of(fast_code, "new");
}

TEST_F(TieredKernels, AForkWaitsForOneCompilationOnly) {
  constexpr int num_kernels = 10;
  is_compiling = fork_begins = is_waited_for = false;
  num_compiled = 0;
  forking_thread = gettid();
  const auto tiers = control(true);
  std::vector<std::shared_ptr<TieredKernel>> kernels;
  for (int i = 0; i < num_kernels; ++i)
    kernels.push_back(kernel(slow_code, compile_around_a_fork, tiers));
  for (const auto& each : kernels) each->request();
  while (!is_compiling && tiers->stats().failed == 0) std::this_thread::yield();
  // Handlers run in reverse order, so this one lets the first one go on just before the wait.
  pthread_atfork([] { fork_begins = true; }, nullptr, nullptr);
  const pid_t child = fork_flushed();
  if (child == 0) _exit(0);
  EXPECT_EQ(num_compiled, 1);
  may_follow.release(num_kernels - 1);
  EXPECT_EQ(exit_status(child), 0);
  tiers->wait();
  EXPECT_EQ(num_compiled, num_kernels);
  EXPECT_EQ(tiers->stats().failed, 0u);
  EXPECT_FALSE(is_waited_for) << "the fork waited for a compilation that began after it";
  while (may_follow.try_acquire()) {
  }
}

TEST_F(TieredKernels, AfterTheEndNothingIsWaitedFor) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  const auto tiers = control(true);
  const auto running = kernel(slow_code, compile_when_allowed, tiers);
  const auto dropped = kernel(slow_code, compile_when_allowed, tiers);
  const auto late = kernel(slow_code, compile_when_allowed, tiers);
  const int status = in_child([&] {
    running->request();
    dropped->request();
    // For both: whether the second is dropped or begun depends on who comes first.
    may_compile.release(2);
    stop_background();
    tiers->wait();
    late->request();
    tiers->wait();
    call_often(*dropped, 10);
    slow_calls = 0;
    call_often(*late, 10);
    return slow_calls == 10 ? 3 : 4;
  });
  EXPECT_EQ(status, 3);
}

TEST_F(TieredKernels, TheProcessMayEndWhileOneIsCompiled) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  // exit() in the child waits for the one that runs, and for the other only where that was begun in
  // between.
  const auto tiers = control(true);
  const int status = in_child([&]() -> int {
    kernel(slow_code, compile_when_allowed, tiers)->request();
    kernel(slow_code, compile_when_allowed, tiers)->request();
    may_compile.release(2);
    std::exit(3);
  });
  EXPECT_EQ(status, 3);
}

}  // namespace
}  // namespace weft::jit
