// What the machine can do with the same number of bytes: `memcpy`, and `stream`, the best loop and
// store kind that reads and writes as much as the case does.

#include "bench/hand_loops.h"
#include "bench/measure.h"
#include "bench/support.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>

namespace weft::bench {
namespace {

/// Touched memory of at least `size_bytes`, shared by all cases; slot 0 is read, slot 1 written.
/// What is read, and so what is written, isn't zero: some processors (Zen 5) write lines of zeros
/// past the caches in less than half the time that other lines take.
char* scratch(int slot, std::int64_t size_bytes) {
  static Tensor slots[2];
  Tensor& tensor = slots[slot];
  if (!tensor.defined() || tensor.numel() < size_bytes) {
    tensor = empty({size_bytes}, DType::u8);
    std::memset(tensor.data(), 1 + slot, static_cast<std::size_t>(size_bytes));
  }
  return reinterpret_cast<char*>(tensor.data());
}

Maker find_memcpy(std::string_view) {
  return [](const Case& work) -> Runner {
    const std::int64_t size_bytes = work.bytes_moved() / 2;
    char *from = scratch(0, size_bytes), *to = scratch(1, size_bytes);
    return [=] { std::memcpy(to, from, static_cast<std::size_t>(size_bytes)); };
  };
}

/// Of one call, in batches that are long enough for the clock.
double best_ns(const Runner& run) {
  constexpr double enough_ns = 20'000;
  const auto batch_ns = [&](int num_calls) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < num_calls; ++i) run();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
        .count();
  };
  int num_calls = 1;
  while (batch_ns(num_calls) < enough_ns) num_calls *= 2;
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) best = std::min(best, batch_ns(num_calls));
  return best / num_calls;
}

Maker find_stream(std::string_view) {
  if (hand_set() == nullptr) return {};
  return [](const Case& work) -> Runner {
    const StreamArgs args{scratch(0, work.bytes_read), work.bytes_read,
                          scratch(1, work.bytes_written), work.bytes_written, false};
    StreamArgs non_temporal = args;
    non_temporal.is_non_temporal = true;
    std::vector<Runner> candidates = {[args] { hand_set()->stream(args); },
                                      [non_temporal] { hand_set()->stream(non_temporal); }};
    if (work.bytes_read == work.bytes_written) candidates.push_back(find_memcpy({})(work));
    return *std::ranges::min_element(candidates, {}, best_ns);
  };
}

/// One working set, half of it read and half written, again and again.
void measure_limit(benchmark::State& state, std::int64_t size_bytes, bool is_memcpy) {
  const std::int64_t half_bytes = size_bytes / 2;
  const Case work{"", {}, Tensor(), Expr(0), Tensor(), half_bytes, half_bytes, {}};
  const Runner run = (is_memcpy ? find_memcpy({}) : find_stream({}))(work);
  measure(state, run);
  state.SetBytesProcessed(state.iterations() * work.bytes_moved());
}

}  // namespace

void register_limit_benchmarks() {
  struct Level {
    const char* name;
    const char* size;  ///< of the working set in bytes
  };
  // What the caches of common processors have room for.
  for (const auto& [name, size] :
       {Level{"limit_l1", "16384"}, Level{"limit_l2", "524288"}, Level{"limit_l3", "8388608"},
        Level{"limit_memory", "268435456"}})
    for (const bool is_memcpy : {true, false}) {
      if (!is_memcpy && !find_stream({})) continue;
      const std::string row = std::string(name) + (is_memcpy ? "/memcpy/" : "/stream/") + size;
      benchmark::RegisterBenchmark(
          row.c_str(), [size_bytes = std::stoll(size), is_memcpy](benchmark::State& state) {
            measure_limit(state, size_bytes, is_memcpy);
          });
    }
}

void add_limit_variants(std::vector<Variant>& variants) {
  variants.push_back({"memcpy", Check::none, find_memcpy});
  variants.push_back({"stream", Check::none, find_stream});
}

}  // namespace weft::bench
