// With y the rounded reciprocal of c, q = x * y is less than two units in the last place off, the
// remainder r = q * c - x is exact, and q - r * y rounds to the quotient (Markstein 1990;
// Brisebarre, Muller and Raina 2004), as long as nothing overflows or leaves the normal numbers.
// Zeros keep their sign for positive c.
#include "jit/xbyak/invariant_division.h"

#include "jit/xbyak/operands.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::jit::xbyak {
namespace {

// Comparison predicate of vpcmpud and vpcmpuq: greater.
constexpr std::uint8_t is_greater = 6;

/// Powers of two between which numbers are taken care of, as bits: quotients of the two are normal,
/// and so is the last place of a remainder.
struct Limits {
  std::uint64_t low, high;
};

std::uint64_t power_of_two(DType dtype, int exponent) {
  return dtype == DType::f32 ? static_cast<std::uint64_t>(127 + exponent) << 23
                             : static_cast<std::uint64_t>(1023 + exponent) << 52;
}

Limits limits_of_divisors(DType dtype) {
  const int exponent = dtype == DType::f32 ? 30 : 200;
  return {power_of_two(dtype, -exponent), power_of_two(dtype, exponent)};
}

Limits limits_of_dividends(DType dtype) {
  const int exponent = dtype == DType::f32 ? 90 : 800;
  return {power_of_two(dtype, -exponent), power_of_two(dtype, exponent)};
}

std::uint64_t reciprocal_of(DType dtype, std::uint64_t bits) {
  if (dtype == DType::f32)
    return std::bit_cast<std::uint32_t>(1 / std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return std::bit_cast<std::uint64_t>(1 / std::bit_cast<double>(bits));
}

bool is_constant_outside(const ir::Inst& inst) {
  const Limits limits = limits_of_divisors(inst.dtype);
  return inst.op == Op::constant && (inst.bits.lo < limits.low || inst.bits.lo > limits.high);
}

/// The divisor of a division that is worth it, or null.
const ir::Inst* invariant_divisor(const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  if (inst.op != Op::div || (inst.dtype != DType::f32 && inst.dtype != DType::f64)) return nullptr;
  if (id < kernel.num_hoisted || inst.args[1] >= kernel.num_hoisted ||
      inst.args[0] < kernel.num_hoisted)
    return nullptr;
  const ir::Inst& divisor = kernel.body[inst.args[1]];
  return is_constant_outside(divisor) ? nullptr : &divisor;
}

/// What was an integer is zero or within the limits.
bool is_from_integer(const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  return inst.op == Op::cast && is_integral(result_dtype(kernel.body[inst.args[0]]));
}

}  // namespace

bool divides_by_invariants(const ir::Kernel& kernel, const CpuFeatures& features) {
  if (features.isa != Isa::avx512) return false;
  for (ir::ValueId id = kernel.num_hoisted; id < kernel.body.size(); ++id)
    if (invariant_divisor(kernel, id) != nullptr) return true;
  return false;
}

InvariantDivision::InvariantDivision(Assembler& code, Registers& registers,
                                     const ir::Kernel& kernel)
    : code_(code), registers_(registers), kernel_(kernel) {
  if (!code.has_avx512()) return;
  for (ir::ValueId id = kernel.num_hoisted; id < kernel.body.size(); ++id) {
    const ir::Inst* divisor = invariant_divisor(kernel, id);
    const ir::ValueId divisor_id = kernel.body[id].args[1];
    if (divisor == nullptr || divisor->op == Op::constant || prepared(divisor_id) != nullptr)
      continue;
    divisors_.push_back({divisor_id, code.allocate_frame(std::max(16, bytes_of(*divisor)), 64),
                         code.allocate_frame(4, 4)});
  }
}

const ir::Inst* InvariantDivision::divisor_of(ir::ValueId id) const {
  return code_.has_avx512() ? invariant_divisor(kernel_, id) : nullptr;
}

const InvariantDivision::Divisor* InvariantDivision::prepared(ir::ValueId id) const {
  const auto found = std::ranges::find(divisors_, id, &Divisor::id);
  return found == divisors_.end() ? nullptr : &*found;
}

int InvariantDivision::bytes_of(const ir::Inst& inst) const {
  return static_cast<int>(itemsize_bytes(inst.dtype)) * registers_.lanes();
}

Address InvariantDivision::splat(const ir::Inst& inst, std::uint64_t item) {
  return code_.splat(item, static_cast<int>(itemsize_bytes(inst.dtype)),
                     std::max(16, bytes_of(inst)));
}

void InvariantDivision::prepare(ir::ValueId id, int least_extent) {
  const Divisor* divisor = prepared(id);
  if (divisor == nullptr) return;
  const ir::Inst& inst = kernel_.body[id];
  const Limits limits = limits_of_divisors(inst.dtype);
  const bool is_double = inst.dtype == DType::f64;
  const Xmm x = registers_.use(id);
  const Xmm reciprocal = registers_.temp(bytes_of(inst));
  const Opmask is_outside = registers_.temp_mask();
  // Registers have been taken: from here on the code may be jumped over.
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.cmp(code_.qword[code_.rax + 8 * (kernel_.loops.size() - 1)], least_extent);
  const auto is_short = code_.jump_if(Condition::below);
  code_.vmovups(reciprocal, splat(inst, power_of_two(inst.dtype, 0)));
  is_double ? code_.vdivpd(reciprocal, reciprocal, x) : code_.vdivps(reciprocal, reciprocal, x);
  code_.vmovups(code_.ptr[code_.frame(divisor->reciprocal_slot)], reciprocal);
  const Xmm& offset = reciprocal;
  is_double ? code_.vpsubq(offset, x, splat(inst, limits.low))
            : code_.vpsubd(offset, x, splat(inst, limits.low));
  const Address range = splat(inst, limits.high - limits.low);
  is_double ? code_.vpcmpuq(is_outside, offset, range, is_greater)
            : code_.vpcmpud(is_outside, offset, range, is_greater);
  code_.kmovw(code_.eax, is_outside);
  code_.mov(code_.dword[code_.frame(divisor->outside_slot)], code_.eax);
  code_.bind(is_short);
}

Address InvariantDivision::reciprocal(const ir::Inst& divisor, const Divisor* prepared) {
  if (prepared != nullptr) return code_.ptr[code_.frame(prepared->reciprocal_slot)];
  return splat(divisor, reciprocal_of(divisor.dtype, divisor.bits.lo));
}

void InvariantDivision::multiply_and_correct(const ir::Inst& inst, const Xmm& out, const Xmm& x,
                                             const Xmm& divisor, const Xmm& remainder,
                                             const Address& reciprocal) {
  if (inst.dtype == DType::f64) {
    code_.vmulpd(out, x, reciprocal);
    code_.vmovapd(remainder, out);
    code_.vfmsub213pd(remainder, divisor, x);
    code_.vfnmadd231pd(out, remainder, reciprocal);
  } else {
    code_.vmulps(out, x, reciprocal);
    code_.vmovaps(remainder, out);
    code_.vfmsub213ps(remainder, divisor, x);
    code_.vfnmadd231ps(out, remainder, reciprocal);
  }
}

// Twice the bits have no sign.  Zeros are fine.
Assembler::Jump InvariantDivision::jump_if_outside(const ir::Inst& inst, const Xmm& x,
                                                   const Xmm& offset, const Opmask& is_outside) {
  const Limits limits = limits_of_dividends(inst.dtype);
  const Address low = splat(inst, 2 * limits.low);
  const Address range = splat(inst, 2 * (limits.high - limits.low));
  if (inst.dtype == DType::f64) {
    code_.vpaddq(offset, x, x);
    code_.vpsubq(offset, offset, low);
    code_.vpcmpuq(is_outside, offset, range, is_greater);
    code_.vptestmq(is_outside | is_outside, x, x);
  } else {
    code_.vpaddd(offset, x, x);
    code_.vpsubd(offset, offset, low);
    code_.vpcmpud(is_outside, offset, range, is_greater);
    code_.vptestmd(is_outside | is_outside, x, x);
  }
  code_.kortestw(is_outside, is_outside);
  return code_.jump_if(Condition::not_zero);
}

void InvariantDivision::divide(ir::ValueId id) {
  const ir::Inst& inst = kernel_.body[id];
  const Divisor* known_later = prepared(inst.args[1]);
  const bool is_checked = !is_from_integer(kernel_, inst.args[0]);
  const Xmm x = registers_.use(inst.args[0]);
  const Xmm divisor = registers_.use(inst.args[1]);
  const Xmm out = registers_.define(id);
  const Xmm temp = registers_.temp(bytes_of(inst));
  const Opmask is_outside = is_checked ? registers_.temp_mask() : Opmask(0);
  const Address y = reciprocal(kernel_.body[inst.args[1]], known_later);
  // No register is taken from here on: the code branches.
  Division division{inst.dtype == DType::f64, out, x, divisor, {}, nullptr};
  if (known_later != nullptr) {
    code_.cmp(code_.dword[code_.frame(known_later->outside_slot)], 0);
    division.jumps.push_back(code_.jump_if(Condition::not_zero));
  }
  multiply_and_correct(inst, out, x, divisor, temp, y);
  if (is_checked) division.jumps.push_back(jump_if_outside(inst, x, temp, is_outside));
  if (division.jumps.empty()) return;
  division.back = code_.here();
  divisions_.push_back(std::move(division));
}

void InvariantDivision::emit_divisions() {
  for (const Division& division : divisions_) {
    code_.mark("division");
    for (const Assembler::Jump jump : division.jumps) code_.bind(jump);
    division.is_double ? code_.vdivpd(division.out, division.x, division.divisor)
                       : code_.vdivps(division.out, division.x, division.divisor);
    code_.jmp(division.back);
  }
}

}  // namespace weft::jit::xbyak
