// A counter that many threads add to at the price of a load and a store.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft {

namespace detail {
/// Number of this thread among those alive, 0 upwards; negative until somebody asks.
extern constinit thread_local int thread_slot;
int find_thread_slot();
/// Registers what fork() has to do for these numbers.  The first thread that asks does so, too; for
/// those whose own handlers must run before.
void prepare_thread_slots();
}  // namespace detail

/// Counts for ever.  The threads with the lowest numbers have a cache line each, in which nobody
/// else writes; those beyond share one, with an atomic addition.
///
/// Threads: all functions may be called by many threads at once; value() sees what happened before.
class ThreadCounter {
 public:
  [[gnu::always_inline]] void add() {
    int slot = detail::thread_slot;
    if (slot < 0) [[unlikely]]
      slot = detail::find_thread_slot();
    if (static_cast<std::size_t>(slot) < slots_.size()) [[likely]] {
      std::atomic<std::uint64_t>& own = slots_[static_cast<std::size_t>(slot)].count;
      own.store(own.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      shared_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::uint64_t value() const {
    std::uint64_t sum = shared_.load(std::memory_order_relaxed);
    for (const Slot& slot : slots_) sum += slot.count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> count{0};
  };
  std::array<Slot, 16> slots_;
  std::atomic<std::uint64_t> shared_{0};
};

}  // namespace weft
