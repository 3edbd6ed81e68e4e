// What threads of our own don't inherit of those that start them, and what workers take from each
// caller.
#include "runtime/quiet_thread.h"

#include "runtime/float_environment.h"
#include "runtime/worker_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

namespace weft {
namespace {

#if defined(__x86_64__)

constexpr unsigned flags = 0x3f, flushes_subnormals = 0x8040, rounds_up = 0x4000;

/// What a thread has that was started here.
struct Found {
  std::atomic<bool> is_done = false;
  unsigned control = 0;
  int num_processors = 0, policy = -1;
};

void* look(void* found) {
  auto& result = *static_cast<Found*>(found);
  result.control = _mm_getcsr() & ~flags;
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  result.num_processors = CPU_COUNT(&allowed);
  result.policy = sched_getscheduler(0);
  result.is_done = true;
  result.is_done.notify_all();
  return nullptr;
}

/// What a thread finds that `prepare` has started from another.  It lives on, as the thread may
/// still look at it when this returns.
template <class Prepare>
const Found& found_by_thread_of(const Prepare& prepare) {
  static std::deque<Found> all;
  Found& found = all.emplace_back();
  std::thread([&] {
    prepare();
    EXPECT_EQ(start_quiet_thread("weft-test", look, &found), 0);
  }).join();
  found.is_done.wait(false);
  return found;
}

void pin_to_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}

TEST(QuietThread, ComputesInTheStandardEnvironment) {
  const Found& found =
      found_by_thread_of([] { _mm_setcsr(_mm_getcsr() | flushes_subnormals | rounds_up); });
  EXPECT_EQ(found.control, 0x1f80u);
}

TEST(QuietThread, IsNotPinned) {
  if (num_processors() == 1) GTEST_SKIP() << "NOT TESTED: there is one processor";
  EXPECT_EQ(found_by_thread_of(pin_to_one_processor).num_processors, num_processors());
}

TEST(QuietThread, HasNoRealtimePriority) {
  bool is_realtime = false;
  const Found& found = found_by_thread_of([&] {
    const sched_param priority{1};
    is_realtime = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  });
  if (!is_realtime) GTEST_SKIP() << "NOT TESTED: realtime priority is not to be had";
  EXPECT_EQ(found.policy, SCHED_OTHER);
}

TEST(QuietThread, ProcessorsAreCountedForTheProcess) {
  const int expected = num_processors();
  if (expected == 1) GTEST_SKIP() << "NOT TESTED: there is one processor";
  std::thread([&] {
    pin_to_one_processor();
    EXPECT_EQ(num_processors(), expected);
  }).join();
}

/// The environment of a worker that helped with a loop; 0 if none did within a minute.
unsigned control_of_worker() {
  constexpr std::int64_t long_work_ns = 1'000'000'000;
  const std::thread::id caller = std::this_thread::get_id();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<unsigned> control = 0;
  while (control == 0 && std::chrono::steady_clock::now() < end)
    run_on_workers(2, long_work_ns, [&](std::int64_t) {
      if (std::this_thread::get_id() != caller)
        control = _mm_getcsr() & ~flags;
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  return control;
}

TEST(QuietThread, WorkersComputeInTheEnvironmentOfTheirCaller) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flushes_subnormals);
  const unsigned flushing = control_of_worker();
  _mm_setcsr(before);
  EXPECT_EQ(flushing, (before & ~flags) | flushes_subnormals);
  EXPECT_EQ(control_of_worker(), before & ~flags);
}

TEST(FloatEnvironment, ScopesEnd) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | rounds_up);
  {
    const FloatEnvironmentScope scope(FloatEnvironment::standard());
    EXPECT_EQ(_mm_getcsr() & ~flags, 0x1f80u);
  }
  EXPECT_EQ(_mm_getcsr() & ~flags, (before & ~flags) | rounds_up);
  _mm_setcsr(before);
}

#endif

}  // namespace
}  // namespace weft
