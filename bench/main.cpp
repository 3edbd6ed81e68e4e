// weft_bench: every workload in every variant, named WORKLOAD/VARIANT/SIZE.  One thread, pinned.
// --quick: one size of each workload.  Ends with 1 if a result of weft was wrong.

#include <weft/error.h>

#include "bench/measure.h"
#include "bench/support.h"

#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>

namespace weft::bench {
namespace {

/// The cores that the process may use, before it is pinned.
cpu_set_t& all_cores() {
  static cpu_set_t cores;
  return cores;
}

/// Pins the process to the last core that it may use: interrupts prefer the first.
void pin_to_one_core() {
  cpu_set_t one;
  if (sched_getaffinity(0, sizeof all_cores(), &all_cores()) != 0) return;
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (!CPU_ISSET(core, &all_cores())) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/// Lets this thread, and those that it starts, use all cores for a while.
class Unpinned {
 public:
  Unpinned() {
    sched_getaffinity(0, sizeof before_, &before_);
    sched_setaffinity(0, sizeof all_cores(), &all_cores());
  }
  ~Unpinned() { sched_setaffinity(0, sizeof before_, &before_); }
  Unpinned(const Unpinned&) = delete;
  Unpinned& operator=(const Unpinned&) = delete;

 private:
  cpu_set_t before_;
};

/// What this program was built with.
constexpr char peers[] =
    ""
#ifdef WEFT_BENCH_TORCH
    "torch "
#endif
#ifdef WEFT_BENCH_ONEDNN
    "onednn "
#endif
#ifdef WEFT_BENCH_EIGEN
    "eigen "
#endif
#ifdef WEFT_BENCH_XTENSOR
    "xtensor "
#endif
    ;

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

/// What goes wrong in one row is told in its place.  bench/report.py knows by the first words what
/// is nobody's mistake.
template <class Run>
void run_guarded(benchmark::State& state, const Run& run) {
  try {
    run();
  } catch (const UnsupportedError& error) {
    state.SkipWithError(("unsupported: " + std::string(error.what())).c_str());
  } catch (const InternalError& error) {
    note_wrong_result();
    state.SkipWithError(error.what());
  } catch (const std::exception& error) {  // most likely memory that is not there
    state.SkipWithError(("impossible here: " + std::string(error.what())).c_str());
  }
}

/// Checks the answer once, so that a fast wrong kernel cannot win, then measures the steady state.
void run_case(benchmark::State& state, const Workload& workload, const Variant& variant,
              const std::string& size) {
  Case& work = find_case(workload, size);
  const Runner run = variant.find(workload.name)(work);
  auto checked = work.checked.find(variant.name);
  if (checked == work.checked.end()) {
    poison(work.out);
    run();
    const bool is_ok = is_right(work.out, work.expected, variant.check);
    checked = work.checked.emplace(variant.name, is_ok).first;
  }
  if (!checked->second)
    return variant.is_own ? skip_wrong(state) : state.SkipWithError("wrong result");
  measure(state, run);
  state.SetBytesProcessed(state.iterations() * work.bytes_moved());
}

/// A prepared plan on several threads; /t1 is the same without.
void run_threaded(benchmark::State& state, const Workload& workload, const std::string& size,
                  int num_threads) {
  const Unpinned unpinned;
  Case& work = find_case(workload, size);
  Engine engine({.num_threads = num_threads});
  const PreparedPlan plan = engine.prepare(work.expr, work.out);
  poison(work.out);
  plan.run();
  if (!is_right(work.out, work.expected, Check::bits)) return skip_wrong(state);
  measure(state, [&] { plan.run(); });
  state.SetBytesProcessed(state.iterations() * work.bytes_moved());
}

/// "4x64x64x64", "1e6".
double elements_of(const std::string& size) {
  double elements = 1;
  std::istringstream parts(size);
  for (std::string part; std::getline(parts, part, 'x');) elements *= std::stod(part);
  return elements;
}

/// Of --quick: the one nearest to so many elements that a call leaves the first cache and still
/// takes no time to speak of.
std::string quick_size(const std::vector<std::string>& sizes) {
  constexpr double wanted_elements = 1e5;
  const auto distance = [](const std::string& size) {
    return std::abs(std::log(elements_of(size) / wanted_elements));
  };
  return *std::ranges::min_element(sizes, {}, distance);
}

void register_threaded(bool is_quick) {
  static const std::vector<std::string> sizes =
      is_quick
          ? std::vector<std::string>{"1e5"}
          : std::vector<std::string>{"1e3", "4e3", "8e3", "1.6e4", "3.2e4", "1e5", "1e6", "3e7"};
  for (const Workload& workload : workloads()) {
    if (workload.name != "add" && workload.name != "copy" && workload.name != "clamp") continue;
    for (const std::string& size : sizes)
      for (const int num_threads : {1, 2}) {
        const std::string name =
            workload.name + "/auto/" + size + "/t" + std::to_string(num_threads);
        benchmark::RegisterBenchmark(name.c_str(), [&workload, &size,
                                                    num_threads](benchmark::State& state) {
          run_guarded(state, [&] { run_threaded(state, workload, size, num_threads); });
        })->UseRealTime();
      }
  }
}

void register_table(bool is_quick) {
  static const std::vector<Variant> variants = all_variants();
  for (const Workload& workload : workloads()) {
    for (const std::string& size : workload.sizes) {
      if (is_quick && size != quick_size(workload.sizes)) continue;
      for (const Variant& variant : variants) {
        if (!variant.find(workload.name)) continue;
        benchmark::RegisterBenchmark(
            (workload.name + "/" + variant.name + "/" + size).c_str(),
            [&workload, &variant, &size](benchmark::State& state) {
              run_guarded(state, [&] { run_case(state, workload, variant, size); });
            });
      }
    }
  }
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  const std::string_view option = argc == 2 ? argv[1] : "";
  constexpr std::string_view kernel_memory = "--kernel-memory=";
  try {
    if (option == "--time-first-engine") return weft::bench::time_first_engine();
    if (option.starts_with(kernel_memory))
      return weft::bench::print_kernel_memory(std::string(option.substr(kernel_memory.size())));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft_bench: %s\n", error.what());
    return 1;
  }
  // Google Benchmark knows nothing of it, and takes the rest.
  constexpr std::string_view quick = "--quick";
  char** const last = std::remove(argv + 1, argv + argc, quick);
  const bool is_quick = last != argv + argc;
  argc = static_cast<int>(last - argv);
  weft::bench::pin_to_one_core();
  weft::bench::register_table(is_quick);
  weft::bench::register_threaded(is_quick);
  weft::bench::register_limit_benchmarks();
  weft::bench::register_call_benchmarks();
#ifdef WEFT_BENCH_TORCH
  weft::bench::register_torch_call_benchmarks();
#endif
  weft::bench::register_plan_benchmarks();
  weft::bench::register_first_call_benchmarks();
  benchmark::AddCustomContext("peers", weft::bench::peers);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (benchmark::RunSpecifiedBenchmarks() == 0) return 1;
  benchmark::Shutdown();
  return weft::bench::has_wrong_result() ? 1 : 0;
}
