// f32 divided by what divides often, as two products: fma(x, high, x * low), where high is the
// rounded reciprocal of the divisor and low what it lacks, rounded (Brisebarre, Muller and Raina,
// "Accelerating correctly rounded floating-point division when the divisor is known in advance",
// 2004).
//
// For 98.7 % of divisors the bits are those of the division for every x, as long as nothing
// overflows and the products are normal numbers or zero.  With X, Y the significands as integers
// of 24 bits, what is rounded is off by less than 2^-48 of the quotient.  A quotient of X >= Y is
// further than that from where the rounding changes.  One of X < Y lies d / (Y * 2^25) from it,
// and only |d| = 1 is too close: there X * 2^25 = M * Y +- 1 for an odd M of 25 bits, which is the
// inverse of Y modulo 2^25, or its negative.  So each divisor has one x that can fail, and trying
// it decides.
//
// A dividend of -0 can become +0.
#pragma once

#include "jit/xbyak/assembler.h"

#include <array>

namespace weft::jit::xbyak {

/// What 1 / divisor lacks of the reciprocal.
float low_factor(float divisor);
/// Whether two products divide all numbers of ordinary size.
bool divides_in_two_products(float divisor);

/// The same in generated code, of a divisor that all lanes have: leaves zero in eax if they do.
/// high, low: registers or memory.  `temps` are overwritten.
void emit_two_products_test(Assembler& code, const Xmm& divisor, const Xbyak::Operand& high,
                            const Xbyak::Operand& low, const std::array<Xmm, 3>& temps);

}  // namespace weft::jit::xbyak
