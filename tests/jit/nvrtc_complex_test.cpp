// Functions of complex numbers as CUDA source that runs on the CPU, against the interpreter, which
// has them of the C library.
#include "tests/jit/nvrtc_batch.h"

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
  EXPECT_EQ(batch.size(), 3u * 2 * 15);
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
