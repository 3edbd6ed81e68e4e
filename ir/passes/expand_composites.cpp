#include "ir/pass.h"
#include "ir/passes/rewrite.h"

#include <algorithm>

namespace weft::ir {

bool expand_composites(Kernel& kernel) {
  const auto is_composite = [](const Inst& inst) { return info(inst.op).form == Form::composite; };
  bool changed = false;
  // A composite's expression may name other composites: repeat until none is left.
  while (std::ranges::any_of(kernel.body, is_composite)) {
    rewrite_body(kernel, [&](Builder& builder, ValueId, const Inst& inst,
                             std::span<const Value> args) {
      return is_composite(inst) ? builder.expand(inst.op, args) : append_with(builder, inst, args);
    });
    changed = true;
  }
  return changed;
}

}  // namespace weft::ir
