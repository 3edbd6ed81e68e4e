// weft itself: each backend alone, and `auto`, which picks.

#include "bench/support.h"

#include <weft/error.h>

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

template <const char* backend>
Maker find(std::string_view) {
  return [](const Case& work) -> Runner {
    Engine& engine = engine_with(backend);
    Runner run = prepared(work, engine);
    engine.wait_optimised();
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
