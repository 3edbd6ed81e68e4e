// exp2, expm1, tanh and erf of f64 within a unit in the last place: each leads with what no
// rounding has touched, and what that lacks is added once, at the end (ir/double_sums.h has the
// sums of functions whose parts would need more than that).  Polynomials: minimax fits by
// ir/minimax.py.
#pragma once

#include "ir/double_sums.h"

namespace weft::ir {

/// `result`, but x where that is nearest to it.
template <class V>
V or_itself(const V& x, const V& result, double below) {
  return select(abs(x) < like(x, below), x, result);
}

template <class V>
V double_exp2(const V& x) {
  const V bounded = held_between(x, -1076, 1025);
  const V n = whole_product(bounded, 1).whole, rest = bounded - n;
  const V slope =
      horner(rest, {4.438776808867236e-10, 7.0732353381672215e-09, 1.0178160776132431e-07,
                    1.3215438823233236e-06, 1.5252733631941674e-05, 0.00015403530449057987,
                    0.0013333558146548469, 0.009618129107601594, 0.055504108664821715,
                    0.24022650695910108, 0.6931471805599453});
  return scale_by_power(fma(slope, rest, like(x, 1)), n);
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

/// erf(x) for x >= 0.9: 1 - exp(logarithm of erfc), of which what the last two roundings take is
/// put right, as the others count for less and less.
template <class V>
V double_erf_of_large(const V& x) {
  const V size = held_between(x, 0.875, 5.9375), one = like(x, 1);
  const V slope =
      horner(size, {1.3681871639478381e-12, -6.115636191944e-11, 1.2800871742446429e-09,
                    -1.6658893617367173e-08, 1.5074629878953708e-07, -1.0027252169065183e-06,
                    5.031906945471196e-06, -1.905963838799488e-05, 5.23036881494949e-05,
                    -8.688160877960616e-05, -1.4861566246023137e-05, 0.000597886306446902,
                    -0.001719560508482687, 0.00023644643927454777, 0.019108087185652798,
                    -0.10276222948567668, -0.6366232918240791});
  const V linear = like(x, -1.1283784454997299), constant = like(x, -6.791082278802095e-08);
  const V line = fma(slope, size, linear), lost_line = fma(slope, size, linear - line);
  const V exponent = fma(line, size, constant), lost = fma(line, size, constant - exponent);
  const Reduced<V> reduced = reduce_exponent(exponent);
  const V rest = reduced.rest + fma(lost_line, size, lost);
  const V power = fma(exponential_slope(rest), rest, one);
  return fma(-power, power_of_bits(x, reduced.bits), one);
}

template <class V>
V double_erf(const V& x) {
  const V size = abs(x), square = x * x;
  const V slope =
      horner(square, {-1.0526422547944316e-09, 1.4967784872796827e-08, -1.6455152184588772e-07,
                      1.6475037283941736e-06, -1.4926660266364036e-05, 0.00012055381157924112,
                      -0.0008548328465391072, 0.005223977652046974, -0.02686617064798202,
                      0.11283791670970808, -0.3761263890318409, 0.1283791670955126});
  return select(size < like(x, 0.9), fma(x, slope, x), with_sign_of(double_erf_of_large(size), x));
}

}  // namespace weft::ir
