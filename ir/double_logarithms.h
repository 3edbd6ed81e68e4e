// log1p, log2 and log10 of f64, and the inverse hyperbolic functions, which are logarithms, within
// a unit in the last place: what the fraction of an argument and the sums of a result lose is added
// at the end.  Polynomials: minimax fits by ir/minimax.py.
#pragma once

#include "ir/double_functions.h"
#include "ir/single_functions.h"

namespace weft::ir {

// --- Logarithms of sums. ---
/// log(x.high + x.low) + more * log(2).  The high part is a normal number, which what is added
/// leaves as it is.
template <class V>
V logarithm_of_pair(const Sum<V>& x, const V& more) {
  const auto n = whole_exponent(x.high);
  // 2 / 2^1024 becomes zero, where nothing is lost that counts.
  const V low = (like(more, 0.5) * x.low) * divided_by_power(like(more, 2), n);
  const Sum<V> fraction = ordered_sum(divided_by_power(x.high, n) - like(more, 1), low);
  const Parts<V> parts{to_float(more, n) + more, fraction.high};
  Sum<V> leading = leading_sum(parts);
  // What 1 + fraction divides the low part by.
  leading.low = leading.low + fma(-fraction.high, fraction.low, fraction.low);
  return logarithm_of_parts(parts, leading);
}

template <class V>
V double_log1p(const V& x) {
  const V zero = like(x, 0);
  const Sum<V> above = exact_sum(like(x, 1), x);
  return or_itself(x, logarithm_or_special(above.high, logarithm_of_pair(above, zero)), 0x1p-54);
}

// --- To other bases. ---
/// The parabola and the rest of the natural logarithm, times 1 / log(base).
template <class V>
V double_log_to(const V& x, const Base& base) {
  const Parts<V> parts = split(x);
  const V f = parts.fraction, n = parts.exponent, half = f * like(f, -0.5);
  const V parabola = fma(half, f, f), lost_parabola = fma(half, f, f - parabola);
  const V beyond = log_beyond_parabola(f, -(half * f), lost_parabola);
  const V slope = like(x, base.log_e_high), product = parabola * slope;
  const V lost_product =
      fma(beyond, slope, fma(parabola, like(x, base.log_e_low), fma(parabola, slope, -product)));
  const V multiple = n * like(x, base.log_two_high), sum = multiple + product;
  const V lost = (product - (sum - multiple)) + lost_product;
  return logarithm_or_special(
      x, sum + (base.log_two_low == 0 ? lost : fma(n, like(x, base.log_two_low), lost)));
}

template <class V>
V double_log2(const V& x) {
  return double_log_to(x, {1, 0, 1.4426950408889634, 2.0355273740931033e-17});
}

template <class V>
V double_log10(const V& x) {
  return double_log_to(
      x, {0.30102999566361177, 3.694239077158931e-13, 0.4342944819032518, 1.098319650216765e-17});
}

// --- Inverse hyperbolic functions. ---
/// log(x + sqrt(x^2 + constant)) for x >= 0 and a constant of 1, or for x >= 1 and one of -1.
template <class V>
V logarithm_with_root(const V& x, double constant) {
  const V one = like(x, 1), zero = like(x, 0);
  // From here on log(2 x), to the last bit.
  const auto is_far = x > like(x, 0x1p30);
  const V near = select(is_far, one, x);
  const Sum<V> square = exact_product(near, near);
  const Sum<V> sum = exact_sum(square.high, like(x, constant));
  const V root = sqrt(sum.high), inverse = like(x, 0.5) / root;
  const V lost = (fma(-root, root, sum.high) + (sum.low + square.low)) * inverse;
  const Sum<V> high = exact_sum(near, root);
  const V low = high.low + select(root > zero, lost, zero);
  return logarithm_of_pair(select(is_far, as_sum(x), ordered_sum(high.high, low)),
                           select(is_far, one, zero));
}

template <class V>
V double_asinh(const V& x) {
  const V size = abs(x), result = with_sign_of(logarithm_with_root(size, 1), x);
  return or_itself(x, select(size < infinity_like(x), result, x), 0x1p-27);
}

template <class V>
V double_acosh(const V& x) {
  const V one = like(x, 1), nan = like(x, std::numeric_limits<double>::quiet_NaN());
  const V result = logarithm_with_root(select(x < one, one, x), -1);
  return select(x < one, nan, select(x < infinity_like(x), result, x));
}

// --- Logarithms of quotients. ---
/// Half of log(above / below) + more * log(2): atanh of (above - 2^n below) / (above + 2^n below),
/// and n + more times half of log(2).  Both are normal numbers above zero, and so is 2^n.
template <class V>
V half_logarithm_of_quotient(const Sum<V>& above, const Sum<V>& below, const V& more) {
  // The exponent of the quotient as the difference of both logarithms, which between powers of two
  // are taken to be lines: wrong by less than 0.09.  The third term is a half.
  const auto bits = (to_bits(above.high) - to_bits(below.high)) + to_bits(like(more, 0x1p-1023));
  const auto whole = bits >> like(bits, 52);
  const Sum<V> scaled = scale(below, power_of_bits(more, whole));
  const Sum<V> over = exact_sum(above.high, -scaled.high),
               under = exact_sum(above.high, scaled.high);
  const Sum<V> s = divide(ordered_sum(over.high, over.low + (above.low - scaled.low)),
                          Sum<V>{under.high, under.low + (above.low + scaled.low)});
  const V n = to_float(more, whole) + more, z = s.high * s.high;
  const V series =
      horner(z, {0.06955621952657336, 0.06581608240732013, 0.07695875305656996, 0.0909082278043067,
                 0.11111112325488562, 0.1428571427626063, 0.2000000000003567, 0.33333333333333287});
  // A multiple of this part of log(2) / 2 is exact.
  const Sum<V> leading = exact_sum(n * like(more, 0.3465735901845619), s.high);
  const V low = fma(n, like(more, 9.541074646352939e-11), s.low + leading.low);
  return leading.high + fma(s.high * z, series, low);
}

template <class V>
V double_atanh(const V& x) {
  const V size = abs(x), one = like(x, 1);
  const V inside = select(size < one, size, like(x, 0.5));
  const V result =
      half_logarithm_of_quotient(exact_sum(one, inside), exact_sum(one, -inside), like(x, 0));
  const V nan = like(x, std::numeric_limits<double>::quiet_NaN());
  const V end = select(size == one, infinity_like(x), nan);
  return or_itself(x, with_sign_of(select(size < one, result, end), x), 0x1p-28);
}

/// log(x / (1 - x)).
template <class V>
V double_logit(const V& x) {
  const V one = like(x, 1), zero = like(x, 0);
  const auto is_inside = x > zero && x < one, is_small = x < like(x, 0x1p-960);
  const V inside = select(is_inside, x, like(x, 0.5));
  const Sum<V> above = as_sum(select(is_small, inside * like(x, 0x1p64), inside));
  const V half = half_logarithm_of_quotient(above, exact_sum(one, -inside),
                                            select(is_small, like(x, -64), zero));
  const V nan = like(x, std::numeric_limits<double>::quiet_NaN());
  const V end = select(x == zero, -infinity_like(x), select(x == one, infinity_like(x), nan));
  return select(is_inside, half + half, end);
}

}  // namespace weft::ir
