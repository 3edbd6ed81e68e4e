// `hand`: an intrinsics loop for the one case, called without any engine.

#include "bench/hand_loops.h"
#include "bench/support.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace weft::bench {
namespace {

const HandLoop* find_loop(const HandLoop* loops, std::string_view workload) {
  while (loops->run != nullptr && loops->workload != workload) ++loops;
  return loops->run == nullptr ? nullptr : loops;
}

Maker find(std::string_view workload) {
  const HandSet* const set = hand_set();
  if (set == nullptr) return {};
  const HandLoop* loop = nullptr;
  for (const HandLoop* const loops : {set->loops, set->layouts, set->folds})
    if (loop == nullptr) loop = find_loop(loops, workload);
  if (loop == nullptr) return {};
  return [run = loop->run](const Case& work) -> Runner {
    HandArgs args{work.out.data(), {}, work.out.numel(), {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}};
    const Tensor& first = work.inputs[0];
    for (int dim = 0; dim < std::min(work.out.dim(), 6); ++dim) args.size[dim] = work.out.size(dim);
    for (int dim = 0; dim < std::min(first.dim(), 6); ++dim) args.in_size[dim] = first.size(dim);
    for (std::size_t i = 0; i < work.inputs.size(); ++i) args.in[i] = work.inputs[i].data();
    return [run, args] { run(args); };
  };
}

}  // namespace

// As weft itself: with WEFT_ISA=avx2 loops of AVX2 are compared.
const HandSet* hand_set() {
  const char* const isa = std::getenv("WEFT_ISA");
  const bool is_narrow = isa != nullptr && std::string_view(isa) == "avx2";
  if (!is_narrow && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return &hand_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &hand_avx2;
  return nullptr;
}

void add_hand_variant(std::vector<Variant>& variants) {
  variants.push_back({"hand", Check::close, find});
}

}  // namespace weft::bench
