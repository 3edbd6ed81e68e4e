#include "ir/pass.h"

namespace weft::ir {
namespace {

/// More vectors at once hide latency while their values fit the registers, of which there are 16
/// or 32.
int unroll_for(std::size_t num_values) {
  if (num_values <= 6) return 4;
  return num_values <= 14 ? 2 : 1;
}

}  // namespace

bool unroll(Kernel& kernel) {
  Loop& inner = kernel.loops.back();
  if (inner.kind != LoopKind::vector || inner.unroll != 1) return false;
  inner.unroll = unroll_for(kernel.body.size() - kernel.num_hoisted);
  return inner.unroll != 1;
}

}  // namespace weft::ir
