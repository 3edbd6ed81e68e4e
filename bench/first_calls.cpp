// What something new costs: the first call of it, its compilation, its memory, and how much of that
// the disk cache saves.

#include "bench/cache_folder.h"
#include "bench/measure.h"
#include "bench/support.h"

#include <weft/info.h>

#include <benchmark/benchmark.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::bench {
namespace {

using benchmark::State;
namespace fs = std::filesystem;

constexpr int num_signatures = 1000;

EngineOptions options(const std::string& backend, DiskCacheOptions disk = {CacheMode::off, {}, 0}) {
  EngineOptions options;
  options.backend = backend;
  options.num_threads = 1;
  options.disk_cache = disk;
  return options;
}

Tensor filled(std::int64_t count, DType dtype = DType::f32) {
  static std::size_t num_filled = 0;  // all have numbers of their own
  const Tensor tensor = empty({count}, dtype);
  fill(tensor, false, num_filled++);
  return tensor;
}

template <class Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Expr multiply_add() { return Expr(filled(1000)) * Expr(filled(1000)) + Expr(filled(1000)); }

/// An expression of so many ops, one after the other.
Expr chain_of_operations(int count) {
  const Expr x(filled(1000)), y(filled(1000)), z(filled(1000));
  Expr result = x;
  for (int i = 0; i < count; ++i) {
    switch (i % 4) {
      case 0: result = result * y; break;
      case 1: result = result + z; break;
      case 2: result = result - x; break;
      default: result = ops::maximum(result, y); break;
    }
  }
  return result;
}

/// From the call to the first result of an engine that has never seen anything like it: planning,
/// building and running the passes on the kernel, compiling, and running it.
void first_call(State& state, const EngineOptions& options, const Expr& expr) {
  const Tensor out = filled(1000);
  const Tensor expected = engine_with("interp").eval(expr);
  for (auto _ : state) {
    Engine engine(options);
    state.SetIterationTime(seconds([&] { engine.eval(expr, out); }));
    const EngineStats stats = engine.stats();
    if (stats.kernel_misses != 1) return state.SkipWithError("no kernel was made");
    const bool wants_disk = options.disk_cache->mode == CacheMode::read;
    if (wants_disk != (stats.disk_loads == 1)) return state.SkipWithError("not from the disk");
  }
  if (!is_right(out, expected, Check::bits)) state.SkipWithError("wrong result");
}

/// Source and NVRTC's code for a GPU of a kind, for which no GPU is needed: what a first call adds
/// to a copy of the code to the device.
void first_call_nvrtc(State& state, const Expr& expr) {
  const ExplainOptions asked{.backend = "nvrtc", .arch = "sm_90", .emit = {"ptx"}};
  for (auto _ : state) {
    Engine engine(options("auto"));
    state.SetIterationTime(seconds([&] { engine.explain(expr, {}, asked); }));
  }
}

bool has_nvrtc() {
  const EngineInfo info = engine_info();
  return std::ranges::any_of(info.cuda, [](const EngineInfo::CudaLibrary& library) {
    return library.name == "nvrtc" && library.reason.empty();
  });
}

/// The first call, with the kernel on the disk.
void first_call_disk(State& state) {
  const CacheFolder folder;
  {
    Engine warm(options("llvm", folder.options()));
    const Tensor a = filled(1000), b = filled(1000), c = filled(1000), out = filled(1000);
    warm.eval(Expr(a) * Expr(b) + Expr(c), out);
  }
  DiskCacheOptions disk = folder.options();
  disk.mode = CacheMode::read;
  first_call(state, options("llvm", disk), multiply_add());
}

/// One of num_signatures expressions of two ops that all make kernels of their own.
Expr signature(int number, std::span<const Tensor> tensors) {
  constexpr std::array ops{Op::add, Op::sub, Op::mul, Op::maximum, Op::minimum, Op::div};
  const auto pick = [&number](std::size_t count) {
    const auto picked = static_cast<std::size_t>(number) % count;
    number /= static_cast<int>(count);
    return picked;
  };
  const Op first = ops[pick(ops.size())], second = ops[pick(ops.size())];
  const Expr a(tensors[2 * pick(tensors.size() / 2)]), b(tensors[1]), c(tensors[3]);
  const Expr inner = apply(first, {a, pick(2) == 0 ? b : c});
  Expr result = apply(second, {inner, pick(2) == 0 ? b : c});
  return pick(2) == 0 ? result : -result;
}

/// What signature() takes its operands from.
std::vector<Tensor> operands_of_signatures() {
  return {filled(1000),
          filled(1000),
          filled(1000, DType::f64),
          filled(1000),
          filled(1000, DType::i32),
          filled(1000),
          filled(2000).slice(0, 0, {}, 2),
          filled(1000)};
}

/// Whether `actual` is what the interpreter computes.  0 / 0 may be any NaN.
bool is_interpreted(const Expr& expr, const Tensor& actual) {
  return is_right(actual, engine_with("interp").eval(expr), Check::close);
}

/// How long first calls take that differ from all before them.
void first_calls(State& state) {
  std::vector<Tensor> tensors = operands_of_signatures();
  tensors.push_back(filled(30000).slice(0, 0, {}, 30));
  tensors.push_back(filled(1000));
  std::vector<double> times_us;
  for (auto _ : state) {
    Engine engine(options("auto"));
    std::vector<Expr> exprs;
    for (int i = 0; i < num_signatures; ++i) exprs.push_back(signature(i, tensors));
    for (const Expr& expr : exprs) {
      const Tensor out = empty({1000}, expr.dtype());
      times_us.push_back(1e6 * seconds([&] { engine.eval(expr, out); }));
      if (!is_interpreted(expr, out)) return skip_wrong(state);
    }
    // Some of the thousand come to the same.
    state.counters["kernels"] = static_cast<double>(engine.stats().kernel_misses);
  }
  std::ranges::sort(times_us);
  state.counters["p50_us"] = times_us[times_us.size() / 2];
  state.counters["p99_us"] = times_us[times_us.size() * 99 / 100];
  state.counters["max_us"] = times_us.back();
}

/// What LLVM takes, its own passes included, for the kernel that weft's passes have made of an
/// expression of so many ops.
void compile_llvm(State& state, int num_ops) {
  const Tensor a = filled(1000), b = filled(1000);
  Expr expr = Expr(a) + Expr(b);
  for (int i = 1; i < num_ops; ++i)
    expr = i % 3 == 0 ? expr * Expr(a) : i % 3 == 1 ? ops::sqrt(expr) : expr - Expr(b);
  for (auto _ : state) {
    Engine engine(options("llvm"));
    if (!is_interpreted(expr, engine.eval(expr))) return skip_wrong(state);
    state.SetIterationTime(1e-6 * engine.stats().compile_us);
  }
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Memory that an engine's kernels take, each time in a process of its own: in one that has freed
/// an engine before, the next takes what the first has left.
void kernel_memory(State& state, const std::string& backend) {
  for (auto _ : state) {
    const std::optional<double> bytes = number_of_child("--kernel-memory=" + backend);
    if (!bytes) return state.SkipWithError("no number came back");
    state.counters["bytes_per_kernel"] = *bytes;
  }
}

void engine_construction(State& state) {
  for (auto _ : state) {
    Engine engine(options("auto"));
    benchmark::DoNotOptimize(engine);
  }
}

}  // namespace

int print_kernel_memory(const std::string& backend) {
  const std::vector<Tensor> tensors = operands_of_signatures();
  Engine engine(options(backend));
  engine.eval(signature(0, tensors));  // what LLVM takes once is not the kernels'
  const double before = resident_bytes();
  for (int i = 1; i < num_signatures; ++i) engine.eval(signature(i, tensors));
  const double grown_bytes = resident_bytes() - before;
  std::printf("%f\n", grown_bytes / static_cast<double>(engine.stats().kernel_misses - 1));
  return 0;
}

void register_first_call_benchmarks() {
  using benchmark::RegisterBenchmark;
  for (const std::string backend : {"xbyak", "llvm"}) {
    if (!has_backend(backend)) continue;
    RegisterBenchmark(
        ("first_call_" + backend + "/" + backend + "/1e3").c_str(),
        [backend](State& state) { first_call(state, options(backend), multiply_add()); })
        ->UseManualTime();
    RegisterBenchmark(("kernel_memory/" + backend + "/1e3").c_str(),
                      [backend](State& state) { kernel_memory(state, backend); })
        ->Iterations(1)
        ->Repetitions(1);  // a number of bytes; it takes seconds
  }
  RegisterBenchmark("first_calls/auto/1e3", first_calls)->Iterations(1);
  const auto of_xbyak = [](const std::string& suffix, const Expr& expr) {
    RegisterBenchmark(("first_call_xbyak_" + suffix + "/xbyak/1e3").c_str(), [expr](State& state) {
      first_call(state, options("xbyak"), expr);
    })->UseManualTime();
  };
  if (has_backend("xbyak")) {
    const Expr a = filled(1000), b = filled(1000);
    of_xbyak("binary", a + b);
    of_xbyak("casts", cast(cast(a, DType::i32), DType::f32));
    of_xbyak("where", ops::where(a < b, a, b));
    for (const int count : {20, 200})
      of_xbyak(std::to_string(count) + "_ops", chain_of_operations(count));
  }
  RegisterBenchmark("engine_construction/auto/1", engine_construction);
  if (has_nvrtc())
    RegisterBenchmark("first_call_nvrtc/nvrtc/1e3", [](State& state) {
      first_call_nvrtc(state, multiply_add());
    })->UseManualTime();
  if (!has_backend("llvm")) return;
  RegisterBenchmark("first_call_disk/llvm/1e3", first_call_disk)->UseManualTime();
  for (const int num_ops : {1, 20})
    RegisterBenchmark(("compile_llvm/llvm/" + std::to_string(num_ops)).c_str(), [num_ops](
                                                                                    State& state) {
      compile_llvm(state, num_ops);
    })->UseManualTime();
}

}  // namespace weft::bench
