// Thresholds are crossovers: the size from which on one way to run a call is faster than the other.
#include <weft/tune.h>

#include "engine/plan/streaming.h"
#include "jit/tiles/tile.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/parallel.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace weft {
namespace {

constexpr std::int64_t never = std::int64_t{1} << 50;
/// What is not faster by this is the same: such differences come and go.
constexpr double least_gain = 1.02;

/// Two ways to do the same.
struct Pair {
  std::function<void()> without, with;
};

double elapsed_ns(const std::function<void()>& call, std::int64_t count) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) call();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(count);
}

/// Calls that are long against the clock, and against a thread's falling asleep.
std::int64_t calls_a_sample(const std::function<void()>& call) {
  constexpr double sample_ns = 200e3;
  call();
  return static_cast<std::int64_t>(
      std::clamp(sample_ns / std::max(1.0, elapsed_ns(call, 1)), 1.0, 1e5));
}

/// How many times as fast `with` is: the median of rounds in which both run, so that a slow moment
/// of the machine meets both.
double gain(const Pair& pair, int rounds) {
  const std::int64_t count = calls_a_sample(pair.without);
  pair.with();
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const double without = elapsed_ns(pair.without, count);
    ratios.push_back(without / elapsed_ns(pair.with, count));
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  return *middle;
}

std::string megabytes(std::int64_t bytes) {
  const auto text = std::to_string(static_cast<double>(bytes) / 1e6);
  return text.substr(0, text.find('.') + 2) + " MB";
}

/// With pages of its own: untouched ones may all be one page of zeros.
Tensor touched(const Tensor& tensor) {
  std::memset(tensor.data(), 0,
              static_cast<std::size_t>(tensor.numel()) * itemsize_bytes(tensor.dtype()));
  return tensor;
}

Tensor vector_of(std::int64_t count) { return touched(empty({count}, DType::f32)); }

/// Of about so many bytes, and no power of two: those would share few lines of the caches.
Tensor square_of(std::int64_t bytes) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / 4)) / 16 * 16;
  return touched(empty({side + 16, side + 16}, DType::f32));
}

class Tuner {
 public:
  explicit Tuner(const TuneOptions& options) : options_(options) {}

  TuneReport run() {
    tune_streaming();
    tune_tile_streaming();
    tune_tile_large();
    tune_rates();
    tune_threads();
    return std::move(report_);
  }

 private:
  /// An engine whose calls are all planned and compiled by thresholds of its own.
  struct Tuned {
    explicit Tuned(const Tuning& given, int num_threads = 1)
        : tuning(given), engine({.num_threads = num_threads}) {}

    PreparedPlan prepare(const Expr& expr, const Tensor& out) {
      const TuningScope scope(tuning);
      return engine.prepare(expr, out);
    }

    const Tuning tuning;
    Engine engine;
  };
  static Tuning with_streaming(std::int64_t bytes) {
    Tuning tuning;
    tuning.streaming_bytes = bytes;
    return tuning;
  }
  static Tuning with_tiles(std::int64_t streaming_bytes, std::int64_t large_bytes) {
    Tuning tuning;
    tuning.tile_streaming_bytes = streaming_bytes;
    tuning.tile_large_bytes = large_bytes;
    return tuning;
  }

  void tell(std::string_view threshold, double fraction) const {
    if (options_.progress) options_.progress(threshold, fraction);
  }

  void found(std::string_view threshold, std::int64_t Tuning::*field, std::int64_t value,
             std::string how) {
    report_.tuning.*field = value;
    report_.findings.push_back({std::string(threshold), value, std::move(how)});
  }

  struct Crossover {
    std::optional<std::int64_t> least;  ///< the size from which on `with` gains
    bool is_slower = false;             ///< it loses even at the largest
  };

  /// Looks at `from`, twice that and so on up to `to`, the largest first.
  template <class Make>
  Crossover crossover(std::string_view threshold, std::int64_t from, std::int64_t to,
                      const Make& make) const {
    std::vector<std::int64_t> sizes;
    for (std::int64_t bytes = from; bytes <= to; bytes *= 2) sizes.push_back(bytes);
    Crossover found;
    for (std::size_t left = sizes.size(); left-- > 0;) {
      tell(threshold,
           static_cast<double>(sizes.size() - left - 1) / static_cast<double>(sizes.size()));
      const double faster = gain(make(sizes[left]), options_.rounds);
      if (left + 1 == sizes.size()) found.is_slower = faster < 1 / least_gain;
      if (faster < least_gain) break;
      found.least = sizes[left];
    }
    return found;
  }

  /// Takes over a threshold in bytes: where `with` gains, or beyond what was tried where it loses.
  void found_bytes(std::string_view threshold, std::int64_t Tuning::*field,
                   const Crossover& crossover, std::int64_t most_bytes, std::int64_t standard,
                   const std::string& what) {
    if (crossover.least)
      return found(threshold, field, *crossover.least,
                   what + " pays from " + megabytes(*crossover.least) + " on");
    if (crossover.is_slower)
      return found(threshold, field, std::max(2 * most_bytes, standard),
                   what + " does not pay up to " + megabytes(most_bytes));
    found(threshold, field, standard, "the default: " + what + " makes no difference here");
  }

  /// What is written past the caches has to come back for whoever reads it, so both are timed.
  void tune_streaming() {
    constexpr std::string_view name = "streaming_bytes";
    Tuned plain(with_streaming(never)), streaming(with_streaming(1));
    const auto pair = [&](std::int64_t bytes) -> Pair {
      const Tensor a = vector_of(bytes / 12), b = vector_of(bytes / 12),
                   out = vector_of(bytes / 12);
      return {calling(plain, Expr(a) + Expr(b), out), calling(streaming, Expr(a) + Expr(b), out)};
    };
    const Tuning standard;
    const TuningScope scope(standard);  // the caches' sizes, and no earlier measurement
    found_bytes(name, &Tuning::streaming_bytes,
                crossover(name, std::int64_t{1} << 20, options_.most_bytes, pair),
                options_.most_bytes, streaming_threshold_bytes(host_features()),
                "writing past the caches, with the result read again,");
  }

  void tune_tile_streaming() {
    constexpr std::string_view name = "tile_streaming_bytes";
    const Tuning standard;
    Tuned plain(with_tiles(never, standard.tile_large_bytes)),
        streaming(with_tiles(1, standard.tile_large_bytes));
    const auto pair = [&](std::int64_t bytes) { return transposing(plain, streaming, bytes); };
    found_bytes(name, &Tuning::tile_streaming_bytes,
                crossover(name, std::int64_t{1} << 20, most_tile_bytes(), pair), most_tile_bytes(),
                jit::tiles::streaming_thresholds(host_features(), standard).copy_bytes,
                "transposing past the caches");
  }

  void tune_tile_large() {
    constexpr std::string_view name = "tile_large_bytes";
    const std::int64_t streaming_bytes = report_.tuning.tile_streaming_bytes;
    const std::int64_t most_bytes = std::min(most_tile_bytes(), streaming_bytes);
    Tuned small(with_tiles(streaming_bytes, never)), large(with_tiles(streaming_bytes, 1));
    const auto pair = [&](std::int64_t bytes) { return transposing(small, large, bytes); };
    found_bytes(name, &Tuning::tile_large_bytes,
                crossover(name, std::int64_t{1} << 18, most_bytes, pair), most_bytes,
                Tuning().tile_large_bytes, "transposing in large tiles");
  }

  void tune_rates() {
    rate("near_bytes_per_us", &Tuning::near_bytes_per_us, std::int64_t{256} << 10);
    rate("far_bytes_per_us", &Tuning::far_bytes_per_us,
         std::min(options_.most_bytes, std::int64_t{16} << 20));
  }

  void rate(std::string_view name, std::int64_t Tuning::*field, std::int64_t bytes) {
    tell(name, 0);
    Tuned engine(report_.tuning);
    const Tensor a = vector_of(bytes / 12), b = vector_of(bytes / 12), out = empty_like(a);
    const PreparedPlan plan = engine.prepare(Expr(a) + Expr(b), out);
    const std::function<void()> call = [&] { plan.run(); };
    const std::int64_t count = calls_a_sample(call);
    double best = std::numeric_limits<double>::max();
    for (int round = 0; round < options_.rounds; ++round)
      best = std::min(best, elapsed_ns(call, count));
    const double per_us = static_cast<double>(bytes) / best * 1000;
    found(name, field,
          std::clamp<std::int64_t>(static_cast<std::int64_t>(per_us), 100, 100'000'000),
          "an add that moves " + megabytes(bytes) + ", on one thread");
  }

  void tune_threads() {
    constexpr std::string_view name = "thread_work_ns";
    Tuning eager = report_.tuning;
    eager.thread_work_ns = 10;
    std::optional<std::int64_t> least;
    if (num_threads() > 1) {
      Tuned one(report_.tuning, 1), two(eager, 2);
      const auto pair = [&](std::int64_t bytes) -> Pair {
        const Tensor a = vector_of(bytes / 12), b = vector_of(bytes / 12),
                     out = vector_of(bytes / 12);
        const auto running = [&](Tuned& engine) {
          return [plan = engine.prepare(Expr(a) + Expr(b), out)] { plan.run(); };
        };
        return {running(one), running(two)};
      };
      least = crossover(name, std::int64_t{12} << 10, std::int64_t{768} << 10, pair).least;
    }
    // Two shares are the fewest that a call is cut into.
    const std::int64_t work_ns = least.value_or(0) * 1000 / report_.tuning.near_bytes_per_us;
    found(name, &Tuning::thread_work_ns,
          least ? std::max<std::int64_t>(work_ns / 2, 10) : Tuning().thread_work_ns,
          least               ? "two threads are faster from " + megabytes(*least) + " on"
          : num_threads() > 1 ? "the default: two threads were not faster, the machine may be busy"
                              : "the default: there is one processor");
  }

  std::int64_t most_tile_bytes() const {
    return std::min(options_.most_bytes, std::int64_t{64} << 20);
  }

  /// A call and a reader of what it wrote.
  std::function<void()> calling(Tuned& engine, const Expr& expr, const Tensor& out) {
    return [this, plan = engine.prepare(expr, out), out] {
      plan.run();
      reader_.reduce(Reduction::sum, out);
    };
  }

  Pair transposing(Tuned& without, Tuned& with, std::int64_t bytes) {
    const Tensor a = square_of(bytes / 2), out = square_of(bytes / 2);
    const Expr expr(a.t());
    return {calling(without, expr, out), calling(with, expr, out)};
  }

  const TuneOptions& options_;
  TuneReport report_;
  Engine reader_{{.num_threads = 1}};
};

}  // namespace

TuneReport measure_tuning(const TuneOptions& options) {
  WEFT_CHECK(options.most_bytes > 0 && options.rounds > 0, ArgumentError,
             "most_bytes and rounds must be positive, but are ", options.most_bytes, " and ",
             options.rounds);
  return Tuner(options).run();
}

}  // namespace weft
