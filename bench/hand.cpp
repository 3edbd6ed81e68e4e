// `hand`: an intrinsics loop for the one case, called without any engine.

#include "bench/hand_loops.h"
#include "bench/support.h"

namespace weft::bench {
namespace {

Maker find(std::string_view workload) {
  if (hand_set() == nullptr) return {};
  for (const HandLoop* loop = hand_set()->loops; loop->run != nullptr; ++loop) {
    if (loop->workload != workload) continue;
    return [run = loop->run](const Case& work) -> Runner {
      HandArgs args{
          work.out.data(), {}, work.out.numel(), work.out.dim() > 0 ? work.out.size(0) : 1};
      for (std::size_t i = 0; i < work.inputs.size(); ++i) args.in[i] = work.inputs[i].data();
      return [run, args] { run(args); };
    };
  }
  return {};
}

}  // namespace

const HandSet* hand_set() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return &hand_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &hand_avx2;
  return nullptr;
}

void add_hand_variant(std::vector<Variant>& variants) {
  variants.push_back({"hand", Check::close, find});
}

}  // namespace weft::bench
