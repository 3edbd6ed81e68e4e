// weft_cuda_bench: workloads on a CUDA device against its own memcpy, timed by events; what a call
// costs its caller, against the driver's own launch; and what the first call of a kernel costs.
//   weft_cuda_bench [--quick] [--only TEXT] [--json FILE]
// Every result is compared with the CPU's before it is timed.
#include "runtime/cuda_device.h"
#include "runtime/cuda_driver.h"

#include <weft/cuda.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
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

struct Workload {
  std::string name;
  std::string expression;            ///< over a, b, c
  std::vector<std::string> layouts;  ///< of a, b, c, then of the output
  bool is_exact = true;              ///< the same bits as on the CPU; else close to them
};

/// The layout of a dense tensor of `sizes` whose dimensions are taken in another order.
std::string permuted(const char* dtype, const std::vector<std::int64_t>& sizes,
                     const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t dim = sizes.size() - 1; dim-- > 0;)
    strides[dim] = strides[dim + 1] * sizes[dim + 1];
  std::string shape, steps;
  for (const std::size_t dim : order) {
    shape += (shape.empty() ? "" : ",") + std::to_string(sizes[dim]);
    steps += (steps.empty() ? "" : ",") + std::to_string(strides[dim]);
  }
  return dtype + ("[" + shape + "]{" + steps + "}");
}

std::string without_strides(const std::string& layout) {
  return layout.substr(0, layout.find('{'));
}

/// Sides of squares, and lengths, that are several times the caches of a device.  `quick` ones are
/// for trying the program out.
struct Sizes {
  explicit Sizes(bool quick)
      : n(quick ? "4096" : "100000000"),
        s(quick ? "64" : "8192"),
        image(quick ? "8,7,7" : "64,56,56"),
        bias(quick ? "8,1,1" : "64,1,1"),
        batch(quick ? "4,16,32" : "64,512,1024"),
        batch_strides(quick ? "{512,1,16}" : "{524288,1,512}"),
        photos(quick ? "1,3,16,16" : "64,3,512,512"),
        pixels(quick ? "1000,3" : "33333333,3") {}

  std::string flat(const std::string& dtype) const { return dtype + "[" + n + "]"; }
  /// Of narrow items more, so that caches hold no more of them.
  std::string side(const std::string& dtype) const {
    return s != "64" && itemsize(dtype) < 4 ? "16384" : s;
  }
  std::string square(const std::string& dtype) const {
    return dtype + "[" + side(dtype) + "," + side(dtype) + "]";
  }
  std::string turned(const std::string& dtype) const {
    return square(dtype) + "{1," + side(dtype) + "}";
  }
  std::string images(const std::string& dtype) const {
    const std::size_t count = s == "64" ? 2 : 1024 / itemsize(dtype);
    return dtype + "[" + std::to_string(count) + "," + image + "]";
  }
  static std::size_t itemsize(const std::string& dtype) {
    return itemsize_bytes(parse_layout(dtype + "[1]").dtype());
  }

  std::string n, s, image, bias, batch, batch_strides, photos, pixels;
};

std::vector<Workload> pointwise(const Sizes& sizes) {
  const auto flat = [&](const char* dtype) { return sizes.flat(dtype); };
  const std::string image = sizes.images("f32"), bias = "f32[" + sizes.bias + "]";
  return {
      {"copy", "copy(a)", {flat("f32"), flat("f32")}},
      {"add", "a + b", {flat("f32"), flat("f32"), flat("f32")}},
      {"fma", "a*b + c", {flat("f32"), flat("f32"), flat("f32"), flat("f32")}},
      {"where", "where(a > 0.5, b, c)", {flat("f32"), flat("f32"), flat("f32"), flat("f32")}},
      {"clamp", "clamp(a, 0.2, 0.8)", {flat("f32"), flat("f32")}},
      {"exp", "exp(a)", {flat("f32"), flat("f32")}, false},
      {"tanh", "tanh(a)", {flat("f32"), flat("f32")}, false},
      {"sigmoid", "sigmoid(a)", {flat("f32"), flat("f32")}, false},
      {"silu_mul", "silu(a) * b", {flat("f32"), flat("f32"), flat("f32")}, false},
      {"slice_2x2", "copy(a)", {"f32[" + sizes.n + "]{2}", flat("f32")}},
      {"cast_f32_bf16", "cast(a, bf16)", {flat("f32"), flat("bf16")}},
      {"cast_bf16_f32", "cast(a, f32)", {flat("bf16"), flat("f32")}},
      {"cast_u8_f32", "cast(a, f32)", {flat("u8"), flat("f32")}},
      {"add_bf16", "a + b", {flat("bf16"), flat("bf16"), flat("bf16")}},
      {"add_i8", "a + b", {flat("i8"), flat("i8"), flat("i8")}},
      {"bcast_nchw", "a + b", {image, bias, image}},
      {"bcast_nhwc", "a + b", {image + ":channels_last", bias, image + ":channels_last"}},
      {"small_inner_3",
       "a + b",
       {"f32[" + sizes.pixels + "]", "f32[3]", "f32[" + sizes.pixels + "]"}},
  };
}

std::vector<Workload> layouts(const Sizes& sizes, bool quick) {
  const std::string image = sizes.images("f32"), photos = "[" + sizes.photos + "]";
  std::vector<Workload> all = {
      {"conflict_add", "a + b", {image + ":channels_last", image, image + ":channels_last"}},
      {"normalize",
       "(cast(a, f32) / 255 - 0.45) / 0.225",
       {"u8" + photos + ":channels_last", "f32" + photos}},
      {"add_t", "a + b", {sizes.square("f32"), sizes.turned("f32"), sizes.square("f32")}},
      {"transpose_cast_f32_bf16",
       "cast(a, bf16)",
       {sizes.turned("f32"), sizes.square("f32").replace(0, 3, "bf16")}},
      {"batched_transpose",
       "copy(a)",
       {"f32[" + sizes.batch + "]" + sizes.batch_strides, "f32[" + sizes.batch + "]"}},
  };
  for (const char* dtype : {"f32", "bf16", "u8"}) {
    const std::string plain = sizes.images(dtype), last = plain + ":channels_last";
    all.push_back({std::string("nchw_to_nhwc_") + dtype, "copy(a)", {plain, last}});
    all.push_back({std::string("nhwc_to_nchw_") + dtype, "copy(a)", {last, plain}});
  }
  for (const char* dtype : {"u8", "u16", "f32", "f64", "c128"})
    all.push_back(
        {std::string("transpose_") + dtype, "copy(a)", {sizes.turned(dtype), sizes.square(dtype)}});
  using Shape = std::vector<std::int64_t>;
  const std::pair<const char*, std::string> permutations[] = {
      {"perm_0213",
       permuted("f32", quick ? Shape{2, 4, 16, 64} : Shape{256, 12, 512, 64}, {0, 2, 1, 3})},
      {"perm_3210",
       permuted("f32", quick ? Shape{5, 6, 7, 8} : Shape{80, 112, 96, 128}, {3, 2, 1, 0})},
      {"perm_6d", permuted("f32", quick ? Shape{7, 4, 9, 5, 8, 6} : Shape{20, 12, 20, 32, 18, 28},
                           {1, 3, 5, 0, 4, 2})},
  };
  for (const auto& [name, layout] : permutations)
    all.push_back({name, "copy(a)", {layout, without_strides(layout)}});
  return all;
}

std::vector<Workload> folds(const Sizes& sizes) {
  const std::string flat = sizes.flat("f32"), square = sizes.square("f32");
  const std::string row = "f32[" + sizes.s + "]";
  return {
      {"sum_all", "sum(a)", {flat, "f32[]"}},
      {"sum_inner", "sum(a, dims=[1])", {square, row}},
      {"sum_outer", "sum(a, dims=[0])", {square, row}},
      {"argmax_inner", "argmax(a, dims=[1])", {square, "i64[" + sizes.s + "]"}},
      {"cumsum_inner", "cumsum(a, dim=1)", {square, square}},
      {"cumsum_outer", "cumsum(a, dim=0)", {square, square}},
      {"softmax",
       "exp(a - amax(a, dims=[1], keepdim=true)) / sum(exp(a - amax(a, dims=[1], keepdim=true)), "
       "dims=[1], keepdim=true)",
       {square, square},
       false},
      {"layer_norm",
       "(a - mean(a, dims=[1], keepdim=true)) / sqrt(mean(square(a - mean(a, dims=[1], "
       "keepdim=true)), dims=[1], keepdim=true) + 1e-5)",
       {square, square}},
  };
}

/// More elements than 32 bits count: what takes launches of several parts, or 64-bit indices.
std::vector<Workload> beyond_32_bits() {
  const std::string flat = "u8[2200000000]";
  return {
      {"add_u8_large", "a + b", {flat, flat, flat}},
      {"transpose_u8_large", "copy(a)", {"u8[40000,56000]{1,40000}", "u8[40000,56000]"}},
  };
}

std::vector<Workload> workloads(bool quick) {
  const Sizes sizes(quick);
  std::vector<Workload> all = pointwise(sizes);
  for (std::vector<Workload> more :
       {layouts(sizes, quick), folds(sizes), quick ? std::vector<Workload>() : beyond_32_bits()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

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
    const auto check = [](CudaResult result, const char* what) {
      WEFT_CHECK(result == 0, DeviceError, what, " fails: ", cuda_driver().text(result));
    };
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
    cuda_driver().LaunchKernel(function_, 1, 1, 1, 256, 1, 1, 0, stream_, arguments, nullptr);
  }

 private:
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
    for (const Workload& workload : workloads(quick_))
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
  void make_samples(const Workload& workload) {
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

  ordered_json time_workload(const Workload& workload) {
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
    std::string folder = (std::filesystem::temp_directory_path() / "weft-bench-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return nullptr;
    const Tensor a = zeros({16}, {DType::f32, gpu}), out = empty_like(a);
    std::vector<double> compiled, loaded;
    const int rounds = quick_ ? 1 : 9;
    for (int i = 0; i < rounds; ++i) {
      const auto first_us = [&] {
        Engine engine({.disk_cache = DiskCacheOptions{CacheMode::on, folder, 1 << 20}});
        const auto start = Clock::now();
        engine.binary(Op::add, a, a, out);
        cuda::synchronize();
        return us_since(start);
      };
      std::filesystem::remove_all(folder);
      std::filesystem::create_directory(folder);
      compiled.push_back(first_us());
      loaded.push_back(first_us());
    }
    std::filesystem::remove_all(folder);
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
  if (!file.empty()) std::ofstream(file) << result.dump(1) << "\n";
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
