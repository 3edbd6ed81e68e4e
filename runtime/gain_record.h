// Whether other threads make short calls faster on this machine.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace weft {

/// What calls of about as much work gained by other threads, so that those that only lose do
/// without: how long it takes to hand work over depends on which processors these are, and where on
/// a busy or virtual machine they happen to run.  Some calls are timed, and now and then one that
/// would do without tries again.
///
/// Threads: may be used by many at once, and then knows roughly what it would know otherwise.
class GainRecord {
 public:
  enum class Choice : std::uint8_t { alone, together, timed };

  /// How a call of `work_ns` in one thread is to run; `timed`: together, and if others have helped,
  /// note() is called.  Until then the next calls are timed, too.
  Choice choose(std::int64_t work_ns) noexcept {
    Calls& calls = of(work_ns);
    const std::uint32_t count = calls.count.load(std::memory_order_relaxed);
    const bool is_lost = calls.losses.load(std::memory_order_relaxed) >= most_losses;
    if (count % (is_lost ? tries : timed_calls) == 0) return Choice::timed;
    calls.count.store(count + 1, std::memory_order_relaxed);
    return is_lost ? Choice::alone : Choice::together;
  }

  /// How long a call took, and would have taken in one thread, in any unit.
  void note(std::int64_t work_ns, std::int64_t together, std::int64_t alone) noexcept {
    Calls& calls = of(work_ns);
    const int before = calls.losses.load(std::memory_order_relaxed);
    if (together > alone && before < most_losses)
      calls.losses.store(before + 1, std::memory_order_relaxed);
    else if (together < alone && before > 0)
      calls.losses.store(before - 1, std::memory_order_relaxed);
    calls.count.store(1, std::memory_order_relaxed);
  }

  static constexpr int most_losses = 4;  ///< more than gains, and calls do without
  /// Of so many one is timed.
  static constexpr std::uint32_t timed_calls = 64;
  /// Of so many that do without one tries again, which may wake a thread.
  static constexpr std::uint32_t tries = 4096;

 private:
  struct Calls {
    std::atomic<std::uint32_t> count{0};
    std::atomic<int> losses{0};
  };
  /// By powers of two of the work, which differ from one another in what they gain.
  Calls& of(std::int64_t work_ns) noexcept {
    const auto size = static_cast<std::uint64_t>(work_ns > 0 ? work_ns : 0);
    return calls_[static_cast<std::size_t>(std::bit_width(size))];
  }

  std::array<Calls, 65> calls_;
};

}  // namespace weft
