// Exponential, logarithm and polynomials of unevaluated sums to some 104 bits: for functions whose
// parts cancel.  ir/double_sums.h has those to 60 bits, in half the operations.
#pragma once

#include "ir/double_sums.h"

namespace weft::ir {

/// The polynomial in x with these coefficients, highest first; those of the small terms, in front,
/// are numbers of f64 and so is what they add up to.  Every coefficient is larger than what is
/// added to it.
template <class V>
Sum<V> long_horner(const Sum<V>& x, std::initializer_list<double> small,
                   std::initializer_list<Sum<double>> large) {
  const V first = horner(x.high, small), constant = like(first, large.begin()->high);
  const Sum<V> product = exact_product(first, x.high);
  const Sum<V> start = ordered_sum(constant, product.high);
  const V low = fma(first, x.low, product.low);
  Sum<V> sum{start.high, start.low + (low + like(low, large.begin()->low))};
  for (const Sum<double>* next = large.begin() + 1; next != large.end(); ++next)
    sum = multiply_and_add(sum, x, *next);
  return sum;
}

/// The polynomial with these whole numbers as coefficients, highest first, for x >= 0.
template <class V>
Sum<V> whole_polynomial(const Sum<V>& x, std::initializer_list<double> coefficients) {
  Sum<V> sum = as_sum(like(x.high, *coefficients.begin()));
  for (const double* next = coefficients.begin() + 1; next != coefficients.end(); ++next) {
    const Sum<V> product = exact_product(sum.high, x.high);
    const Sum<V> high = exact_sum(product.high, like(x.high, *next));
    sum = {high.high, fma(sum.low, x.high, fma(sum.high, x.low, product.low) + high.low)};
  }
  return sum;
}

/// exponent * log(2) + log(1 + x), for 1 + x between sqrt(1/2) and sqrt(2).
template <class V>
Sum<V> long_logarithm_near_one(const Sum<V>& x, const V& exponent) {
  const Sum<V> below = exact_sum(like(exponent, 2), x.high);
  const Sum<V> s = divide(x, ordered_sum(below.high, below.low + x.low));
  const Sum<V> series =
      long_horner(multiply(s, s),
                  {0.042559152693698886, 0.03619761041658158, 0.04005085518545756,
                   0.04347623967925239, 0.047619103300984886, 0.052631577855652784},
                  {{0.05882352942713784, 8.315862552545392e-19},
                   {0.0666666666665118, 3.361778473101617e-18},
                   {0.07692307692307802, -3.0196731039060732e-18},
                   {0.0909090909090909, 6.050185902038785e-18},
                   {0.1111111111111111, 6.1844923394747525e-18},
                   {0.14285714285714285, 7.930133715140408e-18},
                   {0.2, -1.110223021744586e-17},
                   {0.3333333333333333, 1.8503717077076487e-17}});
  const Sum<V> twice = scale(s, like(exponent, 2));
  const Sum<V> cubic = multiply(twice, multiply(multiply(s, s), series));
  const Sum<V> logarithm = add(twice, cubic);
  // log(2) in three parts; the first two have so few bits that their multiples are exact.
  const Sum<V> multiple = ordered_sum(exponent * like(exponent, 0.6931471805598903),
                                      exponent * like(exponent, 5.49792301870721e-14));
  const V low = fma(exponent, like(exponent, 1.1612227229362532e-26), logarithm.low);
  return add(multiple, Sum<V>{logarithm.high, low});
}

/// log(x) for a positive x that is finite.
template <class V>
Sum<V> long_logarithm_of(const Sum<V>& x) {
  const SplitSum<V> parts = split_sum(x);
  return long_logarithm_near_one(parts.fraction, parts.exponent);
}

/// exp(r) for abs(r) <= log(2) / 2.
template <class V>
Sum<V> long_exponential_near_zero(const Sum<V>& r) {
  const Sum<V> quadratic = long_horner(
      r,
      {8.233111300298353e-18, 1.5644003827543393e-16, 2.8114538518833325e-15, 4.779470987207677e-14,
       7.647163737002506e-13, 1.1470745606698918e-11, 1.605904383681679e-10},
      {{2.087675698786046e-09, 1.2381649565666067e-26},
       {2.505210838544172e-08, 1.3723056699153591e-24},
       {2.7557319223985894e-07, 1.0887912903695692e-23},
       {2.7557319223985893e-06, -1.8594173190321754e-22},
       {2.48015873015873e-05, 2.024312549640502e-23},
       {0.0001984126984126984, 1.7209777372816712e-22},
       {0.001388888888888889, -5.300541681232578e-20},
       {0.008333333333333333, 1.156482317072664e-19},
       {0.041666666666666664, 2.3129646344361023e-18},
       {0.16666666666666666, 9.251858538543077e-18},
       {0.5, 6.036758981993054e-31}});
  const Sum<V> slope = add(r, multiply(multiply(r, r), quadratic));
  const Sum<V> high = ordered_sum(like(r.high, 1), slope.high);
  return ordered_sum(high.high, high.low + slope.low);
}

/// exp(x).  Requires: abs(x) < 1000.
template <class V>
ScaledSum<V> long_exponential_of(const Sum<V>& x) {
  const V n = round(x.high * like(x.high, 1.4426950408889634));
  // log(2) in three parts; the first two have so few bits that their multiples are exact.
  const V first = fma(n, like(n, -0.6931471805598903), x.high);
  const Sum<V> rest = exact_sum(first, n * like(n, -5.49792301870721e-14));
  const V low = rest.low + fma(n, like(n, -1.1612227229362532e-26), x.low);
  return {long_exponential_near_zero(ordered_sum(rest.high, low)), n};
}

/// 2^x.
template <class V>
ScaledSum<V> long_exponential2_of(const Sum<V>& x) {
  const V n = round(x.high);
  return {long_exponential_near_zero(multiply(exact_sum(x.high - n, x.low), log_2_like(n))), n};
}

}  // namespace weft::ir
