// The rows of ops on numbers.
#include "jit/xbyak/rows.h"

#include "jit/xbyak/rare_calls.h"

#include <algorithm>
#include <array>

namespace weft::jit::xbyak {
namespace {

constexpr std::uint64_t sign_f32 = 0x80000000u;
constexpr std::uint64_t sign_f64 = 0x8000000000000000u;

/// Calls `emit` with the bits as an instruction's last operand.
template <class Emit>
void with_bits(const Registers& registers, Assembler& code, const SignBits& bits, int bytes,
               const Emit& emit) {
  const std::optional<int> kept = registers.kept_splat(bits.item, bits.itemsize, bytes);
  kept ? emit(vector_register(*kept, bytes)) : emit(code.splat(bits.item, bits.itemsize, bytes));
}

void turn_over(const Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
               const SignBits& bits) {
  with_bits(registers, code, bits, width_bytes(out),
            [&](const Xbyak::Operand& mask) { code.bit_xor(out, x, mask); });
}

void without_sign(const Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                  const SignBits& bits) {
  with_bits(registers, code, bits, width_bytes(out),
            [&](const Xbyak::Operand& mask) { code.bit_and(out, x, mask); });
}

// Low halves of products of bytes, from products of words: the even bytes in place, the odd ones
// after a shift.
void multiply_bytes(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                    const Xmm& y) {
  const int bytes = width_bytes(out);
  const Xmm odd = registers.temp(bytes);
  const Xmm shifted = registers.temp(bytes);
  code.vpsrlw(odd, x, 8);
  code.vpsrlw(shifted, y, 8);
  code.vpmullw(odd, odd, shifted);
  code.vpsllw(odd, odd, 8);
  code.vpmullw(out, x, y);
  code.bit_and(out, out, code.splat(0x00ff, 2, bytes));
  code.bit_or(out, out, odd);
}

// AVX2 multiplies 32 by 32 bits only.
void multiply_64(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                 const Xmm& y) {
  const Xmm cross = registers.temp(width_bytes(out));
  const Xmm other = registers.temp(width_bytes(out));
  code.vpsrlq(cross, x, 32);
  code.vpmuludq(cross, cross, y);
  code.vpsrlq(other, y, 32);
  code.vpmuludq(other, other, x);
  code.vpaddq(cross, cross, other);
  code.vpsllq(cross, cross, 32);
  code.vpmuludq(out, x, y);
  code.vpaddq(out, out, cross);
}

// (a + bi)(c + di) with the parts side by side: (a c, a d) and (b d, b c), of which the first of
// each pair is subtracted.
void multiply_complex(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                      const Xmm& y) {
  const int bytes = width_bytes(out);
  const Xmm crossed = registers.temp(bytes);
  const Xmm imaginary = registers.temp(bytes);
  code.vpermilps(crossed, y, 0xb1);
  code.vmovshdup(imaginary, x);
  code.vmulps(crossed, crossed, imaginary);
  code.vmovsldup(out, x);
  code.vmulps(out, out, y);
  code.bit_xor(crossed, crossed, code.splat(sign_f32, 8, bytes));
  code.vaddps(out, out, crossed);
}

void imaginary_part(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x) {
  const Xmm shifted = registers.temp(width_bytes(x));
  code.vpsrlq(shifted, x, 32);
  narrow_items(registers, code, out, shifted, 8, 4, registers.lanes());
}

void complex_pair(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                  const Xmm& y) {
  const Xmm imaginary = registers.temp(width_bytes(out));
  widen_items(code, imaginary, y, 4, 8, false, registers.lanes());
  code.vpsllq(imaginary, imaginary, 32);
  widen_items(code, out, x, 4, 8, false, registers.lanes());
  code.bit_or(out, out, imaginary);
}

enum class Shift { left, right, arithmetic };

void shift_words(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x, const Xmm& y,
                 Shift shift);

void shift_native(Assembler& code, const Xmm& out, const Xmm& x, const Xmm& y, Shift shift,
                  int itemsize) {
  if (itemsize == 2) {
    switch (shift) {
      case Shift::left: return code.vpsllvw(out, x, y);
      case Shift::right: return code.vpsrlvw(out, x, y);
      case Shift::arithmetic: return code.vpsravw(out, x, y);
    }
  }
  switch (shift) {
    case Shift::left: return code.vpsllvd(out, x, y);
    case Shift::right: return code.vpsrlvd(out, x, y);
    case Shift::arithmetic: return code.vpsravd(out, x, y);
  }
}

// Items of half the size that the instructions shift: the upper one of each pair in place with
// zeros below, the lower one with zeros or copies of its sign above.
void shift_halves(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x, const Xmm& y,
                  Shift shift, int half_bytes) {
  const int bytes = width_bytes(out);
  const auto bits = static_cast<std::uint8_t>(8 * half_bytes);
  const std::uint64_t low_mask = (std::uint64_t{1} << bits) - 1;
  const Address low_half = code.splat(low_mask, 2 * half_bytes, bytes);
  const Address high_half = code.splat(low_mask << bits, 2 * half_bytes, bytes);
  const bool in_words = half_bytes == 1;
  const auto apply = [&](const Xmm& to, const Xmm& from, const Xmm& count) {
    if (!in_words || code.has_avx512())
      return shift_native(code, to, from, count, shift, 2 * half_bytes);
    const std::uint32_t mark = registers.marked_temps();
    shift_words(registers, code, to, from, count, shift);
    registers.free_temps_since(mark);
  };
  const Xmm value = registers.temp(bytes);
  const Xmm count = registers.temp(bytes);
  const Xmm high = registers.temp(bytes);
  in_words ? code.vpsrlw(count, y, bits) : code.vpsrld(count, y, bits);
  code.bit_and(value, x, high_half);
  apply(high, value, count);
  code.bit_and(high, high, high_half);
  code.bit_and(count, y, low_half);
  if (shift == Shift::arithmetic) {
    in_words ? code.vpsllw(value, x, bits) : code.vpslld(value, x, bits);
    in_words ? code.vpsraw(value, value, bits) : code.vpsrad(value, value, bits);
  } else {
    code.bit_and(value, x, low_half);
  }
  apply(out, value, count);
  code.bit_and(out, out, low_half);
  code.bit_or(out, out, high);
}

void shift_words(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x, const Xmm& y,
                 Shift shift) {
  if (code.has_avx512()) return shift_native(code, out, x, y, shift, 2);
  shift_halves(registers, code, out, x, y, shift, 2);
}

// ((x ^ s) >> y) ^ s, with s all ones for a negative x: a logical shift moves in the zeros that the
// last step turns into copies of the sign, for counts past the width too.
void shift_64_arithmetic(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                         const Xmm& y) {
  const Xmm sign = registers.temp(width_bytes(out));
  code.vpxor(sign, sign, sign);
  code.vpcmpgtq(sign, sign, x);
  code.vpxor(out, x, sign);
  code.vpsrlvq(out, out, y);
  code.vpxor(out, out, sign);
}

void negate(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x, int itemsize) {
  const Xmm zero = registers.temp(width_bytes(out));
  code.set_zero(zero);
  switch (itemsize) {
    case 1: return code.vpsubb(out, zero, x);
    case 2: return code.vpsubw(out, zero, x);
    case 4: return code.vpsubd(out, zero, x);
    default: return code.vpsubq(out, zero, x);
  }
}

void absolute_64(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x) {
  const Xmm sign = registers.temp(width_bytes(out));
  code.vpxor(sign, sign, sign);
  code.vpcmpgtq(sign, sign, x);
  code.vpxor(out, x, sign);
  code.vpsubq(out, out, sign);
}

// The instruction gives y where an operand is NaN; x must win where it is the NaN.
template <bool is_max, bool is_double>
void extremum_float(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                    const Xmm& y) {
  constexpr std::uint8_t unordered = 3;
  if constexpr (is_double)
    is_max ? code.vmaxpd(out, x, y) : code.vminpd(out, x, y);
  else
    is_max ? code.vmaxps(out, x, y) : code.vminps(out, x, y);
  if (code.has_avx512()) {
    // Classes of x, four bits each, from the lowest: a quiet or signalling NaN gives "x, quiet"
    // (2), all others "as it was" (0).
    constexpr std::uint64_t only_nan = 0x22;
    if constexpr (is_double)
      code.vfixupimmpd(out, x, code.repeated(only_nan, 8, width_bytes(out)), 0);
    else
      code.vfixupimmps(out, x, code.repeated(only_nan, 4, width_bytes(out)), 0);
    return;
  }
  const Xmm is_nan = registers.temp(width_bytes(out));
  if constexpr (is_double) {
    code.vcmppd(is_nan, x, x, unordered);
    code.vblendvpd(out, out, x, is_nan);
  } else {
    code.vcmpps(is_nan, x, x, unordered);
    code.vblendvps(out, out, x, is_nan);
  }
}

template <bool is_max, bool is_signed>
void extremum_64(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                 const Xmm& y) {
  const int bytes = width_bytes(out);
  const Xmm is_greater = registers.temp(bytes);
  if constexpr (is_signed) {
    code.vpcmpgtq(is_greater, x, y);
  } else {
    const Address sign = code.splat(sign_f64, 8, bytes);
    code.vpxor(out, y, sign);
    code.vpxor(is_greater, x, sign);
    code.vpcmpgtq(is_greater, is_greater, out);
  }
  is_max ? code.vblendvpd(out, y, x, is_greater) : code.vblendvpd(out, x, y, is_greater);
}

#define WEFT_X86(op, dtype, isa, ...)                                                     \
  Row {                                                                                   \
    Op::op, DType::dtype, Isa::isa,                                                       \
        []([[maybe_unused]] Registers& registers, [[maybe_unused]] Assembler& code,       \
           [[maybe_unused]] const Xmm& out, [[maybe_unused]] const Xmm& x,                \
           [[maybe_unused]] const Xmm& y, [[maybe_unused]] const Xmm& z) { __VA_ARGS__; } \
  }
// One row for signed and unsigned integers of a width.
#define WEFT_X86_SIGNLESS(op, width, isa, ...) \
  WEFT_X86(op, i##width, isa, __VA_ARGS__), WEFT_X86(op, u##width, isa, __VA_ARGS__)
#define WEFT_X86_INTEGERS(op, isa, ...)                                                    \
  WEFT_X86_SIGNLESS(op, 8, isa, __VA_ARGS__), WEFT_X86_SIGNLESS(op, 16, isa, __VA_ARGS__), \
      WEFT_X86_SIGNLESS(op, 32, isa, __VA_ARGS__), WEFT_X86_SIGNLESS(op, 64, isa, __VA_ARGS__)
#define WEFT_X86_UNSIGNED(op, isa, ...)                                    \
  WEFT_X86(op, u8, isa, __VA_ARGS__), WEFT_X86(op, u16, isa, __VA_ARGS__), \
      WEFT_X86(op, u32, isa, __VA_ARGS__), WEFT_X86(op, u64, isa, __VA_ARGS__)
#define WEFT_X86_ROUNDING(op, mode)                              \
  WEFT_X86(op, f32, avx2, code.vroundps(out, x, mode)),          \
      WEFT_X86(op, f64, avx2, code.vroundpd(out, x, mode)),      \
      WEFT_X86(op, f32, avx512, code.vrndscaleps(out, x, mode)), \
      WEFT_X86(op, f64, avx512, code.vrndscalepd(out, x, mode)), \
      WEFT_X86_INTEGERS(op, avx2, code.move(out, x))
#define WEFT_X86_EXTREMUM(op, prefix, is_max)                                            \
  WEFT_X86(op, f32, avx2, extremum_float<is_max, false>(registers, code, out, x, y)),    \
      WEFT_X86(op, f64, avx2, extremum_float<is_max, true>(registers, code, out, x, y)), \
      WEFT_X86(op, i8, avx2, code.prefix##sb(out, x, y)),                                \
      WEFT_X86(op, u8, avx2, code.prefix##ub(out, x, y)),                                \
      WEFT_X86(op, i16, avx2, code.prefix##sw(out, x, y)),                               \
      WEFT_X86(op, u16, avx2, code.prefix##uw(out, x, y)),                               \
      WEFT_X86(op, i32, avx2, code.prefix##sd(out, x, y)),                               \
      WEFT_X86(op, u32, avx2, code.prefix##ud(out, x, y)),                               \
      WEFT_X86(op, i64, avx2, extremum_64<is_max, true>(registers, code, out, x, y)),    \
      WEFT_X86(op, u64, avx2, extremum_64<is_max, false>(registers, code, out, x, y)),   \
      WEFT_X86(op, i64, avx512, code.prefix##sq(out, x, y)),                             \
      WEFT_X86(op, u64, avx512, code.prefix##uq(out, x, y))
#define WEFT_X86_SHIFT_SMALL(op, dtype, direction, itemsize) \
  WEFT_X86(op, dtype, avx2, shift_halves(registers, code, out, x, y, direction, itemsize))

#define WEFT_X86_QUOTIENT(dtype) \
  WEFT_X86(quotient, dtype, avx2, emit_quotient(registers, code, DType::dtype, out, x, y))

constexpr Row rows[] = {
    WEFT_X86(add, f32, avx2, code.vaddps(out, x, y)),
    WEFT_X86(add, f64, avx2, code.vaddpd(out, x, y)),
    WEFT_X86_SIGNLESS(add, 8, avx2, code.vpaddb(out, x, y)),
    WEFT_X86_SIGNLESS(add, 16, avx2, code.vpaddw(out, x, y)),
    WEFT_X86_SIGNLESS(add, 32, avx2, code.vpaddd(out, x, y)),
    WEFT_X86_SIGNLESS(add, 64, avx2, code.vpaddq(out, x, y)),
    WEFT_X86(sub, f32, avx2, code.vsubps(out, x, y)),
    WEFT_X86(sub, f64, avx2, code.vsubpd(out, x, y)),
    WEFT_X86_SIGNLESS(sub, 8, avx2, code.vpsubb(out, x, y)),
    WEFT_X86_SIGNLESS(sub, 16, avx2, code.vpsubw(out, x, y)),
    WEFT_X86_SIGNLESS(sub, 32, avx2, code.vpsubd(out, x, y)),
    WEFT_X86_SIGNLESS(sub, 64, avx2, code.vpsubq(out, x, y)),
    WEFT_X86(mul, f32, avx2, code.vmulps(out, x, y)),
    WEFT_X86(mul, f64, avx2, code.vmulpd(out, x, y)),
    WEFT_X86_SIGNLESS(mul, 8, avx2, multiply_bytes(registers, code, out, x, y)),
    WEFT_X86_SIGNLESS(mul, 16, avx2, code.vpmullw(out, x, y)),
    WEFT_X86_SIGNLESS(mul, 32, avx2, code.vpmulld(out, x, y)),
    WEFT_X86_SIGNLESS(mul, 64, avx2, multiply_64(registers, code, out, x, y)),
    WEFT_X86_SIGNLESS(mul, 64, avx512, code.vpmullq(out, x, y)),
    WEFT_X86(div, f32, avx2, code.vdivps(out, x, y)),
    WEFT_X86(div, f64, avx2, code.vdivpd(out, x, y)),
    WEFT_X86_QUOTIENT(i8),
    WEFT_X86_QUOTIENT(i16),
    WEFT_X86_QUOTIENT(i32),
    WEFT_X86_QUOTIENT(i64),
    WEFT_X86_QUOTIENT(u8),
    WEFT_X86_QUOTIENT(u16),
    WEFT_X86_QUOTIENT(u32),
    WEFT_X86_QUOTIENT(u64),
    WEFT_X86(sqrt, f32, avx2, code.vsqrtps(out, x)),
    WEFT_X86(sqrt, f64, avx2, code.vsqrtpd(out, x)),
    WEFT_X86(neg, f32, avx2, turn_over(registers, code, out, x, {sign_f32, 4})),
    WEFT_X86(neg, f64, avx2, turn_over(registers, code, out, x, {sign_f64, 8})),
    WEFT_X86_SIGNLESS(neg, 8, avx2, negate(registers, code, out, x, 1)),
    WEFT_X86_SIGNLESS(neg, 16, avx2, negate(registers, code, out, x, 2)),
    WEFT_X86_SIGNLESS(neg, 32, avx2, negate(registers, code, out, x, 4)),
    WEFT_X86_SIGNLESS(neg, 64, avx2, negate(registers, code, out, x, 8)),
    WEFT_X86(abs, f32, avx2, without_sign(registers, code, out, x, {sign_f32 - 1, 4})),
    WEFT_X86(abs, f64, avx2, without_sign(registers, code, out, x, {sign_f64 - 1, 8})),
    WEFT_X86(abs, i8, avx2, code.vpabsb(out, x)),
    WEFT_X86(abs, i16, avx2, code.vpabsw(out, x)),
    WEFT_X86(abs, i32, avx2, code.vpabsd(out, x)),
    WEFT_X86(abs, i64, avx2, absolute_64(registers, code, out, x)),
    WEFT_X86(abs, i64, avx512, code.vpabsq(out, x)),
    WEFT_X86_UNSIGNED(abs, avx2, code.move(out, x)),
    WEFT_X86_INTEGERS(bitwise_and, avx2, code.bit_and(out, x, y)),
    WEFT_X86_INTEGERS(bitwise_or, avx2, code.bit_or(out, x, y)),
    WEFT_X86_INTEGERS(bitwise_xor, avx2, code.bit_xor(out, x, y)),
    WEFT_X86_INTEGERS(bitwise_not, avx2,
                      code.bit_xor(out, x, code.splat(~std::uint64_t{0}, 8, width_bytes(out)))),
    WEFT_X86_SIGNLESS(bitwise_left_shift, 8, avx2,
                      shift_halves(registers, code, out, x, y, Shift::left, 1)),
    WEFT_X86_SIGNLESS(bitwise_left_shift, 16, avx2,
                      shift_words(registers, code, out, x, y, Shift::left)),
    WEFT_X86_SIGNLESS(bitwise_left_shift, 32, avx2, code.vpsllvd(out, x, y)),
    WEFT_X86_SIGNLESS(bitwise_left_shift, 64, avx2, code.vpsllvq(out, x, y)),
    WEFT_X86_SHIFT_SMALL(bitwise_right_shift, u8, Shift::right, 1),
    WEFT_X86_SHIFT_SMALL(bitwise_right_shift, i8, Shift::arithmetic, 1),
    WEFT_X86(bitwise_right_shift, u16, avx2, shift_words(registers, code, out, x, y, Shift::right)),
    WEFT_X86(bitwise_right_shift, i16, avx2,
             shift_words(registers, code, out, x, y, Shift::arithmetic)),
    WEFT_X86(bitwise_right_shift, u32, avx2, code.vpsrlvd(out, x, y)),
    WEFT_X86(bitwise_right_shift, i32, avx2, code.vpsravd(out, x, y)),
    WEFT_X86(bitwise_right_shift, u64, avx2, code.vpsrlvq(out, x, y)),
    WEFT_X86(bitwise_right_shift, i64, avx2, shift_64_arithmetic(registers, code, out, x, y)),
    WEFT_X86(bitwise_right_shift, i64, avx512, code.vpsravq(out, x, y)),
    WEFT_X86_EXTREMUM(maximum, vpmax, true),
    WEFT_X86_EXTREMUM(minimum, vpmin, false),
    WEFT_X86_ROUNDING(floor, 9),
    WEFT_X86_ROUNDING(ceil, 10),
    WEFT_X86_ROUNDING(trunc, 11),
    WEFT_X86_ROUNDING(round, 8),
    WEFT_X86(add, c64, avx2, code.vaddps(out, x, y)),
    WEFT_X86(sub, c64, avx2, code.vsubps(out, x, y)),
    WEFT_X86(mul, c64, avx2, multiply_complex(registers, code, out, x, y)),
    WEFT_X86(neg, c64, avx2, turn_over(registers, code, out, x, {sign_f32, 4})),
    WEFT_X86(conj, c64, avx2, code.bit_xor(out, x, code.splat(sign_f64, 8, width_bytes(out)))),
    WEFT_X86(real, c64, avx2, narrow_items(registers, code, out, x, 8, 4, registers.lanes())),
    WEFT_X86(imag, c64, avx2, imaginary_part(registers, code, out, x)),
    WEFT_X86(complex, f32, avx2, complex_pair(registers, code, out, x, y)),
    WEFT_X86(real, f32, avx2, code.move(out, x)),
    WEFT_X86(real, f64, avx2, code.move(out, x)),
    WEFT_X86_INTEGERS(real, avx2, code.move(out, x)),
    WEFT_X86(conj, f32, avx2, code.move(out, x)),
    WEFT_X86(conj, f64, avx2, code.move(out, x)),
    WEFT_X86_INTEGERS(conj, avx2, code.move(out, x)),
    WEFT_X86(scale_by_power, f32, avx2,
             emit_scale_by_power(registers, code, DType::f32, out, x, y)),
    WEFT_X86(scale_by_power, f64, avx2,
             emit_scale_by_power(registers, code, DType::f64, out, x, y)),
    WEFT_X86(exponent, f32, avx2, emit_exponent(registers, code, out, x)),
    WEFT_X86(mantissa, f32, avx2, emit_mantissa(registers, code, out, x)),
};

constexpr std::size_t num_ops = static_cast<std::size_t>(Op::mantissa) + 1;
constexpr std::uint8_t no_row = 255;
static_assert(std::size(rows) < no_row);
using Index = std::array<std::array<std::uint8_t, num_dtypes>, num_ops>;

constexpr Index index_rows(Isa isa) {
  Index index{};
  for (auto& of_op : index) of_op.fill(no_row);
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    auto& place =
        index[static_cast<std::size_t>(rows[i].op)][static_cast<std::size_t>(rows[i].dtype)];
    if (rows[i].isa <= isa && (place == no_row || rows[place].isa < rows[i].isa))
      place = static_cast<std::uint8_t>(i);
  }
  return index;
}

constexpr Index avx2_rows = index_rows(Isa::avx2);
constexpr Index avx512_rows = index_rows(Isa::avx512);

}  // namespace

const Row* find_row(Op op, DType dtype, Isa isa) {
  if (static_cast<std::size_t>(op) >= num_ops) return nullptr;
  const Index& index = isa == Isa::avx512 ? avx512_rows : avx2_rows;
  const std::uint8_t i = index[static_cast<std::size_t>(op)][static_cast<std::size_t>(dtype)];
  return i == no_row ? nullptr : &rows[i];
}

bool is_constant_shift(const ir::Kernel& kernel, const ir::Inst& inst) {
  if (inst.op != Op::bitwise_left_shift && inst.op != Op::bitwise_right_shift) return false;
  const ir::Inst& count = kernel.body[inst.args[1]];
  const std::size_t itemsize = itemsize_bytes(inst.dtype);
  return (itemsize == 4 || itemsize == 8) && count.op == Op::constant &&
         count.bits.lo < 8 * itemsize;
}

void emit_constant_shift(Registers& registers, Assembler& code, const ir::Kernel& kernel,
                         const ir::Inst& inst, const Xmm& out, const Xmm& x) {
  const auto count = static_cast<std::uint8_t>(kernel.body[inst.args[1]].bits.lo);
  const bool is_wide = itemsize_bytes(inst.dtype) == 8, is_left = inst.op == Op::bitwise_left_shift;
  if (is_left) return is_wide ? code.vpsllq(out, x, count) : code.vpslld(out, x, count);
  if (!is_signed(inst.dtype))
    return is_wide ? code.vpsrlq(out, x, count) : code.vpsrld(out, x, count);
  if (!is_wide) return code.vpsrad(out, x, count);
  if (code.has_avx512()) return code.vpsraq(out, x, count);
  // The upper halves arithmetically, and below what a shift without a sign leaves there.
  constexpr std::uint8_t upper_halves = 0xaa, each_upper_twice = 0xf5;
  const Xmm upper = registers.temp(width_bytes(out));
  code.vpsrad(upper, x, std::min<std::uint8_t>(count, 31));
  if (count < 32) {
    code.vpsrlq(out, x, count);
    return code.vpblendd(out, out, upper, upper_halves);
  }
  const Xmm lower = registers.temp(width_bytes(out));
  code.vpsrad(lower, x, static_cast<std::uint8_t>(count - 32));
  code.vpshufd(lower, lower, each_upper_twice);
  code.vpblendd(out, lower, upper, upper_halves);
}

bool is_machine_extremum(const ir::Kernel& kernel, const ir::Inst& inst) {
  if ((inst.op != Op::maximum && inst.op != Op::minimum) ||
      (inst.dtype != DType::f32 && inst.dtype != DType::f64))
    return false;
  const ir::Inst& first = kernel.body[inst.args[0]];
  if (first.op != Op::constant) return false;
  const std::uint64_t infinity = inst.dtype == DType::f32 ? 0x7f800000 : 0x7ff0000000000000;
  const std::uint64_t sign = inst.dtype == DType::f32 ? sign_f32 : sign_f64;
  return (first.bits.lo & ~sign) <= infinity;
}

void emit_machine_extremum(Assembler& code, const ir::Inst& inst, const Xmm& out, const Xmm& x,
                           const Xmm& y) {
  const bool is_max = inst.op == Op::maximum;
  if (inst.dtype == DType::f32)
    is_max ? code.vmaxps(out, x, y) : code.vminps(out, x, y);
  else
    is_max ? code.vmaxpd(out, x, y) : code.vminpd(out, x, y);
}

std::optional<SignBits> sign_bits_of(const ir::Inst& inst) {
  if (inst.op != Op::neg && inst.op != Op::abs) return std::nullopt;
  const bool is_abs = inst.op == Op::abs;
  switch (inst.dtype) {
    case DType::f32: return SignBits{is_abs ? sign_f32 - 1 : sign_f32, 4};
    case DType::f64: return SignBits{is_abs ? sign_f64 - 1 : sign_f64, 8};
    default: return std::nullopt;
  }
}

bool has_row(const ir::Kernel& kernel, const ir::Inst& inst, Isa isa) {
  if (has_rare_call(kernel, inst)) return true;
  if (involves_masks(kernel, inst)) return has_mask_row(kernel, inst);
  const DType from = result_dtype(kernel.body[inst.args[0]]);
  if (inst.op == Op::bitcast) return itemsize_bytes(from) == itemsize_bytes(inst.dtype);
  if (inst.op == Op::table_entry)
    return inst.dtype == DType::f32 && kernel.body[inst.args[1]].op == Op::constant;
  if (inst.op == Op::fma) return inst.dtype == DType::f32 || inst.dtype == DType::f64;
  if (inst.op == Op::cast) return has_cast(from, inst.dtype, isa);
  return find_row(inst.op, inst.dtype, isa) != nullptr;
}

}  // namespace weft::jit::xbyak
