// weft itself: each backend alone, and `auto`, which picks.

#include "bench/support.h"

namespace weft::bench {
namespace {

/// Plans once and runs the prepared plan: per-call overhead has benchmarks of its own (call_*).
template <const char* backend>
Maker find(std::string_view) {
  return [](const Case& work) -> Runner {
    Engine& engine = engine_with(backend);
    const PreparedPlan plan = engine.prepare(work.expr, work.out);
    engine.wait_optimised();
    return [plan] { plan.run(); };
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
