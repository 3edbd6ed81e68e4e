// Functions of complex numbers as CUDA source that runs on the CPU, against the interpreter, which
// has them of the C library.
#include "jit/nvrtc/operators.h"
#include "tests/jit/nvrtc/batch.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace weft::jit::test {
namespace {

constexpr std::int64_t num_items = 20000;

/// Each function, of `dtype`, a kernel each.
void add_functions(NvrtcBatch& batch, DType dtype, Tolerance tolerance) {
  const auto size = static_cast<std::int64_t>(itemsize_bytes(dtype));
  for (const Op op : all_ops())
    if (part_functions(op) && op != Op::library_pow)
      batch.add(cuda_kernel(op, dtype), {num_items}, {{size}, {size}}, tolerance);
}

TEST(NvrtcComplexFunctions, AreWithinUlpsOfTheInterpreters) {
  NvrtcBatch batch;
  for (const auto numbers :
       {NvrtcBatch::Numbers::ordinary, NvrtcBatch::Numbers::plain, NvrtcBatch::Numbers::few}) {
    batch.use_numbers(numbers);
    // Both compute in f64 and round once more.
    add_functions(batch, DType::c64, {.ulp = 1, .compares_zeros = true});
    // Tangents are within 5, here and there, the others within 4.
    add_functions(batch, DType::c128, {.ulp = 8, .compares_zeros = true});
  }
  EXPECT_EQ(batch.size(), 3u * 2 * 8);
  batch.run();
}

TEST(NvrtcComplexFunctions, PowersAreExponentialsOfProducts) {
  // What rounds in a logarithm shows in the power as many times as the exponent says.
  NvrtcBatch batch;
  for (const auto numbers : {NvrtcBatch::Numbers::plain, NvrtcBatch::Numbers::few})
    for (const DType dtype : {DType::c64, DType::c128}) {
      batch.use_numbers(numbers);
      const auto size = static_cast<std::int64_t>(itemsize_bytes(dtype));
      batch.add(cuda_kernel(Op::library_pow, dtype), {num_items}, {{size}, {size}, {size}},
                {.ulp = 16});
    }
  batch.run();
}

/// The power of c128 with functions that are an ulp from the C library's.
using Power = void (*)(const double* base_and_exponent, double* parts);
Power power_with_other_functions() {
  void* const library =
      build_library("#include \"tests/jit/nvrtc/other_functions.h\"\n" +
                    nvrtc::prelude_for("parts_of_library_pow") +
                    "extern \"C\" void power(const f64* x, f64* parts) {\n"
                    "  const Parts power = parts_of_library_pow(x[0], x[1], x[2], x[3]);\n"
                    "  parts[0] = power.real, parts[1] = power.imag;\n"
                    "}\n");
  return library == nullptr ? nullptr : reinterpret_cast<Power>(dlsym(library, "power"));
}

/// How far they are from the power, in units in the last place of its larger part.
double steps_from_power(const double* parts, std::complex<long double> x,
                        std::complex<long double> y) {
  const std::complex<long double> power = std::pow(x, y);
  const long double larger = std::max(std::fabs(power.real()), std::fabs(power.imag()));
  const long double distance =
      std::max(std::fabs(parts[0] - power.real()), std::fabs(parts[1] - power.imag()));
  return static_cast<double>(std::ldexp(distance, 52 - std::ilogb(larger)));
}

TEST(NvrtcComplexFunctions, PowersOfDoublesAreRoundedOnce) {
  const Power power = power_with_other_functions();
  ASSERT_NE(power, nullptr);
  std::mt19937_64 random(21);
  std::uniform_real_distribution<double> number(-5, 5);
  for (int i = 0; i < num_items; ++i) {
    double x[4], parts[2];
    for (double& part : x) part = number(random);
    if (i % 16 == 0) x[1] = x[3] = 0;
    // Large powers of numbers next to the unit circle.
    if (i % 4 == 0) {
      const double size = std::hypot(x[0], x[1]) * (1 + number(random) / 1000);
      x[0] /= size, x[1] /= size, x[2] *= 10;
    }
    power(x, parts);
    // The error of the reference is less than a fifth.
    EXPECT_LE(steps_from_power(parts, {x[0], x[1]}, {x[2], x[3]}), 1)
        << std::hexfloat << x[0] << " " << x[1] << " " << x[2] << " " << x[3];
  }
}

TEST(NvrtcComplexFunctions, CompileWithoutSpills) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::c32, DType::c64, DType::c128}) {
    const auto size = static_cast<std::int64_t>(itemsize_bytes(dtype));
    for (const Op op : all_ops())
      if (part_functions(op))
        batch.add(cuda_kernel(op, dtype), {16},
                  std::vector<std::vector<std::int64_t>>(
                      static_cast<std::size_t>(info(op).arity) + 1, {size}));
  }
  // The digits of pi for huge angles, as for sines of real numbers, and what sincos() writes to.
  batch.compile_with_nvrtc("sm_90", 48);
}

}  // namespace
}  // namespace weft::jit::test
