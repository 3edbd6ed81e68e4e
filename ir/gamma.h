// digamma for f32, in f64: moved up to where the asymptotic series holds, reflected below zero.
// Between any two integers below zero it has a root, where the two halves of the reflection cancel;
// some floats lie within 2^-32 of one, so the halves are computed as sums (ir/double_sums.h).
#pragma once

#include "ir/double_sums.h"

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
  const Sum<V> logarithm = logarithm_of(Sum<V>{y, zero});
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

}  // namespace weft::ir
