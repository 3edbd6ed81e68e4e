// Numbers of f64 held as unevaluated sums of two, good for about 100 bits, and the exponential and
// the logarithm of such sums to some 60 bits: what functions of f64 whose parts would each lose
// half a unit are made of.  Every function here computes in f64 and expects its dtype of V.
#pragma once

#include "ir/exponentials.h"

namespace weft::ir {

template <class V>
Sum<V> as_sum(const V& x) {
  return {x, like(x, 0)};
}

/// x + y, exactly.
template <class V>
Sum<V> exact_sum(const V& x, const V& y) {
  const V high = x + y, part = high - x;
  return {high, (x - (high - part)) + (y - part)};
}

/// x + y, exactly, where the exponent of x is not below that of y, or x is zero.
template <class V>
Sum<V> ordered_sum(const V& x, const V& y) {
  const V high = x + y;
  return {high, y - (high - x)};
}

template <class V>
Sum<V> exact_product(const V& x, const V& y) {
  const V high = x * y;
  return {high, fma(x, y, -high)};
}

template <class V>
Sum<V> add(const Sum<V>& x, const Sum<V>& y) {
  const Sum<V> high = exact_sum(x.high, y.high);
  return ordered_sum(high.high, high.low + (x.low + y.low));
}

template <class V>
Sum<V> multiply(const Sum<V>& x, const Sum<V>& y) {
  const Sum<V> high = exact_product(x.high, y.high);
  return ordered_sum(high.high, high.low + fma(x.high, y.low, x.low * y.high));
}

/// 1 / x, with one division.
template <class V>
Sum<V> inverse_of(const Sum<V>& x) {
  const V one = like(x.high, 1), high = one / x.high;
  return {high, high * (fma(-high, x.high, one) - high * x.low)};
}

/// Requires: y is neither so small nor so large that its inverse is no normal number.
template <class V>
Sum<V> divide(const Sum<V>& x, const Sum<V>& y) {
  const V inverse = like(x.high, 1) / y.high, high = x.high * inverse;
  const V rest = fma(-high, y.high, x.high) + (x.low - high * y.low);
  return ordered_sum(high, rest * inverse);
}

/// x * y + constant, where the constant is the larger one: not less than the product's exponent.
/// Of x, which is the step before in Horner's scheme, one product and one sum wait.
template <class V>
Sum<V> multiply_and_add(const Sum<V>& x, const Sum<V>& y, const Sum<double>& constant) {
  const Sum<V> product = exact_product(x.high, y.high);
  const Sum<V> sum = ordered_sum(like(x.high, constant.high), product.high);
  const V known = fma(x.high, y.low, product.low) + (sum.low + like(x.high, constant.low));
  return {sum.high, fma(x.low, y.high, known)};
}

template <class V>
Sum<V> scale(const Sum<V>& x, const V& factor) {
  return {x.high * factor, x.low * factor};
}

template <class V>
Sum<V> negative(const Sum<V>& x) {
  return {-x.high, -x.low};
}

template <class V, class Mask>
Sum<V> select(const Mask& mask, const Sum<V>& x, const Sum<V>& y) {
  return {select(mask, x.high, y.high), select(mask, x.low, y.low)};
}

/// A constant that f64 does not hold.
template <class V>
Sum<V> sum_like(const V& x, double high, double low) {
  return {like(x, high), like(x, low)};
}

template <class V>
Sum<V> log_2_like(const V& x) {
  return sum_like(x, 0.6931471805599453, 2.3190468138462996e-17);
}

/// value * 2^exponent, with value between 0.7 and 1.42.
template <class V>
struct ScaledSum {
  Sum<V> value;
  V exponent;
};

/// (exp(x) - 1 - x - x^2 / 2) / x^3 for |x| < 0.35.
template <class V>
V exponential_cubic(const V& x) {
  return horner(
      x, {2.083646057315451e-09, 2.5111459804811882e-08, 2.7557533801884914e-07,
          2.755723674774143e-06, 2.480158701561856e-05, 0.0001984126989429101,
          0.0013888888889038605, 0.008333333333317918, 0.0416666666666664, 0.16666666666666682});
}

/// exp(x).  Requires: abs(x) < 1650.
template <class V>
ScaledSum<V> exponential_of(const Sum<V>& x) {
  const V n = round(x.high * like(x.high, 1.4426950408889634));
  // log(2) in three parts; the first has so few bits that its multiples are exact.
  const V first = fma(n, like(n, -0.693147180559663), x.high);
  const Sum<V> second = exact_product(n, like(n, -2.8235290563031577e-13));
  const Sum<V> rest = exact_sum(first, second.high);
  const V low = rest.low + (second.low + x.low), r = rest.high;
  const Sum<V> square = exact_product(r, r);
  const V cubic = exponential_cubic(r);
  const V half = like(r, 0.5), cube = cubic * (square.high * r);
  const Sum<V> slope = ordered_sum(r, half * square.high);
  // exp(r + low) = exp(r) * (1 + low), nearly.
  const V tail = fma(half, square.low, cube) + fma(low, slope.high + cube, low);
  const Sum<V> high = ordered_sum(like(r, 1), slope.high);
  return {ordered_sum(high.high, high.low + (slope.low + tail)), n};
}

/// The sum itself.  Requires: its exponent makes a normal number.
template <class V>
Sum<V> unscaled(const ScaledSum<V>& x) {
  return scale(x.value, power_of_two(x.exponent));
}

/// The sum, rounded once, wherever its exponent lies.
template <class V>
V rounded(const ScaledSum<V>& x) {
  return scale_by_power(x.value.high + x.value.low, x.exponent);
}

/// exponent * log(2) + log(1 + x), for 1 + x between sqrt(1/2) and sqrt(2).
template <class V>
Sum<V> logarithm_near_one(const Sum<V>& x, const V& exponent) {
  const Sum<V> below = ordered_sum(like(exponent, 2), x.high);
  const Sum<V> s = divide(x, Sum<V>{below.high, below.low + x.low});
  const V z = s.high * s.high;
  const V series = horner(
      z, {0.06652568245114872, 0.06622701684216141, 0.07693623017731731, 0.09090886600337081,
          0.11111111334549151, 0.14285714284468692, 0.20000000000003357, 0.3333333333333333});
  const V cubic = s.high * z * series;
  // A multiple of this part of log(2) is exact.
  const Sum<V> high = ordered_sum(exponent * like(exponent, 0.6931471803691238), s.high + s.high);
  const V twice_low = (s.low + cubic) + (s.low + cubic);
  return ordered_sum(high.high,
                     high.low + fma(exponent, like(exponent, 1.9082149292705877e-10), twice_low));
}

/// 2^exponent * (1 + fraction), with 1 + fraction between sqrt(1/2) and sqrt(2).
template <class V>
struct SplitSum {
  Sum<V> fraction;
  V exponent;
};

/// Of a normal x > 0, of which the low number is below half a unit of the high one.
template <class V>
SplitSum<V> split_normal_sum(const Sum<V>& x) {
  const auto n = whole_exponent(x.high);
  // 2 / 2^1024 becomes zero, where nothing is lost that counts.
  const V low = (like(x.low, 0.5) * x.low) * divided_by_power(like(x.low, 2), n);
  const V fraction = divided_by_power(x.high, n) - like(x.low, 1);
  return {ordered_sum(fraction, low), to_float(x.low, n)};
}

/// Of a positive x that is finite, and otherwise as above.
template <class V>
SplitSum<V> split_sum(const Sum<V>& x) {
  const auto is_small = x.high < like(x.high, 0x1p-960);
  const V up = select(is_small, like(x.high, 0x1p64), like(x.high, 1));
  const SplitSum<V> parts = split_normal_sum(scale(x, up));
  return {parts.fraction, select(is_small, parts.exponent - like(up, 64), parts.exponent)};
}

/// log(x) of such an x.
template <class V>
Sum<V> logarithm_of_normal(const Sum<V>& x) {
  const SplitSum<V> parts = split_normal_sum(x);
  return logarithm_near_one(parts.fraction, parts.exponent);
}

}  // namespace weft::ir
