#include "jit/background.h"

#include "jit/code_registry.h"
#include "jit/dump.h"
#include "runtime/allocator.h"
#include "runtime/exec_memory.h"
#include "runtime/fork_handlers.h"
#include "runtime/quiet_thread.h"
#include "runtime/thread_counter.h"
#include "runtime/worker_pool.h"

#include <weft/error.h>
#include <weft/tuning.h>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace weft::jit {
namespace {

/// Compilations take every tenth slice of a busy core.  Less, and a fork() that waits for one would
/// wait too long.
constexpr int niceness = 10;

using Job = std::function<void()>;

/// Never destroyed: the thread lives as long as the process.
struct Background {
  std::mutex mutex;  ///< guards the rest; not held while a job runs
  std::condition_variable may_run;
  std::condition_variable has_run;
  std::deque<Job> jobs;
  /// Threads in fork(): no job begins while there are any, else the next would begin before a
  /// thread that waits for this one wakes up.
  int num_holds = 0;
  bool is_running = false;
  bool has_thread = false;
  bool is_stopped = false;
};

Background& background();

/// Jobs wait, and no thread is there to run them: a fork left it behind.
constinit std::atomic<bool> is_stranded{false};

/// One job, when there is one.  Returns false when the thread is to end.
bool run_next(Background& state) {
  std::unique_lock lock(state.mutex);
  state.may_run.wait(
      lock, [&] { return state.is_stopped || (!state.jobs.empty() && state.num_holds == 0); });
  if (state.is_stopped) return false;
  Job job = std::move(state.jobs.front());
  state.jobs.pop_front();
  state.is_running = true;
  lock.unlock();
  job();
  job = nullptr;  // what dies with it may take locks, too
  lock.lock();
  state.is_running = false;
  state.has_run.notify_all();
  return true;
}

void* work(void*) {
  Background& state = background();
  // Linux has a niceness for each thread.  Where that may not be set the jobs run at full priority.
  const auto thread = static_cast<id_t>(gettid());
  if (getpriority(PRIO_PROCESS, thread) < niceness) setpriority(PRIO_PROCESS, thread, niceness);
  while (run_next(state)) {
  }
  return nullptr;
}

/// Requires: `mutex` is held.
void start_thread(Background& state) {
  if (state.has_thread || state.is_stopped) return;
  const int error = start_quiet_thread("weft-compile", work, nullptr);
  WEFT_CHECK(error == 0, DeviceError,
             "no thread can be started to compile on: ", std::strerror(error));
  state.has_thread = true;
  is_stranded.store(false, std::memory_order_relaxed);
}

/// Leaves the lock held.
void before_fork() {
  Background& state = background();
  std::unique_lock lock(state.mutex);
  ++state.num_holds;
  state.has_run.wait(lock, [&] { return !state.is_running; });
  lock.release();
}
void after_fork_in_parent() {
  Background& state = background();
  --state.num_holds;
  state.may_run.notify_one();
  state.mutex.unlock();
}
void after_fork_in_child() {
  Background& state = background();
  state.has_thread = false;
  is_stranded.store(!state.jobs.empty(), std::memory_order_relaxed);
  state.num_holds = 0;
  // They count waiting threads that are not there any more.
  new (&state.may_run) std::condition_variable;
  new (&state.has_run) std::condition_variable;
  state.mutex.unlock();
}

Background& background() {
  static Background& state = *[] {
    auto made = std::make_unique<Background>();
    // Handlers that prepare a fork run in reverse order: the job that runs needs all of these to
    // come to its end, so they are locked last.  Who holds one of them waits for no other.
    prepare_for_fork();
    around_fork(before_fork, after_fork_in_parent, after_fork_in_child);
    std::atexit(stop_background);
    return made.release();
  }();
  return state;
}

}  // namespace

void prepare_for_fork() {
  keep_own_code();
  prepare_allocator();
  detail::prepare_thread_slots();
  prepare_code_registry();
  prepare_code_memory();
  prepare_workers();
  prepare_dump();
  current_tuning();
}

void run_in_background(std::function<void()> job) {
  Background& state = background();
  const std::lock_guard lock(state.mutex);
  if (state.is_stopped) return;
  start_thread(state);
  state.jobs.push_back(std::move(job));
  state.may_run.notify_one();
}

void resume_background() {
  if (!is_stranded.load(std::memory_order_relaxed)) return;
  Background& state = background();
  const std::lock_guard lock(state.mutex);
  start_thread(state);
}

void stop_background() {
  Background& state = background();
  std::deque<Job> dropped;  // dies without the lock
  std::unique_lock lock(state.mutex);
  state.is_stopped = true;
  dropped.swap(state.jobs);
  is_stranded.store(false, std::memory_order_relaxed);
  state.may_run.notify_all();
  state.has_run.wait(lock, [&] { return !state.is_running; });
}

}  // namespace weft::jit
