// weft_ulp OP: the largest error of an op of the table and where it is, against MPFR.
#include "tests/ulp/measure.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace weft::ulp {
namespace {

struct Arguments {
  std::vector<std::string> ops;
  std::string dtype = "f32";
  bool all = false;
  std::uint64_t samples = 1'000'000;
  std::uint64_t stride = 0;
  std::uint64_t seed = 1;
  unsigned threads = 1;
};

/// Each thread takes every so many of the bit patterns, or random numbers of its own.
Worst measure_in_threads(const Reference& reference, DType dtype, const Arguments& arguments) {
  const std::uint64_t stride =
      arguments.all ? 1
      : arguments.stride != 0
          ? arguments.stride
          : std::max<std::uint64_t>(
                1, (std::uint64_t{1} << 32) / std::max<std::uint64_t>(1, arguments.samples));
  const unsigned threads = std::max(1u, arguments.threads);
  std::vector<Worst> results(threads);
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      const Sampling sampling{.stride = stride * threads,
                              .num_samples = arguments.samples / threads,
                              .seed = arguments.seed + i * stride};
      results[i] = measure(reference, dtype, sampling);
    });
  for (std::thread& worker : workers) worker.join();
  Worst worst = results[0];
  for (unsigned i = 1; i < threads; ++i) {
    const std::uint64_t num_tested = worst.num_tested + results[i].num_tested;
    if (results[i].ulps > worst.ulps) worst = results[i];
    worst.num_tested = num_tested;
  }
  return worst;
}

int run(const Arguments& arguments) {
  const auto dtype = parse_dtype(arguments.dtype);
  if (dtype != DType::f32 && dtype != DType::f64) {
    std::fprintf(stderr, "weft_ulp: the dtype is f32 or f64, not '%s'\n", arguments.dtype.c_str());
    return 1;
  }
  std::vector<const Reference*> chosen;
  for (const std::string& name : arguments.ops) {
    const auto op = parse_op(name);
    const Reference* reference = op ? find_reference(*op) : nullptr;
    if (reference == nullptr) {
      std::fprintf(stderr, "weft_ulp: there is no reference for '%s'\n", name.c_str());
      return 1;
    }
    chosen.push_back(reference);
  }
  if (chosen.empty())
    for (const Reference& reference : references()) chosen.push_back(&reference);
  for (const Reference* reference : chosen) {
    const Worst worst = measure_in_threads(*reference, *dtype, arguments);
    std::printf("%-12s %s  max %.4f ulp at %a", std::string(name(reference->op)).c_str(),
                arguments.dtype.c_str(), worst.ulps, worst.x);
    if (info(reference->op).arity == 2) std::printf(", %a", worst.y);
    std::printf(" = %.9g: %.17g   (%llu tested)\n", worst.x, worst.actual,
                static_cast<unsigned long long>(worst.num_tested));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace weft::ulp

int main(int argc, char** argv) {
  CLI::App app(
      "Largest errors of functions against MPFR.  Without names: all that have a reference.");
  weft::ulp::Arguments arguments;
  app.add_option("OP", arguments.ops, "ops of the table");
  app.add_option("--dtype", arguments.dtype, "f32 or f64");
  app.add_flag("--all", arguments.all, "all 2^32 inputs (f32, one argument)");
  app.add_option("--samples", arguments.samples, "how many inputs");
  app.add_option("--stride", arguments.stride, "every so many bit patterns (f32, one argument)");
  app.add_option("--seed", arguments.seed, "of the random inputs; the first bit pattern");
  app.add_option("--threads", arguments.threads, "threads");
  CLI11_PARSE(app, argc, argv);
  return weft::ulp::run(arguments);
}
