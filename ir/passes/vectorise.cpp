#include "ir/pass.h"

#include <algorithm>

namespace weft::ir {
namespace {

/// Elements of the widest value that fill a register.
int lanes_for(const Kernel& kernel) {
  std::size_t widest = 1;
  for (const Inst& inst : kernel.body)
    widest = std::max({widest, itemsize_bytes(inst.dtype), itemsize_bytes(result_dtype(inst))});
  return std::max(1, kernel.vector_bytes / static_cast<int>(widest));
}

constexpr int max_unroll = 64;  // rule V3

/// An iteration of the main loop goes once through the tree's lanes, if vectors fit them.
bool vectorise_reduce(const Kernel& kernel, Loop& inner) {
  const int lanes = lanes_for(kernel);
  const int unroll = kernel.tree.lanes / lanes;
  if (inner.lanes != 1 || lanes == 1 || kernel.tree.lanes % lanes != 0 || unroll == 0 ||
      unroll > max_unroll)
    return false;
  inner.lanes = lanes;
  inner.unroll = unroll;
  return true;
}

}  // namespace

bool vectorise(Kernel& kernel) {
  Loop& inner = kernel.loops.back();
  if (kernel.schedule == Schedule::inner_reduce) return vectorise_reduce(kernel, inner);
  if (kernel.schedule != Schedule::linear && kernel.schedule != Schedule::strided &&
      kernel.schedule != Schedule::tile && kernel.schedule != Schedule::outer_reduce)
    return false;
  if (inner.kind != LoopKind::parallel) return false;
  inner.kind = LoopKind::vector;
  inner.lanes = lanes_for(kernel);
  return true;
}

}  // namespace weft::ir
