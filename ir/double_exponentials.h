// expm1, tanh and log1p of f64 within a unit in the last place: each leads with what no rounding
// has touched, and what that lacks is added once, at the end (ir/double_sums.h has the sums of
// functions whose parts would need more than that).  And asinh, acosh and atanh of the library.
#pragma once

#include "ir/double_sums.h"

namespace weft::ir {

/// `result`, but x where that is nearest to it.
template <class V>
V or_itself(const V& x, const V& result, double below) {
  return select(abs(x) < like(x, below), x, result);
}

/// (exp(x) - 1) / 2, not normalised: `high` is larger than `low`, or both are nothing.
/// Requires: -700 < x <= 710, or NaN.
template <class V>
Sum<V> half_of_expm1(const V& x) {
  const WholeProduct<V> power = whole_product(x, 1.4426950408889634);
  // log(2) in two parts; the first has so few bits that its multiples are exact.
  const V first = fma(power.whole, like(x, -0.693147180559663), x);
  const V second = like(x, -2.8235290563031577e-13);
  const V r = fma(power.whole, second, first);
  const V lost = fma(power.whole, second, first - r);
  // exp(r + lost) - 1 is r + curvature.
  const V half = like(x, 0.5);
  const V curvature = fma(r * r, fma(r, exponential_cubic(r), half), fma(lost, r, lost));
  const V scale = power_of_bits(x, to_bits(power.bits), -1);
  const Sum<V> whole = exact_sum(scale, -half), high = ordered_sum(whole.high, scale * r);
  return {high.high, fma(scale, curvature, high.low + whole.low)};
}

template <class V>
V double_expm1(const V& x) {
  const Sum<V> half = half_of_expm1(held_between(x, -60, 710));
  const V sum = half.high + half.low;
  return or_itself(x, sum + sum, 0x1p-54);
}

/// (exp(2 x) - 1) / (exp(2 x) + 1).
template <class V>
V double_tanh(const V& x) {
  const V size = abs(x), one = like(x, 1);
  const V near = select(size > like(x, 22), like(x, 22), size);
  const Sum<V> parts = half_of_expm1(near + near);
  const Sum<V> above = ordered_sum(parts.high, parts.low);
  const Sum<V> below = exact_sum(one, above.high);
  const V inverse = one / below.high, share = above.high * inverse;
  const V rest =
      fma(-share, below.high, above.high) + (above.low - share * (below.low + above.low));
  return or_itself(x, with_sign_of(fma(rest, inverse, share), x), 0x1p-28);
}

/// The logarithm of 1 + x and of what that sum loses; where the sum is between sqrt(1/2) and
/// sqrt(2), x itself is what it has beside 1.
template <class V>
V double_log1p(const V& x) {
  const V one = like(x, 1);
  const Sum<V> above = exact_sum(one, x);
  const auto n = whole_exponent(above.high);
  const Parts<V> parts{to_float(x, n), divided_by_power(above.high, n) - one};
  const auto is_near = parts.exponent == like(x, 0);
  // 2 / 2^1024 becomes zero, where nothing is lost that counts.
  const V lost = (like(x, 0.5) * above.low) * divided_by_power(like(x, 2), n);
  const Sum<V> fraction = ordered_sum(parts.fraction, lost);
  const Parts<V> whole{parts.exponent, select(is_near, x, fraction.high)};
  Sum<V> leading = leading_sum(whole);
  leading.low = leading.low + select(is_near, like(x, 0), fraction.low);
  const V result = logarithm_of_parts(whole, leading);
  return or_itself(x, logarithm_or_special(above.high, result), 0x1p-54);
}

// --- From the library, but for arguments of which that is not right. ---
template <class V>
V double_asinh(const V& x) {
  const V size = abs(x);
  const V result = select(size < like(x, asymptotic_from), library_asinh(x),
                          with_sign_of(log_of_double(size), x));
  return or_itself(x, result, 0x1p-27);
}

template <class V>
V double_atanh(const V& x) {
  return or_itself(x, library_atanh(x), 0x1p-28);
}

template <class V>
V double_acosh(const V& x) {
  return select(x < like(x, asymptotic_from), library_acosh(x), log_of_double(x));
}

}  // namespace weft::ir
