// weft itself: each backend alone, and `auto`, which picks.

#include "bench/support.h"

#include <chrono>
#include <functional>
#include <string_view>

namespace weft::bench {
namespace {

/// Plans once and runs the prepared plan: per-call overhead has benchmarks of its own (call_*).
Runner prepared(const Case& work, Engine& engine) {
  return [plan = engine.prepare(work.expr, work.out)] { plan.run(); };
}

/// Kernels that are hot and have not settled on their code.
std::uint64_t num_unsettled(const Engine& engine) {
  const EngineStats stats = engine.stats();
  return stats.hot_kernels - stats.promoted_kernels - stats.demoted_kernels - stats.failed_kernels;
}

/// Calls until the work's kernel has settled, as it has in a program that calls it often.
void make_hot(const Runner& run, Engine& engine, std::uint64_t unsettled_before) {
  constexpr int calls_until_hot = 64, most_trials = 512;
  constexpr auto long_enough = std::chrono::milliseconds(200);
  const auto call = [&](int most_calls, const auto& is_enough) {
    const auto until = std::chrono::steady_clock::now() + long_enough;
    for (int i = 0; i < most_calls && !is_enough() && std::chrono::steady_clock::now() < until; ++i)
      run();
  };
  const auto is_hot = [&] { return num_unsettled(engine) > unsettled_before; };
  call(calls_until_hot, is_hot);
  engine.wait_optimised();
  call(most_trials, std::not_fn(is_hot));
}

template <const char* backend>
Maker find(std::string_view) {
  return [](const Case& work) -> Runner {
    Engine& engine = engine_with(backend);
    const std::uint64_t unsettled = num_unsettled(engine);
    Runner run = prepared(work, engine);
    if (backend == std::string_view("auto")) make_hot(run, engine, unsettled);
    return run;
  };
}

/// Numerics::fast, where it takes other functions.
Maker find_fast(std::string_view workload) {
  if (workload != "sigmoid" && workload != "silu_mul" && workload != "gelu_tanh") return {};
  return [](const Case& work) -> Runner {
    static Engine engine(EngineOptions{"auto", Numerics::fast, 1});
    const std::uint64_t unsettled = num_unsettled(engine);
    Runner run = prepared(work, engine);
    make_hot(run, engine, unsettled);
    return run;
  };
}

constexpr char interp[] = "interp", xbyak[] = "xbyak", llvm[] = "llvm", automatic[] = "auto";

template <const char* backend>
void add(std::vector<Variant>& variants) {
  if (has_backend(backend)) variants.push_back({backend, Check::bits, find<backend>, true});
}

}  // namespace

void add_engine_variants(std::vector<Variant>& variants) {
  add<interp>(variants);
  add<xbyak>(variants);
  add<llvm>(variants);
  add<automatic>(variants);
  variants.push_back({"fast", Check::close, find_fast, true});
}

}  // namespace weft::bench
