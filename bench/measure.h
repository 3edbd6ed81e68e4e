// How a repetition of a benchmark runs.
#pragma once

#include "bench/instructions.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace weft::bench {

/// Calls that take some 100 us together, and have been made: what other benchmarks have pushed out
/// of the caches is back in them.
template <class Call>
std::int64_t calls_together(const Call& call) {
  constexpr double worth_ns = 1e5;
  constexpr std::int64_t most = 1 << 16;
  call();
  for (std::int64_t count = 1;; count *= 4) {
    double best_ns = worth_ns;
    // Twice, since either may be interrupted.
    for (int round = 0; round < 2; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (std::int64_t i = 0; i < count; ++i) call();
      const std::chrono::duration<double, std::nano> spent =
          std::chrono::steady_clock::now() - start;
      best_ns = std::min(best_ns, spent.count());
      if (round == 0 && count == 1 && spent.count() > 10 * worth_ns) return 1;
    }
    if (best_ns >= worth_ns || count == most) return count;
  }
}

/// The loop of a benchmark.  Google Benchmark ends its search for a number of iterations where the
/// wall clock has run far ahead of the processor's, and on a busy machine would time single calls;
/// so it is given several as one.
template <class Call>
void measure(benchmark::State& state, const Call& call) {
  const std::int64_t together = calls_together(call);
  const InstructionCounter counter;
  counter.start();
  while (state.KeepRunningBatch(together))
    for (std::int64_t i = 0; i < together; ++i) {
      call();
      benchmark::ClobberMemory();
    }
  if (const std::optional<std::uint64_t> count = counter.stop())
    state.counters["instructions"] =
        benchmark::Counter(static_cast<double>(*count), benchmark::Counter::kAvgIterations);
}

}  // namespace weft::bench
