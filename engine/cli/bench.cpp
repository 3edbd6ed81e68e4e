// weft bench: every way to compute one expression, side by side.
#include "engine/cli/arguments.h"
#include "engine/cli/bench_report.h"
#include "engine/cli/command.h"
#include "engine/cli/plot.h"
#include "engine/cli/progress.h"
#include "engine/cli/sample_data.h"
#include "engine/cli/timing.h"

#include <weft/cuda.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/naive.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>

namespace weft::cli {
namespace {

constexpr double budget_s = 0.2;

/// All bytes of a tensor's storage on another device, under the same view.
Tensor with_storage_on(Engine& engine, const Tensor& tensor, Device device) {
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
  const std::int64_t size = static_cast<std::int64_t>(tensor.storage()->size_bytes()) / itemsize;
  const std::int64_t stride = 1;
  ToOptions options;
  options.device = device;
  return engine.to(tensor.as_strided(IntSpan(&size, 1), IntSpan(&stride, 1), 0), options)
      .as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

class Bench {
 public:
  Bench(const BenchArguments& arguments)
      : threads_(arguments.threads),
        numerics_(read_numerics(arguments.numerics)),
        operands_(read_operands(arguments.operands, sample_tensor)),
        expr_(read_expression(arguments.expression, operands_, arguments.definitions)),
        expression_(arguments.expression),
        out_layout_(arguments.out),
        definitions_(arguments.definitions) {
    report_.expression = arguments.expression;
    report_.threads = arguments.threads;
  }

  BenchReport run() {
    progress_.begin("the interpreter's result");
    Engine interpreter(options("interp"));
    reference_ = out_layout_.empty() ? interpreter.eval(expr_) : given_output(interpreter);
    if (!out_layout_.empty()) interpreter.eval(expr_, reference_);
    const Story story =
        interpreter.explain(expr_, out_layout_.empty() ? Tensor() : reference_).story;
    report_.bytes = story.read_bytes + story.written_bytes;
    time_naive();
    for (const char* backend : {"interp", "xbyak", "llvm"}) time_backend(backend);
    time_shape();
    time_device();
    time_memcpy();
    return std::move(report_);
  }

 private:
  EngineOptions options(const std::string& backend) const {
    return {.backend = backend, .numerics = numerics_, .num_threads = threads_};
  }

  /// Of the result's sizes: what is timed resizes nothing.
  Tensor given_output(const Engine& engine) const {
    const Inferred result = engine.infer(expr_);
    Tensor out = read_named("out", [&] { return sample_tensor(out_layout_); });
    WEFT_CHECK(std::ranges::equal(out.sizes(), result.sizes), ArgumentError, "out: the sizes of ",
               out_layout_, " are ", text(out.sizes()), ", those of the result ",
               text(result.sizes));
    return out;
  }

  Tensor new_output() const {
    return out_layout_.empty() ? empty_like(reference_) : sample_tensor(out_layout_);
  }

  /// A result's elements without gaps.
  Tensor dense(const Tensor& result) const {
    return out_layout_.empty() ? result : Engine(options("interp")).contiguous(result);
  }

  /// Whether `out` holds the interpreter's result; the row is left out if not.
  bool agrees(const std::string& variant, const Tensor& out, const Tensor& expected) {
    const std::optional<std::string> difference = first_difference(dense(out), dense(expected));
    if (difference) report_.skipped.push_back({variant, "differs from interp at " + *difference});
    return !difference;
  }

  void time(const std::string& variant, const std::function<void()>& call) {
    const double ns =
        steady_ns(call, budget_s, [this](double fraction) { progress_.at(fraction); });
    report_.rows.push_back({variant, ns, static_cast<double>(report_.bytes) / ns});
  }

  void time_naive() {
    progress_.begin("naive");
    const Tensor out = new_output();
    try {
      naive_eval(expr_, out);
    } catch (const UnsupportedError& error) {
      report_.skipped.push_back({"naive", error.what()});
      return;
    }
    // The naive loop rounds small floats after each op, which strict numerics alone does too.
    EngineOptions strict = options("interp");
    strict.numerics = Numerics::strict;
    const Tensor expected = new_output();
    Engine(strict).eval(expr_, expected);
    if (!agrees("naive", out, expected)) return;
    time("naive", [&] { naive_eval(expr_, out); });
  }

  /// A prepared plan where there is one: what looks at its numbers first, or takes several passes,
  /// is called.
  std::function<void()> call_of(Engine& engine, const Tensor& out) {
    try {
      return [plan = engine.prepare(expr_, out)] { plan.run(); };
    } catch (const UnsupportedError&) {
      return [&engine, &out, this] { engine.eval(expr_, out); };
    }
  }

  void time_backend(const std::string& backend) {
    progress_.begin(backend);
    try {
      Engine engine(options(backend));
      const Tensor out = new_output();
      const std::function<void()> call = call_of(engine, out);
      call();
      if (agrees(backend, out, reference_)) time(backend, call);
    } catch (const UnsupportedError& error) {
      report_.skipped.push_back({backend, error.what()});
    }
  }

  /// What an engine comes to run for a hot call, where that is code for the call's shape alone.
  void time_shape() {
    const std::string variant = "this shape";
    progress_.begin(variant);
    try {
      EngineOptions hot = options("auto");
      hot.shape_threshold = 0;
      hot.background = false;
      Engine engine(hot);
      const Tensor out = new_output();
      const std::function<void()> call = call_of(engine, out);
      const std::string reason = why_no_code_for_shape(engine, call);
      if (!reason.empty()) return report_.skipped.push_back({variant, reason});
      if (agrees(variant, out, reference_)) time(variant, call);
    } catch (const UnsupportedError& error) {
      report_.skipped.push_back({variant, error.what()});
    }
  }

  /// Calls until the engine has decided; nothing if it keeps such code.
  static std::string why_no_code_for_shape(const Engine& engine,
                                           const std::function<void()>& call) {
    const auto begin = std::chrono::steady_clock::now();
    const auto has_taken = [&](double seconds) {
      return std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds);
    };
    while (!has_taken(10 * budget_s)) {
      call();
      const EngineStats stats = engine.stats();
      if (stats.promoted_shapes != 0) return {};
      if (stats.demoted_shapes != 0) return "code for it is not faster";
      if (stats.failed_shapes != 0) return "code for it could not be compiled";
      // Its kernel has to settle first.
      if (stats.hot_shapes == 0 && has_taken(budget_s / 4))
        return "no code is made for it: rows are long, transposed, 2 to 4 items apart, or scanned";
    }
    return "the trial of code for it takes too long";
  }

  /// On tensors of the device, from the call to the end of its work.
  void time_device() {
    progress_.begin("nvrtc");
    const std::string reason = cuda::unavailable_reason();
    if (!reason.empty()) return report_.skipped.push_back({"nvrtc", reason});
    try {
      Engine engine(options("nvrtc"));
      NamedTensors operands;
      for (const auto& [name, tensor] : operands_)
        operands.emplace_back(name, with_storage_on(engine, tensor, {DeviceType::cuda, 0}));
      const Expr expr = read_expression(expression_, operands, definitions_);
      const Tensor out = with_storage_on(engine, new_output(), {DeviceType::cuda, 0});
      const auto call = [&] {
        engine.eval(expr, out);
        cuda::synchronize();
      };
      call();
      if (agrees("nvrtc", with_storage_on(engine, out, {}), reference_)) time("nvrtc", call);
    } catch (const Error& error) {
      report_.skipped.push_back({"nvrtc", error.what()});
    }
  }

  void time_memcpy() {
    progress_.begin("memcpy");
    const std::int64_t half = report_.bytes / 2;  // it reads as many bytes as it writes
    const Tensor from = zeros(std::array{half}, {DType::u8, {}, MemoryFormat::contiguous});
    const Tensor to = zeros(std::array{half}, {DType::u8, {}, MemoryFormat::contiguous});
    time("memcpy", [&] {
      std::memcpy(to.data(), from.data(), static_cast<std::size_t>(half));
      asm volatile("" : : "r"(to.data()) : "memory");  // or else the copy nobody reads is left out
    });
  }

  int threads_;
  Numerics numerics_;
  NamedTensors operands_;
  Expr expr_;
  std::string expression_;
  std::string out_layout_;  ///< of a given output; empty: as the expression makes it
  std::vector<std::string> definitions_;
  Tensor reference_;
  BenchReport report_;
  Progress progress_{8};  // the result to compare with, and seven variants
};

}  // namespace

void run_bench(const BenchArguments& arguments) {
  const std::optional<PlotFile> plot =
      arguments.plot ? std::optional<PlotFile>(*arguments.plot) : std::nullopt;
  const BenchReport report = Bench(arguments).run();
  if (plot) plot->write(report);
  if (arguments.json) {
    print_json(report);
  } else {
    print_table(report);
  }
}

}  // namespace weft::cli
