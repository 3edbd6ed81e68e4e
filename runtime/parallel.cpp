// parallel_for() on oneTBB.
#include <weft/parallel.h>

#include <weft/error.h>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define WEFT_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_THREAD_SANITIZER
#endif
#endif

namespace weft {

namespace {

/// True while this thread runs a chunk: loops inside it stay in this thread.
thread_local bool is_inside_parallel_for = false;

class InsideParallelFor {
 public:
  InsideParallelFor() : before_(is_inside_parallel_for) { is_inside_parallel_for = true; }
  ~InsideParallelFor() { is_inside_parallel_for = before_; }
  InsideParallelFor(const InsideParallelFor&) = delete;
  InsideParallelFor& operator=(const InsideParallelFor&) = delete;

 private:
  bool before_;
};

/// 0 until somebody asks: a plain load is all that a loop in one thread pays.
constinit std::atomic<int> thread_count = 0;

/// Works on chunk `index` of a loop.
using ChunkFunction = FunctionRef<void(std::int64_t index)>;

#if defined(WEFT_THREAD_SANITIZER)

/// The sanitizer does not see how an uninstrumented library hands work over, and would report every
/// loop as a race.  With threads of our own it judges the code inside the loops.
void run_chunks(int, std::int64_t num_chunks, ChunkFunction run) {
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto run_one = [&](std::int64_t index) {
    try {
      const InsideParallelFor inside;
      run(index);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (first_error == nullptr) first_error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (std::int64_t i = 1; i < num_chunks; ++i) threads.emplace_back(run_one, i);
  run_one(0);
  for (std::thread& thread : threads) thread.join();
  if (first_error != nullptr) std::rethrow_exception(first_error);
}

#else

/// Threads for one setting of set_num_threads().
struct Workers {
  explicit Workers(int count) : arena(count) {
    // Only to have more threads than cores: a lower limit would also bind the caller's own loops.
    if (count > tbb::info::default_concurrency())
      limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
  }
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
};

/// The workers of `count` threads, made when first needed: one thread never starts the library.
std::shared_ptr<Workers> workers_for(int count) {
  static std::mutex mutex;
  // Leaked on purpose: the library's threads must not be joined while the process exits.
  static auto& current = *new std::shared_ptr<Workers>;
  const std::lock_guard lock(mutex);
  if (current == nullptr || current->arena.max_concurrency() != count)
    current = std::make_shared<Workers>(count);
  return current;
}

void run_chunks(int threads, std::int64_t num_chunks, ChunkFunction run) {
  const std::shared_ptr<Workers> workers = workers_for(threads);
  workers->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, num_chunks, 1),
        [&](const tbb::blocked_range<std::int64_t>& chunks) {
          const InsideParallelFor inside;
          for (std::int64_t i = chunks.begin(); i < chunks.end(); ++i) run(i);
        },
        tbb::static_partitioner());
  });
}

#endif

}  // namespace

void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                  RangeFunction function) {
  if (begin >= end) return;
  const std::int64_t count = end - begin;
  const std::int64_t threads = num_threads();
  if (threads == 1 || count <= grain || is_inside_parallel_for) {
    function(begin, end);
    return;
  }
  const std::int64_t chunk = std::max({grain, (count + threads - 1) / threads, std::int64_t{1}});
  const std::int64_t num_chunks = (count + chunk - 1) / chunk;
  if (num_chunks == 1) {
    function(begin, end);
    return;
  }
  run_chunks(static_cast<int>(threads), num_chunks, [&](std::int64_t index) {
    const std::int64_t chunk_begin = begin + index * chunk;
    function(chunk_begin, chunk_begin + std::min(chunk, end - chunk_begin));
  });
}

int num_threads() {
  int count = thread_count.load(std::memory_order_relaxed);
  if (count != 0) [[likely]]
    return count;
  // Threads that get here at once find the same number; one that was set in between stays.
  const int found = std::max(1, tbb::info::default_concurrency());
  return thread_count.compare_exchange_strong(count, found, std::memory_order_relaxed) ? found
                                                                                       : count;
}

void set_num_threads(int count) {
  WEFT_CHECK(count >= 1, ArgumentError, "The number of threads must be at least 1, got ", count,
             ".");
  thread_count.store(count, std::memory_order_relaxed);
}

}  // namespace weft
