#include "ir/pass.h"

#include <algorithm>

namespace weft::ir {
namespace {

/// Whether the value of `inst` is the same along the whole innermost loop.
bool is_invariant(const Kernel& kernel, const Inst& inst, const std::vector<bool>& invariant) {
  if (writes(inst)) return false;
  if (inst.op == Op::load) return kernel.operands[inst.operand].strides.back() == 0;
  return std::all_of(inst.args.begin(), inst.args.end(),
                     [&](ValueId arg) { return arg == no_value || invariant[arg]; });
}

}  // namespace

bool hoist_invariants(Kernel& kernel) {
  std::vector<bool> invariant(kernel.body.size());
  for (std::size_t i = 0; i < kernel.body.size(); ++i)
    invariant[i] = is_invariant(kernel, kernel.body[i], invariant);
  if (kernel.num_hoisted == 0 &&
      std::find(invariant.begin(), invariant.end(), true) == invariant.end())
    return false;

  const std::vector<Inst> old = kernel.body;
  std::vector<ValueId> renamed(old.size(), no_value);
  ValueId next = 0;
  const auto move = [&](bool wanted) {
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (invariant[i] != wanted) continue;
      Inst inst = old[i];
      for (ValueId& arg : inst.args)
        if (arg != no_value) arg = renamed[arg];
      renamed[i] = next;
      kernel.body[next++] = inst;
    }
  };
  move(true);
  const std::uint32_t num_hoisted = next;
  move(false);
  const bool changed = num_hoisted != kernel.num_hoisted || kernel.body != old;
  kernel.num_hoisted = num_hoisted;
  return changed;
}

}  // namespace weft::ir
