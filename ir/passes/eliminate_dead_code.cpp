#include "ir/pass.h"

#include <algorithm>

namespace weft::ir {

bool eliminate_dead_code(Kernel& kernel) {
  // Uses come after definitions, so one backward walk finds all that is live.
  std::vector<bool> live(kernel.body.size());
  for (std::size_t i = kernel.body.size(); i-- > 0;) {
    const Inst& inst = kernel.body[i];
    live[i] = live[i] || info(inst.op).has_side_effect;
    if (!live[i]) continue;
    for (ValueId arg : inst.args)
      if (arg != no_value) live[arg] = true;
  }
  if (std::find(live.begin(), live.end(), false) == live.end()) return false;
  std::vector<ValueId> renamed(kernel.body.size(), no_value);
  ValueId next = 0;
  std::uint32_t num_hoisted = 0;
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    if (!live[i]) continue;
    Inst inst = kernel.body[i];
    for (ValueId& arg : inst.args)
      if (arg != no_value) arg = renamed[arg];
    if (i < kernel.num_hoisted) ++num_hoisted;
    renamed[i] = next;
    kernel.body[next++] = inst;
  }
  kernel.body.resize(next);
  kernel.num_hoisted = num_hoisted;
  return true;
}

}  // namespace weft::ir
