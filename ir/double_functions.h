// Functions of f64 within one unit in the last place where several roundings would meet: computed
// as unevaluated sums (ir/double_sums.h) and rounded at the end.
#pragma once

#include "ir/circular.h"
#include "ir/long_sums.h"
#include "ir/special.h"

namespace weft::ir {

template <class V>
V infinity_like(const V& x) {
  return like(x, std::numeric_limits<double>::infinity());
}

/// The sum itself, with an exponent that is at least `least`.
template <class V>
Sum<V> bounded_sum(const ScaledSum<V>& x, double least_exponent = -200) {
  const V least = like(x.exponent, least_exponent);
  return unscaled(ScaledSum<V>{x.value, select(x.exponent < least, least, x.exponent)});
}

// --- Hyperbolic functions. ---
/// exp(abs(x)) and exp(-abs(x)), divided by the first one's power of two.
template <class V>
struct OppositePowers {
  Sum<V> growing, falling;
  V exponent;
};

template <class V>
OppositePowers<V> opposite_powers(const V& size, double largest) {
  const V most = like(size, largest);
  const ScaledSum<V> power = exponential_of(as_sum(select(size > most, most, size)));
  const Sum<V> inverse = inverse_of(power.value);
  const auto is_large = power.exponent > like(size, 100);
  const V twice = select(is_large, like(size, -200), power.exponent * like(size, -2));
  return {power.value, scale(inverse, power_of_two(twice)), power.exponent};
}

/// sinh(x) and cosh(x), each less a power of two; of larger sizes than `largest` those of that.
template <class V>
struct HyperbolicPair {
  V sine, cosine, exponent;
};

template <class V>
HyperbolicPair<V> hyperbolic_pair(const V& x, double largest) {
  const V size = abs(x), square = x * x, one = like(x, 1);
  const OppositePowers<V> powers = opposite_powers(size, largest);
  const Sum<V> twice_sine = add(powers.growing, negative(powers.falling));
  const Sum<V> twice_cosine = add(powers.growing, powers.falling);
  const V of_large = twice_sine.high + twice_sine.low;
  const V series =
      horner(square, {1.599073524120558e-10, 2.5052203353204358e-08, 2.7557319321385466e-06,
                      0.00019841269841217463, 0.008333333333333347, 0.16666666666666666});
  const V of_small = fma(x * square, series, x);
  // The exponent of a small one is 0 or 1.
  const V small_twice = of_small * (like(x, 2) - powers.exponent);
  return {select(size < like(x, 0.35), small_twice, with_sign_of(of_large, x)),
          twice_cosine.high + twice_cosine.low, powers.exponent - one};
}

template <class V>
V double_sinh(const V& x) {
  const HyperbolicPair<V> pair = hyperbolic_pair(x, 720);
  return scale_by_power(pair.sine, pair.exponent);
}

template <class V>
V double_cosh(const V& x) {
  const HyperbolicPair<V> pair = hyperbolic_pair(x, 720);
  return scale_by_power(pair.cosine, pair.exponent);
}

// --- Sums of exponentials. ---
/// 1 + x for 0 <= x <= 1.
template <class V>
SplitSum<V> split_above_one(const Sum<V>& x) {
  const V zero = like(x.high, 0), half = like(x.high, 0.5);
  const auto is_halved = x.high > like(zero, 0.41421356237309503);
  const Sum<V> shifted = exact_sum(half * x.high, -half);
  const Sum<V> halved{shifted.high, fma(half, x.low, shifted.low)};
  return {select(is_halved, halved, x), select(is_halved, like(zero, 1), zero)};
}

/// log(1 + exp(x)).
template <class V>
V double_softplus(const V& x) {
  const V size = abs(x);
  const auto is_out = size > like(x, 800);
  const ScaledSum<V> power = exponential_of(as_sum(select(is_out, like(x, -800), -size)));
  const SplitSum<V> split = split_above_one(bounded_sum(power));
  // Far out the logarithm is the exponential itself.
  const Sum<V> tail = select(size > like(x, 45), as_sum(rounded(power)),
                             logarithm_near_one(split.fraction, split.exponent));
  const V result = add(as_sum(maximum(x, like(x, 0))), tail).high;
  return select(x > like(x, 45), x, result);
}

/// larger + log(1 + power), in the base that `in_base` makes of a natural logarithm.
template <class V, class InBase>
V larger_and_rest(const V& larger, const V& smaller, const ScaledSum<V>& power, InBase in_base) {
  const Sum<V> near = bounded_sum(power);
  const SplitSum<V> split = split_above_one(near);
  // Far out the logarithm is power - power^2 / 2.
  const V half_square = near.high * (power.value.high * like(larger, 0.5));
  const ScaledSum<V> far{in_base(Sum<V>{power.value.high, power.value.low - half_square}),
                         power.exponent};
  const Sum<V> far_sum =
      select(far.exponent < like(larger, -1020), as_sum(rounded(far)), bounded_sum(far, -1020));
  const Sum<V> rest = select(power.exponent < like(larger, -65), far_sum,
                             in_base(long_logarithm_near_one(split.fraction, split.exponent)));
  const auto is_ordinary = abs(larger) < infinity_like(larger) && smaller > -infinity_like(larger);
  return select(is_ordinary, add(as_sum(larger), rest).high, larger);
}

template <class V>
V double_log_add_exp(const V& x, const V& y) {
  const V larger = maximum(x, y), smaller = minimum(x, y);
  const Sum<V> apart = exact_sum(smaller, -larger);
  const auto is_far = !(apart.high > like(x, -800));
  const ScaledSum<V> power = long_exponential_of(select(is_far, as_sum(like(x, -800)), apart));
  return larger_and_rest(larger, smaller, power, [](const Sum<V>& natural) { return natural; });
}

template <class V>
V double_log_add_exp2(const V& x, const V& y) {
  const V larger = maximum(x, y), smaller = minimum(x, y);
  const Sum<V> apart = exact_sum(smaller, -larger);
  const auto is_far = !(apart.high > like(x, -1100));
  const ScaledSum<V> power = long_exponential2_of(select(is_far, as_sum(like(x, -1100)), apart));
  return larger_and_rest(larger, smaller, power, [](const Sum<V>& natural) {
    return multiply(natural, sum_like(natural.high, 1.4426950408889634, 2.0355273740931033e-17));
  });
}

// --- Logarithms of composed arguments. ---
/// x * log(y).
template <class V>
V double_times_log(const V& x, const V& y) {
  const Parts<V> parts = split(y);
  const Sum<V> logarithm = logarithm_near_one(as_sum(parts.fraction), parts.exponent);
  const V product = x * logarithm.high;
  const V result = fma(x, logarithm.high, x * logarithm.low);
  // The correction is NaN where the product is not finite.
  const V careful = select(is_finite(product), result, product);
  return select(y > like(y, 0) && y < infinity_like(y), careful, x * log(y));
}

// --- The logistic function and its products. ---
/// x * logistic(u), of which the errors of the sum 1 + exp(-u), of its inverse and of the product
/// are put right.  Requires: x and u are not beyond 780, where the result has long been x or
/// nothing. The sum is taken 2^-512 times: exp(-u) then never overflows, and the inverse is a
/// normal number.
template <class V>
V times_logistic(const V& x, const Sum<V>& u) {
  const Sum<V> power = exponential_sum(maximum(like(x, -352), -u.high), 512);
  const V one = like(x, 1), unit = like(x, 0x1p-512);
  const Sum<V> sum = exact_sum(unit, power.high);
  const V lost = sum.low + fma(-u.low, power.high, power.low);
  const V inverse = one / sum.high, product = x * inverse;
  const V missing_share = fma(-inverse, sum.high, one) - inverse * lost;
  return (product + fma(product, missing_share, fma(x, inverse, -product))) * unit;
}

/// `near` for a moderate x; x far above zero and at it, and x * 0 far below.
template <class V, class Mask>
V or_end(const Mask& is_far, const V& x, const V& near) {
  const V end = select(x > like(x, 0), x, x * like(x, 0));
  return select(is_far || !(abs(x) > like(x, 0)), end, near);
}

template <class V>
V double_silu(const V& x) {
  const auto is_far = abs(x) > like(x, 780);
  const V near = select(is_far, like(x, 0), x);
  return or_end(is_far, x, times_logistic(near, as_sum(near)));
}

/// The logistic function is that of sqrt(8 / pi) * (x + 0.044715 * x^3).
template <class V>
V double_gelu_tanh(const V& x) {
  const auto is_far = abs(x) > like(x, 21.8);
  const V near = select(is_far, like(x, 0), x);
  const Sum<V> square = exact_product(near, near);
  const Sum<V> cubic = exact_product(square.high, like(x, 0.07135481627260025));
  const V cubic_low = fma(square.low, like(x, 0.07135481627260025),
                          fma(square.high, like(x, -4.1218577217431825e-18), cubic.low));
  const Sum<V> slope = exact_sum(like(x, 1.5957691216057308), cubic.high);
  const V slope_low = slope.low + (cubic_low + like(x, -9.96930880911092e-17));
  const Sum<V> argument = exact_product(near, slope.high);
  return or_end(is_far, x,
                times_logistic(near, Sum<V>{argument.high, fma(near, slope_low, argument.low)}));
}

/// x * tanh(log(1 + e)) = x * e (e + 2) / (e (e + 2) + 2) with e = exp(x).
template <class V>
V double_mish(const V& x) {
  const auto is_far = x < like(x, -780);
  const V near = select(x > like(x, 40), like(x, 40), select(is_far, like(x, -780), x));
  const ScaledSum<V> power = exponential_of(as_sum(near));
  const Sum<V> bounded = bounded_sum(power);
  const Sum<V> two = as_sum(like(x, 2));
  const Sum<V> above_two = add(two, bounded);
  const Sum<V> product = multiply(power.value, above_two);
  const Sum<V> below = add(two, multiply(bounded, above_two));
  const Sum<V> share = divide(multiply(as_sum(near), product), below);
  const V result = rounded(ScaledSum<V>{share, power.exponent});
  const V ended = select(x > like(x, 40) || x == like(x, 0), x, result);
  return select(x == -infinity_like(x), like(x, std::numeric_limits<double>::quiet_NaN()), ended);
}

// --- The normal distribution and the error functions. ---
/// The part of a normal distribution beyond x, for 0 <= x < 39.5: exp(-x^2 / 2) * G(t) / (x + 3)
/// with a smooth G in t = (x - 3) / (x + 3) = 1 - 6 / (x + 3).  `exponent` is -x^2 / 2.
template <class V>
ScaledSum<V> normal_tail(const Sum<V>& x, const Sum<V>& exponent) {
  const ScaledSum<V> power = exponential_of(exponent);
  const Sum<V> inverse = inverse_of(add(x, as_sum(like(x.high, 3))));
  const Sum<V> share = exact_product(inverse.high, like(x.high, -6));
  const Sum<V> near = exact_sum(like(x.high, 1), share.high);
  const Sum<V> t{near.high, near.low + fma(inverse.low, like(x.high, -6), share.low)};
  Sum<V> smooth = as_sum(horner_by_square(
      t.high, {9.107746387627233e-11,   9.138714385631851e-10,   1.8331095588247856e-09,
               -3.190308275206229e-09,  -1.515516947731534e-08,  -9.494652679973792e-09,
               4.0456664568569365e-08,  9.516009297948086e-08,   2.5227978173383332e-08,
               -2.7824309560844715e-07, -5.805132478620287e-07,  1.4251744959618295e-08,
               2.250216255234454e-06,   3.6360801246425525e-06,  -3.5154604669724997e-06,
               -2.068764369125397e-05,  -1.3246603573970404e-05, 7.881232388268649e-05,
               0.0001543945602923264,   -0.0002565752969981651,  -0.0010458286325741488,
               0.0010275922550956004,   0.006972621241025254}));
  const std::initializer_list<Sum<double>> large{{-0.010462867023145837, 4.881185221881698e-19},
                                                 {-0.04726302514298622, -1.8947899396383006e-19},
                                                 {0.23001771997460108, 3.2629440936831554e-18},
                                                 {-0.5093319819174894, 4.9297439847745845e-17},
                                                 {0.729083690133373, -3.848397795190024e-17}};
  for (const Sum<double>& coefficient : large) smooth = multiply_and_add(smooth, t, coefficient);
  return {multiply(multiply(power.value, smooth), inverse), power.exponent};
}

/// x times the normal distribution's cumulative function.
template <class V>
V double_gelu(const V& x) {
  const V size = abs(x);
  const auto is_far = size > like(x, 39);
  const V near = select(is_far, like(x, 39), size);
  const Sum<V> square = exact_product(near, near);
  const ScaledSum<V> tail = normal_tail(as_sum(near), scale(square, like(x, -0.5)));
  const ScaledSum<V> product{multiply(as_sum(near), tail.value), tail.exponent};
  const Sum<V> upper = add(as_sum(near), negative(bounded_sum(product)));
  const V result = select(x > like(x, 0), upper.high, -rounded(product));
  return or_end(is_far, x, result);
}

/// erfc(x) of x >= 0 as twice the tail beyond sqrt(2) * x.
template <class V>
ScaledSum<V> upper_erfc(const V& x) {
  const Sum<V> square = exact_product(x, x);
  const ScaledSum<V> tail =
      normal_tail(multiply(as_sum(x), sum_like(x, 1.4142135623730951, -9.667293313452913e-17)),
                  negative(square));
  return {tail.value, tail.exponent + like(x, 1)};
}

template <class V>
V double_erfc(const V& x) {
  const V size = abs(x);
  const auto is_far = size > like(x, 27.5);
  const ScaledSum<V> tail = upper_erfc(select(is_far, like(x, 27.5), size));
  const Sum<V> lower = add(as_sum(like(x, 2)), negative(bounded_sum(tail)));
  return select(x < like(x, 0), lower.high, rounded(tail));
}

/// The inverse of erf: a polynomial up to one half; beyond, a guess and two of Halley's steps
/// towards the x of which 1 - x is exact.
template <class V>
V double_inverse_erf(const V& x) {
  const V one = like(x, 1), size = abs(x), half = like(x, 0.5);
  const auto is_small = size < half;
  const V square = size * size;
  const V series = inverse_erf_slope(square);
  const Sum<V> first = exact_product(x, like(x, 0.886226925452758));
  const V of_small =
      first.high + (first.low + fma(series, x * square, x * like(x, -3.8332932499128993e-17)));
  const V beyond = select(is_small || size >= one, half, size), rest = one - beyond;
  const V w = -log(rest * (one + beyond));
  // Beyond what the guess covers: erfc(g) is about exp(-g^2) / (g sqrt(pi)).
  const V exponent = w + like(w, 0.6931471805599453);
  const V end = sqrt(exponent - half * log(exponent * like(w, 3.141592653589793)));
  V guess = select(w < like(w, 16), guess_of_inverse_erf(beyond, w), end);
  for (int step = 0; step < 2; ++step) {
    const Sum<V> error = add(unscaled(upper_erfc(guess)), as_sum(-rest));
    const V newton = error.high * like(x, -0.886226925452758) * exp(guess * guess);
    guess = guess - newton / fma(guess, newton, one);
  }
  const V outside =
      select(size == one, infinity_like(x), like(x, std::numeric_limits<double>::quiet_NaN()));
  return with_sign_of(select(is_small, of_small, select(size < one, guess, outside)), x);
}

// --- Others. ---
/// sin(pi x) / (pi x).  The half turns are taken off exactly, so that the quotient of what is left
/// and x is the only one.
template <class V>
V double_sinc(const V& x) {
  const V turns = round(x), half = turns * like(x, 0.5), rest = x - turns;
  // Where the wave is 1 to the last bit, the inverse of x may be infinite.
  const auto is_small = abs(x) < like(x, 0x1p-28);
  const V divisor = select(is_small, like(x, 1), x);
  const Sum<V> share = divide(as_sum(select(trunc(half) == half, rest, -rest)), as_sum(divisor));
  const V result = multiply(wave_of_half_turns(rest), share).high;
  return select(is_small, like(x, 1), result);
}

}  // namespace weft::ir
