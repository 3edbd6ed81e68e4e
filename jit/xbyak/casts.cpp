// Casts between numbers, with the results of weft/convert.h.
#include "jit/xbyak/rows.h"

#include <array>

namespace weft::jit::xbyak {
namespace {

constexpr std::uint8_t nearest_even = 0;
constexpr std::uint64_t two_to_63_f32 = 0x5f000000;
constexpr std::uint64_t two_to_64_f32 = 0x5f800000;
constexpr std::uint64_t two_to_63_f64 = 0x43e0000000000000;
constexpr std::uint64_t two_to_64_f64 = 0x43f0000000000000;

bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }
int size_of(DType dtype) { return static_cast<int>(itemsize_bytes(dtype)); }
bool is_small_integer(DType dtype) { return is_integer(dtype) && itemsize_bytes(dtype) <= 2; }

struct Caster {
  Registers& registers;
  Assembler& code;
  int lanes;

  Xmm vector(const Xmm& x, int itemsize) const { return resized(x, itemsize * lanes); }
  Xmm temp(int itemsize) const { return registers.temp(itemsize * lanes); }

  void cast(DType from, DType to, const Xmm& out, const Xmm& x) const;
  void integer_to_integer(DType from, DType to, const Xmm& out, const Xmm& x) const;
  void integer_to_float(DType from, DType to, const Xmm& out, const Xmm& x) const;
  void float_to_integer(DType from, DType to, const Xmm& out, const Xmm& x) const;
  void float_to_u64(DType from, const Xmm& out, const Xmm& x) const;
  void wide_integer_to_double(DType from, const Xmm& out, const Xmm& x) const;
  void lane_by_lane(DType from, DType to, const Xmm& out, const Xmm& x) const;
  void one_integer_to_float(DType from, DType to, const RegExp& source, const Xmm& number) const;
  void one_float_to_integer(DType from, DType to, const RegExp& source, const Xmm& number) const;
};

void Caster::integer_to_integer(DType from, DType to, const Xmm& out, const Xmm& x) const {
  if (size_of(from) == size_of(to)) return code.move(out, x);
  if (size_of(from) < size_of(to))
    return widen_items(code, out, x, size_of(from), size_of(to), is_signed(from), lanes);
  narrow_items(registers, code, out, x, size_of(from), size_of(to), lanes);
}

void Caster::integer_to_float(DType from, DType to, const Xmm& out, const Xmm& x) const {
  if (size_of(from) < 4) {  // exact as i32
    const Xmm wide = temp(4);
    integer_to_integer(from, DType::i32, wide, x);
    return integer_to_float(DType::i32, to, out, wide);
  }
  const bool to_double = to == DType::f64;
  if (from == DType::i32)
    return to_double ? code.vcvtdq2pd(out, vector(x, 4)) : code.vcvtdq2ps(out, x);
  if (!code.has_avx512())
    return to_double ? wide_integer_to_double(from, out, x) : lane_by_lane(from, to, out, x);
  switch (from) {
    case DType::u32:
      return to_double ? code.vcvtudq2pd(out, vector(x, 4)) : code.vcvtudq2ps(out, x);
    case DType::i64: return to_double ? code.vcvtqq2pd(out, x) : code.vcvtqq2ps(vector(out, 4), x);
    default: return to_double ? code.vcvtuqq2pd(out, x) : code.vcvtuqq2ps(vector(out, 4), x);
  }
}

// The halves as the last bits of 2^84 and of 2^52; the sum of what is left of both rounds once.
// With the sign turned over the upper half of an i64 is 2^31 more.
void Caster::wide_integer_to_double(DType from, const Xmm& out, const Xmm& x) const {
  constexpr std::uint64_t two_to_52 = 0x4330000000000000, two_to_84 = 0x4530000000000000;
  constexpr std::uint64_t both = 0x4530000000100000, both_and_sign = 0x4530000080100000;
  constexpr std::uint8_t low_halves = 0x55;
  const bool is_i64 = from == DType::i64;
  const int bytes = 8 * lanes;
  const Xmm low = temp(8);
  const Address exponent = code.splat(two_to_52, 8, bytes);
  if (from == DType::u32) {
    widen_items(code, out, x, 4, 8, false, lanes);
    code.bit_or(out, out, exponent);
    return code.vsubpd(out, out, exponent);
  }
  code.vmovaps(low, exponent);
  code.vpblendd(low, low, x, low_halves);
  code.vpsrlq(out, x, 32);
  code.bit_xor(out, out, code.splat(is_i64 ? two_to_84 | 0x80000000 : two_to_84, 8, bytes));
  code.vsubpd(out, out, code.splat(is_i64 ? both_and_sign : both, 8, bytes));
  code.vaddpd(out, out, low);
}

// The instruction for u64 is right in [2^63, 2^64); the one for i64 everywhere else.
void Caster::float_to_u64(DType from, const Xmm& out, const Xmm& x) const {
  constexpr std::uint8_t not_below = 0x1d;
  constexpr std::uint8_t below = 0x11;
  const bool is_double = from == DType::f64;
  const Xmm source = vector(x, size_of(from));
  const int bytes = width_bytes(source);
  const Opmask is_upper = registers.temp_mask();
  if (is_double) {
    code.vcmppd(is_upper, source, code.splat(two_to_63_f64, 8, bytes), not_below);
    code.vcmppd(is_upper | is_upper, source, code.splat(two_to_64_f64, 8, bytes), below);
    code.vcvttpd2qq(out, source);
    code.vcvttpd2uqq(out | is_upper, source);
  } else {
    code.vcmpps(is_upper, source, code.splat(two_to_63_f32, 4, bytes), not_below);
    code.vcmpps(is_upper | is_upper, source, code.splat(two_to_64_f32, 4, bytes), below);
    code.vcvttps2qq(out, source);
    code.vcvttps2uqq(out | is_upper, source);
  }
}

void Caster::float_to_integer(DType from, DType to, const Xmm& out, const Xmm& x) const {
  const bool is_double = from == DType::f64;
  const bool by_64 = size_of(to) == 8 || to == DType::u32;
  if (by_64 && !code.has_avx512()) return lane_by_lane(from, to, out, x);
  if (to == DType::u64) return float_to_u64(from, out, x);
  const DType through = by_64 ? DType::i64 : DType::i32;
  const bool is_final = size_of(to) == size_of(through);
  const Xmm whole = is_final ? out : temp(size_of(through));
  if (by_64)
    is_double ? code.vcvttpd2qq(whole, x) : code.vcvttps2qq(whole, vector(x, 4));
  else
    is_double ? code.vcvttpd2dq(vector(whole, 4), x) : code.vcvttps2dq(whole, x);
  if (!is_final) integer_to_integer(through, to, out, whole);
}

// AVX2 has no vector instructions for 64-bit or unsigned integers; the scalar ones round once too.
// What they give is put together in registers: a load of what several small stores have written
// waits for all of them.
void Caster::lane_by_lane(DType from, DType to, const Xmm& out, const Xmm& x) const {
  const int buffer = code.scratch_frame(), in_half = 16 / size_of(to);
  const Xmm number = registers.temp(16), low = vector_register(out.getIdx(), 16);
  const Xmm high = lanes > in_half ? registers.temp(16) : low;
  code.store_bytes(code.frame(buffer), x, size_of(from) * lanes);
  for (int lane = 0; lane < lanes; ++lane) {
    const RegExp source = code.frame(buffer + lane * size_of(from));
    const Xmm& half = lane < in_half ? low : high;
    const auto place = static_cast<std::uint8_t>(lane % in_half);
    if (is_float(from)) {
      one_float_to_integer(from, to, source, number);
      if (place == 0)  // waits for nothing that was there
        size_of(to) == 4 ? code.vmovd(half, code.eax) : code.vmovq(half, code.rax);
      else
        size_of(to) == 4 ? code.vpinsrd(half, half, code.eax, place)
                         : code.vpinsrq(half, half, code.rax, place);
    } else {
      one_integer_to_float(from, to, source, number);
      if (place == 0)
        code.vmovaps(half, number);
      else if (to == DType::f64)
        code.vunpcklpd(half, half, number);
      else
        code.vinsertps(half, half, number, static_cast<std::uint8_t>(place << 4));
    }
  }
  if (lanes <= in_half) return;
  const Ymm whole(out.getIdx());
  code.vinsertf128(whole, whole, high, 1);
}

/// To `number`.
void Caster::one_integer_to_float(DType from, DType to, const RegExp& source,
                                  const Xmm& number) const {
  const bool to_double = to == DType::f64;
  const auto convert = [&](const Reg64& integer) {
    code.vpxor(number, number, number);  // otherwise the conversion waits for the last one
    to_double ? code.vcvtsi2sd(number, number, integer) : code.vcvtsi2ss(number, number, integer);
  };
  if (from == DType::u32)
    code.mov(code.eax, code.dword[source]);
  else
    code.mov(code.rax, code.qword[source]);
  if (from == DType::u64) {
    code.test(code.rax, code.rax);
    const auto is_upper = code.jump_if(Condition::sign);
    convert(code.rax);
    const auto done = code.jump_always();
    code.bind(is_upper);
    // Halved, with the lost bit kept sticky, it fits and rounds the same way.
    code.mov(code.rdx, code.rax);
    code.shr(code.rdx, 1);
    code.and_(code.eax, 1);
    code.or_(code.rdx, code.rax);
    convert(code.rdx);
    to_double ? code.vaddsd(number, number, number) : code.vaddss(number, number, number);
    code.bind(done);
  } else {
    convert(code.rax);
  }
}

/// To rax.
void Caster::one_float_to_integer(DType from, DType to, const RegExp& source,
                                  const Xmm& number) const {
  const bool is_double = from == DType::f64;
  const auto compare = [&](std::uint64_t f64_bits, std::uint64_t f32_bits) {
    is_double ? code.vucomisd(number, code.splat(f64_bits, 8, 8))
              : code.vucomiss(number, code.splat(f32_bits, 4, 4));
  };
  const auto truncate = [&] {
    is_double ? code.vcvttsd2si(code.rax, number) : code.vcvttss2si(code.rax, number);
  };
  is_double ? code.vmovsd(number, code.qword[source]) : code.vmovss(number, code.dword[source]);
  if (to == DType::u64) {
    compare(two_to_63_f64, two_to_63_f32);
    const auto is_low = code.jump_if(Condition::below);  // or NaN
    compare(two_to_64_f64, two_to_64_f32);
    const auto is_too_large = code.jump_if(Condition::not_below);
    is_double ? code.vsubsd(number, number, code.splat(two_to_63_f64, 8, 8))
              : code.vsubss(number, number, code.splat(two_to_63_f32, 4, 4));
    truncate();
    code.btc(code.rax, 63);
    const auto done = code.jump_always();
    code.bind(is_low);
    code.bind(is_too_large);
    truncate();
    code.bind(done);
  } else {
    truncate();
  }
}

void Caster::cast(DType from, DType to, const Xmm& out, const Xmm& x) const {
  if (from == to) return code.move(out, x);
  if (from == DType::f16) {
    const Xmm wide = to == DType::f32 ? out : temp(4);
    code.vcvtph2ps(wide, vector(x, 2));
    if (to != DType::f32) cast(DType::f32, to, out, wide);
  } else if (to == DType::f16) {
    Xmm wide = x;
    if (from != DType::f32) {
      wide = temp(4);
      integer_to_float(from, DType::f32, wide, x);
    }
    code.vcvtps2ph(vector(out, 2), wide, nearest_even);
  } else if (is_integer(from) && is_integer(to)) {
    integer_to_integer(from, to, out, x);
  } else if (is_integer(from)) {
    integer_to_float(from, to, out, x);
  } else if (is_integer(to)) {
    float_to_integer(from, to, out, x);
  } else {
    to == DType::f64 ? code.vcvtps2pd(out, vector(x, 4)) : code.vcvtpd2ps(vector(out, 4), x);
  }
}

// The widest item on the way, which decides how many lanes can be cast at once.
int widest(DType from, DType to, bool has_avx512) {
  int bytes = std::max(size_of(from), size_of(to));
  const bool through_float = from == DType::f16 || to == DType::f16;
  const bool through_i32 = is_integer(from) != is_integer(to);
  if (from != to && (through_float || through_i32)) bytes = std::max(bytes, 4);
  if (has_avx512 && !is_integer(from) && to == DType::u32) bytes = 8;
  return bytes;
}

}  // namespace

bool has_cast(DType from, DType to, Isa) {
  const auto is_known = [](DType dtype) {
    return is_integer(dtype) || is_float(dtype) || dtype == DType::f16;
  };
  if (from == to) return itemsize_bytes(from) <= 8;
  if (from == DType::f64 && to == DType::u8) return false;   // by way of i64: expand_casts()
  if (from == DType::f32 && to == DType::bf16) return true;  // NativeBf16
  if (!is_known(from) || !is_known(to)) return false;
  return to != DType::f16 || from == DType::f32 || is_small_integer(from);
}

void emit_cast(Registers& registers, Assembler& code, DType from, DType to, const Xmm& out,
               const Xmm& x) {
  const int vector_bytes = code.has_avx512() ? 64 : 32;
  const int lanes = registers.lanes();
  if (widest(from, to, code.has_avx512()) * lanes <= vector_bytes)
    return Caster{registers, code, lanes}.cast(from, to, out, x);
  const Caster half{registers, code, lanes / 2};
  const Xmm upper = registers.temp(std::max(size_of(from) * lanes, 16));
  const Xmm result = registers.temp(std::max(size_of(to) * lanes, 16));
  code.extract_upper(upper, x, size_of(from) * lanes);
  half.cast(from, to, half.vector(out, size_of(to)), half.vector(x, size_of(from)));
  half.cast(from, to, half.vector(result, size_of(to)), half.vector(upper, size_of(from)));
  code.insert_upper(out, result, size_of(to) * lanes);
}

void widen_items(Assembler& code, const Xmm& out, const Xmm& x, int from, int to, bool with_sign,
                 int lanes) {
  const Xmm source = resized(x, from * lanes);
  const Xmm target = resized(out, to * lanes);
  switch (from * 16 + to) {
    case 0x12: return with_sign ? code.vpmovsxbw(target, source) : code.vpmovzxbw(target, source);
    case 0x14: return with_sign ? code.vpmovsxbd(target, source) : code.vpmovzxbd(target, source);
    case 0x18: return with_sign ? code.vpmovsxbq(target, source) : code.vpmovzxbq(target, source);
    case 0x24: return with_sign ? code.vpmovsxwd(target, source) : code.vpmovzxwd(target, source);
    case 0x28: return with_sign ? code.vpmovsxwq(target, source) : code.vpmovzxwq(target, source);
    default: return with_sign ? code.vpmovsxdq(target, source) : code.vpmovzxdq(target, source);
  }
}

void narrow_items(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x, int from,
                  int to, int lanes, int first_byte) {
  const Xmm source = resized(x, from * lanes);
  const Xmm target = resized(out, to * lanes);
  if (code.has_avx512()) {
    switch (from * 16 + to) {
      case 0x21: return code.vpmovwb(target, source);
      case 0x41: return code.vpmovdb(target, source);
      case 0x81: return code.vpmovqb(target, source);
      case 0x42: return code.vpmovdw(target, source);
      case 0x82: return code.vpmovqw(target, source);
      default: return code.vpmovqd(target, source);
    }
  }
  // The kept bytes of each 16 go to their start; then the two groups are joined.
  std::array<std::byte, 32> order;
  order.fill(std::byte{0x80});
  for (int i = 0; i < 32; ++i)
    if (i % 16 < 16 / from * to)
      order[static_cast<std::size_t>(i)] =
          static_cast<std::byte>(i % 16 / to * from + i % to + first_byte);
  const Xmm low = resized(out, 16);
  if (from * lanes <= 16)
    return code.vpshufb(low, resized(x, 16), code.constant(std::span(order).first(16)));
  const Xmm gathered = registers.temp(32);
  code.vpshufb(gathered, source, code.constant(order));
  code.vextracti128(low, Ymm(gathered.getIdx()), 1);
  const Xmm first = resized(gathered, 16);
  switch (16 / from * to) {
    case 8: return code.vpunpcklqdq(low, first, low);
    case 4: return code.vpunpckldq(low, first, low);
    default: return code.vpunpcklwd(low, first, low);
  }
}

}  // namespace weft::jit::xbyak
