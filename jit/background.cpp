#include "jit/background.h"

#include <weft/error.h>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

namespace weft::jit {
namespace {

/// Compilations take every tenth slice of a busy core.  Less, and a fork() that waits for one would
/// wait too long.
constexpr int niceness = 10;

/// Never destroyed: the thread lives as long as the process.
struct Background {
  std::mutex running;  ///< held while a job runs; taken before `queue_mutex`
  std::mutex queue_mutex;
  std::condition_variable has_jobs;
  std::deque<std::function<void()>> jobs;
  bool has_thread = false;
  bool is_stopped = false;
};

Background& background();

/// One job, if there is one.  Returns false when the thread is to end.
bool run_next(Background& state) {
  {
    std::unique_lock lock(state.queue_mutex);
    state.has_jobs.wait(lock, [&] { return !state.jobs.empty() || state.is_stopped; });
    if (state.is_stopped) return false;
  }
  // Between the two locks a fork may take place: the child gets the job, too.
  const std::lock_guard running(state.running);
  std::function<void()> job;
  {
    const std::lock_guard lock(state.queue_mutex);
    if (state.is_stopped) return false;
    if (state.jobs.empty()) return true;
    job = std::move(state.jobs.front());
    state.jobs.pop_front();
  }
  job();
  return true;
}

void* work(void*) {
  Background& state = background();
  pthread_setname_np(pthread_self(), "weft-compile");
  // Linux has a niceness for each thread.  Where that may not be set the jobs run at full priority.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
  while (run_next(state)) {
  }
  return nullptr;
}

/// Requires: `queue_mutex` is held.
void start_thread(Background& state) {
  if (state.has_thread || state.is_stopped) return;
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, work, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  WEFT_CHECK(error == 0, DeviceError,
             "no thread can be started to compile on: ", std::strerror(error));
  pthread_detach(thread);
  state.has_thread = true;
}

void before_fork() {
  background().running.lock();
  background().queue_mutex.lock();
}
void after_fork_in_parent() {
  background().queue_mutex.unlock();
  background().running.unlock();
}
void after_fork_in_child() {
  background().has_thread = false;
  // It counts a waiting thread that is not there any more.
  new (&background().has_jobs) std::condition_variable;
  after_fork_in_parent();
}

Background& background() {
  static Background& state = *[] {
    auto* made = new Background;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    std::atexit(stop_background);
    return made;
  }();
  return state;
}

}  // namespace

void run_in_background(std::function<void()> job) {
  Background& state = background();
  const std::lock_guard lock(state.queue_mutex);
  start_thread(state);
  state.jobs.push_back(std::move(job));
  state.has_jobs.notify_one();
}

void resume_background() {
  Background& state = background();
  const std::lock_guard lock(state.queue_mutex);
  if (!state.jobs.empty()) start_thread(state);
}

void stop_background() {
  Background& state = background();
  const std::lock_guard running(state.running);
  const std::lock_guard lock(state.queue_mutex);
  state.is_stopped = true;
  state.jobs.clear();
  state.has_jobs.notify_all();
}

}  // namespace weft::jit
