// weft_ulp OP: the largest error of an op of the table and where it is, against MPFR.
#include "tests/ulp/measure.h"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
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

constexpr const char* usage =
    "Largest errors of functions against MPFR.  Without names: all that have a reference.\n"
    "usage: weft_ulp [OPTION...] [OP...]\n"
    "  --dtype=NAME   f32 (default) or f64\n"
    "  --all          all 2^32 inputs (f32, one argument)\n"
    "  --samples=N    how many inputs; 1000000\n"
    "  --stride=N     every so many bit patterns (f32, one argument)\n"
    "  --seed=N       of the random inputs; the first bit pattern\n"
    "  --threads=N    threads\n";

template <class Number>
bool read_number(const char* text, Number& number) {
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, number);
  return error == std::errc() && stopped == end;
}

/// The exit status if there is nothing to measure, else -1.
int read_arguments(int argc, char** argv, Arguments& arguments) {
  const option options[] = {
      {"dtype", required_argument, nullptr, 'd'},   {"all", no_argument, nullptr, 'a'},
      {"samples", required_argument, nullptr, 'n'}, {"stride", required_argument, nullptr, 'i'},
      {"seed", required_argument, nullptr, 's'},    {"threads", required_argument, nullptr, 't'},
      {"help", no_argument, nullptr, 'h'},          {nullptr, 0, nullptr, 0}};
  for (int found = 0; (found = getopt_long(argc, argv, "h", options, nullptr)) != -1;) {
    bool is_right = true;
    switch (found) {
      case 'd': arguments.dtype = optarg; break;
      case 'a': arguments.all = true; break;
      case 'n': is_right = read_number(optarg, arguments.samples); break;
      case 'i': is_right = read_number(optarg, arguments.stride); break;
      case 's': is_right = read_number(optarg, arguments.seed); break;
      case 't': is_right = read_number(optarg, arguments.threads); break;
      case 'h': std::fputs(usage, stdout); return 0;
      default: is_right = false;
    }
    if (is_right) continue;
    std::fputs(usage, stderr);
    return 1;
  }
  arguments.ops.assign(argv + optind, argv + argc);
  return -1;
}

}  // namespace
}  // namespace weft::ulp

int main(int argc, char** argv) {
  weft::ulp::Arguments arguments;
  const int status = weft::ulp::read_arguments(argc, argv, arguments);
  return status >= 0 ? status : weft::ulp::run(arguments);
}
