// What computes in a register that it finds its argument in: bitcasts, which need no instruction
// then, and fused multiply-adds, whose instructions replace an operand.
#include "jit/xbyak/kernel_emitter.h"

#include <utility>

namespace weft::jit::xbyak {
namespace {

/// Which operands an instruction multiplies, the first being the result; it adds the third.
enum class Order { first_third, second_first, second_third };

void emit_fma(Assembler& code, Order order, DType dtype, const Xmm& first, const Xmm& second,
              const Xbyak::Operand& third) {
  const bool is_double = dtype == DType::f64;
  switch (order) {
    case Order::first_third:
      return is_double ? code.vfmadd132pd(first, second, third)
                       : code.vfmadd132ps(first, second, third);
    case Order::second_first:
      return is_double ? code.vfmadd213pd(first, second, third)
                       : code.vfmadd213ps(first, second, third);
    case Order::second_third:
      return is_double ? code.vfmadd231pd(first, second, third)
                       : code.vfmadd231ps(first, second, third);
  }
}

}  // namespace

void KernelEmitter::bitcast(ir::ValueId id) {
  const ir::ValueId argument = kernel_.body[id].args[0];
  const Xmm x = registers_.use(argument);
  if (registers_.can_replace(id, argument))
    registers_.define_over(id, argument);
  else
    code_.move(registers_.define(id), x);
}

// The result replaces an argument that is needed no more, if there is one, and else a copy of the
// first factor.  A constant comes from memory, which only the third operand does.
void KernelEmitter::multiply_add(ir::ValueId id) {
  const ir::Inst& inst = kernel_.body[id];
  ir::ValueId x = inst.args[0], y = inst.args[1];
  const ir::ValueId z = inst.args[2];
  if (registers_.is_in_memory(x)) std::swap(x, y);
  const bool adds_memory = z != x && z != y && registers_.is_in_memory(z);
  const bool scales_memory = !adds_memory && y != x && registers_.is_in_memory(y);
  registers_.use(x);
  if (!scales_memory) registers_.use(y);
  if (!adds_memory) registers_.use(z);
  if (!scales_memory && !registers_.can_replace(id, x) && registers_.can_replace(id, y))
    std::swap(x, y);
  const Xmm factor = registers_.use(x);
  const Xmm other = scales_memory ? factor : registers_.use(y);
  const Xmm addend = adds_memory ? factor : registers_.use(z);
  const bool replaces_factor = registers_.can_replace(id, x);
  if (!replaces_factor && !adds_memory && registers_.can_replace(id, z)) {
    const Xmm out = registers_.define_over(id, z);
    if (scales_memory)
      return emit_fma(code_, Order::second_third, inst.dtype, out, factor, registers_.memory(y));
    return emit_fma(code_, Order::second_third, inst.dtype, out, factor, other);
  }
  const Xmm out = replaces_factor ? registers_.define_over(id, x) : registers_.define(id);
  code_.move(out, factor);
  if (scales_memory)
    emit_fma(code_, Order::first_third, inst.dtype, out, addend, registers_.memory(y));
  else if (adds_memory)
    emit_fma(code_, Order::second_first, inst.dtype, out, other, registers_.memory(z));
  else
    emit_fma(code_, Order::second_first, inst.dtype, out, other, addend);
}

}  // namespace weft::jit::xbyak
