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

/// LLVM takes a thousand times as long as the others: one input in so many asks for it.
constexpr int llvm_every = 32;

/// Few iterations of outer loops; of a reduce loop around the innermost enough for several leaves.
std::vector<std::int64_t> choose_extents(Choices& choices, const ir::Kernel& kernel) {
  const std::size_t num_loops = kernel.loops.size();
  std::vector<std::int64_t> extents(num_loops);
  for (std::size_t loop = 0; loop + 1 < num_loops; ++loop) {
    const bool is_row = loop + 2 == num_loops && kernel.loops[loop].kind == ir::LoopKind::reduce;
    extents[loop] = 1 + choices.below(is_row ? 40 : 3);
  }
  extents.back() = 1 + (choices.number<std::uint16_t>() % 300);
  return extents;
}

/// A kernel as one of the backends runs it, and where.
struct Subject {
  const ir::Kernel& kernel;  ///< for vectors of the target, after the passes
  const jit::Target& target;
  const jit::Backend& backend;
};

/// `code` does what `reference` does, on both sides of guarded memory.
void compare_runs(const Subject& subject, const jit::CodeObject& code,
                  const jit::CodeObject& reference, const Call& call) {
  for (const GuardedBytes::Side side : jit::test::both_sides) {
    const auto actual = jit::test::run(code, call, side);
    const auto expected = jit::test::run(reference, call, side);
    for (std::size_t i = 0; i < actual.size(); ++i)
      if (!jit::test::same_elements(actual[i], expected[i], subject.kernel.operands[i].dtype))
        report_broken(detail::concat(subject.backend.name, " for ",
                                     name(subject.target.features.isa), " differs in operand ", i,
                                     " of\n", ir::print(subject.kernel)));
  }
}

void compare(const Subject& subject, const jit::CodeObject& reference, const Call& call) {
  const auto code = subject.backend.compile(subject.kernel, subject.target);
  compare_runs(subject, *code, reference, call);
  if (code->rows == nullptr || call.extents.back() > subject.kernel.tree.block) return;
  jit::CodeObject rows = *code;
  rows.entry = code->rows;
  compare_runs(subject, rows, reference, call);
}

/// `kernel` by every backend that takes it.
void compare_backends(ir::Kernel kernel, const jit::Target& target, bool runs_llvm,
                      const Call& call) {
  kernel.vector_bytes = target.vector_bytes();
  if (!is_accepted([&] { ir::run_pipeline(kernel); })) return;  // it became too long
  const jit::Backend& interpreter = *jit::find_backend("interp");
  if (!interpreter.refuses(kernel, target).empty()) return;
  const auto reference = interpreter.compile(kernel, target);
  for (const jit::Backend* const backend : jit::backends()) {
    if (backend == &interpreter || (backend->name == "llvm" && !runs_llvm) ||
        !backend->refuses(kernel, target).empty())
      continue;
    const Subject subject{kernel, target, *backend};
    try {
      compare(subject, *reference, call);
    } catch (const Error& error) {
      report_broken(detail::concat(backend->name, " did not refuse, and says: ", error.what(), "\n",
                                   ir::print(kernel)));
    }
  }
}

}  // namespace

void fuzz_kernel(Bytes input) {
  Choices choices(input);
  // What a kernel computes is random; where it differs from the interpreter is for the bytes to
  // say.
  std::mt19937_64 random(choices.number<std::uint64_t>());
  ir::RandomKernelOptions options;
  const std::uint8_t loops = choices.byte();
  options.max_loops = 1 + loops % 4;
  options.may_reduce = loops / 4 % 2 != 0;
  options.may_scan = loops / 8 % 2 != 0;
  options.max_instructions = 1 + choices.below(32);
  std::vector<DType> dtypes;
  for (int i = choices.below(4); i > 0; --i)
    dtypes.push_back(all_dtypes[static_cast<std::size_t>(choices.below(num_dtypes))]);
  if (!dtypes.empty()) options.dtypes = dtypes;
  const ir::Kernel kernel = ir::random_kernel(random, options);
  const Call call = jit::test::make_call(kernel, choose_extents(choices, kernel), random);
  // 1: for AVX2, 2: for AVX-512, where the machine has them.
  const int llvm = choices.below(llvm_every);
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (host_features().isa < isa) continue;
    jit::Target target;
    target.features = target_features(isa);
    compare_backends(kernel, target, llvm == (isa == Isa::avx2 ? 1 : 2), call);
  }
}

}  // namespace weft::fuzzing
