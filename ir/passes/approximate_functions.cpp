// Under Numerics::fast: functions of f32 that follow less of what rounding takes (docs/numerics.md)
// and take a third less time.  In the IR, so that every backend gives the same bits.
#include "ir/pass.h"
#include "ir/passes/rewrite.h"

namespace weft::ir {
namespace {

Op fast_variant(Op op) {
  switch (op) {
    case Op::sigmoid: return Op::fast_sigmoid;
    case Op::silu: return Op::fast_silu;
    case Op::gelu_tanh: return Op::fast_gelu_tanh;
    default: return op;
  }
}

}  // namespace

bool approximate_functions(Kernel& kernel) {
  if (kernel.numerics != Numerics::fast) return false;
  bool changed = false;
  for (Inst& inst : kernel.body) {
    const Op variant = inst.dtype == DType::f32 ? fast_variant(inst.op) : inst.op;
    changed |= variant != inst.op;
    inst.op = variant;
  }
  return changed;
}

}  // namespace weft::ir
