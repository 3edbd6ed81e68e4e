// weft itself: each backend alone, and `auto`, which picks.

#include "bench/support.h"

#include <weft/error.h>

#include <chrono>

namespace weft::bench {
namespace {

/// Plans once and runs the prepared plan: per-call overhead has benchmarks of its own (call_*).
/// Reductions with work around them can't be prepared, and are evaluated.
Runner prepared(const Case& work, Engine& engine) {
  try {
    return [plan = engine.prepare(work.expr, work.out)] { plan.run(); };
  } catch (const UnsupportedError&) {
    engine.eval(work.expr, work.out);
    return [&engine, expr = work.expr, out = work.out] { engine.eval(expr, out); };
  }
}

/// Calls until the kernel has settled on its code, as it has in a program that calls it often.
void make_hot(const Runner& run, Engine& engine) {
  constexpr int calls_until_hot = 64, most_trials = 512;
  constexpr auto long_enough = std::chrono::milliseconds(100);
  const auto until = std::chrono::steady_clock::now() + long_enough;
  for (const int calls : {calls_until_hot, most_trials}) {
    for (int i = 0; i < calls && std::chrono::steady_clock::now() < until; ++i) run();
    engine.wait_optimised();
  }
}

template <const char* backend>
Maker find(std::string_view) {
  return [](const Case& work) -> Runner {
    Engine& engine = engine_with(backend);
    Runner run = prepared(work, engine);
    make_hot(run, engine);
    return run;
  };
}

constexpr char interp[] = "interp", xbyak[] = "xbyak", llvm[] = "llvm", automatic[] = "auto";

template <const char* backend>
void add(std::vector<Variant>& variants) {
  if (has_backend(backend)) variants.push_back({backend, Check::bits, find<backend>});
}

}  // namespace

void add_engine_variants(std::vector<Variant>& variants) {
  add<interp>(variants);
  add<xbyak>(variants);
  add<llvm>(variants);
  add<automatic>(variants);
}

}  // namespace weft::bench
