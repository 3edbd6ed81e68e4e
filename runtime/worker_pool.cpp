#include "runtime/worker_pool.h"

#include "runtime/float_environment.h"
#include "runtime/fork_handlers.h"
#include "runtime/gain_record.h"
#include "runtime/quiet_thread.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft {
namespace {

constexpr int max_workers = 255;

/// How long a worker looks for work before it sleeps, and how far apart calls may be that count as
/// a run.
constexpr std::int64_t awake_ns = 50'000;
/// Calls in a row that found the workers asleep before one wakes them.
constexpr int calls_in_a_run = 4;
/// Short calls in a row that no worker answered before only one in so many asks for help: on a busy
/// machine the workers are awake, but do not run.
constexpr int patience = 8;
/// How long a process that could have no more threads does with those it has.
constexpr std::int64_t retry_ns = 100'000'000;
/// Checks before a caller sleeps until a worker has finished.
constexpr int checks_before_sleep = 4000;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One loop in progress; lives on its caller's stack.
struct Job {
  ChunkFunction run;
  std::int64_t num_chunks;
  FloatEnvironment environment = FloatEnvironment::current();  ///< in which all chunks compute
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr error = nullptr;  ///< of the thread that set has_failed

  /// Works on chunks until none is left; how many these were.
  std::int64_t work() {
    for (std::int64_t num_done = 0;; ++num_done) {
      const std::int64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= num_chunks) return num_done;
      try {
        run(index);
      } catch (...) {
        if (!has_failed.exchange(true)) error = std::current_exception();
        next.store(num_chunks, std::memory_order_relaxed);
      }
    }
  }
};

/// What a worker does; the other bits of its state number the jobs that it was given, so that a
/// caller tells its own from a later one's.
enum Phase : std::uint32_t {
  awake,     ///< spinning; may be given a job
  asleep,    ///< as well, but has to be woken
  reserved,  ///< a caller is about to post a job
  posted,    ///< a job waits; its caller may still take it back
  running,   ///< at work on the job
  watched,   ///< as well, and the caller sleeps until it is done
};
constexpr std::uint32_t phase_mask = 7;
constexpr std::uint32_t one_ticket = 8;

/// The state only ever changes by read-modify-write operations, so that whoever sees a later one
/// also sees what the worker wrote before.
class alignas(64) Worker {
 public:
  /// Gives the job to a worker that has none; the job's ticket, or nothing.
  std::optional<std::uint32_t> post(Job& job, bool may_wake) {
    std::uint32_t state = state_.load(std::memory_order_relaxed), phase = 0, ticket = 0;
    // Again where the worker falls asleep in between: it has no less time for the job then.
    do {
      phase = state & phase_mask;
      if (phase != awake && (phase != asleep || !may_wake)) return std::nullopt;
      ticket = (state & ~phase_mask) + one_ticket;
    } while (!state_.compare_exchange_weak(state, ticket | reserved, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    job_ = &job;
    // Sequentially consistent: whether anybody sleeps is looked up after the job can be seen.
    state_.exchange(ticket | posted);
    if (phase == asleep) state_.notify_one();
    return ticket;
  }

  /// Takes the job back if the worker has not begun, else waits until it has finished; whether it
  /// had begun.
  bool finish(std::uint32_t ticket) {
    std::uint32_t state = ticket | posted;
    if (state_.compare_exchange_strong(state, ticket | awake, std::memory_order_acq_rel))
      return false;
    for (int i = 0;; ++i) {
      state = state_.load(std::memory_order_acquire);
      if (state != (ticket | running) && state != (ticket | watched)) return true;
      if (i < checks_before_sleep)
        relax();
      else if (state == (ticket | watched) ||
               state_.compare_exchange_strong(state, ticket | watched))
        state_.wait(ticket | watched);
    }
  }

  /// Whether it has a thread from now on.  `spins`: it looks for work before it sleeps.
  bool start(bool spins) {
    spins_ = spins;
    const auto run = [](void* worker) -> void* { static_cast<Worker*>(worker)->live(); };
    return start_quiet_thread("weft-worker", run, this) == 0;
  }

 private:
  [[noreturn]] void live() {
    std::int64_t idle_since = now_ns();
    for (;;) {
      std::uint32_t state = state_.load(std::memory_order_relaxed);
      const std::uint32_t phase = state & phase_mask;
      const std::uint32_t ticket = state & ~phase_mask;
      if (phase == posted &&
          state_.compare_exchange_strong(state, ticket | running, std::memory_order_acquire)) {
        {
          const FloatEnvironmentScope of_caller(job_->environment);
          job_->work();
        }
        // Sequentially consistent, as in post().
        const std::uint32_t before = state_.exchange(ticket | awake);
        if (before == (ticket | watched)) state_.notify_all();
        idle_since = now_ns();
      } else if (phase == awake && (!spins_ || now_ns() - idle_since > awake_ns) &&
                 state_.compare_exchange_strong(state, ticket | asleep,
                                                std::memory_order_relaxed)) {
        state_.wait(ticket | asleep);
        idle_since = now_ns();
      } else {
        relax();
      }
    }
  }

  std::atomic<std::uint32_t> state_{awake};
  Job* job_ = nullptr;
  bool spins_ = true;
};

/// Workers are made when first needed, and never end: they hold nothing that must be given back.
class Pool {
 public:
  bool run(std::int64_t num_chunks, std::int64_t work_ns, ChunkFunction function) {
    const auto wanted = static_cast<int>(std::min<std::int64_t>(num_chunks - 1, max_workers));
    const bool is_short = work_ns < cold_work_ns;
    if (is_short && is_hopeless()) return false;
    const auto choice = is_short ? gains_.choose(work_ns) : GainRecord::Choice::together;
    if (choice == GainRecord::Choice::alone) return false;
    const bool is_timed = choice == GainRecord::Choice::timed;
    const std::int64_t start_ns = is_timed ? now_ns() : 0;
    const int usable =
        num_workers_.load(std::memory_order_acquire) >= wanted ? wanted : add(wanted);
    Job job{function, num_chunks};
    Helpers helpers;
    int num_helpers = post_all(job, usable, !is_short, helpers);
    if (num_helpers == 0) {
      if (!is_short || !is_run_of_calls()) return false;
      num_helpers = post_all(job, usable, true, helpers);
      if (num_helpers == 0) return false;
    }
    const std::int64_t posted_ns = is_timed ? now_ns() : 0;
    const std::int64_t num_done = job.work();
    const std::int64_t done_ns = is_timed ? now_ns() : 0;
    bool is_answered = false;
    for (int i = 0; i < num_helpers; ++i)
      is_answered |= helpers[i].worker->finish(helpers[i].ticket);
    if (is_timed && is_answered && num_done > 0)
      gains_.note(work_ns, now_ns() - start_ns, (done_ns - posted_ns) / num_done * num_chunks);
    const int unanswered = num_unanswered_.load(std::memory_order_relaxed);
    num_unanswered_.store(is_answered ? 0 : std::min(unanswered + 1, patience),
                          std::memory_order_relaxed);
    if (job.error != nullptr) std::rethrow_exception(job.error);
    return true;
  }

 private:
  struct Helper {
    Worker* worker;
    std::uint32_t ticket;
  };
  using Helpers = std::array<Helper, max_workers>;

  int post_all(Job& job, int count, bool may_wake, Helpers& helpers) {
    int num_helpers = 0;
    for (int i = 0; i < count; ++i)
      if (const auto ticket = workers_[i].post(job, may_wake))
        helpers[num_helpers++] = {&workers_[i], *ticket};
    return num_helpers;
  }

  /// Whether help was asked for in vain so often that this call does without.
  bool is_hopeless() {
    const int count = num_unanswered_.load(std::memory_order_relaxed);
    if (count < patience) return false;
    const int next = count + 1 < 2 * patience ? count + 1 : patience;
    num_unanswered_.store(next, std::memory_order_relaxed);
    return next != patience;
  }

  bool is_run_of_calls() {
    const std::int64_t now = now_ns();
    const std::int64_t before = last_miss_ns_.exchange(now, std::memory_order_relaxed);
    if (now - before > awake_ns) num_misses_.store(0, std::memory_order_relaxed);
    if (num_misses_.fetch_add(1, std::memory_order_relaxed) + 1 < calls_in_a_run) return false;
    num_misses_.store(0, std::memory_order_relaxed);
    return true;
  }

  /// The number of workers, up to `wanted`, after an attempt to have so many.
  int add(int wanted) {
    keep_own_code();
    const std::lock_guard lock(mutex_);
    int count = num_workers_.load(std::memory_order_relaxed);
    if (count < wanted && now_ns() < no_more_until_ns_) return count;
    for (; count < wanted; ++count) {
      // More threads than processors would spin at each other's cost.
      if (workers_[count].start(count + 1 < num_processors())) continue;
      no_more_until_ns_ = now_ns() + retry_ns;  // those there are will do
      break;
    }
    num_workers_.store(count, std::memory_order_release);
    return std::min(count, wanted);
  }

  std::mutex mutex_;
  std::atomic<int> num_workers_{0};
  std::int64_t no_more_until_ns_ = 0;  ///< guarded by mutex_
  std::array<Worker, max_workers> workers_;
  std::atomic<std::int64_t> last_miss_ns_{0};
  std::atomic<int> num_misses_{0};
  std::atomic<int> num_unanswered_{0};
  GainRecord gains_;
};

alignas(Pool) std::byte pool_memory[sizeof(Pool)];

/// Never destroyed: workers look at it until the process ends.
Pool& pool() {
  static Pool& instance = [&]() -> Pool& {
    // A child has none of its parent's workers, and maybe a mutex that nobody will unlock.
    around_fork(nullptr, nullptr, [] { new (pool_memory) Pool; });
    return *new (pool_memory) Pool;
  }();
  return instance;
}

}  // namespace

bool run_on_workers(std::int64_t num_chunks, std::int64_t work_ns, ChunkFunction run) {
  return pool().run(num_chunks, work_ns, run);
}

void prepare_workers() { pool(); }

int num_processors() {
  cpu_set_t allowed;
  if (!processors_of_process(allowed)) return std::max(1U, std::thread::hardware_concurrency());
  return std::max(1, CPU_COUNT(&allowed));
}

}  // namespace weft
