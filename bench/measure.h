// How a repetition of a benchmark runs.
#pragma once

#include "bench/instructions.h"
#include "bench/support.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <optional>

namespace weft::bench {

/// Of a result of weft's.
inline void skip_wrong(benchmark::State& state) {
  note_wrong_result();
  state.SkipWithError("wrong result");
}

/// The loop of a benchmark, after a call that brings back what others have pushed out of the
/// caches.
template <class Call>
void measure(benchmark::State& state, const Call& call) {
  call();
  const InstructionCounter counter;
  counter.start();
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
  }
  if (const std::optional<std::uint64_t> count = counter.stop())
    state.counters["instructions"] =
        benchmark::Counter(static_cast<double>(*count), benchmark::Counter::kAvgIterations);
}

}  // namespace weft::bench
