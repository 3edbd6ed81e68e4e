// With y the rounded reciprocal of c, q = x * y is less than two units in the last place off, the
// remainder r = q * c - x is exact, and q - r * y rounds to the quotient (Markstein 1990;
// Brisebarre, Muller and Raina 2004), as long as nothing overflows or leaves the normal numbers.
// Zeros keep their sign for positive c.
#include "jit/xbyak/invariant_division.h"

#include "jit/xbyak/operands.h"
#include "jit/xbyak/two_products.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace weft::jit::xbyak {
namespace {

using quotients::terms_exponent;

// Comparison predicate of vpcmpud and vpcmpuq: greater.
constexpr std::uint8_t is_greater = 6;

std::uint64_t power_of_two(DType dtype, int exponent) {
  return dtype == DType::f32 ? static_cast<std::uint64_t>(127 + exponent) << 23
                             : static_cast<std::uint64_t>(1023 + exponent) << 52;
}

/// Quotients of a dividend and a divisor between 2^-exponent and 2^exponent are normal, and so is
/// the last place of a remainder.
int divisors_exponent(DType dtype) {
  return dtype == DType::f32 ? quotients::divisors_exponent_f32 : 200;
}
int dividends_exponent(DType dtype) { return dtype == DType::f32 ? 90 : 800; }
/// The value of a constant.
float f32_of(const ir::Inst& inst) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(inst.bits.lo));
}

std::uint64_t low_bits_of(const ir::Inst& inst) {
  return std::bit_cast<std::uint32_t>(low_factor(f32_of(inst)));
}

std::uint64_t reciprocal_of(const ir::Inst& inst) {
  if (inst.dtype == DType::f32) return std::bit_cast<std::uint32_t>(1 / f32_of(inst));
  return std::bit_cast<std::uint64_t>(1 / std::bit_cast<double>(inst.bits.lo));
}

/// Whether it is a constant between the powers of two.
bool is_constant_within(const ir::Inst& inst, int exponent) {
  return inst.op == Op::constant && inst.bits.lo >= power_of_two(inst.dtype, -exponent) &&
         inst.bits.lo <= power_of_two(inst.dtype, exponent);
}

bool is_constant_outside(const ir::Inst& inst) {
  return inst.op == Op::constant && !is_constant_within(inst, divisors_exponent(inst.dtype));
}

/// Zen 5 divides 16 floats in two and a half cycles: sooner than dividends are looked at.
bool is_sooner_divided(const ir::Kernel& kernel, const ir::Inst& inst,
                       const CpuFeatures& features) {
  return features.amd_family >= zen5_family && inst.dtype == DType::f32 &&
         !is_from_integer(kernel, inst.args[0]) &&
         small_sum(kernel, inst.args[0]).number == ir::no_value;
}

/// The divisor of a division that is worth it, or null.
const ir::Inst* invariant_divisor(const ir::Kernel& kernel, ir::ValueId id,
                                  const CpuFeatures& features) {
  const ir::Inst& inst = kernel.body[id];
  if (inst.op != Op::div || (inst.dtype != DType::f32 && inst.dtype != DType::f64)) return nullptr;
  if (id < kernel.num_hoisted || inst.args[1] >= kernel.num_hoisted ||
      inst.args[0] < kernel.num_hoisted)
    return nullptr;
  if (is_sooner_divided(kernel, inst, features)) return nullptr;
  const ir::Inst& divisor = kernel.body[inst.args[1]];
  return is_constant_outside(divisor) ? nullptr : &divisor;
}

}  // namespace

bool divides_by_invariants(const ir::Kernel& kernel, const CpuFeatures& features) {
  if (features.isa == Isa::generic) return false;
  for (ir::ValueId id = kernel.num_hoisted; id < kernel.body.size(); ++id)
    if (invariant_divisor(kernel, id, features) != nullptr) return true;
  return false;
}

InvariantDivision::InvariantDivision(Assembler& code, Registers& registers,
                                     const ir::Kernel& kernel, bool calls, bool has_loops)
    : code_(code), registers_(registers), kernel_(kernel), has_loops_(has_loops) {
  std::vector<ir::ValueId> quotients;
  for (ir::ValueId id = kernel.num_hoisted; id < kernel.body.size(); ++id) {
    if (divisor_of(id) == nullptr) continue;
    quotients.push_back(id);
    add_divisor(kernel.body[id].args[1], calls);
    add_term(kernel.body[id].args[0]);
  }
  for (const ir::ValueId id : quotients)
    if (may_take_two_products(id))
      add_low(*std::ranges::find(divisors_, kernel.body[id].args[1], &Divisor::id), calls);
}

/// Whether each dividend must be looked at: nothing else says of what size it is.
bool InvariantDivision::is_checked(ir::ValueId dividend) const {
  return known_term(dividend) == nullptr && !is_from_integer(kernel_, dividend);
}

/// Of known size, and no negative zero: a zero less a number is one if the zero is.
bool InvariantDivision::may_take_two_products(ir::ValueId id) const {
  const ir::Inst& inst = kernel_.body[id];
  const ir::Inst& dividend = kernel_.body[inst.args[0]];
  const bool is_zero_less = dividend.op == Op::sub && dividend.args[0] < kernel_.num_hoisted;
  return inst.dtype == DType::f32 && !is_checked(inst.args[0]) && !is_zero_less;
}

void InvariantDivision::add_low(Divisor& divisor, bool calls) {
  const ir::Inst& inst = kernel_.body[divisor.id];
  const bool is_constant = inst.op == Op::constant;
  if (divisor.has_low || (!is_constant && !has_loops_)) return;
  if (is_constant && !divides_in_two_products(f32_of(inst))) return;
  divisor.has_low = true;
  if (!calls) divisor.low = registers_.keep();
  if (is_constant) return;
  if (!divisor.low) divisor.low_slot = code_.allocate_frame(std::max(16, bytes_of(inst)), 64);
  divisor.inexact_slot = code_.allocate_frame(4, 4);
}

void InvariantDivision::add_divisor(ir::ValueId id, bool calls) {
  if (prepared(id) != nullptr) return;
  Divisor divisor;
  divisor.id = id;
  if (!calls) divisor.reciprocal = registers_.keep();
  const ir::Inst& inst = kernel_.body[id];
  if (inst.op != Op::constant) {
    if (!divisor.reciprocal)
      divisor.reciprocal_slot = code_.allocate_frame(std::max(16, bytes_of(inst)), 64);
    divisor.outside_slot = code_.allocate_frame(4, 4);
  }
  divisors_.push_back(divisor);
}

void InvariantDivision::add_term(ir::ValueId dividend) {
  Term term = term_of(dividend);
  if (term.id == ir::no_value || known_term(dividend) != nullptr) return;
  term.outside_slot = code_.allocate_frame(4, 4);
  terms_.push_back(term);
}

const ir::Inst* InvariantDivision::divisor_of(ir::ValueId id) const {
  return invariant_divisor(kernel_, id, code_.features());
}

const InvariantDivision::Divisor* InvariantDivision::prepared(ir::ValueId id) const {
  const auto found = std::ranges::find(divisors_, id, &Divisor::id);
  return found == divisors_.end() ? nullptr : &*found;
}

// Integers of few bytes are zero or between 1 and 2^32; divided by what divisors are, between 2^-30
// and 2^62.
InvariantDivision::Term InvariantDivision::term_of(ir::ValueId dividend) const {
  const auto [hoisted, number] = small_sum(kernel_, dividend);
  if (number == ir::no_value) return {};
  if (is_small_integer(kernel_, number)) return {hoisted, ir::no_value};
  const ir::ValueId divisor = kernel_.body[number].args[1];
  if (is_constant_within(kernel_.body[divisor], terms_exponent / 2)) return {hoisted, ir::no_value};
  // What is known of the divisor must be so when the term is looked at.
  const bool is_before = registers_.is_global(divisor) == registers_.is_global(hoisted)
                             ? divisor < hoisted
                             : registers_.is_global(divisor);
  const bool is_constant = kernel_.body[divisor].op == Op::constant;
  if (prepared(divisor) == nullptr || is_constant || !is_before) return {};
  return {hoisted, divisor};
}

const InvariantDivision::Term* InvariantDivision::known_term(ir::ValueId dividend) const {
  const Term wanted = term_of(dividend);
  const auto found = std::ranges::find_if(terms_, [&](const Term& term) {
    return term.id == wanted.id && term.divisor == wanted.divisor;
  });
  return found == terms_.end() ? nullptr : &*found;
}

int InvariantDivision::bytes_of(const ir::Inst& inst) const {
  return static_cast<int>(itemsize_bytes(inst.dtype)) * registers_.lanes();
}

Address InvariantDivision::splat(const ir::Inst& inst, std::uint64_t item) {
  return code_.splat(item, static_cast<int>(itemsize_bytes(inst.dtype)),
                     std::max(16, bytes_of(inst)));
}

Xmm InvariantDivision::kept(const Divisor& divisor, int index) const {
  return vector_register(index, std::max(16, bytes_of(kernel_.body[divisor.id])));
}

void InvariantDivision::prepare_constant(const Divisor& divisor) {
  const ir::Inst& inst = kernel_.body[divisor.id];
  if (divisor.reciprocal)
    code_.vmovups(kept(divisor, *divisor.reciprocal), splat(inst, reciprocal_of(inst)));
  if (divisor.low) code_.vmovups(kept(divisor, *divisor.low), splat(inst, low_bits_of(inst)));
}

/// What quotients as two products need besides the reciprocal, and whether they have the right
/// bits.  That takes as long as short rows gain.
void InvariantDivision::prepare_low(const Divisor& divisor, const Xmm& x,
                                    const std::array<Xmm, 3>& temps) {
  const ir::Inst& inst = kernel_.body[divisor.id];
  constexpr int least_extent = 512;
  code_.mov(code_.dword[code_.frame(divisor.inexact_slot)], 1);
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.cmp(code_.qword[code_.rax + 8 * (kernel_.loops.size() - 1)], least_extent);
  const auto is_short = code_.jump_if(Condition::below);
  const Xmm low = divisor.low ? kept(divisor, *divisor.low) : resized(temps[0], width_bytes(x));
  code_.vmovups(low, splat(inst, power_of_two(inst.dtype, 0)));
  divisor.reciprocal ? code_.vfnmadd231ps(low, x, kept(divisor, *divisor.reciprocal))
                     : code_.vfnmadd231ps(low, x, high_of(divisor));
  code_.vdivps(low, low, x);
  if (!divisor.low) code_.vmovups(low_of(divisor), low);
  // What no register keeps is read from memory: the test overwrites `temps`.
  const auto first_lane = [](const std::optional<int>& index) {
    return vector_register(index.value_or(0), 16);
  };
  const Xmm kept_high = first_lane(divisor.reciprocal), kept_low = first_lane(divisor.low);
  const Address high_in_frame = high_of(divisor), low_in_frame = low_of(divisor);
  using Operand = const Xbyak::Operand&;
  emit_two_products_test(code_, x, divisor.reciprocal ? Operand(kept_high) : high_in_frame,
                         divisor.low ? Operand(kept_low) : low_in_frame, temps);
  code_.mov(code_.dword[code_.frame(divisor.inexact_slot)], code_.eax);
  code_.bind(is_short);
}

void InvariantDivision::prepare(ir::ValueId id, int least_extent) {
  const Divisor* const divisor = prepared(id);
  if (divisor != nullptr && kernel_.body[id].op == Op::constant) return prepare_constant(*divisor);
  const auto is_this = [&](const Term& term) { return term.id == id; };
  const bool is_term = std::ranges::any_of(terms_, is_this);
  if (divisor == nullptr && !is_term) return;
  const ir::Inst& inst = kernel_.body[id];
  const Xmm x = registers_.use(id);
  const Outside outside = outside_registers(inst);
  const bool has_low = divisor != nullptr && divisor->has_low;
  std::array<Xmm, 3> temps{outside.bits, outside.zeros, Xmm()};
  if (has_low && code_.has_avx512()) temps[1] = registers_.temp(16);
  if (has_low) temps[2] = registers_.temp(16);
  // Registers have been taken: from here on the code may be jumped over.
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.cmp(code_.qword[code_.rax + 8 * (kernel_.loops.size() - 1)], least_extent);
  const auto is_short = code_.jump_if(Condition::below);
  if (is_term) find_outside(inst, terms_exponent, x, outside);
  for (const Term& term : terms_) {
    if (!is_this(term)) continue;
    outside_to_eax(inst, outside);
    if (term.divisor != ir::no_value)
      code_.or_(code_.eax, code_.dword[code_.frame(prepared(term.divisor)->outside_slot)]);
    code_.mov(code_.dword[code_.frame(term.outside_slot)], code_.eax);
  }
  if (divisor != nullptr) {
    const std::uint64_t one = power_of_two(inst.dtype, 0);
    const int exponent = divisors_exponent(inst.dtype);
    const std::uint64_t low = power_of_two(inst.dtype, -exponent);
    const std::uint64_t range = power_of_two(inst.dtype, exponent) - low;
    const Xmm reciprocal =
        divisor->reciprocal ? kept(*divisor, *divisor->reciprocal) : outside.bits;
    code_.vmovups(reciprocal, splat(inst, one));
    inst.dtype == DType::f64 ? code_.vdivpd(reciprocal, reciprocal, x)
                             : code_.vdivps(reciprocal, reciprocal, x);
    if (!divisor->reciprocal)
      code_.vmovups(code_.ptr[code_.frame(divisor->reciprocal_slot)], reciprocal);
    inst.dtype == DType::f64 ? code_.vpsubq(outside.bits, x, splat(inst, low))
                             : code_.vpsubd(outside.bits, x, splat(inst, low));
    find_greater(inst, range, outside);
    outside_to_eax(inst, outside);
    code_.mov(code_.dword[code_.frame(divisor->outside_slot)], code_.eax);
  }
  if (has_low) prepare_low(*divisor, x, temps);
  code_.bind(is_short);
}

void InvariantDivision::multiply_and_correct(const ir::Inst& inst, const Xmm& out, const Xmm& x,
                                             const Xmm& divisor, const Xmm& remainder,
                                             const Xbyak::Operand& reciprocal) {
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

InvariantDivision::Outside InvariantDivision::outside_registers(const ir::Inst& inst) {
  const int bytes = std::max(16, bytes_of(inst));
  Outside outside{registers_.temp(bytes), Xmm(), Opmask(0)};
  if (code_.has_avx512())
    outside.mask = registers_.temp_mask();
  else
    outside.zeros = registers_.temp(bytes);
  return outside;
}

/// The unsigned numbers of outside.bits that are greater than `limit`.
void InvariantDivision::find_greater(const ir::Inst& inst, std::uint64_t limit,
                                     const Outside& outside) {
  const bool is_double = inst.dtype == DType::f64;
  if (code_.has_avx512())
    return is_double ? code_.vpcmpuq(outside.mask, outside.bits, splat(inst, limit), is_greater)
                     : code_.vpcmpud(outside.mask, outside.bits, splat(inst, limit), is_greater);
  // AVX2 compares signed numbers.
  const std::uint64_t sign = is_double ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31;
  code_.vpxor(outside.bits, outside.bits, splat(inst, sign));
  is_double ? code_.vpcmpgtq(outside.bits, outside.bits, splat(inst, limit ^ sign))
            : code_.vpcmpgtd(outside.bits, outside.bits, splat(inst, limit ^ sign));
}

// Twice the bits have no sign.  Zeros are fine.
void InvariantDivision::find_outside(const ir::Inst& inst, int exponent, const Xmm& x,
                                     const Outside& outside) {
  const bool is_double = inst.dtype == DType::f64;
  const std::uint64_t lowest = power_of_two(inst.dtype, -exponent);
  const std::uint64_t range = 2 * (power_of_two(inst.dtype, exponent) - lowest);
  is_double ? code_.vpaddq(outside.bits, x, x) : code_.vpaddd(outside.bits, x, x);
  if (!code_.has_avx512()) {
    code_.set_zero(outside.zeros);
    is_double ? code_.vpcmpeqq(outside.zeros, outside.zeros, outside.bits)
              : code_.vpcmpeqd(outside.zeros, outside.zeros, outside.bits);
  }
  const Address low = splat(inst, 2 * lowest);
  is_double ? code_.vpsubq(outside.bits, outside.bits, low)
            : code_.vpsubd(outside.bits, outside.bits, low);
  find_greater(inst, range, outside);
  if (!code_.has_avx512()) return code_.vpandn(outside.bits, outside.zeros, outside.bits);
  is_double ? code_.vptestmq(outside.mask | outside.mask, x, x)
            : code_.vptestmd(outside.mask | outside.mask, x, x);
}

void InvariantDivision::outside_to_eax(const ir::Inst& inst, const Outside& outside) {
  if (code_.has_avx512()) return code_.kmovw(code_.eax, outside.mask);
  inst.dtype == DType::f64 ? code_.vmovmskpd(code_.eax, outside.bits)
                           : code_.vmovmskps(code_.eax, outside.bits);
}

/// If one of these numbers in the frame is not zero.
std::optional<Assembler::Jump> InvariantDivision::jump_if_any(std::span<const int> slots) {
  if (slots.empty()) return std::nullopt;
  code_.mov(code_.eax, code_.dword[code_.frame(slots.front())]);
  for (const int slot : slots.subspan(1)) code_.or_(code_.eax, code_.dword[code_.frame(slot)]);
  code_.test(code_.eax, code_.eax);
  return code_.jump_if(Condition::not_zero);
}

std::optional<Assembler::Jump> InvariantDivision::jump_if_outside() {
  std::vector<int> slots;
  for (const Divisor& divisor : divisors_)
    if (kernel_.body[divisor.id].op != Op::constant) slots.push_back(divisor.outside_slot);
  for (const Term& term : terms_) slots.push_back(term.outside_slot);
  return jump_if_any(slots);
}

std::optional<Assembler::Jump> InvariantDivision::jump_if_inexact() {
  std::vector<int> slots;
  for (const Divisor& divisor : divisors_)
    if (divisor.has_low && kernel_.body[divisor.id].op != Op::constant)
      slots.push_back(divisor.inexact_slot);
  return jump_if_any(slots);
}

Address InvariantDivision::high_of(const Divisor& divisor) {
  const ir::Inst& by = kernel_.body[divisor.id];
  return by.op == Op::constant ? splat(by, reciprocal_of(by))
                               : code_.ptr[code_.frame(divisor.reciprocal_slot)];
}

Address InvariantDivision::low_of(const Divisor& divisor) {
  const ir::Inst& by = kernel_.body[divisor.id];
  return by.op == Op::constant ? splat(by, low_bits_of(by))
                               : code_.ptr[code_.frame(divisor.low_slot)];
}

void InvariantDivision::multiply_twice(const Divisor& known, const Xmm& out, const Xmm& x) {
  known.low ? code_.vmulps(out, x, kept(known, *known.low)) : code_.vmulps(out, x, low_of(known));
  known.reciprocal ? code_.vfmadd231ps(out, x, kept(known, *known.reciprocal))
                   : code_.vfmadd231ps(out, x, high_of(known));
}

void InvariantDivision::divide(ir::ValueId id, bool looks_at_divisors, bool in_two_products) {
  const ir::Inst& inst = kernel_.body[id];
  const ir::Inst& by = kernel_.body[inst.args[1]];
  const Divisor& known = *prepared(inst.args[1]);
  const Term* const added = known_term(inst.args[0]);
  const bool looks_at_dividends = is_checked(inst.args[0]);
  const Xmm x = registers_.use(inst.args[0]);
  const Xmm divisor = registers_.use(inst.args[1]);
  const Xmm out = registers_.define(id);
  const Outside outside = looks_at_dividends
                              ? outside_registers(inst)
                              : Outside{registers_.temp(bytes_of(inst)), Xmm(), Opmask()};
  // No register is taken from here on: the code branches.
  Division division{inst.dtype == DType::f64, out, x, divisor, {}, nullptr};
  const auto jump_if_noted = [&](int outside_slot) {
    code_.cmp(code_.dword[code_.frame(outside_slot)], 0);
    division.jumps.push_back(code_.jump_if(Condition::not_zero));
  };
  if (looks_at_divisors && by.op != Op::constant) jump_if_noted(known.outside_slot);
  if (looks_at_divisors && added != nullptr) jump_if_noted(added->outside_slot);
  const bool is_exact = by.op == Op::constant || in_two_products;
  if (known.has_low && is_exact && may_take_two_products(id))
    multiply_twice(known, out, x);
  else if (known.reciprocal)
    multiply_and_correct(inst, out, x, divisor, outside.bits, kept(known, *known.reciprocal));
  else
    multiply_and_correct(inst, out, x, divisor, outside.bits, high_of(known));
  if (looks_at_dividends) {
    find_outside(inst, dividends_exponent(inst.dtype), x, outside);
    code_.has_avx512() ? code_.kortestw(outside.mask, outside.mask)
                       : code_.vptest(outside.bits, outside.bits);
    division.jumps.push_back(code_.jump_if(Condition::not_zero));
  }
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
