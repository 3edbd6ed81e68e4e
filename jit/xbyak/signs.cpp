#include "jit/xbyak/signs.h"

#include <algorithm>
#include <vector>

namespace weft::jit::xbyak {
namespace {

bool multiplies_and_adds(const ir::Inst& inst) {
  return inst.op == Op::fma && (inst.dtype == DType::f32 || inst.dtype == DType::f64);
}

/// By id, whether a value is a negative and an argument of such instructions alone.
std::vector<bool> foldable_negatives(const ir::Kernel& kernel) {
  std::vector<bool> is_foldable(kernel.body.size(), false);
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    const ir::Inst& inst = kernel.body[id];
    is_foldable[id] = inst.op == Op::neg;
    if (multiplies_and_adds(inst)) continue;
    for (const ir::ValueId arg : inst.args)
      if (arg != ir::no_value) is_foldable[arg] = false;
  }
  return is_foldable;
}

}  // namespace

const ir::Kernel& fold_negatives(const ir::Kernel& kernel, std::optional<ir::Kernel>& folded) {
  const auto is_negative = [](const ir::Inst& inst) { return inst.op == Op::neg; };
  if (std::ranges::none_of(kernel.body, is_negative)) return kernel;
  const std::vector<bool> is_foldable = foldable_negatives(kernel);
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    if (!multiplies_and_adds(kernel.body[id])) continue;
    for (std::size_t i = 0; i < 3; ++i) {
      const ir::ValueId negative = kernel.body[id].args[i];
      if (!is_foldable[negative]) continue;
      if (!folded) folded = kernel;
      ir::Inst& inst = folded->body[id];
      inst.args[i] = kernel.body[negative].args[0];
      inst.operand ^= i < 2 ? signs::minus_product : signs::minus_addend;
      const DType dtype = kernel.body[negative].dtype;
      folded->body[negative] = {.op = Op::constant, .dtype = dtype};
    }
  }
  return folded ? *folded : kernel;
}

}  // namespace weft::jit::xbyak
