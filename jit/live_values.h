// How many values of a body need a register at a time.
#pragma once

#include "ir/kernel.h"

#include <algorithm>
#include <vector>

namespace weft::jit {

/// Most values of the body, hoisted ones and those that is_counted(id) is false of left out, that
/// live between two instructions: what one needs besides is its result.
template <class IsCounted>
int most_live(const ir::Kernel& kernel, IsCounted is_counted) {
  std::vector<ir::ValueId> last_use(kernel.body.size());
  for (ir::ValueId id = kernel.num_hoisted; id < kernel.body.size(); ++id)
    for (const ir::ValueId arg : kernel.body[id].args)
      if (arg != ir::no_value) last_use[arg] = id;
  int most = 0, live = 0;
  for (ir::ValueId id = kernel.num_hoisted; id < kernel.body.size(); ++id) {
    if (last_use[id] > id && is_counted(id)) ++live;
    for (const ir::ValueId arg : kernel.body[id].args) {
      if (arg == ir::no_value || arg < kernel.num_hoisted || last_use[arg] != id) continue;
      last_use[arg] = 0;  // may be an argument twice
      if (is_counted(arg)) --live;
    }
    most = std::max(most, live);
  }
  return most;
}

}  // namespace weft::jit
