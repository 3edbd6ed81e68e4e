#include "jit/trial.h"

#include <algorithm>
#include <bit>
#include <chrono>

namespace weft::jit {
namespace {

std::uint64_t read_cycle_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace

std::atomic<Trial::Clock> Trial::clock{read_cycle_counter};

std::uint64_t time_an_element(std::uint64_t ticks, std::uint64_t elements) {
  constexpr int fraction_bits = 10;
  return (ticks << fraction_bits) / std::max<std::uint64_t>(elements, 1);
}

std::uint64_t LeastTime::add(std::uint64_t time) {
  std::uint64_t known = get();
  while (time < known && !least_.compare_exchange_weak(known, time, std::memory_order_relaxed)) {
  }
  return std::min(time, known);
}

void Trial::Times::add(std::uint64_t ticks, std::uint64_t elements) {
  least.add(time_an_element(ticks, elements));
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
    const std::uint64_t old_time = measured.current.least.get();
    const std::uint64_t allowed = old_time + old_time / 32 + time_an_element(clock_ticks, elements);
    return measured.candidate.least.get() > allowed ? Verdict::slower : Verdict::faster;
  }
  // Calls of ever other sizes: what was expected of the new code has to do.
  const int calls = new_calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  return calls >= max_new_calls ? Verdict::faster : Verdict::none;
}

}  // namespace weft::jit
