// digamma and lgamma for f32, in f64: moved up to where the asymptotic series holds, reflected
// below zero.  Between integers below zero they have roots, where the two halves of the reflection
// cancel; some floats lie within 2^-32 of one, so the halves are computed as sums
// (ir/double_sums.h).
#pragma once

#include "ir/circular.h"

#include <limits>

namespace weft::ir {

/// pi / tan(pi r) for 0 < abs(r) <= 1/2, to some 55 bits: its three nearest poles, and a series of
/// the others.
template <class V>
Sum<V> cotangent_of_half_turns(const V& r) {
  const V one = like(r, 1), twice = r + r;
  const Sum<V> square = exact_product(r, r);
  const Sum<V> rest = add(Sum<V>{one, like(r, 0)}, negative(square));
  const Sum<V> near =
      divide(add(rest, scale(square, like(r, -2))), multiply(Sum<V>{r, like(r, 0)}, rest));
  const V series =
      horner(square.high,
             {1.4263390143800028e-06, 3.4815319209946888e-06, 1.5409791484799228e-05,
              6.121905479269563e-05, 0.00024609069163225426, 0.0009945747611870106,
              0.004077356217404161, 0.01734306198388145, 0.08232323371114582, 0.6449340668482264});
  const Sum<V> far = exact_product(twice, series);
  return add(near, negative(far));
}

/// digamma(x + 10) - digamma(x), the sum of 1 / (x + i).
template <class V>
V ten_steps_of_digamma(const V& x) {
  V product = like(x, 1), derivative = like(x, 0);
  for (int i = 0; i < 10; ++i) {
    const V factor = x + like(x, i);
    derivative = fma(derivative, factor, product);
    product = product * factor;
  }
  return derivative / product;
}

/// digamma(x) for x >= 1/2.
template <class V>
Sum<V> digamma_above_zero(const V& x) {
  const V zero = like(x, 0), infinity = like(x, std::numeric_limits<double>::infinity());
  const auto is_moved = x < like(x, 10);
  const V y = select(is_moved, x + like(x, 10), x);
  const V inverse = like(x, 1) / y, z = inverse * inverse;
  const V series =
      horner(z, {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12});
  const Parts<V> parts = split_normal(y);
  const Sum<V> logarithm = logarithm_near_one(as_sum(parts.fraction), parts.exponent);
  const V steps = select(is_moved, ten_steps_of_digamma(select(is_moved, x, like(x, 1))), zero);
  const Sum<V> high = exact_sum(logarithm.high, -steps);
  const V low = high.low + (logarithm.low - fma(z, series, like(x, 0.5) * inverse));
  return select(y < infinity, Sum<V>{high.high, low}, Sum<V>{y, zero});
}

/// The derivative of lgamma, in f64 for f32.
template <class V>
V rough_digamma(const V& x) {
  const V one = like(x, 1);
  const auto is_low = x < like(x, 0.5);
  const Sum<V> shifted = digamma_above_zero(select(is_low, one - x, x));
  const Sum<V> reflected = add(shifted, negative(cotangent_of_half_turns(x - round(x))));
  const V below = select(floor(x) == x, like(x, std::numeric_limits<double>::quiet_NaN()),
                         reflected.high + reflected.low);
  // Where the pole at zero is all there is, its sign at zero among it.
  const V low = select(abs(x) < like(x, 0x1p-60), -one / x, below);
  return select(is_low, low, shifted.high + shifted.low);
}

/// lgamma(y) for y >= 4, by Stirling's series.
template <class V>
Sum<V> rough_lgamma_far_out(const V& y) {
  const V inverse = like(y, 1) / y;
  const V series = horner_by_square(
      inverse * inverse,
      {-0.1603938418632924, 0.08197250049477985, -0.023811368536658037, 0.0061759379265082645,
       -0.0019110978607439935, 0.0008416363691411652, -0.0005952368430483936, 0.0007936507860012131,
       -0.0027777777777560336, 0.08333333333333331});
  const Parts<V> parts = split_normal(y);
  const Sum<V> logarithm = logarithm_near_one(as_sum(parts.fraction), parts.exponent);
  const Sum<V> less_one = ordered_sum(logarithm.high, like(y, -1));
  const V factor = y - like(y, 0.5);
  const Sum<V> product = exact_product(factor, less_one.high);
  const V low =
      fma(factor, less_one.low + logarithm.low, product.low - like(y, 3.8782941580672414e-17));
  const Sum<V> sum = ordered_sum(product.high, like(y, 0.4189385332046728));
  return {sum.high, fma(inverse, series, sum.low + low)};
}

/// log(abs(gamma(x))).  Between -11 and 3, where its roots are, an x of f32 has so few bits that no
/// rounding counts but those of the sums.
template <class V>
V rough_lgamma(const V& x) {
  const V zero = like(x, 0), one = like(x, 1), size = abs(x);
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  const auto is_moved = size < like(x, 4), is_below = x < zero;
  // gamma(size + 4) is gamma(size) times size + 1 and size + 3, size + 2, and size.
  const V four_up = size + like(x, 4);
  const Sum<V> three = exact_product(fma(size, four_up, like(x, 3)), size + like(x, 2));
  const Sum<V> steps = select(is_moved, three, as_sum(one));
  // gamma(-size) is 1 / (gamma(size) * size * sin(pi size) / pi), but for its sign.
  const V rest = abs(size - round(size)), angle = select(is_moved, rest, rest * size);
  const Sum<V> wave = wave_of_half_turns(rest), product = exact_product(wave.high, angle);
  const Sum<V> sine{product.high, fma(wave.low, angle, product.low)};
  const V last = select(is_moved, size, one);
  const Sum<V> factor = select(is_below, inverse_of(sine), as_sum(last));
  const Sum<V> less = logarithm_of_normal(multiply(steps, factor));
  // Where they cancel the difference of the high numbers is exact.
  const Sum<V> upper = rough_lgamma_far_out(select(is_moved, four_up, size));
  const V apart = (upper.high - less.high) + (upper.low - less.low);
  const auto is_root = (x - one) * (x - like(x, 2)) == zero;
  const V finite = select(is_root, zero, select(is_below, -apart, apart));
  const auto is_infinite = (x <= zero && floor(x) == x) || size == infinity;
  return select(is_infinite, infinity, finite);
}

}  // namespace weft::ir
