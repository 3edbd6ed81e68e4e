// Rows that take or make bools: comparisons, logic, where, casts from and to bool.
#include "jit/xbyak/rows.h"

#include <array>
#include <cstring>

namespace weft::jit::xbyak {
namespace {

using ir::Inst;
using ir::Kernel;
using ir::ValueId;

bool is_bool(const Kernel& kernel, ValueId id) {
  return result_dtype(kernel.body[id]) == DType::boolean;
}

struct Comparison {
  Op op;
  std::uint8_t float_predicate;    ///< of vcmpps: ordered and quiet, but for ne
  std::uint8_t integer_predicate;  ///< of vpcmpd
};
constexpr Comparison comparisons[] = {
    {Op::eq, 0x00, 0}, {Op::ne, 0x04, 4}, {Op::lt, 0x11, 1},
    {Op::le, 0x12, 2}, {Op::gt, 0x1e, 6}, {Op::ge, 0x1d, 5},
};

const Comparison* find_comparison(Op op) {
  for (const Comparison& comparison : comparisons)
    if (comparison.op == op) return &comparison;
  return nullptr;
}

// What an op means on two bools.
enum class Logic : std::uint8_t {
  none,
  both,
  either,
  differ,
  same,
  only_second,
  not_only_first,
  only_first,
  not_only_second,
  negated,
  first
};

Logic logic_of(Op op) {
  switch (op) {
    case Op::mul:
    case Op::bitwise_and:
    case Op::minimum: return Logic::both;
    case Op::add:
    case Op::bitwise_or:
    case Op::maximum: return Logic::either;
    case Op::ne:
    case Op::bitwise_xor: return Logic::differ;
    case Op::eq: return Logic::same;
    case Op::lt: return Logic::only_second;
    case Op::le: return Logic::not_only_first;
    case Op::gt: return Logic::only_first;
    case Op::ge: return Logic::not_only_second;
    case Op::bitwise_not: return Logic::negated;
    case Op::real:
    case Op::conj: return Logic::first;
    default: return Logic::none;
  }
}

// ---- AVX-512: bools in mask registers

void compare_to_mask(Assembler& code, const Comparison& comparison, DType dtype, const Opmask& out,
                     const Xmm& x, const Xmm& y) {
  switch (dtype) {
    case DType::f32: return code.vcmpps(out, x, y, comparison.float_predicate);
    case DType::f64: return code.vcmppd(out, x, y, comparison.float_predicate);
    case DType::i8: return code.vpcmpb(out, x, y, comparison.integer_predicate);
    case DType::u8: return code.vpcmpub(out, x, y, comparison.integer_predicate);
    case DType::i16: return code.vpcmpw(out, x, y, comparison.integer_predicate);
    case DType::u16: return code.vpcmpuw(out, x, y, comparison.integer_predicate);
    case DType::i32: return code.vpcmpd(out, x, y, comparison.integer_predicate);
    case DType::u32: return code.vpcmpud(out, x, y, comparison.integer_predicate);
    case DType::i64: return code.vpcmpq(out, x, y, comparison.integer_predicate);
    default: return code.vpcmpuq(out, x, y, comparison.integer_predicate);
  }
}

void combine_masks(Registers& registers, Assembler& code, Logic logic, const Opmask& out,
                   const Opmask& x, const Opmask& y) {
  switch (logic) {
    case Logic::both: return code.kandq(out, x, y);
    case Logic::either: return code.korq(out, x, y);
    case Logic::differ: return code.kxorq(out, x, y);
    case Logic::same: return code.kxnorq(out, x, y);
    case Logic::only_second: return code.kandnq(out, x, y);
    case Logic::only_first: return code.kandnq(out, y, x);
    case Logic::negated: return code.knotq(out, x);
    case Logic::first: return code.kmovq(out, x);
    default: break;
  }
  const bool inverts_first = logic == Logic::not_only_first;
  const Opmask inverse = registers.temp_mask();
  code.knotq(inverse, inverts_first ? x : y);
  code.korq(out, inverse, inverts_first ? y : x);
}

void test_nonzero(Assembler& code, DType dtype, const Opmask& out, const Xmm& x, const Xmm& zero) {
  constexpr std::uint8_t not_equal_unordered = 4;
  if (dtype == DType::f32) return code.vcmpps(out, x, zero, not_equal_unordered);
  if (dtype == DType::f64) return code.vcmppd(out, x, zero, not_equal_unordered);
  switch (itemsize_bytes(dtype)) {
    case 1: return code.vptestmb(out, x, x);
    case 2: return code.vptestmw(out, x, x);
    case 4: return code.vptestmd(out, x, x);
    default: return code.vptestmq(out, x, x);
  }
}

void select_by_mask(Assembler& code, const Xmm& out, const Opmask& mask, const Xmm& if_true,
                    const Xmm& if_false, int itemsize) {
  switch (itemsize) {
    case 1: return code.vpblendmb(out | mask, if_false, if_true);
    case 2: return code.vpblendmw(out | mask, if_false, if_true);
    case 4: return code.vpblendmd(out | mask, if_false, if_true);
    default: return code.vpblendmq(out | mask, if_false, if_true);
  }
}

// Bits of the number one, for `true` as an element of any dtype.
std::uint64_t one_bits(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x3c00;
    case DType::bf16: return 0x3f80;
    case DType::f8e4m3fn: return 0x38;
    case DType::f8e5m2: return 0x3c;
    case DType::f32: return 0x3f800000;
    case DType::f64: return 0x3ff0000000000000;
    default: return 1;
  }
}

void number_from_mask(Assembler& code, DType to, const Xmm& out, const Opmask& mask) {
  const int itemsize = static_cast<int>(itemsize_bytes(to));
  const Address one = code.splat(one_bits(to), itemsize, width_bytes(out));
  switch (itemsize) {
    case 1: return code.vmovdqu8(out | mask | Xbyak::util::T_z, one);
    case 2: return code.vmovdqu16(out | mask | Xbyak::util::T_z, one);
    case 4: return code.vmovdqu32(out | mask | Xbyak::util::T_z, one);
    default: return code.vmovdqu64(out | mask | Xbyak::util::T_z, one);
  }
}

void emit_with_mask_registers(Registers& registers, Assembler& code, const Kernel& kernel,
                              ValueId id) {
  const Inst& inst = kernel.body[id];
  const auto& args = inst.args;
  if (inst.op == Op::where) {
    const Opmask mask = registers.use_mask(args[0]);
    if (!is_bool(kernel, args[1])) {
      const Xmm if_true = registers.use(args[1]);
      const Xmm if_false = registers.use(args[2]);
      return select_by_mask(code, registers.define(id), mask, if_true, if_false,
                            registers.itemsize(id));
    }
    const Opmask if_true = registers.use_mask(args[1]);
    const Opmask if_false = registers.use_mask(args[2]);
    const Opmask out = registers.define_mask(id);
    const Opmask rest = registers.temp_mask();
    code.kandq(out, mask, if_true);
    code.kandnq(rest, mask, if_false);
    return code.korq(out, out, rest);
  }
  if (inst.op == Op::cast && is_bool(kernel, args[0])) {
    const Opmask mask = registers.use_mask(args[0]);
    if (inst.dtype == DType::boolean) return code.kmovq(registers.define_mask(id), mask);
    return number_from_mask(code, inst.dtype, registers.define(id), mask);
  }
  if (inst.op == Op::cast) {
    const DType from = result_dtype(kernel.body[args[0]]);
    Xmm x = registers.use(args[0]);
    const Xmm zero = registers.temp(width_bytes(x));
    code.set_zero(zero);
    if (is_small_float(from)) {  // without its sign, a small float is zero when its bits are
      const int bits = 8 * static_cast<int>(itemsize_bytes(from)) - 1;
      const std::uint64_t magnitude = (std::uint64_t{1} << bits) - 1;
      code.bit_and(zero, x,
                   code.splat(magnitude, static_cast<int>(itemsize_bytes(from)), width_bytes(x)));
      return test_nonzero(code, from, registers.define_mask(id), zero, zero);
    }
    return test_nonzero(code, from, registers.define_mask(id), x, zero);
  }
  if (is_bool(kernel, args[0])) {
    const Opmask x = registers.use_mask(args[0]);
    const Opmask y = info(inst.op).arity == 2 ? registers.use_mask(args[1]) : x;
    const Opmask out = registers.define_mask(id);
    return combine_masks(registers, code, logic_of(inst.op), out, x, y);
  }
  const Xmm x = registers.use(args[0]);
  const Xmm y = registers.use(args[1]);
  compare_to_mask(code, *find_comparison(inst.op), inst.dtype, registers.define_mask(id), x, y);
}

// ---- AVX2: bools as lanes of ones or zeros

void invert(Assembler& code, const Xmm& out, const Xmm& x) {
  code.vpxor(out, x, code.splat(~std::uint64_t{0}, 8, width_bytes(out)));
}

// A bool value with items of `itemsize` bytes, converted if it has others.
Xmm use_lanes(Registers& registers, Assembler& code, ValueId id, int itemsize) {
  const Xmm x = registers.use(id);
  const int from = registers.itemsize(id);
  if (from == itemsize) return x;
  const Xmm out = registers.temp(itemsize * registers.lanes());
  from < itemsize ? widen_items(code, out, x, from, itemsize, true, registers.lanes())
                  : narrow_items(registers, code, out, x, from, itemsize, registers.lanes());
  return out;
}

void compare_equal(Assembler& code, const Xmm& out, const Xmm& x, const Xbyak::Operand& y,
                   int itemsize) {
  switch (itemsize) {
    case 1: return code.vpcmpeqb(out, x, y);
    case 2: return code.vpcmpeqw(out, x, y);
    case 4: return code.vpcmpeqd(out, x, y);
    default: return code.vpcmpeqq(out, x, y);
  }
}

void compare_greater(Assembler& code, const Xmm& out, const Xmm& x, const Xmm& y, int itemsize) {
  switch (itemsize) {
    case 1: return code.vpcmpgtb(out, x, y);
    case 2: return code.vpcmpgtw(out, x, y);
    case 4: return code.vpcmpgtd(out, x, y);
    default: return code.vpcmpgtq(out, x, y);
  }
}

// There are only == and signed > for integers: a flipped top bit makes unsigned order signed, and
// the other comparisons are swapped or inverted.
void compare_integers(Registers& registers, Assembler& code, Op op, DType dtype, const Xmm& out,
                      const Xmm& x, const Xmm& y) {
  const int itemsize = static_cast<int>(itemsize_bytes(dtype));
  if (op == Op::eq || op == Op::ne) {
    compare_equal(code, out, x, y, itemsize);
    if (op == Op::ne) invert(code, out, out);
    return;
  }
  const bool is_swapped = op == Op::lt || op == Op::ge;
  Xmm first = is_swapped ? y : x;
  Xmm second = is_swapped ? x : y;
  if (!is_signed(dtype)) {
    const int bytes = width_bytes(out);
    const Address top = code.splat(std::uint64_t{1} << (8 * itemsize - 1), itemsize, bytes);
    const Xmm flipped_first = registers.temp(bytes);
    const Xmm flipped_second = registers.temp(bytes);
    code.vpxor(flipped_first, first, top);
    code.vpxor(flipped_second, second, top);
    first = flipped_first;
    second = flipped_second;
  }
  compare_greater(code, out, first, second, itemsize);
  if (op == Op::le || op == Op::ge) invert(code, out, out);
}

void combine_lanes(Registers& registers, Assembler& code, Logic logic, const Xmm& out, const Xmm& x,
                   const Xmm& y) {
  switch (logic) {
    case Logic::both: return code.vpand(out, x, y);
    case Logic::either: return code.vpor(out, x, y);
    case Logic::differ: return code.vpxor(out, x, y);
    case Logic::same: code.vpxor(out, x, y); return invert(code, out, out);
    case Logic::only_second: return code.vpandn(out, x, y);
    case Logic::only_first: return code.vpandn(out, y, x);
    case Logic::negated: return invert(code, out, x);
    case Logic::first: return code.move(out, x);
    default: break;
  }
  const bool inverts_first = logic == Logic::not_only_first;
  const Xmm inverse = registers.temp(width_bytes(out));
  invert(code, inverse, inverts_first ? x : y);
  code.vpor(out, inverse, inverts_first ? y : x);
}

void lanes_from_number(Registers& registers, Assembler& code, DType from, const Xmm& out,
                       const Xmm& x) {
  constexpr std::uint8_t not_equal_unordered = 4;
  const int itemsize = static_cast<int>(itemsize_bytes(from));
  const Xmm zero = registers.temp(width_bytes(out));
  code.vpxor(zero, zero, zero);
  if (from == DType::f32) return code.vcmpps(out, x, zero, not_equal_unordered);
  if (from == DType::f64) return code.vcmppd(out, x, zero, not_equal_unordered);
  if (is_small_float(from)) {
    const std::uint64_t magnitude = (std::uint64_t{1} << (8 * itemsize - 1)) - 1;
    code.vpand(out, x, code.splat(magnitude, itemsize, width_bytes(out)));
    compare_equal(code, out, out, zero, itemsize);
  } else {
    compare_equal(code, out, x, zero, itemsize);
  }
  invert(code, out, out);
}

void emit_with_lanes(Registers& registers, Assembler& code, const Kernel& kernel, ValueId id) {
  const Inst& inst = kernel.body[id];
  const auto& args = inst.args;
  const int itemsize = registers.itemsize(id);
  if (inst.op == Op::where) {
    const Xmm mask = use_lanes(registers, code, args[0], itemsize);
    const bool selects_bools = is_bool(kernel, args[1]);
    const Xmm if_true =
        selects_bools ? use_lanes(registers, code, args[1], itemsize) : registers.use(args[1]);
    const Xmm if_false =
        selects_bools ? use_lanes(registers, code, args[2], itemsize) : registers.use(args[2]);
    return code.vpblendvb(registers.define(id), if_false, if_true, mask);
  }
  if (inst.op == Op::cast && is_bool(kernel, args[0])) {
    const Xmm x = use_lanes(registers, code, args[0], itemsize);
    const Xmm out = registers.define(id);
    if (inst.dtype == DType::boolean) return code.move(out, x);
    return code.vpand(out, x, code.splat(one_bits(inst.dtype), itemsize, width_bytes(out)));
  }
  if (inst.op == Op::cast) {
    const Xmm x = registers.use(args[0]);
    return lanes_from_number(registers, code, result_dtype(kernel.body[args[0]]),
                             registers.define(id), x);
  }
  if (is_bool(kernel, args[0])) {
    const Xmm x = use_lanes(registers, code, args[0], itemsize);
    const Xmm y = info(inst.op).arity == 2 ? use_lanes(registers, code, args[1], itemsize) : x;
    return combine_lanes(registers, code, logic_of(inst.op), registers.define(id), x, y);
  }
  const Xmm x = registers.use(args[0]);
  const Xmm y = registers.use(args[1]);
  const Xmm out = registers.define(id);
  const std::uint8_t predicate = find_comparison(inst.op)->float_predicate;
  if (inst.dtype == DType::f32) return code.vcmpps(out, x, y, predicate);
  if (inst.dtype == DType::f64) return code.vcmppd(out, x, y, predicate);
  compare_integers(registers, code, inst.op, inst.dtype, out, x, y);
}

}  // namespace

bool involves_masks(const Kernel& kernel, const Inst& inst) {
  if (inst.op == Op::load || writes(inst) || inst.op == Op::constant || inst.op == Op::param)
    return false;
  return result_dtype(inst) == DType::boolean || is_bool(kernel, inst.args[0]);
}

bool has_mask_row(const Kernel& kernel, const Inst& inst) {
  const bool takes_bool = is_bool(kernel, inst.args[0]);
  const auto fits = [](DType dtype) { return itemsize_bytes(dtype) <= 8; };
  switch (inst.op) {
    case Op::bitcast: return false;
    case Op::where: return fits(inst.dtype);
    case Op::cast: {
      const DType other = takes_bool ? inst.dtype : result_dtype(kernel.body[inst.args[0]]);
      return !is_complex(other) && fits(other);
    }
    default: break;
  }
  if (takes_bool) return logic_of(inst.op) != Logic::none;
  const bool is_number =
      is_integer(inst.dtype) || inst.dtype == DType::f32 || inst.dtype == DType::f64;
  return find_comparison(inst.op) != nullptr && is_number;
}

void emit_mask_row(Registers& registers, Assembler& code, const Kernel& kernel, ValueId id) {
  code.has_avx512() ? emit_with_mask_registers(registers, code, kernel, id)
                    : emit_with_lanes(registers, code, kernel, id);
}

void mask_from_bytes(Registers& registers, Assembler& code, ValueId id, const Xmm& bytes) {
  if (code.has_avx512()) return code.vptestmb(registers.define_mask(id), bytes, bytes);
  lanes_from_number(registers, code, DType::u8, registers.define(id), bytes);
}

Xmm bytes_from_mask(Registers& registers, Assembler& code, ValueId id) {
  const int bytes = registers.lanes();
  if (!code.has_avx512()) {
    const Xmm lanes = use_lanes(registers, code, id, 1);
    const Xmm out = registers.temp(bytes);
    code.vpabsb(out, lanes);  // all ones is -1
    return out;
  }
  const Opmask mask = registers.use_mask(id);
  const Xmm out = registers.temp(bytes);
  code.vpmovm2b(out, mask);
  code.vpabsb(out, out);
  return out;
}

}  // namespace weft::jit::xbyak
