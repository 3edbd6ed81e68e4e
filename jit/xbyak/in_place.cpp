// What computes in a register that it finds its argument in: bitcasts, which need no instruction
// then, and fused multiply-adds, whose instructions replace an operand.
#include "jit/xbyak/kernel_emitter.h"
#include "jit/xbyak/signs.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace weft::jit::xbyak {
namespace {

/// Which operands an instruction multiplies, the first being the result; it adds the third.
enum class Order : std::uint8_t { first_third, second_first, second_third };

using MultiplyAdd = void (Xbyak::CodeGenerator::*)(const Xmm&, const Xmm&, const Xbyak::Operand&);

/// [signs][Order][f64], of `signs` what fold_negatives() says.
constexpr MultiplyAdd multiply_adds[4][3][2] = {
    {{&Assembler::vfmadd132ps, &Assembler::vfmadd132pd},
     {&Assembler::vfmadd213ps, &Assembler::vfmadd213pd},
     {&Assembler::vfmadd231ps, &Assembler::vfmadd231pd}},
    {{&Assembler::vfnmadd132ps, &Assembler::vfnmadd132pd},
     {&Assembler::vfnmadd213ps, &Assembler::vfnmadd213pd},
     {&Assembler::vfnmadd231ps, &Assembler::vfnmadd231pd}},
    {{&Assembler::vfmsub132ps, &Assembler::vfmsub132pd},
     {&Assembler::vfmsub213ps, &Assembler::vfmsub213pd},
     {&Assembler::vfmsub231ps, &Assembler::vfmsub231pd}},
    {{&Assembler::vfnmsub132ps, &Assembler::vfnmsub132pd},
     {&Assembler::vfnmsub213ps, &Assembler::vfnmsub213pd},
     {&Assembler::vfnmsub231ps, &Assembler::vfnmsub231pd}},
};

void emit_fma(Assembler& code, const ir::Inst& inst, Order order, const Xmm& first,
              const Xmm& second, const Xbyak::Operand& third) {
  const MultiplyAdd emit = multiply_adds[inst.operand][static_cast<std::size_t>(order)]
                                        [inst.dtype == DType::f64 ? 1 : 0];
  (code.*emit)(first, second, third);
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

/// Whether the value is the high half of a 32-bit item and only cast to 16 bits: the cast then
/// takes the half out of the item, and there is nothing to shift.
bool KernelEmitter::is_high_half(ir::ValueId id) const {
  const ir::Inst& inst = kernel_.body[id];
  if (inst.op != Op::bitwise_right_shift || inst.dtype != DType::u32) return false;
  const ir::Inst& count = kernel_.body[inst.args[1]];
  if (count.op != Op::constant || count.bits.lo != 16) return false;
  return std::ranges::all_of(kernel_.body, [&](const ir::Inst& user) {
    const bool uses = std::ranges::find(user.args, id) != user.args.end();
    return !uses ||
           (user.op == Op::cast && is_integer(user.dtype) && itemsize_bytes(user.dtype) == 2);
  });
}

void KernelEmitter::high_halves(ir::ValueId id) {
  const int size_bytes = 4 * lanes_;
  if (!code_.has_avx512()) {
    const Xmm x = registers_.use(kernel_.body[id].args[0]);
    return narrow_items(registers_, code_, registers_.define(id), x, 4, 2, lanes_, 2);
  }
  std::array<std::uint16_t, 32> order{};
  for (std::size_t lane = 0; lane < 16; ++lane)
    order[lane] = static_cast<std::uint16_t>(2 * lane + 1);
  const auto used = std::as_bytes(std::span(order)).first(static_cast<std::size_t>(size_bytes));
  const Xmm x = registers_.use(kernel_.body[id].args[0]);
  const Xmm chosen = registers_.temp(size_bytes);
  code_.vmovdqu16(chosen, code_.constant(used));
  code_.vpermw(resized(registers_.define(id), size_bytes), chosen, resized(x, size_bytes));
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
      return emit_fma(code_, inst, Order::second_third, out, factor, registers_.memory(y));
    return emit_fma(code_, inst, Order::second_third, out, factor, other);
  }
  const Xmm out = replaces_factor ? registers_.define_over(id, x) : registers_.define(id);
  code_.move(out, factor);
  if (scales_memory)
    emit_fma(code_, inst, Order::first_third, out, addend, registers_.memory(y));
  else if (adds_memory)
    emit_fma(code_, inst, Order::second_first, out, other, registers_.memory(z));
  else
    emit_fma(code_, inst, Order::second_first, out, other, addend);
}

}  // namespace weft::jit::xbyak
