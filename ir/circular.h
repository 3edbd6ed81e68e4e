// Sine, cosine and tangent within 1 ulp, in the arithmetic of f32 or f64.  Polynomials: minimax
// fits by ir/minimax.py.
#pragma once

#include "ir/double_sums.h"

namespace weft::ir {

/// x = n * pi / 2 + rest - excess, with `n` in the low bits of `bits`.
template <class V>
struct QuarterTurns {
  V bits, rest, excess;
};

/// Where |x| < largest_reduced: the first product with n is exact and so is what the second loses.
template <class V>
QuarterTurns<V> single_quarter_turns(const V& x) {
  const WholeProduct<V> turns = whole_product(x, 0.6366197723675814);
  const V n = turns.whole, second = like(x, 7.549533620476723e-08);
  const V high = fma(n, like(x, -1.570796251296997), x);
  const V rest = fma(n, like(x, -7.549533620476723e-08), high);
  const V excess = fma(n, like(x, 2.5633440682570896e-12), fma(n, second, rest - high));
  return {turns.bits, rest, excess};
}

/// The same: pi / 2 in four parts, of which the first three have 33 bits, so that their products
/// with n are exact.  So are the differences where they cancel, and elsewhere what they lose is.
template <class V>
QuarterTurns<V> double_quarter_turns(const V& x) {
  const WholeProduct<V> turns = whole_product(x, 0.63661977236758138);
  const V n = turns.whole, second = like(x, 6.077100506303966e-11);
  const V third = like(x, 2.0222662487111665e-21);
  const V first_rest = fma(n, like(x, -1.5707963267341256), x);
  const V second_rest = fma(-n, second, first_rest), rest = fma(-n, third, second_rest);
  const V lost = fma(n, second, second_rest - first_rest) + fma(n, third, rest - second_rest);
  return {turns.bits, rest, fma(n, like(x, 8.4784276603689e-32), lost)};
}

/// What is left of an angle, its square, (rest - sin(rest)) / rest^3 and (cos(rest) - 1 + rest^2 /
/// 2) / rest^4.
template <class V>
struct Angle {
  QuarterTurns<V> turns;
  V square, cubic, quartic;
};

template <class V>
Angle<V> single_angle(const V& x) {
  const QuarterTurns<V> turns = single_quarter_turns(x);
  const V square = turns.rest * turns.rest;
  return {turns, square,
          horner(square, {0.00019509934645611793, -0.008332115598022938, 0.16666653752326965}),
          horner(square, {2.443210905767046e-05, -0.0013887308305129409, 0.04166664555668831})};
}

template <class V>
Angle<V> double_angle(const V& x) {
  const QuarterTurns<V> turns = double_quarter_turns(x);
  const V square = turns.rest * turns.rest;
  return {turns, square,
          horner(square, {-1.5895922707936125e-10, 2.505074193856043e-08, -2.755731357974852e-06,
                          0.00019841269829451487, -0.008333333333321912, 0.1666666666666663}),
          horner(square, {-1.135874329301656e-11, 2.0875705313575086e-09, -2.755731421667472e-07,
                          2.4801587289001568e-05, -0.0013888888888873342, 0.041666666666666595})};
}

/// The sine and cosine of what is left of an angle, and the number of its quarter turns.
template <class V>
struct Waves {
  V bits, sine, cosine;
};

/// The sine has the sign of a zero.
template <class V>
Waves<V> waves_of(const Angle<V>& angle) {
  const auto& [x, square, cubic, quartic] = angle;
  const V sine = x.rest - fma(x.rest * square, cubic, x.excess);
  // What the square loses, times -1/2, and what the excess changes.
  const V half = like(square, -0.5);
  const V lost = fma(fma(x.rest, x.rest, -square), half, x.rest * x.excess);
  const V cosine = like(square, 1) + fma(square, fma(square, quartic, half), lost);
  return {x.bits, sine, cosine};
}

/// Where the number of quarter turns is odd `odd`, else `even`; with the sign turned where
/// `quarters` has its second bit.
template <class V, class Integer>
V wave_of_quarters(const V& bits, const Integer& quarters, const V& even, const V& odd) {
  const auto n = to_bits(bits);
  const V value = select((n & like(n, 1)) != like(n, 0), odd, even);
  const auto sign = (quarters << like(n, 30, 62)) & sign_mask(n);
  return from_bits(value, to_bits(value) ^ sign);
}

template <class V>
V sine_of(const V& x, const Waves<V>& waves) {
  const auto n = to_bits(waves.bits);
  return sin_beyond(x, wave_of_quarters(waves.bits, n, waves.sine, waves.cosine));
}

template <class V>
V cosine_of(const V& x, const Waves<V>& waves) {
  const auto n = to_bits(waves.bits);
  return cos_beyond(x, wave_of_quarters(waves.bits, n + like(n, 1), waves.cosine, waves.sine));
}

/// The quotient of both waves, each with what it loses; it has the sign of a zero.
template <class V>
V tangent_of(const V& x, const Angle<V>& angle) {
  const auto& [turns, square, cubic, quartic] = angle;
  const V rest = turns.rest, excess = turns.excess, one = like(x, 1), half = like(x, -0.5);
  const V fall = square * half;
  // The excess counts as much as the sine rises: by the cosine, nearly.
  const Sum<V> sine = ordered_sum(rest, -fma(rest * square, cubic, fma(excess, fall, excess)));
  const V lost_fall = fma(fma(rest, rest, -square), half, rest * excess);
  const Sum<V> high = ordered_sum(one, fall);
  const Sum<V> cosine = ordered_sum(high.high, high.low + fma(square * square, quartic, lost_fall));
  const auto n = to_bits(turns.bits);
  const auto is_odd = (n & like(n, 1)) != like(n, 0);
  const Sum<V> over = select(is_odd, cosine, sine), under = select(is_odd, sine, cosine);
  const V inverse = one / under.high, share = over.high * inverse;
  const V excess_share = fma(share, under.high, -over.high) + (share * under.low - over.low);
  const V result = fma(-excess_share, inverse, share);
  return tan_beyond(x, select(is_odd, -result, result));
}

/// sin(pi r) / (pi r) of an f64 for abs(r) <= 1/2, to some 57 bits.
template <class V>
Sum<V> wave_of_half_turns(const V& r) {
  const Sum<V> square = exact_product(r, r);
  const V series =
      horner(square.high, {-7.089676763838851e-09, 2.53006641357192e-07, -6.975839647877154e-06,
                           0.00014842878698916, -0.0023460810347961936, 0.026147847817611307,
                           -0.19075182412208258, 0.8117424252833536});
  const Sum<V> first = multiply(square, sum_like(r, -1.6449340668482264, -3.02090813901694e-17));
  const V others = fma(square.high * square.high, series, first.low);
  const Sum<V> curve = ordered_sum(like(r, 1), first.high);
  return ordered_sum(curve.high, curve.low + others);
}

}  // namespace weft::ir
