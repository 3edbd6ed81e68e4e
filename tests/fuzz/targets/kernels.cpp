// Random kernels by every backend, on memory that ends where it must.
#include "tests/fuzz/targets/target.h"

#include "ir/pass.h"
#include "ir/text.h"
#include "jit/backend.h"
#include "tests/ir/random_kernel.h"
#include "tests/jit/calls.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace weft::fuzzing {
namespace {

using jit::test::Call;
using jit::test::GuardedBytes;

/// What a kernel computes is random; where it differs from the interpreter is for the bytes to say.
constexpr int llvm_every = 32;  ///< LLVM takes a thousand times as long as the others

bool are_equal(Bytes actual, Bytes expected, DType dtype) {
  if (std::memcmp(actual.data(), expected.data(), expected.size()) == 0) return true;
  const DType part = real_dtype(dtype);
  const std::size_t itemsize = itemsize_bytes(part);
  if (!is_floating(part)) return false;
  for (std::size_t at = 0; at + itemsize <= expected.size(); at += itemsize) {
    const std::byte* const left = actual.data() + at;
    const std::byte* const right = expected.data() + at;
    if (std::memcmp(left, right, itemsize) != 0 &&
        !(jit::test::is_nan_element(left, part) && jit::test::is_nan_element(right, part)))
      return false;
  }
  return true;
}

std::vector<std::int64_t> choose_extents(Choices& choices, std::size_t num_loops) {
  std::vector<std::int64_t> extents(num_loops);
  for (std::int64_t& extent : extents) extent = 1 + choices.below(3);
  extents.back() = 1 + (choices.number<std::uint16_t>() % 300);
  return extents;
}

/// The kernel for vectors of a machine, which ran through the passes.
ir::Kernel scheduled(ir::Kernel kernel, const jit::Target& target) {
  kernel.vector_bytes = target.vector_bytes();
  ir::run_pipeline(kernel);
  return kernel;
}

void compare(const ir::Kernel& kernel, const jit::Target& target, const Call& call) {
  const jit::Backend& interpreter = *jit::find_backend("interp");
  const auto reference = interpreter.compile(kernel, target);
  for (const jit::Backend* const backend : jit::backends()) {
    static int num_kernels = 0;
    if (backend->name == "llvm" && num_kernels++ % llvm_every != 0) continue;
    if (!backend->refuses(kernel, target).empty()) continue;
    const auto code = backend->compile(kernel, target);
    for (const GuardedBytes::Side side : {GuardedBytes::Side::upper, GuardedBytes::Side::lower}) {
      const auto actual = jit::test::run(*code, call, side);
      const auto expected = jit::test::run(*reference, call, side);
      for (std::size_t i = 0; i < kernel.operands.size(); ++i)
        if (!are_equal(actual[i], expected[i], kernel.operands[i].dtype))
          report_broken(detail::concat(backend->name, " for ", name(target.features.isa),
                                       " differs in operand ", i, " of\n", ir::print(kernel)));
    }
  }
}

}  // namespace

void fuzz_kernel(Bytes input) {
  Choices choices(input);
  std::mt19937_64 random(choices.number<std::uint64_t>());
  ir::RandomKernelOptions options;
  options.max_loops = 1 + choices.below(4);
  options.max_instructions = 1 + choices.below(32);
  std::vector<DType> dtypes;
  for (int i = choices.below(4); i > 0; --i)
    dtypes.push_back(all_dtypes[static_cast<std::size_t>(choices.below(num_dtypes))]);
  if (!dtypes.empty()) options.dtypes = dtypes;
  const ir::Kernel kernel = ir::random_kernel(random, options);
  const Call call =
      jit::test::make_call(kernel, choose_extents(choices, kernel.loops.size()), random);
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (host_features().isa < isa) continue;
    jit::Target target;
    target.features = target_features(isa);
    is_accepted([&] { compare(scheduled(kernel, target), target, call); });
  }
}

}  // namespace weft::fuzzing
