#include "jit/trial.h"

#include <algorithm>
#include <bit>
#include <chrono>

namespace weft::jit {
namespace {

constexpr int fraction_bits = 10;

std::uint64_t read_cycle_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace

std::atomic<Trial::Clock> Trial::clock{read_cycle_counter};

void Trial::Times::add(std::uint64_t ticks, std::uint64_t elements) {
  const std::uint64_t time = (ticks << fraction_bits) / std::max<std::uint64_t>(elements, 1);
  std::uint64_t known = least.load(std::memory_order_relaxed);
  while (time < known && !least.compare_exchange_weak(known, time, std::memory_order_relaxed)) {
  }
  calls.fetch_add(1, std::memory_order_relaxed);
}

Trial::Class& Trial::class_of(std::uint64_t elements) {
  return classes_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(elements)),
                                        classes_.size() - 1)];
}

Trial::Verdict Trial::add_new(std::uint64_t elements, std::uint64_t ticks) {
  Class& measured = class_of(elements);
  measured.candidate.add(ticks, elements);
  const bool is_enough =
      measured.candidate.calls.load(std::memory_order_relaxed) >= min_new_calls &&
      measured.current.calls.load(std::memory_order_relaxed) >= old_calls_;
  if (is_enough) {
    // A loss that the clock can't tell from none is none: 3 %, or the time of reading it.
    constexpr std::uint64_t clock_ticks = 24;
    const std::uint64_t old_time = measured.current.least.load(std::memory_order_relaxed);
    const std::uint64_t allowed =
        old_time + old_time / 32 +
        (clock_ticks << fraction_bits) / std::max<std::uint64_t>(elements, 1);
    return measured.candidate.least.load(std::memory_order_relaxed) > allowed ? Verdict::slower
                                                                              : Verdict::faster;
  }
  // Calls of ever other sizes: what was expected of the new code has to do.
  const int calls = new_calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  return calls >= max_new_calls ? Verdict::faster : Verdict::none;
}

}  // namespace weft::jit
