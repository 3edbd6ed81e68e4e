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

#include "ir/kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace weft::jit {

namespace quotients {
inline constexpr std::uint32_t fraction_mask = 0x7fffff;
inline constexpr std::uint32_t hidden_bit = 0x800000;
inline constexpr std::uint32_t inverse_modulus = 1U << 25;
/// With a fraction: the significand's number.
inline constexpr std::uint32_t two_to_23_f32 = 0x4b000000;
/// Each step of Newton's doubles the right bits of an inverse: 5, 10, 20, 40.
inline constexpr int num_newton_steps = 3;

/// Quotients of a dividend and a divisor between 2^-exponent and 2^exponent are normal.
inline constexpr int divisors_exponent_f32 = 30;
/// Two numbers of at least 2^-40 are multiples of 2^-63 or, as doubles, of 2^-92, and so is their
/// sum: where they are of 2^62 at most, it is zero or well between the limits of dividends.  Its
/// quotient is at least 2^-93, where no product's rounding is coarser than that of the quotient by
/// 49 bits.
inline constexpr int terms_exponent = 40;
}  // namespace quotients

/// What 1 / divisor lacks of the reciprocal.
inline float low_factor(float divisor) { return std::fma(-(1 / divisor), divisor, 1.0F) / divisor; }

/// Whether two products divide all numbers of ordinary size.
inline bool divides_in_two_products(float divisor) {
  using namespace quotients;
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

/// What was an integer is zero or of ordinary size.
inline bool is_from_integer(const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  return inst.op == Op::cast && is_integral(ir::result_dtype(kernel.body[inst.args[0]]));
}

inline bool is_small_integer(const ir::Kernel& kernel, ir::ValueId id) {
  return is_from_integer(kernel, id) &&
         itemsize_bytes(ir::result_dtype(kernel.body[kernel.body[id].args[0]])) <= 4;
}

/// A hoisted value that is added to, or subtracted from, an integer of few bytes or such a one's
/// quotient; `number` is that.
struct SmallSum {
  ir::ValueId hoisted = ir::no_value, number = ir::no_value;
};

inline SmallSum small_sum(const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  if (inst.op != Op::add && inst.op != Op::sub) return {};
  for (const int i : {0, 1}) {
    const ir::ValueId hoisted = inst.args[i], number = inst.args[1 - i];
    if (hoisted >= kernel.num_hoisted || kernel.body[hoisted].dtype != inst.dtype) continue;
    const ir::Inst& quotient = kernel.body[number];
    const bool is_quotient = quotient.op == Op::div && quotient.dtype == inst.dtype &&
                             is_small_integer(kernel, quotient.args[0]);
    if (is_quotient || is_small_integer(kernel, number)) return {hoisted, number};
  }
  return {};
}

}  // namespace weft::jit
