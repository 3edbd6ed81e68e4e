// The main job: a photo becomes a normalised batch, meets an activation of another memory format,
// and becomes a photo again.  Each step is one compiled pass; every result is compared, bit by bit,
// with the interpreter's and with plain index arithmetic, and all three are timed.
//
//   photo_to_tensor IN.png OUT.png

#include <weft/engine.h>
#include <weft/error.h>

#include "examples/png_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using weft::DType, weft::Engine, weft::Expr, weft::MemoryFormat, weft::Tensor;

constexpr std::array<float, 3> imagenet_mean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> imagenet_std = {0.229F, 0.224F, 0.225F};

/// A value a colour, to be broadcast over [1, 3, height, width].
Tensor per_colour(const std::array<float, 3>& values) {
  Tensor tensor = weft::empty({3, 1, 1}, DType::f32);
  std::copy(values.begin(), values.end(), tensor.data_as<float>());
  return tensor;
}

/// One pass over memory, and the same in plain loops.
struct Step {
  std::string title;
  Expr expr;
  Tensor out;
  std::int64_t bytes_moved;                  ///< read and written, broadcast operands left out
  std::function<void(const Tensor&)> naive;  ///< writes a tensor of out's layout
};

/// Calls `function(n, c, h, w)` for every element in logical order: index arithmetic and nothing
/// else.
template <class Function>
void for_each_index(const Tensor& tensor, Function function) {
  const std::int64_t channels = tensor.size(1), height = tensor.size(2), width = tensor.size(3);
  const std::int64_t numel = tensor.numel();
  for (std::int64_t i = 0; i < numel; ++i) {
    const std::int64_t w = i % width, h = i / width % height, c = i / (width * height) % channels;
    function(i / (width * height * channels), c, h, w);
  }
}

/// The elements of a 4-D tensor by their indices.
template <class T>
class Elements {
 public:
  explicit Elements(const Tensor& tensor) : data_(tensor.data_as<T>()) {
    std::ranges::copy(tensor.strides(), strides_.begin());
  }
  T& operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return data_[n * strides_[0] + c * strides_[1] + h * strides_[2] + w * strides_[3]];
  }

 private:
  T* data_;
  std::array<std::int64_t, 4> strides_;
};

Step normalise(const Tensor& planes) {
  const Expr x = Expr::named("x", planes);
  const Expr mean = Expr::named("mean", per_colour(imagenet_mean));
  const Expr std = Expr::named("std", per_colour(imagenet_std));
  const Tensor out = weft::empty(planes.sizes(), {DType::f32, {}, MemoryFormat::contiguous});
  return {"(x / 255 - mean) / std, u8 HWC to f32 NCHW", (x / 255 - mean) / std, out,
          planes.numel() * 5, [planes](const Tensor& result) {
            const Elements<std::uint8_t> from(planes);
            const Elements<float> to(result);
            for_each_index(planes, [&](auto n, auto c, auto h, auto w) {
              const float scaled = static_cast<float>(from(n, c, h, w)) / 255.0F;
              to(n, c, h, w) = (scaled - imagenet_mean[c]) / imagenet_std[c];
            });
          }};
}

Step add(const Tensor& batch, const Tensor& activation) {
  return {"a + b, contiguous plus channels_last",
          Expr::named("a", batch) + Expr::named("b", activation), weft::empty_like(batch),
          batch.numel() * 12, [batch, activation](const Tensor& result) {
            const Elements<float> a(batch), b(activation), to(result);
            for_each_index(batch, [&](auto n, auto c, auto h, auto w) {
              to(n, c, h, w) = a(n, c, h, w) + b(n, c, h, w);
            });
          }};
}

/// Undoes normalise() on half of `sum`, in the layout of a photo.
Step to_photo(const Tensor& sum) {
  const Expr colour = Expr::named("s", sum) * 0.5F * Expr::named("std", per_colour(imagenet_std)) +
                      Expr::named("mean", per_colour(imagenet_mean));
  const Tensor photo = weft::empty({sum.size(2), sum.size(3), 3}, DType::u8);
  return {"clamp(s * std / 2 + mean) to u8 HWC",
          weft::cast(weft::ops::round(weft::ops::clamp(colour * 255, 0, 255)), DType::u8),
          photo.permute({2, 0, 1}).unsqueeze(0), sum.numel() * 5, [sum](const Tensor& result) {
            const Elements<float> from(sum);
            const Elements<std::uint8_t> to(result);
            for_each_index(sum, [&](auto n, auto c, auto h, auto w) {
              const float value =
                  (from(n, c, h, w) * 0.5F * imagenet_std[c] + imagenet_mean[c]) * 255.0F;
              to(n, c, h, w) = static_cast<std::uint8_t>(
                  std::nearbyint(std::min(std::max(value, 0.0F), 255.0F)));
            });
          }};
}

/// The results of all steps are dense, so equal layouts and equal bytes mean equal bits.
bool same_bits(const Tensor& a, const Tensor& b) {
  const std::size_t size_bytes =
      static_cast<std::size_t>(a.numel()) * weft::itemsize_bytes(a.dtype());
  return a.dtype() == b.dtype() && std::ranges::equal(a.strides(), b.strides()) &&
         std::memcmp(a.data(), b.data(), size_bytes) == 0;
}

double median_ns(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return times[times.size() / 2];
}

struct Contender {
  std::string_view name;
  std::function<void()> run;
  std::vector<double> times_ns;
};

/// Runs the contenders in turn, so that a slow moment of the machine hits all of them.
void time_in_turns(std::vector<Contender>& contenders, int num_rounds) {
  for (int round = 0; round < num_rounds; ++round) {
    for (Contender& contender : contenders) {
      const auto start = std::chrono::steady_clock::now();
      contender.run();
      const std::chrono::duration<double, std::nano> time =
          std::chrono::steady_clock::now() - start;
      if (round > 0)
        contender.times_ns.push_back(time.count());  // the first round warms caches and pages
    }
  }
}

std::string list(weft::IntSpan values) {
  std::string text = "[";
  for (std::int64_t value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

void print_first_lines(const std::string& text, int num_lines) {
  std::size_t end = 0;
  while (num_lines-- > 0 && end < text.size())
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  std::cout << text.substr(0, end) << (end < text.size() ? "  ...\n" : "");
}

void print_plan(Engine& engine, const Step& step) {
  const weft::Explanation plan =
      engine.explain(step.expr, step.out, {.emit = {"iter", "ir", "asm"}});
  std::cout << "\n== " << step.title << "\nresult " << weft::name(step.out.dtype()) << " sizes "
            << list(step.out.sizes()) << " strides " << list(step.out.strides()) << "\nrun by "
            << plan.backend << ", schedule " << plan.schedule << ", compiled in " << plan.compile_us
            << " us\n";
  for (const char* stage : {"iter", "ir"})
    std::cout << "\n-- " << stage << "\n" << plan.texts.at(stage);
  if (const auto assembly = plan.texts.find("asm"); assembly != plan.texts.end()) {
    std::cout << "\n-- asm, first lines\n";
    print_first_lines(assembly->second, 24);
  }
}

/// Runs the step, checks it against both references, and prints its part of the table.
/// Returns whether all results have the same bits.
bool run_step(Engine& engine, Engine& interpreter, const Step& step) {
  const Tensor interpreted = weft::empty_like(step.out), plain = weft::empty_like(step.out);
  const Tensor from = weft::empty({step.bytes_moved / 2}, DType::u8), to = weft::empty_like(from);
  std::vector<Contender> contenders = {
      {"naive", [&] { step.naive(plain); }, {}},
      {"interpreted", [&] { interpreter.eval(step.expr, interpreted); }, {}},
      {"JIT", [&] { engine.eval(step.expr, step.out); }, {}},
      {"memcpy",
       [&] { std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.numel())); },
       {}},
  };
  time_in_turns(contenders, 16);
  engine.eval(step.expr, step.out);

  const double memcpy_ns = median_ns(contenders.back().times_ns);
  std::cout << "\n== " << step.title << "\n";
  for (const Contender& contender : contenders) {
    const double ns = median_ns(contender.times_ns);
    std::printf("  %-18s %10.1f us %8.2f GB/s %7.2f of memcpy\n", contender.name.data(), ns / 1e3,
                static_cast<double>(step.bytes_moved) / ns, memcpy_ns / ns);
  }
  std::fflush(stdout);
  if (same_bits(step.out, interpreted) && same_bits(step.out, plain)) return true;
  std::cerr << "WRONG RESULT: " << step.title << ": the compiled kernel differs from "
            << (same_bits(step.out, interpreted) ? "plain loops" : "the interpreter") << "\n";
  return false;
}

int run(const std::string& in_path, const std::string& out_path) {
  Engine engine({.num_threads = 1});
  Engine interpreter({.backend = "interp", .num_threads = 1});

  const Tensor photo = example::read_png(in_path);
  const Tensor planes = photo.permute({2, 0, 1}).unsqueeze(0);  // [1, 3, height, width], a view
  std::cout << in_path << ": " << weft::layout_text(photo) << ", seen as "
            << weft::layout_text(planes) << "\n";

  const Step first = normalise(planes);
  engine.eval(first.expr, first.out);
  // The activation: the mirrored photo, kept as convolutions like it.
  const Tensor activation = engine.contiguous(first.out.flip({3}), MemoryFormat::channels_last);
  const Step second = add(first.out, activation);
  engine.eval(second.expr, second.out);
  const Step third = to_photo(second.out);

  const std::array<const Step*, 3> steps = {&first, &second, &third};
  for (const Step* step : steps) print_plan(engine, *step);

  std::cout << "\nOne thread; medians of 15 rounds taken in turns; bytes "
               "read + written.\n";
  bool all_right = true;
  for (const Step* step : steps) all_right = run_step(engine, interpreter, *step) && all_right;

  const weft::EngineStats stats = engine.stats();
  std::cout << "\ncache: " << stats.plan_hits << " plan hits, " << stats.plan_misses
            << " plan misses; " << stats.kernel_misses << " kernels compiled in "
            << stats.compile_us << " us, " << stats.code_bytes << " bytes of code, "
            << stats.kernel_hits << " found compiled\n";

  example::write_png(out_path, third.out.select(0, 0).permute({1, 2, 0}));
  std::cout << "wrote " << out_path << ": the photo and its mirror image, half and half\n";
  if (!all_right) return 1;
  std::cout << "all results have the interpreter's bits\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: photo_to_tensor IN.png OUT.png\n";
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const weft::Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
