#include "jit/xbyak/two_products.h"

namespace weft::jit::xbyak {

using namespace quotients;

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
