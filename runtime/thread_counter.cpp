#include "runtime/thread_counter.h"

#include "runtime/fork_handlers.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace weft {

constinit thread_local int detail::thread_slot = -1;

namespace {

/// Which numbers are taken.  Never destroyed: threads may end after main().
struct Slots {
  std::mutex mutex;
  std::vector<bool> is_taken;

  void before_fork() { mutex.lock(); }
  void after_fork_in_parent() { mutex.unlock(); }
  /// The numbers of threads that are not there any more are free.
  void after_fork_in_child() {
    const auto own = static_cast<std::size_t>(detail::thread_slot);
    for (std::size_t slot = 0; slot < is_taken.size(); ++slot) is_taken[slot] = slot == own;
    mutex.unlock();
  }
};

Slots& slots() {
  static Slots& instance = *[] {
    auto made = std::make_unique<Slots>();
    around_fork([] { slots().before_fork(); }, [] { slots().after_fork_in_parent(); },
                [] { slots().after_fork_in_child(); });
    return made.release();
  }();
  return instance;
}

/// Gives the number back when the thread ends.  What the thread counts after that, in the
/// destructors of other thread-local objects, goes where all may add.
struct SlotOwner {
  ~SlotOwner() {
    const std::lock_guard lock(slots().mutex);
    slots().is_taken[static_cast<std::size_t>(detail::thread_slot)] = false;
    detail::thread_slot = std::numeric_limits<int>::max();
  }
};

}  // namespace

void detail::prepare_thread_slots() { slots(); }

int detail::find_thread_slot() {
  {
    const std::lock_guard lock(slots().mutex);
    auto& is_taken = slots().is_taken;
    const auto free = std::find(is_taken.begin(), is_taken.end(), false);
    const auto slot = static_cast<int>(free - is_taken.begin());
    if (free == is_taken.end())
      is_taken.push_back(true);
    else
      *free = true;
    detail::thread_slot = slot;
  }
  static thread_local SlotOwner owner;
  return detail::thread_slot;
}

}  // namespace weft
