#include "ir/pass.h"

namespace weft::ir {
namespace {

/// Vectors at once, so that the processor finds instructions that don't wait for each other: of a
/// long body its scheduler, of some hundred instructions, sees one vector alone.  A body twice as
/// long as that has enough of them itself, and takes long to compile.
int unroll_for(std::size_t num_values) {
  if (num_values <= 6) return 4;
  return num_values <= 64 ? 2 : 1;
}

}  // namespace

bool unroll(Kernel& kernel) {
  Loop& inner = kernel.loops.back();
  if (inner.kind != LoopKind::vector || inner.unroll != 1) return false;
  inner.unroll = unroll_for(kernel.body.size() - kernel.num_hoisted);
  return inner.unroll != 1;
}

}  // namespace weft::ir
