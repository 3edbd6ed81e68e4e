// What this machine does in a second, measured in a few milliseconds.
#include <weft/error.h>
#include <weft/story.h>

#include "engine/explain/story.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Additions of which each waits for the one before: one a cycle.
double measure_clock_hz() {
  constexpr std::int64_t additions = 100'000;
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 5; ++round) {
    std::int64_t value = 0;
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < additions; i += 8) {
      // Eight at once, so that what counts the loop is hidden behind them.
      for (int step = 0; step < 8; ++step) {
        value += i;
        asm volatile("" : "+r"(value));
      }
    }
    best = std::min(best, seconds_since(start));
  }
  return static_cast<double>(additions) / best;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Best of a few copies of `half_bytes`.
double measure_copy_s(std::size_t half_bytes) {
  constexpr double budget_s = 0.012;
  const std::unique_ptr<void, Free> from(std::malloc(half_bytes)), to(std::malloc(half_bytes));
  if (from == nullptr || to == nullptr) throw std::bad_alloc();
  std::memset(from.get(), 1, half_bytes);
  std::memset(to.get(), 2, half_bytes);
  // Copies of a few bytes are shorter than a look at the clock.
  const std::size_t copies = std::max<std::size_t>(1, (std::size_t{1} << 18) / half_bytes);
  double best = std::numeric_limits<double>::max();
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < copies; ++i) {
      std::memcpy(to.get(), from.get(), half_bytes);
      asm volatile("" : : "r"(to.get()) : "memory");  // or else a copy nobody reads is left out
    }
    best = std::min(best, seconds_since(begin) / static_cast<double>(copies));
  } while (seconds_since(start) < budget_s);
  return best;
}

}  // namespace

MachineSpeed measure_machine(const Story& story) {
  constexpr std::int64_t least = 2 << 10, most = std::int64_t{64} << 20;
  MachineSpeed speed;
  speed.copied_bytes = std::clamp(moved_bytes(story), least, most) & ~std::int64_t{1};
  const auto half = static_cast<std::size_t>(speed.copied_bytes / 2);
  speed.bytes_per_second = static_cast<double>(speed.copied_bytes) / measure_copy_s(half);
  speed.clock_hz = measure_clock_hz();
  speed.source =
      detail::concat("a copy of ", bytes_text(speed.copied_bytes), ", measured just now");
  return speed;
}

Prediction predict(const Story& story, const MachineSpeed& machine) {
  constexpr double instructions_a_cycle = 4;
  Prediction prediction;
  const auto bytes = static_cast<double>(moved_bytes(story));
  prediction.memory_ns = bytes / machine.bytes_per_second * 1e9;
  if (story.hot_loop.elements != 0) {
    const double iterations =
        static_cast<double>(story.numel) / static_cast<double>(story.hot_loop.elements);
    const double cycles =
        iterations * static_cast<double>(story.hot_loop.instructions) / instructions_a_cycle;
    prediction.compute_ns = cycles / machine.clock_hz * 1e9;
  }
  return prediction;
}

}  // namespace weft
