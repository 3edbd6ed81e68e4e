// parallel_for() on the worker pool.
#include <weft/parallel.h>

#include "runtime/worker_pool.h"

#include <weft/cancel.h>
#include <weft/error.h>

#include <algorithm>
#include <atomic>
#include <utility>

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

thread_local constinit const CancellationScope* innermost_scope = nullptr;

/// About how long it takes until a request to stop is seen.
constexpr std::int64_t part_ns = 2'000'000;

/// Runs a loop in parts, with a look at the token before each.
void run_in_parts(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction function,
                  ParallelOptions options, const CancellationToken& token) {
  const std::int64_t num_parts = std::max<std::int64_t>(options.work_ns / part_ns, 1);
  const std::int64_t part =
      std::max({(end - begin + num_parts - 1) / num_parts, grain, std::int64_t{1}});
  const auto run = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t at = first; at < last; at += std::min(part, last - at)) {
      token.throw_if_cancelled();
      function(at, at + std::min(part, last - at));
    }
  };
  // What runs inside belongs to this loop.
  const CancellationScope* const scope = std::exchange(innermost_scope, nullptr);
  struct Restore {
    const CancellationScope* scope;
    ~Restore() { innermost_scope = scope; }
  } const restore{scope};
  parallel_for(begin, end, grain, run, options);
}

/// 0 until somebody asks: a plain load is all that a loop in one thread pays.
constinit std::atomic<int> thread_count = 0;

}  // namespace

void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction function,
                  ParallelOptions options) {
  if (begin >= end) return;
  if (const CancellationToken* const token = CancellationScope::current()) [[unlikely]]
    return run_in_parts(begin, end, grain, function, options, *token);
  const std::int64_t count = end - begin;
  const std::int64_t threads = options.num_threads > 0 ? options.num_threads : num_threads();
  if (threads == 1 || count <= grain || is_inside_parallel_for) return function(begin, end);
  const std::int64_t chunk = std::max({grain, (count + threads - 1) / threads, std::int64_t{1}});
  const std::int64_t num_chunks = (count + chunk - 1) / chunk;
  if (num_chunks == 1) return function(begin, end);
  const auto run = [&](std::int64_t index) {
    const InsideParallelFor inside;
    const std::int64_t chunk_begin = begin + index * chunk;
    function(chunk_begin, chunk_begin + std::min(chunk, end - chunk_begin));
  };
  if (!run_on_workers(num_chunks, options.work_ns, run)) function(begin, end);
}

void CancellationToken::throw_if_cancelled() const {
  if (is_cancelled()) throw CancelledError("the call was cancelled by its token");
}

CancellationScope::CancellationScope(CancellationToken token)
    : token_(std::move(token)), outer_(std::exchange(innermost_scope, this)) {}

CancellationScope::~CancellationScope() { innermost_scope = outer_; }

const CancellationToken* CancellationScope::current() noexcept {
  return innermost_scope == nullptr ? nullptr : &innermost_scope->token_;
}

int num_threads() {
  int count = thread_count.load(std::memory_order_relaxed);
  if (count != 0) [[likely]]
    return count;
  // Threads that get here at once find the same number; one that was set in between stays.
  const int found = num_processors();
  return thread_count.compare_exchange_strong(count, found, std::memory_order_relaxed) ? found
                                                                                       : count;
}

void set_num_threads(int count) {
  WEFT_CHECK(count >= 1, ArgumentError, "The number of threads must be at least 1, got ", count,
             ".");
  thread_count.store(count, std::memory_order_relaxed);
}

}  // namespace weft
