// weft_cuda_bench: workloads on a CUDA device against its own memcpy, timed by events; what a call
// costs its caller, against the driver's own launch; and what the first call of a kernel costs.
//   weft_cuda_bench [--quick] [--only TEXT] [--json FILE]
// Every result is compared with the CPU's before it is timed.
#include "bench/cache_folder.h"
#include "bench/cuda_workloads.h"
#include "runtime/cuda_device.h"
#include "runtime/cuda_driver.h"

#include <weft/cuda.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace weft::bench {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr Device gpu{DeviceType::cuda, 0};

/// Small numbers that every dtype has, on the CPU in the layout's order; others for each operand.
Tensor sample(Engine& engine, const std::string& layout, int operand) {
  const Tensor plan = parse_layout(layout);
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(plan.dtype()));
  const auto count = static_cast<std::int64_t>(plan.storage()->size_bytes()) / itemsize;
  const Tensor storage = empty({count}, plan.dtype());
  // The same ones again and again, since copying them is faster than computing them.
  constexpr std::int64_t num_fractions = 1021, num_integers = 127;
  constexpr std::int64_t period = num_fractions * num_integers;
  const Expr numbers =
      Expr(engine.to(arange(std::min(period, count)), DType::i32)) + Expr(37 * operand);
  const bool is_fraction = is_floating(plan.dtype()) || is_complex(plan.dtype());
  const Expr chosen =
      is_fraction ? cast(apply(Op::remainder, {numbers, Expr(num_fractions)}), DType::f32) / 128
                  : apply(Op::remainder, {numbers, Expr(num_integers)});
  const Tensor some = engine.eval(cast(chosen, plan.dtype()));
  const std::int64_t whole = count / period * period;
  if (whole != 0) engine.copy(storage.slice(0, 0, whole).view({whole / period, period}), some);
  if (whole != count) engine.copy(storage.slice(0, whole, count), some.slice(0, 0, count - whole));
  return storage.as_strided(plan.sizes(), plan.strides(), plan.storage_offset());
}

/// The same bytes on the device, under the same view.
Tensor on_device(Engine& engine, const Tensor& tensor) {
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
  const auto count = static_cast<std::int64_t>(tensor.storage()->size_bytes()) / itemsize;
  const std::int64_t sizes[] = {count}, strides[] = {1};
  ToOptions options;
  options.device = gpu;
  return engine.to(tensor.as_strided(sizes, strides, 0), options)
      .as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

Tensor on_cpu(Engine& engine, const Tensor& tensor) {
  ToOptions options;
  options.device = Device{};
  return engine.to(tensor, options);
}

bool is_close(Engine& engine, const Tensor& actual, const Tensor& expected, bool is_exact) {
  const DType wide = is_complex(expected.dtype()) ? DType::c128 : DType::f64;
  const Expr x = cast(Expr(actual), wide), y = cast(Expr(expected), wide);
  const Expr error = ops::abs(x - y);
  const Tensor worst =
      engine.eval(ops::max(is_exact ? error : error / ops::maximum(ops::abs(y), Expr(1e-30))));
  return worst.item().as_double() <= (is_exact ? 0.0 : 1e-6);
}

/// What an operand's elements take; those that are read again and again count once.
std::int64_t distinct_bytes(const Tensor& tensor) {
  std::int64_t count = 1;
  for (int dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.stride(dim) != 0) count *= tensor.size(dim);
  return count * static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
}

/// Microseconds of one call by events around `calls` of them: the median of `rounds`.
template <class Call>
double event_us(const Call& call, int calls, int rounds) {
  std::vector<double> samples;
  for (int round = 0; round < rounds; ++round) {
    cuda::Event begin(0, true), end(0, true);
    begin.record();
    for (int i = 0; i < calls; ++i) call();
    end.record();
    end.synchronize();
    samples.push_back(1e3 * static_cast<double>(begin.elapsed_ms(end)) / calls);
  }
  std::ranges::nth_element(samples, samples.begin() + rounds / 2);
  return samples[static_cast<std::size_t>(rounds) / 2];
}

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Microseconds that the caller spends in one call whose plan is cached.
template <class Call>
double host_us(const Call& call, bool quick) {
  const int calls = quick ? 2 : 200, rounds = quick ? 3 : 21;
  std::vector<double> samples;
  call();
  for (int round = 0; round < rounds; ++round) {
    cuda::synchronize();
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    samples.push_back(us_since(start) / calls);
  }
  cuda::synchronize();
  std::ranges::nth_element(samples, samples.begin() + rounds / 2);
  return samples[static_cast<std::size_t>(rounds) / 2];
}

/// A function of the driver's own, in the calls' stream.
class StreamLaunch {
 public:
  StreamLaunch(const char* source, const char* name) {
    check(cuda_driver().ModuleLoadDataEx(&module_, source, 0, nullptr, nullptr), "loading");
    check(cuda_driver().ModuleGetFunction(&function_, module_, name), "finding a function");
  }
  ~StreamLaunch() {
    cuda::synchronize();
    cuda_driver().ModuleUnload(module_);
  }
  StreamLaunch(const StreamLaunch&) = delete;
  StreamLaunch& operator=(const StreamLaunch&) = delete;

  void run() const {
    std::uint64_t words[3] = {};
    void* arguments[] = {&words[0], &words[1], &words[2]};
    check(cuda_driver().LaunchKernel(function_, 1, 1, 1, 256, 1, 1, 0, stream_, arguments, nullptr),
          "launching");
  }

 private:
  static void check(CudaResult result, const char* what) {
    WEFT_CHECK(result == 0, DeviceError, what, " fails: ", cuda_driver().text(result));
  }

  CudaStream stream_ = static_cast<CudaStream>(cuda::current_stream());
  CudaModule module_ = nullptr;
  CudaFunction function_ = nullptr;
};

class Bench {
 public:
  explicit Bench(bool quick) : quick_(quick), rounds_(quick ? 3 : 15), calls_(quick ? 2 : 10) {}

  ordered_json run(const std::string& only) {
    const cuda::DeviceInfo info = cuda::device_info();
    ordered_json result{{"device", info.name}, {"arch", info.arch}};
    time_memcpy();
    result["memcpy_gbps"] = memcpy_gbps_;
    result["rows"] = ordered_json::array();
    for (const CudaWorkload& workload : cuda_workloads(quick_))
      if (workload.name.find(only) != workload.name.npos)
        result["rows"].push_back(time_workload(workload));
    result["host"] = time_host();
    result["first_call"] = time_first_calls();
    return result;
  }
  bool is_right() const { return is_right_; }

 private:
  void time_memcpy() {
    const std::int64_t bytes = quick_ ? 1 << 16 : std::int64_t{1} << 30;
    // Not zeros, which some devices move faster.
    const Tensor from = on_device(engine_, sample(engine_, "u8[" + std::to_string(bytes) + "]", 0));
    const Tensor to = empty_like(from);
    const double us = event_us([&] { engine_.copy(to, from); }, calls_, rounds_);
    memcpy_gbps_ = 2e-3 * static_cast<double>(bytes) / us;
    std::cout << "memcpy on the device: " << memcpy_gbps_ << " GB/s\n";
  }

  /// Those of the workload before serve again; others go.
  void make_samples(const CudaWorkload& workload) {
    std::map<std::string, Sample> kept;
    for (std::size_t i = 0; i + 1 < workload.layouts.size(); ++i) {
      const std::string name = static_cast<char>('a' + i) + workload.layouts[i];
      if (auto known = samples_.extract(name)) kept.insert(std::move(known));
    }
    samples_ = std::move(kept);
    for (std::size_t i = 0; i + 1 < workload.layouts.size(); ++i) {
      Sample& made = samples_[static_cast<char>('a' + i) + workload.layouts[i]];
      if (made.host.defined()) continue;
      made.host = sample(engine_, workload.layouts[i], static_cast<int>(i));
      made.device = on_device(engine_, made.host);
    }
  }

  ordered_json time_workload(const CudaWorkload& workload) {
    std::vector<std::pair<std::string, Tensor>> host, device;
    make_samples(workload);
    for (std::size_t i = 0; i + 1 < workload.layouts.size(); ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      host.emplace_back(name, samples_.at(name + workload.layouts[i]).host);
      device.emplace_back(name, samples_.at(name + workload.layouts[i]).device);
    }
    const Tensor layout = parse_layout(workload.layouts.back());
    const Tensor out = empty_strided(layout.sizes(), layout.strides(), {layout.dtype(), gpu});
    engine_.fill(out, 99);  // not what the workload is to write
    const Expr expr = parse_expr(workload.expression, device);
    const auto start = Clock::now();
    engine_.eval(expr, out);
    cuda::synchronize();
    const double first_us = us_since(start);
    const Tensor expected = engine_.eval(parse_expr(workload.expression, host));
    ordered_json row{{"name", workload.name},
                     {"expression", workload.expression},
                     {"layouts", workload.layouts}};
    if (!is_close(engine_, on_cpu(engine_, out), expected, workload.is_exact)) {
      is_right_ = false;
      row["error"] = "differs from the CPU";
      std::cout << workload.name << ": WRONG\n";
      return row;
    }
    std::int64_t bytes = distinct_bytes(out);
    for (const auto& [name, tensor] : device) bytes += distinct_bytes(tensor);
    const double us = event_us([&] { engine_.eval(expr, out); }, calls_, rounds_);
    const double gbps = 1e-3 * static_cast<double>(bytes) / us;
    row.update({{"bytes", bytes},
                {"us", us},
                {"gbps", gbps},
                {"fraction_of_memcpy", gbps / memcpy_gbps_},
                {"first_call_us", first_us}});
    std::cout << std::left << std::setw(26) << workload.name << std::right << std::setw(10) << us
              << " us" << std::setw(10) << gbps << " GB/s  " << gbps / memcpy_gbps_
              << " of memcpy\n";
    return row;
  }

  /// What the driver takes for a launch by itself.
  static double driver_launch_us() {
    constexpr const char* source =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }\n";
    const CudaCurrent current(CudaDevice::get(0));
    const StreamLaunch launch(source, "nothing");
    return host_us([&] { launch.run(); }, false);
  }

  /// The first call of an expression that no kernel is compiled for, and that of another process
  /// which finds the kernel on the disk, without what the device takes to begin with.
  ordered_json time_first_calls() {
    const Tensor a = zeros({16}, {DType::f32, gpu}), out = empty_like(a);
    std::vector<double> compiled, loaded;
    const int rounds = quick_ ? 1 : 9;
    for (int i = 0; i < rounds; ++i) {
      const CacheFolder folder;
      const auto first_us = [&] {
        Engine engine({.disk_cache = folder.options()});
        const auto start = Clock::now();
        engine.binary(Op::add, a, a, out);
        cuda::synchronize();
        return us_since(start);
      };
      compiled.push_back(first_us());
      loaded.push_back(first_us());
    }
    std::ranges::sort(compiled);
    std::ranges::sort(loaded);
    ordered_json first{{"compiled_us", compiled[compiled.size() / 2]},
                       {"from_disk_us", loaded[loaded.size() / 2]}};
    std::cout << "first call of a kernel: " << first.dump() << "\n";
    return first;
  }

  /// What a call costs its caller, on tensors too small to count.
  ordered_json time_host() {
    const Tensor a = zeros({16}, {DType::f32, gpu}), out = empty_like(a);
    const PreparedPlan plan = engine_.prepare(Expr(a) + Expr(a), out);
    ordered_json host{{"prepared_us", host_us([&] { plan.run(); }, quick_)},
                      {"out_us", host_us([&] { engine_.binary(Op::add, a, a, out); }, quick_)},
                      {"new_us", host_us([&] { engine_.binary(Op::add, a, a); }, quick_)}};
    if (!quick_) host["driver_us"] = driver_launch_us();
    std::cout << "host time of a cached call: " << host.dump() << "\n";
    return host;
  }

  struct Sample {
    Tensor host, device;
  };

  Engine engine_;
  std::map<std::string, Sample> samples_;  ///< of the last workload, by operand and layout
  bool quick_;
  int rounds_, calls_;
  double memcpy_gbps_ = 0;
  bool is_right_ = true;
};

int run(int argc, char** argv) {
  bool quick = false;
  std::string only, file;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      quick = true;
    } else if ((word == "--only" || word == "--json") && i + 1 < argc) {
      (word == "--only" ? only : file) = argv[++i];
    } else {
      std::cerr << "usage: weft_cuda_bench [--quick] [--only TEXT] [--json FILE]\n";
      return 1;
    }
  }
  const std::string reason = cuda::unavailable_reason();
  if (!reason.empty()) {
    std::cerr << "weft_cuda_bench: no device: " << reason << "\n";
    return 2;
  }
  Bench bench(quick);
  const ordered_json result = bench.run(only);
  if (!file.empty()) {
    std::ofstream out(file);
    out << result.dump(1) << "\n";
    if (!out.flush()) {
      std::cerr << "weft_cuda_bench: " << file << " can't be written\n";
      return 1;
    }
  }
  return bench.is_right() ? 0 : 1;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  try {
    return weft::bench::run(argc, argv);
  } catch (const weft::Error& error) {
    std::cerr << "weft_cuda_bench: " << error.kind() << ": " << error.what() << "\n";
    return 1;
  }
}
