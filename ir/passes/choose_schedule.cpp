#include "ir/pass.h"

#include <algorithm>

namespace weft::ir {
namespace {

bool is_linear(const Operand& operand) {
  const StrideClass inner = operand.strides.back();
  return inner == 1 || (inner == 0 && operand.role == Role::input);
}

Schedule schedule_for(const Kernel& kernel) {
  if (kernel.vector_bytes == 0) return Schedule::scalar;
  const bool all_linear = std::all_of(kernel.operands.begin(), kernel.operands.end(), is_linear);
  return all_linear ? Schedule::linear : Schedule::strided;
}

}  // namespace

bool choose_schedule(Kernel& kernel) {
  if (kernel.schedule != Schedule::unscheduled) return false;
  kernel.schedule = schedule_for(kernel);
  return true;
}

}  // namespace weft::ir
