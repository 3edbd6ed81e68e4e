// Sine and cosine of f64 within 1 ulp, in f64 arithmetic.  Polynomials: minimax fits by
// ir/minimax.py.
#pragma once

#include "ir/exponentials.h"

namespace weft::ir {

/// x = n * pi / 2 + rest - excess, with `n` in the low bits of `bits`.
template <class V>
struct QuarterTurns {
  V bits, rest, excess;
};

/// Where |x| < largest_reduced: pi / 2 in four parts, of which the first three have 33 bits, so
/// that their products with n are exact.  So are the differences where they cancel, and elsewhere
/// what they lose is.
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

/// sin(rest - excess), with the sign of a zero.
template <class V>
V double_sine_of_rest(const QuarterTurns<V>& x, const V& square) {
  const V cubic =
      horner(square, {-1.5895922707936125e-10, 2.505074193856043e-08, -2.755731357974852e-06,
                      0.00019841269829451487, -0.008333333333321912, 0.1666666666666663});
  return x.rest - fma(x.rest * square, cubic, x.excess);
}

/// cos(rest - excess); `lost` is what the square loses, times -1/2, and what the excess changes.
template <class V>
V double_cosine_of_rest(const QuarterTurns<V>& x, const V& square) {
  const V half = like(square, -0.5);
  const V lost = fma(fma(x.rest, x.rest, -square), half, x.rest * x.excess);
  const V quartic =
      horner(square, {-1.135874329301656e-11, 2.0875705313575086e-09, -2.755731421667472e-07,
                      2.4801587289001568e-05, -0.0013888888888873342, 0.041666666666666595});
  return like(square, 1) + fma(square, fma(square, quartic, half), lost);
}

/// `value` with the sign turned where the second bit of `bits` is set.
template <class V, class Integer>
V turned_by(const V& value, const Integer& bits) {
  const auto sign = (bits << like(bits, 30, 62)) & sign_mask(bits);
  return from_bits(value, to_bits(value) ^ sign);
}

template <class V>
V double_sin(const V& x) {
  const QuarterTurns<V> turns = double_quarter_turns(x);
  const V square = turns.rest * turns.rest;
  const auto n = to_bits(turns.bits);
  const auto is_odd = (n & like(n, 1)) != like(n, 0);
  const V value =
      select(is_odd, double_cosine_of_rest(turns, square), double_sine_of_rest(turns, square));
  return sin_beyond(x, turned_by(value, n));
}

template <class V>
V double_cos(const V& x) {
  const QuarterTurns<V> turns = double_quarter_turns(x);
  const V square = turns.rest * turns.rest;
  const auto n = to_bits(turns.bits);
  const auto is_odd = (n & like(n, 1)) != like(n, 0);
  const V value =
      select(is_odd, double_sine_of_rest(turns, square), double_cosine_of_rest(turns, square));
  return cos_beyond(x, turned_by(value, n + like(n, 1)));
}

}  // namespace weft::ir
