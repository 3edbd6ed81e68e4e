#include "ir/pass.h"
#include "ir/passes/rewrite.h"

namespace weft::ir {

bool expand_composites(Kernel& kernel) {
  bool changed = false;
  // A composite's expression may name other composites: repeat until none is left.
  while (rewrite_body(kernel,
                      [](Builder& builder, ValueId, const Inst& inst, std::span<const Value> args) {
                        if (info(inst.op).form != Form::composite)
                          return append_with(builder, inst, args);
                        return builder.expand(inst.op, args);
                      }))
    changed = true;
  return changed;
}

}  // namespace weft::ir
