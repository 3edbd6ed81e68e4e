// Loops over a range, shared among threads.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace [[gnu::visibility("default")]] weft {

template <class Signature>
class FunctionRef;

/// Any callable, by reference: two words, no allocation.  The callable must outlive the call that
/// it is passed to.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef> &&
           std::is_invocable_r_v<Result, Function&, Args...> &&
           std::is_object_v<std::remove_reference_t<Function>>) FunctionRef(Function&& function)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Function>*>(object))(args...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

/// Works on the indices begin, begin + 1, ... before end.
using RangeFunction = FunctionRef<void(std::int64_t begin, std::int64_t end)>;

struct ParallelOptions {
  int num_threads = 0;  ///< at most so many; 0: as many as num_threads() says
  /// About how long the loop takes in one thread.  Short ones use threads that are awake, and don't
  /// wake any.
  std::int64_t work_ns = std::int64_t{1} << 40;
};

/// Calls `function` on disjoint ranges that together are [begin, end), from several threads, and
/// returns when all calls have.
///
/// The ranges are the whole, or else cuts that depend on the arguments and the number of threads
/// alone: chunks of max(grain, ceil(n / threads)), which within a CancellationScope are cut
/// further, into what takes about two milliseconds by `work_ns`. One chunk, one thread, no thread
/// at hand for short work, or a call from within `function`: runs in the caller's thread directly.
///
/// Threads: may be called by many threads at once.
/// Errors:  the first exception of `function` is rethrown once; chunks not yet begun are skipped
///          then. CancelledError where the caller's CancellationScope is cancelled.
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction function,
                  ParallelOptions options = {});

/// Threads that parallel_for() uses, the caller's included.  At first: all that the process may run
/// on.
int num_threads();

/// Errors: ArgumentError if `count` < 1.
void set_num_threads(int count);

}  // namespace weft
