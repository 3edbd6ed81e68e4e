// fork() and exit() at the worst moments.  In a program of its own: what registers with them in
// which order is decided by the first calls of a process.
#include "runtime/allocator.h"
#include "tests/engine/support/elements.h"
#include "tests/in_child.h"
#include "tests/required_backends.h"

#include <weft/dispatch.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/info.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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

/// Compiles in the call or not at all.
EngineOptions quick() {
  EngineOptions options = hot("xbyak");
  options.num_threads = 2;
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

/// Calls every operator of so many tensors.  Returns which of them take others.
std::vector<Op> call_all(Engine& engine, const Tensor& a, int arity) {
  std::vector<Op> refused;
  for (const Op op : all_ops()) {
    if (info(op).arity != arity) continue;
    try {
      arity == 1 ? engine.unary(op, a) : engine.binary(op, a, a);
    } catch (const Error&) {
      refused.push_back(op);
    }
  }
  return refused;
}

/// in_fresh_process(); where threads after a fork are not allowed, here, which is as fresh: what
/// needs one is left out there.
template <class Work>
int in_fresh_process_or_here(Work&& work) {
#if defined(__SANITIZE_THREAD__)
  return work();
#else
  return in_fresh_process(work);
#endif
}

// Operators are defined when they are first called, or registry() is.
TEST(FirstCalls, DefineEachOperatorOnce) {
  const auto call_from_threads = [] {
    const Tensor a = ramp();
    std::array<std::vector<Op>, 4> refused;
    std::vector<std::thread> threads;
    for (std::vector<Op>& of_thread : refused)
      threads.emplace_back([&] {
        Engine engine({"interp", Numerics::standard, 1});
        of_thread = call_all(engine, a, 2);
        registry().check_invariants();
      });
    for (std::thread& thread : threads) thread.join();
    Engine engine({"interp", Numerics::standard, 1});
    const std::vector<Op> expected = call_all(engine, a, 2);
    int num_wrong = 0;
    for (const std::vector<Op>& of_thread : refused) num_wrong += of_thread != expected;
    for (const Op op : all_ops())
      num_wrong += !registry().find(detail::concat("weft::", name(op), ".out"));
    return num_wrong;
  };
  EXPECT_EQ(in_fresh_process_or_here(call_from_threads), 0);
}

TEST(FirstCalls, GoToKernelsRegisteredBeforeThem) {
  const auto register_first = [] {
    int calls = 0;
    registry().set_warning_handler([](const std::string&) {});
    const Registration kernel = registry().impl(
        "weft::add", DispatchKey::cpu, KernelFunction::typed([&](const Tensor& x, const Tensor&) {
          ++calls;
          return x;
        }));
    const Tensor a = ramp();
    const Tensor sum = Engine({"interp", Numerics::standard, 1}).binary(Op::add, a, a);
    return calls == 1 && sum.is_same(a) ? 0 : 1;
  };
  EXPECT_EQ(in_fresh_process(register_first), 0);
}

TEST_F(Forks, ChildrenDefineOperatorsWhileTheParentDoes) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "NOT TESTED: a child may find the sanitizer's allocator locked";
#endif
  const auto fork_among_first_calls = [] {
    const Tensor a = ramp();
    Engine({"interp", Numerics::standard, 1}).eval(Expr(a) + 1);  // what any first call makes once
    std::atomic<bool> is_done{false};
    std::thread caller([&] {
      Engine engine({"interp", Numerics::standard, 1});
      call_all(engine, a, 1);
      is_done = true;
    });
    int num_wrong = 0;
    while (!is_done) {
      const pid_t child = fork_with_limit();
      if (child == 0) {
        Engine engine({"interp", Numerics::standard, 1});
        call_all(engine, a, 2);
        _exit(0);
      }
      num_wrong += exit_status(child) != 0;
    }
    caller.join();
    return num_wrong;
  };
  for (int round = 0; round < 60; ++round) EXPECT_EQ(in_fresh_process(fork_among_first_calls), 0);
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

/// Calls that take every lock of the process again and again: memory that is mapped and unmapped,
/// threads that begin and end, code that comes and goes.
void keep_busy(const Tensor& a, const std::atomic<bool>& is_over) {
  const Tensor large = zeros({1 << 19}, {DType::f32, {}, {}});
  while (!is_over) {
    Engine engine(quick());
    for (int i = 0; i < num_kernels; ++i) engine.eval(kernel(a, i));
    for (int i = 0; i < 4; ++i) engine.eval(Expr(large) + 1);
    std::thread([&] { engine.eval(Expr(a) + 1); }).join();
  }
}

TEST_F(Forks, OtherThreadsMayBeInTheirCalls) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "NOT TESTED: the sanitizer's allocator does not survive forks beside threads";
#endif
  const int status = in_fresh_process([] {
    setenv("WEFT_PERF", "1", 1);
    set_retained_limit_bytes(0);
    const auto forget_map = [] {
      ::unlink(("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str());
    };
    const Tensor a = ramp();
    Engine interpreter({"interp", Numerics::standard, 1});
    const std::vector<float> expected = elements<float>(interpreter.eval(kernel(a, 1)));
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { keep_busy(a, is_over); });
    int num_wrong = 0;
    for (int i = 0; i < 100 && num_wrong == 0; ++i) {
      const pid_t child = fork_with_limit();
      if (child == 0) {
        int status = 1;
        std::thread([&] {
          Engine engine(quick());
          engine.eval(Expr(zeros({1 << 19}, {DType::f32, {}, {}})) + 1);
          status = elements<float>(engine.eval(kernel(a, 1))) == expected ? 0 : 1;
        }).join();
        forget_map();
        _exit(status);
      }
      num_wrong += exit_status(child) == 0 ? 0 : 1;
    }
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    forget_map();
    return num_wrong;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Forks, MemoryOfThreadsThatAreLeftBehindIsCountedOnce) {
  const int status = in_fresh_process([] {
    constexpr std::uint64_t num_threads = 8, block_bytes = 4096;
    std::atomic<std::uint64_t> num_ready{0};
    std::atomic<bool> is_over{false};
    const auto allocate_and_wait = [&] {
      std::byte* const block = allocate_bytes(block_bytes);
      ++num_ready;
      while (!is_over) std::this_thread::yield();
      free_bytes(block, block_bytes);
    };
    const auto start = [&](std::uint64_t num_expected) {
      std::vector<std::thread> threads;
      for (std::uint64_t i = 0; i < num_threads; ++i) threads.emplace_back(allocate_and_wait);
      while (num_ready < num_expected) std::this_thread::yield();
      return threads;
    };
    const auto finish = [&](std::vector<std::thread> threads) {
      is_over = true;
      for (std::thread& thread : threads) thread.join();
      return allocator_stats();
    };
    const AllocatorStats before = allocator_stats();
    std::vector<std::thread> threads = start(num_threads);
    const pid_t child = fork_with_limit();
    if (child == 0) {
      // New threads get the memory of those that the fork left behind.
      const AllocatorStats after = finish(start(2 * num_threads));
      const bool is_right = after.num_allocations == before.num_allocations + 2 * num_threads &&
                            after.live_bytes == before.live_bytes + num_threads * block_bytes;
      _exit(is_right ? 0 : 1);
    }
    const int status = exit_status(child);
    const AllocatorStats after = finish(std::move(threads));
    return status != 0 || after.live_bytes != before.live_bytes ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft::testing
