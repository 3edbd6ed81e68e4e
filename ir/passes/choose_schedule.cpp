#include "ir/pass.h"

#include <algorithm>

namespace weft::ir {
namespace {

bool is_linear(const Operand& operand) {
  const StrideClass inner = operand.strides.back();
  return inner == 1 || (inner == 0 && operand.role == Role::input);
}

/// Whether two operands want different loops innermost.
bool is_conflicting(const Kernel& kernel) {
  return kernel.loops.size() >= 2 &&
         std::any_of(kernel.operands.begin(), kernel.operands.end(), is_transposed);
}

Schedule schedule_for(const Kernel& kernel) {
  if (kernel.vector_bytes == 0 || is_scan(kernel)) return Schedule::scalar;
  if (is_reduction(kernel)) {
    const bool is_inner = kernel.loops.back().kind == LoopKind::reduce;
    return is_inner ? Schedule::inner_reduce : Schedule::outer_reduce;
  }
  if (is_conflicting(kernel)) return Schedule::tile;
  const bool all_linear = std::all_of(kernel.operands.begin(), kernel.operands.end(), is_linear);
  return all_linear ? Schedule::linear : Schedule::strided;
}

}  // namespace

bool choose_schedule(Kernel& kernel) {
  if (kernel.schedule != Schedule::unscheduled) return false;
  kernel.schedule = schedule_for(kernel);
  if (kernel.schedule == Schedule::tile)
    kernel.loops[kernel.loops.size() - 2].kind = LoopKind::tile;
  return true;
}

}  // namespace weft::ir
