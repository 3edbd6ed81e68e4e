// Exponents and mantissas of floats: one instruction with AVX-512, integer arithmetic with AVX2.
#include "jit/xbyak/rows.h"

#include <span>

namespace weft::jit::xbyak {
namespace {

constexpr std::uint64_t one_bits = 0x3f800000, one_bits_64 = 0x3ff0000000000000;
constexpr std::uint64_t whole_bits = 0x4b400000, whole_bits_64 = 0x4338000000000000;
constexpr std::uint64_t smallest_normal_bits = 0x00800000;
constexpr std::uint64_t infinity_bits = 0x7f800000;
constexpr std::uint8_t less = 0x11;                        // ordered, quiet
constexpr std::uint8_t not_less = 0x15;                    // or unordered
constexpr std::uint8_t greater_or_equal = 0x1d;            // ordered, quiet
constexpr std::uint8_t not_greater_or_equal = 0x19;        // or unordered
constexpr std::uint64_t power_23_bits = (127 + 23) << 23;  // 2^23

/// value * 2^23 where it is subnormal; is_small says where that is.
void make_normal(Assembler& code, const Xmm& out, const Xmm& is_small, const Xmm& value) {
  const int bytes = width_bytes(out);
  code.vcmpps(is_small, value, code.splat(smallest_normal_bits, 4, bytes), less);
  code.vmulps(out, value, code.splat(power_23_bits, 4, bytes));
  code.vblendvps(out, value, out, is_small);
}

}  // namespace

void emit_scale_by_power(Registers& registers, Assembler& code, DType dtype, const Xmm& out,
                         const Xmm& x, const Xmm& power) {
  const bool is_double = dtype == DType::f64;
  if (code.has_avx512())
    return is_double ? code.vscalefpd(out, x, power) : code.vscalefps(out, x, power);
  // In two steps, because 2^power may be subnormal or too large.  The last bits of the power's sum
  // with 1.5 * 2^23 or 1.5 * 2^52 are those of a whole number, and half of them of half of it: AVX2
  // converts no f64 to integers of 64 bits.
  const int bytes = width_bytes(out);
  const Xmm half = registers.temp(bytes);
  const Xmm rest = registers.temp(bytes);
  const auto multiply_by_power_of_two = [&](const Xmm& from, const Xmm& n) {
    if (is_double) {
      code.vpsllq(n, n, 52);
      code.vpaddq(n, n, code.splat(one_bits_64, 8, bytes));
      return code.vmulpd(out, from, n);
    }
    code.vpslld(n, n, 23);
    code.vpaddd(n, n, code.splat(one_bits, 4, bytes));
    code.vmulps(out, from, n);
  };
  if (is_double) {
    code.vaddpd(rest, power, code.splat(whole_bits_64, 8, bytes));
    code.vpsrlq(half, rest, 1);
    code.vpsubq(rest, rest, half);
  } else {
    code.vaddps(rest, power, code.splat(whole_bits, 4, bytes));
    code.vpsrld(half, rest, 1);
    code.vpsubd(rest, rest, half);
  }
  multiply_by_power_of_two(x, rest);
  multiply_by_power_of_two(out, half);
}

void emit_exponent(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x) {
  if (code.has_avx512()) return code.vgetexpps(out, x);
  const int bytes = width_bytes(out);
  const Xmm size = registers.temp(bytes);
  const Xmm mask = registers.temp(bytes);
  const Xmm minus_infinity = registers.temp(bytes);
  code.bit_and(size, x, code.splat(0x7fffffff, 4, bytes));
  make_normal(code, out, mask, size);
  code.vpsrld(out, out, 23);
  code.bit_and(mask, mask, code.splat(23, 4, bytes));
  code.vpsubd(out, out, mask);
  code.vpsubd(out, out, code.splat(127, 4, bytes));
  code.vcvtdq2ps(out, out);
  code.set_zero(mask);
  code.vpcmpeqd(mask, mask, size);
  code.vmovaps(minus_infinity, code.splat(infinity_bits | 0x80000000, 4, bytes));
  code.vblendvps(out, out, minus_infinity, mask);
  code.vcmpps(mask, size, code.splat(infinity_bits, 4, bytes), not_less);
  code.vblendvps(out, out, size, mask);
}

void emit_mantissa(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x) {
  constexpr std::uint8_t in_three_quarters_to_three_halves = 3;
  constexpr std::uint8_t nan_below_zero = 3 << 2;
  if (code.has_avx512())
    return code.vgetmantps(out, x, in_three_quarters_to_three_halves | nan_below_zero);
  const int bytes = width_bytes(out);
  const Xmm mask = registers.temp(bytes);
  make_normal(code, out, mask, x);
  code.bit_and(out, out, code.splat(smallest_normal_bits - 1, 4, bytes));
  code.bit_or(out, out, code.splat(one_bits, 4, bytes));  // in [1, 2)
  code.vcmpps(mask, out, code.splat(0x3fc00000, 4, bytes), greater_or_equal);
  code.bit_and(mask, mask, code.splat(smallest_normal_bits, 4, bytes));
  code.vpsubd(out, out, mask);
  code.set_zero(mask);
  code.vcmpps(mask, x, mask, not_greater_or_equal);
  code.bit_or(out, out, mask);  // all ones is a NaN
}

void emit_table_entry(Registers& registers, Assembler& code, const ir::TableEntries& table,
                      const Xmm& out, const Xmm& x) {
  const auto entries = std::as_bytes(std::span(table));
  if (code.has_avx512()) {
    // All of a register, however few lanes are used.
    const Zmm whole(out.getIdx());
    code.note_written(whole);
    return code.vpermps(whole, Zmm(x.getIdx()), code.constant(entries));
  }
  // The fourth bit of a place, as the sign, says which half.
  const Ymm first(registers.temp(32).getIdx()), upper(registers.temp(32).getIdx());
  const Ymm whole(out.getIdx()), places(x.getIdx());
  code.vpermps(first, places, code.constant(entries.first(32)));
  code.vpermps(upper, places, code.constant(entries.last(32)));
  code.vpslld(whole, places, 28);
  code.vblendvps(whole, first, upper, whole);
}

}  // namespace weft::jit::xbyak
