// Workers that several callers share, and processes that fork or get no threads.
#include "runtime/worker_pool.h"

#include "tests/in_child.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace weft {
namespace {

constexpr std::int64_t long_work_ns = 1'000'000'000;

/// Runs pairs of chunks until a worker has taken one of them, of which `on_worker` is told.
template <class Function>
void run_until_helped(Function on_worker) {
  const std::thread::id caller = std::this_thread::get_id();
  for (std::atomic<bool> is_helped = false; !is_helped;) {
    run_on_workers(2, long_work_ns, [&](std::int64_t) {
      if (std::this_thread::get_id() != caller) {
        if (!is_helped.exchange(true)) on_worker();
      } else {
        const auto start = std::chrono::steady_clock::now();
        while (!is_helped &&
               std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1))
          std::this_thread::yield();
      }
    });
  }
}

// The worker does its part of the first call and is then at the second one's, which ends after the
// first call has returned: it would never, if the first call waited for it.
TEST(WorkerPool, ACallerWaitsForItsOwnWorkOnly) {
  std::atomic<bool> is_second_at_work = false, has_first_returned = false;
  std::atomic<bool> may_second_begin = false;
  std::thread second([&] {
    while (!may_second_begin) std::this_thread::yield();
    run_until_helped([&] {
      is_second_at_work = true;
      while (!has_first_returned) std::this_thread::yield();
    });
  });
  const std::thread::id caller = std::this_thread::get_id();
  for (bool is_helped = false; !is_helped;) {
    std::atomic<int> helped = 0;
    run_on_workers(2, long_work_ns, [&](std::int64_t index) {
      if (std::this_thread::get_id() != caller) {
        helped = 1;
      } else if (index == 0) {
        const auto start = std::chrono::steady_clock::now();
        while (helped == 0 &&
               std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1))
          std::this_thread::yield();
        if (helped == 0) return;
        may_second_begin = true;
        while (!is_second_at_work) std::this_thread::yield();
      }
    });
    is_helped = may_second_begin;
  }
  has_first_returned = true;
  second.join();
}

TEST(WorkerPool, AChildHasWorkersOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  run_until_helped([] {});
  const int status = in_child([] {
    alarm(60);
    bool is_helped = false;
    run_until_helped([&] { is_helped = true; });
    return is_helped ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  run_until_helped([] {});
}

TEST(WorkerPool, WithoutThreadsTheCallerDoesAll) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  const int status = in_child([] {
    alarm(60);
    // Root has as many threads as it likes.
    if (getuid() == 0 && setuid(65534) != 0) return 2;
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_NPROC, &none) != 0) return 3;
    for (int repeat = 0; repeat < 100; ++repeat) {
      int num_done = 0;
      const auto count = [&](std::int64_t) { ++num_done; };
      if (run_on_workers(8, long_work_ns, count) || num_done != 0) return 4;
    }
    return 0;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft
