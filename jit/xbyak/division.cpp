// Integer division, for which there is no vector instruction: through floats that hold every
// quotient exactly, and 64-bit integers with more bits than these one by one.
#include "jit/xbyak/rows.h"

#include <algorithm>

namespace weft::jit::xbyak {
namespace {

struct Divider {
  Registers& registers;
  Assembler& code;
  DType dtype;

  int itemsize() const { return static_cast<int>(itemsize_bytes(dtype)); }
  Xmm temp(int bytes) const { return registers.temp(std::max(16, bytes)); }

  void divide(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const;
  void divide_halves(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const;
  void through_f32(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const;
  void through_f64(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const;
  void short_through_f64(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const;
  void one_by_one(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const;
  void divide_rax_by_rcx() const;
};

// A quotient of 16-bit integers is at least 2^-16 away from the next integer if it is none, and
// rounding moves it by less.  By zero it is infinite or NaN, which converts to a number whose low
// half is zero.
void Divider::through_f32(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const {
  const Xmm dividend = temp(4 * lanes), divisor = temp(4 * lanes);
  widen_items(code, dividend, x, itemsize(), 4, is_signed(dtype), lanes);
  widen_items(code, divisor, y, itemsize(), 4, is_signed(dtype), lanes);
  code.vcvtdq2ps(dividend, dividend);
  code.vcvtdq2ps(divisor, divisor);
  code.vdivps(dividend, dividend, divisor);
  code.vcvttps2dq(dividend, dividend);
  narrow_items(registers, code, out, dividend, 4, itemsize(), lanes);
}

void Divider::through_f64(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const {
  const Xmm dividend = temp(8 * lanes), divisor = temp(8 * lanes);
  const Xmm narrow_x = resized(x, 4 * lanes), narrow_y = resized(y, 4 * lanes);
  const Xmm result = resized(out, 4 * lanes);
  if (is_signed(dtype)) {
    code.vcvtdq2pd(dividend, narrow_x);
    code.vcvtdq2pd(divisor, narrow_y);
    code.vdivpd(dividend, dividend, divisor);
    code.vcvttpd2dq(result, dividend);
  } else {
    code.vcvtudq2pd(dividend, narrow_x);
    code.vcvtudq2pd(divisor, narrow_y);
    code.vdivpd(dividend, dividend, divisor);
    code.vcvttpd2udq(result, dividend);
  }
  if (code.has_avx512()) {
    const Opmask is_divisor = registers.temp_mask();
    code.vptestmd(is_divisor, narrow_y, narrow_y);
    code.vmovdqa32(result | is_divisor | Xbyak::util::T_z, result);
  } else {
    const Xmm is_zero = resized(divisor, 4 * lanes);
    code.vpxor(is_zero, is_zero, is_zero);
    code.vpcmpeqd(is_zero, is_zero, narrow_y);
    code.vpandn(result, is_zero, result);
  }
}

// Numbers of 51 bits are exact in f64, and what no integer divides is further from the next one
// than rounding reaches.  Others, of which one sends its whole vector, go one by one.
void Divider::short_through_f64(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const {
  constexpr std::uint64_t two_to_51 = std::uint64_t{1} << 51;
  constexpr std::uint64_t whole_bits =
      0x4338000000000000;  // 1.5 * 2^52: integers are in its low bits
  const int bytes = 8 * lanes;
  const auto splat = [&](std::uint64_t bits) { return code.splat(bits, 8, bytes); };
  const std::uint32_t mark = registers.marked_temps();
  const Xmm dividend = temp(bytes), divisor = temp(bytes);
  if (is_signed(dtype)) {
    code.vpaddq(dividend, x, splat(two_to_51));
    code.vpaddq(divisor, y, splat(two_to_51));
    code.vpor(divisor, divisor, dividend);
    code.vpsrlq(divisor, divisor, 52);
  } else {
    code.vpor(divisor, x, y);
    code.vpsrlq(divisor, divisor, 51);
  }
  code.vptest(divisor, divisor);
  const auto is_long = code.jump_if(Condition::not_zero);
  code.vpaddq(dividend, x, splat(whole_bits));
  code.vpaddq(divisor, y, splat(whole_bits));
  code.vsubpd(dividend, dividend, splat(whole_bits));
  code.vsubpd(divisor, divisor, splat(whole_bits));
  code.vdivpd(dividend, dividend, divisor);
  constexpr int toward_zero = 3;
  code.vroundpd(dividend, dividend, toward_zero);
  code.vaddpd(dividend, dividend, splat(whole_bits));
  code.vpsubq(dividend, dividend, splat(whole_bits));
  code.vpxor(divisor, divisor, divisor);
  code.vpcmpeqq(divisor, divisor, y);
  code.vpandn(out, divisor, dividend);
  registers.free_temps_since(mark);
  const auto done = code.jump_always();
  code.bind(is_long);
  one_by_one(out, x, y, lanes);
  code.bind(done);
}

// The instruction traps where the quotient is not defined, or too large by one.
void Divider::divide_rax_by_rcx() const {
  const bool is_wide = itemsize() == 8;
  code.test(code.rcx, code.rcx);
  const auto by_zero = code.jump_if(Condition::zero);
  if (!is_signed(dtype)) {
    code.xor_(code.edx, code.edx);
    is_wide ? code.div(code.rcx) : code.div(code.ecx);
    const auto done = code.jump_always();
    code.bind(by_zero);
    code.xor_(code.eax, code.eax);
    return code.bind(done);
  }
  code.cmp(code.rcx, -1);
  const auto ordinary = code.jump_if(Condition::not_zero);
  code.neg(code.rax);
  const auto negated = code.jump_always();
  code.bind(by_zero);
  code.xor_(code.eax, code.eax);
  const auto done = code.jump_always();
  code.bind(ordinary);
  code.cqo();
  code.idiv(code.rcx);
  code.bind(negated);
  code.bind(done);
}

void Divider::one_by_one(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const {
  const int buffer = code.scratch_frame();
  const int saved = code.allocate_frame(8, 8);
  code.mov(code.qword[code.frame(saved)], code.rdx);  // may hold an operand's address
  code.store_bytes(code.frame(buffer), x, itemsize() * lanes);
  code.store_bytes(code.frame(buffer + 64), y, itemsize() * lanes);
  for (int lane = 0; lane < lanes; ++lane) {
    const RegExp dividend = code.frame(buffer + lane * itemsize());
    const RegExp divisor = code.frame(buffer + 64 + lane * itemsize());
    if (itemsize() == 8) {
      code.mov(code.rax, code.qword[dividend]);
      code.mov(code.rcx, code.qword[divisor]);
    } else {
      code.mov(code.eax, code.dword[dividend]);
      code.mov(code.ecx, code.dword[divisor]);
    }
    divide_rax_by_rcx();
    itemsize() == 8 ? code.mov(code.qword[dividend], code.rax)
                    : code.mov(code.dword[dividend], code.eax);
  }
  code.load_bytes(out, code.frame(buffer), itemsize() * lanes);
  code.mov(code.rdx, code.qword[code.frame(saved)]);
}

void Divider::divide_halves(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const {
  const int bytes = itemsize() * lanes;
  const Xmm upper_x = temp(bytes), upper_y = temp(bytes);
  code.extract_upper(upper_x, x, bytes);
  code.extract_upper(upper_y, y, bytes);
  std::uint32_t mark = registers.marked_temps();
  divide(out, x, y, lanes / 2);
  registers.free_temps_since(mark);
  const Xmm upper = temp(bytes);
  divide(upper, upper_x, upper_y, lanes / 2);
  code.insert_upper(out, upper, bytes);
}

void Divider::divide(const Xmm& out, const Xmm& x, const Xmm& y, int lanes) const {
  const int vector_bytes = code.has_avx512() ? 64 : 32;
  const bool is_unsigned_32 = dtype == DType::u32 && !code.has_avx512();
  if (itemsize() == 8 && !code.has_avx512()) return short_through_f64(out, x, y, lanes);
  if (itemsize() == 8 || is_unsigned_32) return one_by_one(out, x, y, lanes);
  if (lanes * (itemsize() == 4 ? 8 : 4) > vector_bytes) return divide_halves(out, x, y, lanes);
  itemsize() == 4 ? through_f64(out, x, y, lanes) : through_f32(out, x, y, lanes);
}

}  // namespace

void emit_quotient(Registers& registers, Assembler& code, DType dtype, const Xmm& out, const Xmm& x,
                   const Xmm& y) {
  Divider{registers, code, dtype}.divide(out, x, y, registers.lanes());
}

}  // namespace weft::jit::xbyak
