// pow and cbrt of f64 within a unit in the last place.  Polynomials: minimax fits by ir/minimax.py.
#pragma once

#include "ir/double_sums.h"
#include "ir/single_functions.h"

#include <limits>

namespace weft::ir {

// --- C's pow. ---
/// log(x) of a positive x that is finite, right to 2^-65: times an exponent, that is 2^-54 of a
/// power.
template <class V>
Sum<V> double_logarithm_sum(const V& x) {
  const Parts<V> parts = split(x);
  const V f = parts.fraction, n = parts.exponent;
  const Sum<V> s = divide(as_sum(f), exact_sum(like(x, 2), f));
  const Sum<V> square = exact_product(s.high, s.high);
  const V z = square.high, lost_z = fma(s.high + s.high, s.low, square.low);
  // log(1 + f) = 2 (s + s z (1/3 + z series)).
  const V series =
      horner(z, {0.0659885123268812, 0.06628336244423817, 0.07693381726140203, 0.0909089211836131,
                 0.11111111260693025, 0.14285714285045759, 0.20000000000001136});
  const Sum<V> third = multiply_and_add(as_sum(series), Sum<V>{z, lost_z},
                                        Sum<double>{0.3333333333333333, 1.850371707708594e-17});
  const Sum<V> share = exact_product(third.high, z);
  const V lost_share = fma(third.high, lost_z, fma(third.low, z, share.low));
  const Sum<V> cubic = exact_product(share.high, s.high);
  const V lost_cubic = fma(share.high, s.low, fma(lost_share, s.high, cubic.low));
  // A multiple of this part of log(2) is exact.
  const Sum<V> whole = exact_sum(n * like(n, 0.6931471803691238), s.high + s.high);
  const Sum<V> high = ordered_sum(whole.high, cubic.high + cubic.high);
  const V twice_low = (s.low + lost_cubic) + (s.low + lost_cubic);
  const V low = fma(n, like(n, 1.9082149292705877e-10), twice_low) + (whole.low + high.low);
  return ordered_sum(high.high, low);
}

/// exp(x.high + x.low), for |x.high| <= 800.
template <class V>
V double_exponential_of(const Sum<V>& x) {
  const V n = whole_product(x.high, 1.4426950408889634).whole;
  // log(2) in two parts; the first has so few bits that its multiples are exact.
  const V first = fma(n, like(n, -0.693147180559663), x.high);
  const V second = like(n, -2.8235290563031577e-13), high = fma(n, second, first);
  // The low part may be larger than what is left of the high one.
  const Sum<V> rest = ordered_sum(high, fma(n, second, first - high) + x.low);
  const V r = rest.high, half = like(n, 0.5), one = like(n, 1);
  const V curvature = fma(r * r, fma(r, exponential_cubic(r), half), fma(rest.low, r, rest.low));
  const Sum<V> line = ordered_sum(one, r);
  return scale_by_power(line.high + (line.low + curvature), n);
}

/// |x|^y.  Where the product is infinite or NaN, so is what it loses, which is left out then.
template <class V>
V double_power_of_size(const V& size, const V& y) {
  const Sum<V> logarithm = double_logarithm_sum(size);
  const V high = logarithm_or_special(size, logarithm.high), product = y * high;
  const V bounded = held_between(product, -800, 800);
  const V lost = fma(y, logarithm.low, fma(y, high, -product));
  return double_exponential_of(Sum<V>{bounded, select(product == bounded, lost, like(y, 0))});
}

template <class V>
V double_power(const V& x, const V& y) {
  // No number but 1 has so small a logarithm that more than 2^65 of it mattered.
  return power_by_size(x, y, double_power_of_size(abs(x), held_between(y, -0x1p65, 0x1p65)));
}

// --- Cube root. ---
/// 1 / cbrt(x), to 2^-50, for x = fraction + 1 times the number whose inverse root is `scale`: a
/// guess, and four terms of the series in what is missing to 1 in the product of its cube and x.
template <class V>
V inverse_cube_root(const V& x, const V& fraction, const V& scale) {
  const V guess =
      scale * horner(fraction, {-0.1079730591945837, 0.16039785332990592, -0.1758285907414087,
                                0.22160673091517866, -0.33326084198719574, 1.0000038153803554});
  const V missing = fma(-(guess * guess), guess * x, like(x, 1));
  const V series = horner(missing, {0.1728395061728395, 0.2222222222222222, 0.3333333333333333});
  return fma(guess * missing, series, guess);
}

template <class V>
V double_cbrt(const V& x) {
  const V zero = like(x, 0), one = like(x, 1), size = abs(x);
  const Parts<V> parts = split(size);
  const WholeProduct<V> third = whole_product(parts.exponent, 1.0 / 3);
  const V left = fma(third.whole, like(x, -3), parts.exponent);  // -1, 0 or 1
  const auto is_more = left > zero, is_less = left < zero;
  const V whole = one + parts.fraction;
  const V part = select(is_more, whole + whole, select(is_less, whole * like(x, 0.5), whole));
  const V inverse = inverse_cube_root(part, parts.fraction,
                                      select(is_more, like(x, 0.7937005259840998),
                                             select(is_less, like(x, 1.2599210498948732), one)));
  const V square = inverse * inverse, root = part * square;
  // root^3 is taken from x exactly.
  const Sum<V> root_square = exact_product(root, root);
  const V missing = fma(-root_square.low, root, fma(-root_square.high, root, part));
  const V right = fma(missing * square, like(x, 1.0 / 3), root);
  const V result = with_sign_of(right * power_of_bits(x, to_bits(third.bits)), x);
  return select(size > zero && size < like(x, std::numeric_limits<double>::infinity()), result, x);
}

}  // namespace weft::ir
