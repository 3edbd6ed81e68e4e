// Error functions and what neural networks are made of, out of primitives; see
// ir/exponentials.h for "rough".
#pragma once

#include "ir/exponentials.h"

namespace weft::ir {

// --- The logistic function. ---
/// 1 / (1 + exp(-x)) of f64, with the errors of the sum and of the quotient put right.  The
/// denominator is taken 2^-512 times: exp(-x) then never overflows.
template <class V>
V logistic(const V& x) {
  const V bounded = held_between(-x, -352, 746);
  const Sum<V> power = exponential_sum(bounded, 512);
  const V one = like(x, 0x1p-512);
  const V sum = one + power.high, of_power = sum - one;
  const V lost = ((one - (sum - of_power)) + (power.high - of_power)) + power.low;
  const V quotient = one / sum;
  const V rest = fma(-quotient, sum, one) - quotient * lost;
  return fma(rest * like(x, 0x1p512), quotient, quotient);
}

/// log(x / (1 - x)).  Of an x of f32 1 - x is exact wherever that shows, and the odds are right to
/// 2^-53: 2^-31 of what is left of them next to 1.
template <class V>
V rough_logit(const V& x) {
  return rough_log(x / (like(x, 1) - x));
}

// --- Error functions. ---
/// erfc in f64 for f32: exp(-x^2 + P(t)) * t with t = 2 / (2 + x), relatively right to the end.
template <class V>
V rough_erfc(const V& x) {
  const V unbounded = abs(x), two = like(x, 2);
  const V size = select(unbounded > like(x, 40), like(x, 40), unbounded);
  const V t = two / (two + size);
  const V exponent =
      horner(t, {0.13490470024799509, -1.3516594976774567, 6.096007897767713, -16.26699095753137,
                 28.379954410888217, -33.809874288664446, 28.10862618067164, -16.77510706950051,
                 7.64327563535949, -2.66778866176241, 0.5087029346098456, -0.20772799915640133,
                 0.09957249213949505, 0.3735389770426364, 1.000079328911488, -1.2655140833485878});
  const V tail = t * rough_exp(fma(-size, size, exponent));
  return select(x < like(x, 0), two - tail, tail);
}

/// A first guess of the inverse of erf (M. Giles, "Approximating the erfinv function", 2012), for
/// 1 - x^2 = exp(-w) and w < 16.
template <class V>
V guess_of_inverse_erf(const V& size, const V& w) {
  const V near = horner(w - like(w, 2.5),
                        {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
                         0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  const V far = horner(sqrt(w) - like(w, 3),
                       {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                        0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  return select(w < like(w, 5), near, far) * size;
}

/// inverse_erf(x) / x - sqrt(pi) / 2, over x^2, for |x| < 0.5.
template <class V>
V inverse_erf_slope(const V& square) {
  return horner(
      square, {5.938251375879722, -12.38996144435672, 11.858996070523006, -6.790671706913056,
               2.6398970841436324, -0.6951568437711038, 0.16177932447790316, 0.002124182916642145,
               0.02720089437087029, 0.027813161589014014, 0.03169804129782243, 0.03646560505492227,
               0.04283672762662427, 0.05173128191421898, 0.0649596177454892, 0.08655212924154652,
               0.12755617530559796, 0.2320136665346545});
}

/// The inverse of erf: a polynomial up to one half; beyond, a guess and one of Halley's steps.
template <class V>
V rough_inverse_erf(const V& x) {
  const V one = like(x, 1), size = abs(x), half = like(x, 0.5), square = x * x;
  const auto is_small = size < half;
  const V of_small = x * fma(inverse_erf_slope(square), square, like(x, 0.886226925452758));
  const V beyond = select(is_small || size >= one, half, size), rest = one - beyond;
  const V guess = guess_of_inverse_erf(beyond, -rough_log(rest * (one + beyond)));
  const V newton =
      (rough_erfc(guess) - rest) * like(x, -0.886226925452758) * rough_exp(guess * guess);
  const V result = guess - newton / fma(guess, newton, one);
  const V outside = select(size == one, like(x, std::numeric_limits<double>::infinity()),
                           like(x, std::numeric_limits<double>::quiet_NaN()));
  return select(is_small, of_small, with_sign_of(select(size < one, result, outside), x));
}

// --- Sums of exponentials. ---
/// log(1 + exp(x)).
template <class V>
V rough_softplus(const V& x) {
  return maximum(x, like(x, 0)) + rough_log_above_one(rough_exp(-abs(x)));
}

/// log(base^x + base^y) to that base, of f64 for f32: right to 2^-52 of the larger or of log(2),
/// whichever is more.
template <class V>
V rough_log_add_powers(const V& x, const V& y, double log_base) {
  const V larger = maximum(x, y), apart = (minimum(x, y) - larger) * like(x, log_base);
  // Nothing is left of less than exp(-200) in f32.
  const Reduced<V> reduced = reduce_exponent(maximum(apart, like(x, -200)));
  const V share = fma(exponential_slope(reduced.rest), reduced.rest, like(x, 1)) *
                  power_of_bits(x, reduced.bits);
  const V natural = rough_log_above_one(share);
  // Rounded, so that nothing is left of two that cancel.
  const V result = larger + (log_base == 1 ? natural : natural * like(x, 1 / log_base));
  // Infinities, whose difference may be NaN, and NaN.
  return select(abs(larger) < like(x, std::numeric_limits<double>::infinity()), result, larger);
}

/// sin(pi x) / (pi x); the turns are taken off exactly.
template <class V>
V rough_sinc(const V& x) {
  const V turns = round(x), half = turns * like(x, 0.5), rest = x - turns, square = rest * rest;
  const V wave =
      horner(square, {-7.089676763838851e-09, 2.53006641357192e-07, -6.975839647877154e-06,
                      0.00014842878698916, -0.0023460810347961936, 0.026147847817611307,
                      -0.19075182412208258, 0.8117424252833536, -1.6449340668482264, 1});
  const V share = select(trunc(half) == half, rest, -rest) / x;
  // Plus zero, so that no zero is negative.
  return select(x == like(x, 0), like(x, 1), fma(wave, share, like(x, 0)));
}

}  // namespace weft::ir
