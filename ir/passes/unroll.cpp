#include "ir/pass.h"

#include <algorithm>

namespace weft::ir {
namespace {

/// Vectors at once, so that the processor finds instructions that don't wait for each other: of a
/// long body its scheduler, of some hundred instructions, sees one vector alone.  A body twice as
/// long as that has enough of them itself, and takes long to compile.
int unroll_for(std::size_t num_values, bool has_room) {
  if (num_values <= 6) return 4;
  // In turn, four vectors of such bodies take up to a fifth less time than two, as far as their
  // values are in registers, and no tables (docs/decisions/xbyak.md).
  if (has_room && num_values >= 26 && num_values <= 40) return 4;
  return num_values <= 64 ? 2 : 1;
}

}  // namespace

bool unroll(Kernel& kernel) {
  Loop& inner = kernel.loops.back();
  if (inner.kind != LoopKind::vector || inner.unroll != 1) return false;
  const bool looks_up =
      std::ranges::any_of(kernel.body, [](const Inst& inst) { return inst.op == Op::table_entry; });
  const bool has_room = kernel.vector_bytes == 64 && inner.lanes == 16 && !looks_up;
  inner.unroll = unroll_for(kernel.body.size() - kernel.num_hoisted, has_room);
  return inner.unroll != 1;
}

}  // namespace weft::ir
