// weft_bench: every workload in every variant, named WORKLOAD/VARIANT/SIZE.  One thread, pinned.

#include <weft/error.h>

#include "bench/support.h"

#include <benchmark/benchmark.h>
#include <sched.h>

#include <string>
#include <string_view>

namespace weft::bench {
namespace {

/// Pins the process to the last core that it may use: interrupts prefer the first.
void pin_to_one_core() {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  add_naive_variant(variants);
  add_engine_variants(variants);
  add_hand_variant(variants);
  add_limit_variants(variants);
#ifdef WEFT_BENCH_TORCH
  add_torch_variant(variants);
#endif
#ifdef WEFT_BENCH_ONEDNN
  add_onednn_variant(variants);
#endif
#ifdef WEFT_BENCH_EIGEN
  add_eigen_variant(variants);
#endif
#ifdef WEFT_BENCH_XTENSOR
  add_xtensor_variant(variants);
#endif
  return variants;
}

/// Checks the answer once, so that a fast wrong kernel cannot win, then measures the steady state.
void run_case(benchmark::State& state, const Workload& workload, const Variant& variant,
              const std::string& size) {
  try {
    Case& work = find_case(workload, size);
    const Runner run = variant.find(workload.name)(work);
    const auto [checked, is_new] = work.checked.try_emplace(variant.name, false);
    if (is_new) {
      poison(work.out);
      run();
      checked->second = is_right(work.out, work.expected, variant.check);
    }
    if (!checked->second) return state.SkipWithError("wrong result");
    for (auto _ : state) {
      run();
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * work.bytes_moved());
  } catch (const UnsupportedError& error) {
    state.SkipWithError(error.what());
  }
}

void register_table() {
  static const std::vector<Variant> variants = all_variants();
  for (const Workload& workload : workloads()) {
    for (const std::string& size : workload.sizes) {
      for (const Variant& variant : variants) {
        if (!variant.find(workload.name)) continue;
        benchmark::RegisterBenchmark((workload.name + "/" + variant.name + "/" + size).c_str(),
                                     [&workload, &variant, &size](benchmark::State& state) {
                                       run_case(state, workload, variant, size);
                                     });
      }
    }
  }
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--time-first-engine")
    return weft::bench::time_first_engine();
  weft::bench::pin_to_one_core();
  weft::bench::register_table();
  weft::bench::register_call_benchmarks();
#ifdef WEFT_BENCH_TORCH
  weft::bench::register_torch_call_benchmarks();
#endif
  weft::bench::register_plan_benchmarks();
  weft::bench::register_first_call_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (benchmark::RunSpecifiedBenchmarks() == 0) return 1;
  benchmark::Shutdown();
  return 0;
}
