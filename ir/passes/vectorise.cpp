#include "ir/pass.h"

#include <algorithm>

namespace weft::ir {
namespace {

/// More vectors at once hide latency while their values fit the registers, of which there are 16
/// or 32.
int unroll_for(std::size_t num_values) {
  if (num_values <= 6) return 4;
  return num_values <= 14 ? 2 : 1;
}

}  // namespace

bool vectorise(Kernel& kernel) {
  if (kernel.schedule != Schedule::linear && kernel.schedule != Schedule::strided &&
      kernel.schedule != Schedule::tile)
    return false;
  Loop& inner = kernel.loops.back();
  if (inner.kind != LoopKind::parallel) return false;
  std::size_t widest = 1;
  for (const Inst& inst : kernel.body)
    widest = std::max({widest, itemsize_bytes(inst.dtype), itemsize_bytes(result_dtype(inst))});
  inner.kind = LoopKind::vector;
  inner.lanes = std::max(1, kernel.vector_bytes / static_cast<int>(widest));
  inner.unroll = unroll_for(kernel.body.size() - kernel.num_hoisted);
  return true;
}

}  // namespace weft::ir
