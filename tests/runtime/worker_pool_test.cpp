// Workers that several callers share, and processes that fork or get no threads.
#include "runtime/worker_pool.h"

#include "runtime/gain_record.h"
#include "tests/in_child.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

namespace weft {
namespace {

constexpr std::int64_t long_work_ns = 1'000'000'000;

/// What a test waits for comes within this, however busy the machine is, or never.
class Limit {
 public:
  bool is_over() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(60);
};

/// Whether the flag was set in time.
bool wait_for(const std::atomic<bool>& flag) {
  for (const Limit limit; !flag; std::this_thread::yield())
    if (limit.is_over()) return false;
  return true;
}

/// Runs pairs of chunks until a worker has taken one of them, of which `on_worker` is told.
/// Whether one did.
template <class Function>
bool run_until_helped(Function on_worker) {
  const std::thread::id caller = std::this_thread::get_id();
  const Limit limit;
  std::atomic<bool> is_helped = false;
  while (!is_helped && !limit.is_over()) {
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
  return is_helped;
}

// The worker does its part of the first call and is then at the second one's, which ends after the
// first call has returned: it would not in time, if the first call waited for it.
TEST(WorkerPool, ACallerWaitsForItsOwnWorkOnly) {
  std::atomic<bool> is_second_at_work = false, has_first_returned = false;
  std::atomic<bool> may_second_begin = false, was_waited_for = false;
  std::thread second([&] {
    if (!wait_for(may_second_begin)) return;
    run_until_helped([&] {
      is_second_at_work = true;
      was_waited_for = !wait_for(has_first_returned);
    });
  });
  const std::thread::id caller = std::this_thread::get_id();
  const Limit limit;
  for (bool is_helped = false; !is_helped && !limit.is_over();) {
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
        wait_for(is_second_at_work);
      }
    });
    is_helped = may_second_begin;
  }
  has_first_returned = true;
  second.join();
  EXPECT_TRUE(may_second_begin) << "no worker helped the first call";
  EXPECT_TRUE(is_second_at_work) << "no worker helped the second call";
  EXPECT_FALSE(was_waited_for) << "the first call waited for the second one's work";
}

// What the program has blocked in its own threads, to take it with sigwait(), would end it there.
TEST(WorkerPool, WorkersTakeNoneOfTheProgramsSignals) {
  sigset_t blocked;
  std::array<char, 16> name{};
  ASSERT_TRUE(run_until_helped([&] {
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    pthread_getname_np(pthread_self(), name.data(), name.size());
  }));
  for (const int signal : {SIGUSR1, SIGTERM, SIGCHLD, SIGALRM})
    EXPECT_EQ(sigismember(&blocked, signal), 1) << signal;
  // The program's handler is for faults in workers, too.
  EXPECT_EQ(sigismember(&blocked, SIGSEGV), 0);
  EXPECT_STREQ(name.data(), "weft-worker");
}

// What helps takes three times as long as its caller's own part, however busy the machine is.
// Calls that nobody answers are refused for a while, too, but never so many in a row.
TEST(WorkerPool, ShortCallsThatLoseAreRefused) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t work_ns = 2;  // as much as no other test's
  constexpr int most_calls = 20'000, enough_refusals = 64;
  const std::thread::id caller = std::this_thread::get_id();
  int num_helped = 0, num_refused = 0;
  const Limit limit;
  for (int call = 0; call < most_calls && num_refused < enough_refusals; ++call) {
    if (limit.is_over()) break;
    std::atomic<bool> is_helped = false, is_callers_done = false;
    const Clock::time_point start = Clock::now();
    Clock::time_point callers_end;
    const bool is_done = run_on_workers(2, work_ns, [&](std::int64_t) {
      if (std::this_thread::get_id() == caller) {
        while (!is_helped && Clock::now() - start < std::chrono::milliseconds(1))
          std::this_thread::yield();
        callers_end = Clock::now();
        is_callers_done = true;
      } else {
        is_helped = true;
        wait_for(is_callers_done);
        while (Clock::now() - start < 4 * (callers_end - start)) continue;
      }
    });
    num_helped += is_helped ? 1 : 0;
    num_refused = is_done ? 0 : num_refused + 1;
  }
  EXPECT_GE(num_helped, GainRecord::most_losses);
  EXPECT_EQ(num_refused, enough_refusals);
}

TEST(WorkerPool, AChildHasWorkersOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  EXPECT_TRUE(run_until_helped([] {}));
  EXPECT_EQ(in_child([] { return run_until_helped([] {}) ? 0 : 1; }), 0);
  EXPECT_TRUE(run_until_helped([] {}));
}

/// Whether this process can have no further thread from now on.  Root has as many as it likes, and
/// may have nobody else to be; and some systems don't heed the limit.
bool forbid_threads() {
  if (getuid() == 0 && setuid(65534) != 0) return false;
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return false;
  try {
    std::thread([] {}).join();
    return false;
  } catch (const std::system_error&) {
    return true;
  }
}

TEST(WorkerPool, WithoutThreadsTheCallerDoesAll) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  const int status = in_child([] {
    if (!forbid_threads()) return 2;
    for (int repeat = 0; repeat < 100; ++repeat) {
      int num_done = 0;
      const auto count = [&](std::int64_t) { ++num_done; };
      if (run_on_workers(8, long_work_ns, count) || num_done != 0) return 4;
    }
    return 0;
  });
  if (status == 2) GTEST_SKIP() << "NOT TESTED: this process can't be kept from having threads";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft
