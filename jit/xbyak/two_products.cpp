#include "jit/xbyak/two_products.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::jit::xbyak {
namespace {

constexpr std::uint32_t fraction_mask = 0x7fffff;
constexpr std::uint32_t hidden_bit = 0x800000;
constexpr std::uint32_t inverse_modulus = 1u << 25;
constexpr std::uint32_t two_to_23_f32 = 0x4b000000;  ///< with a fraction: the significand's number
/// Each step of Newton's doubles the right bits of an inverse: 5, 10, 20, 40.
constexpr int num_newton_steps = 3;

}  // namespace

float low_factor(float divisor) { return std::fma(-(1 / divisor), divisor, 1.0F) / divisor; }

bool divides_in_two_products(float divisor) {
  const std::uint32_t fraction = std::bit_cast<std::uint32_t>(divisor) & fraction_mask;
  const std::uint32_t significand = fraction | hidden_bit;
  std::uint32_t inverse = (3 * significand) ^ 2;
  for (int i = 0; i < num_newton_steps; ++i) inverse *= 2 - significand * inverse;
  inverse &= inverse_modulus - 1;
  const std::uint32_t odd = std::max(inverse, inverse_modulus - inverse);
  const float number = std::bit_cast<float>(fraction | two_to_23_f32);
  const float x = std::fma(static_cast<float>(odd >> 1), 2 * number, number);
  return std::fma(x, 1 / divisor, x * low_factor(divisor)) == x / divisor;
}

void emit_two_products_test(Assembler& code, const Xmm& divisor, const Xbyak::Operand& high,
                            const Xbyak::Operand& low, const std::array<Xmm, 3>& temps) {
  const auto constant = [&](std::uint32_t bits) { return code.splat(bits, 4, 16); };
  const Xmm y = resized(divisor, 16);
  const Xmm negative = resized(temps[0], 16), inverse = resized(temps[1], 16),
            x = resized(temps[2], 16);
  code.bit_and(x, y, constant(fraction_mask));
  code.bit_or(x, x, constant(hidden_bit));
  code.vpaddd(inverse, x, x);
  code.vpaddd(inverse, inverse, x);
  code.bit_xor(inverse, inverse, constant(2));
  code.set_zero(negative);
  code.vpsubd(negative, negative, x);
  for (int i = 0; i < num_newton_steps; ++i) {
    code.vpmulld(x, negative, inverse);
    code.vpaddd(x, x, constant(2));
    code.vpmulld(inverse, inverse, x);
  }
  code.bit_and(inverse, inverse, constant(inverse_modulus - 1));
  code.vmovaps(x, constant(inverse_modulus));
  code.vpsubd(x, x, inverse);
  code.vpmaxud(x, x, inverse);
  code.vpsrld(x, x, 1);
  code.vcvtdq2ps(x, x);
  const Xmm& number = negative;
  code.bit_and(number, y, constant(fraction_mask));
  code.bit_or(number, number, constant(two_to_23_f32));
  code.vaddps(inverse, number, number);
  code.vfmadd213ps(x, inverse, number);
  const Xmm &by_products = negative, &quotient = inverse;
  code.vmulps(by_products, x, low);
  code.vfmadd231ps(by_products, x, high);
  code.vdivps(quotient, x, y);
  code.bit_xor(quotient, quotient, by_products);
  code.vmovd(code.eax, quotient);
}

}  // namespace weft::jit::xbyak
