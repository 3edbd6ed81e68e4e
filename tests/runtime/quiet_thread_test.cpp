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

TEST(QuietThread, InheritsNeitherRoundingNorPlaceNorRealtimePriority) {
  Found found;
  int error = -1;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    const sched_param priority{1};
    sched_setscheduler(0, SCHED_FIFO, &priority);  // which not everybody may
    _mm_setcsr(_mm_getcsr() | flushes_subnormals | rounds_up);
    error = start_quiet_thread("weft-test", look, &found);
  }).join();
  ASSERT_EQ(error, 0);
  found.is_done.wait(false);
  EXPECT_EQ(found.control, 0x1f80u);
  EXPECT_EQ(found.num_processors, num_processors());
  EXPECT_EQ(found.policy, sched_getscheduler(0));
}

TEST(QuietThread, ProcessorsAreCountedForTheProcess) {
  const int expected = num_processors();
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
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
