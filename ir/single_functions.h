// Functions of f32 in f32 arithmetic, within 1 ulp for every input: written for few instructions,
// since a vector of them takes less time than a call.  Polynomials: minimax fits by ir/minimax.py.
#pragma once

#include "ir/exponentials.h"

#include <limits>

namespace weft::ir {

/// x * factor rounded to a whole number.  `bits` holds that number in its low bits: at this size
/// the unit of a float is one.
template <class V>
struct WholeProduct {
  V bits, whole;
};

template <class V>
WholeProduct<V> whole_product(const V& x, double factor) {
  const V unit_is_one = like(x, 0x1.8p23, 0x1.8p52);
  const V shifted = fma(x, like(x, factor), unit_is_one);
  return {shifted, shifted - unit_is_one};
}

/// x within [low, high], NaN as it is.
template <class V>
V held_between(const V& x, double low, double high) {
  return maximum(like(x, low), minimum(like(x, high), x));
}

// --- Exponentials. ---
/// (exp(x) - 1) / x for |x| < 0.35.
template <class V>
V single_exponential_slope(const V& x) {
  const V quadratic = horner(x, {0.0013822971377521753, 0.008369024842977524, 0.04166824743151665,
                                 0.166665181517601, 0.4999999403953552});
  return fma(quadratic, x, like(x, 1));
}

template <class V>
V single_exp(const V& x) {
  const V bounded = held_between(x, -104, 89), one = like(x, 1);
  const V n = whole_product(bounded, 1.4426950408889634).whole;
  const V high = fma(n, like(x, -0.6931471824645996), bounded);
  const V rest = fma(n, like(x, 1.904654299957768e-09), high);
  return scale_by_power(fma(single_exponential_slope(rest), rest, one), n);
}

template <class V>
V single_exp2(const V& x) {
  const V bounded = held_between(x, -151, 129), one = like(x, 1);
  const V n = whole_product(bounded, 1).whole, rest = bounded - n;
  const V slope = horner(rest, {0.00015328727022279054, 0.001339096575975418, 0.009618500247597694,
                                0.05550359562039375, 0.24022647738456726, 0.6931471824645996});
  return scale_by_power(fma(slope, rest, one), n);
}

// --- Logarithms. ---
/// The n of x = part * 2^n.
template <class V>
V exponent_of_mantissa(const V& x, const V& part) {
  return exponent(x) + select(part < like(x, 1), like(x, 1), like(x, 0));
}

/// Zeros and infinity need no care but for what the sum loses, which is NaN there: it is taken to
/// be -1, and minus infinity or infinity comes out.
template <class V>
V single_log(const V& x) {
  const V part = mantissa(x), n = exponent_of_mantissa(x, part), fraction = part - like(x, 1);
  const V sum = fma(n, like(x, 0.693145751953125), fraction);  // the product is exact
  const V lost = fraction - fma(n, like(x, -0.693145751953125), sum);
  const V known = select(lost > like(x, -1), lost, like(x, -1));
  const V correction = fma(n, like(x, 1.4286068203094173e-06), known);
  const V series =
      horner(fraction, {-0.04508446902036667, 0.10466279089450836, -0.13163575530052185,
                        0.14478641748428345, -0.1664707511663437, 0.19990810751914978,
                        -0.2500010132789612, 0.3333345055580139, -0.5});
  return sum + fma(fraction * fraction, series, correction);
}

// --- Sine and cosine. ---
/// x = n * pi / 2 + rest - excess, with `n` in the low bits of `bits`.
template <class V>
struct QuarterTurns {
  V bits, rest, excess;
};

/// Where |x| < largest_reduced: the first product with n is exact and so is what the second loses.
template <class V>
QuarterTurns<V> quarter_turns(const V& x) {
  const WholeProduct<V> turns = whole_product(x, 0.6366197723675814);
  const V n = turns.whole, second = like(x, 7.549533620476723e-08);
  const V high = fma(n, like(x, -1.570796251296997), x);
  const V rest = fma(n, like(x, -7.549533620476723e-08), high);
  const V excess = fma(n, like(x, 2.5633440682570896e-12), fma(n, second, rest - high));
  return {turns.bits, rest, excess};
}

/// sin(rest - excess), with the sign of a zero.
template <class V>
V sine_of_rest(const QuarterTurns<V>& x, const V& square) {
  const V cubic =
      horner(square, {0.00019509934645611793, -0.008332115598022938, 0.16666653752326965});
  return x.rest - fma(x.rest * square, cubic, x.excess);
}

/// cos(rest - excess); `lost` is what the square loses, times -1/2, and what the excess changes.
template <class V>
V cosine_of_rest(const QuarterTurns<V>& x, const V& square) {
  const V half = like(square, -0.5);
  const V lost = fma(fma(x.rest, x.rest, -square), half, x.rest * x.excess);
  const V quartic =
      horner(square, {2.443210905767046e-05, -0.0013887308305129409, 0.04166664555668831});
  return like(square, 1) + fma(square, fma(square, quartic, half), lost);
}

/// `value` with the sign turned where the second bit of `bits` is set.
template <class V, class Integer>
V turned_by(const V& value, const Integer& bits) {
  const auto sign = (bits << like(bits, 30)) & sign_mask(bits);
  return from_bits(value, to_bits(value) ^ sign);
}

template <class V>
V single_sin(const V& x) {
  const QuarterTurns<V> turns = quarter_turns(x);
  const V square = turns.rest * turns.rest;
  const auto n = to_bits(turns.bits);
  const auto is_odd = (n & like(n, 1)) != like(n, 0);
  const V value = select(is_odd, cosine_of_rest(turns, square), sine_of_rest(turns, square));
  return sin_beyond(x, turned_by(value, n));
}

template <class V>
V single_cos(const V& x) {
  const QuarterTurns<V> turns = quarter_turns(x);
  const V square = turns.rest * turns.rest;
  const auto n = to_bits(turns.bits);
  const auto is_odd = (n & like(n, 1)) != like(n, 0);
  const V value = select(is_odd, sine_of_rest(turns, square), cosine_of_rest(turns, square));
  return cos_beyond(x, turned_by(value, n + like(n, 1)));
}

// --- Hyperbolic tangent and error function. ---
/// A number that is not negative, with the sign of another.
template <class V>
V with_sign(const V& size, const V& x) {
  const auto sign = to_bits(x) & sign_mask(to_bits(x));
  return from_bits(size, to_bits(size) | sign);
}

/// (1 - e) / (1 + e) with e = exp(-2 |x|): the numerator as a sum of two numbers, of which n = 0
/// leaves the first terms of the series, and what the quotient loses put right.
template <class V>
V single_tanh(const V& x) {
  const V one = like(x, 1), two = like(x, 2);
  const V size = minimum(like(x, 9.5), abs(x));
  const V n = maximum(like(x, -24), whole_product(size, -2.885390081777927).whole);
  const V rest = fma(n, like(x, 0.3465735912322998), size);  // e = 2^n * exp(-2 rest)
  const V twice_scale = scale_by_power(two, n);
  const V constant = fma(twice_scale, like(x, -0.5), one);
  const V first = fma(twice_scale, rest, constant);
  const V lost_first = fma(twice_scale, rest, constant - first);
  const V series = horner(rest, {-0.04423350840806961, 0.13390439748764038, -0.3333459794521332,
                                 0.666660726070404, -0.9999998807907104});
  const V factor = twice_scale * series, square = rest * rest;
  const V above = fma(factor, square, first);
  const V lost_above = fma(factor, square, first - above) + lost_first;
  const V below = two - above, minus_below = above - two;
  const V lost_below = (minus_below + two) - above;
  const V quotient = above / below;
  const V error =
      fma(quotient, lost_above - lost_below, fma(quotient, minus_below, above) + lost_above);
  // 1 / below, roughly.
  const V inverse = fma(minus_below, like(x, 0.5), like(x, 1.457107));
  return with_sign(fma(error, inverse, quotient), x);
}

/// A polynomial near zero; beyond, one minus another.
template <class V>
V single_erf(const V& x) {
  const V size = abs(x), square = x * x;
  const V near_zero =
      horner(square, {7.831669063307345e-05, -0.000800368725322187, 0.005187635309994221,
                      -0.026853498071432114, 0.11283580213785172, -0.3761262595653534,
                      0.12837916612625122});
  const V from_middle = minimum(like(x, 3.93), size) - like(x, 2.125);
  // The fit, with the coefficient of the first power moved by a unit: that rounds better near one.
  const V complement =
      horner(from_middle, {-1.0666475418474874e-06, 4.914777491649147e-06, 6.629340077779489e-06,
                           -7.982122042449191e-05, 0.00013032813149038702, 0.0002657080767676234,
                           -0.0013841950567439198, 0.001888191094622016, 0.001819005818106234,
                           -0.012502936646342278, 0.026362014934420586, -0.03303610533475876,
                           0.02622408978641033, -0.012340888381004333, 0.0026540320832282305});
  return select(size < like(x, 1), fma(near_zero, x, x), with_sign(like(x, 1) - complement, x));
}

// --- The logistic function and what is multiplied with it. ---
/// logistic(x) = share / denominator * 2^n, where the share is exp(-|x|) / 2^n below zero, else 1.
/// The lost parts are to be added.
template <class V>
struct LogisticQuotient {
  V share, lost_share, denominator, lost_denominator, n;
};

template <class V>
LogisticQuotient<V> logistic_quotient(const V& x) {
  const V one = like(x, 1), zero = like(x, 0);
  const V minus_size = from_bits(x, to_bits(x) | sign_mask(to_bits(x)));
  const V bounded = maximum(like(x, -110), minus_size);
  const V n = whole_product(bounded, 1.4426950408889634).whole;
  const V high = fma(n, like(x, -0.6931471824645996), bounded);
  const V rest = fma(n, like(x, 1.904654299957768e-09), high),
          slope = single_exponential_slope(rest);
  const V power = fma(slope, rest, one), lost_power = fma(slope, rest, one - power);
  const V scaled = scale_by_power(power, n), denominator = one + scaled;
  const V lost = (scaled - (denominator - one)) + scale_by_power(lost_power, n);
  const auto is_negative = x < zero;
  return {select(is_negative, power, one), select(is_negative, lost_power, zero), denominator, lost,
          select(is_negative, n, zero)};
}

/// (numerator + lost) / denominator = quotient + rest * inverse.
template <class V>
struct CorrectedQuotient {
  V quotient, rest, inverse;
};

template <class V>
CorrectedQuotient<V> corrected_quotient(const LogisticQuotient<V>& parts, const V& numerator,
                                        const V& lost) {
  const V quotient = numerator / parts.denominator, minus_quotient = -quotient;
  const V rest = fma(minus_quotient, parts.lost_denominator,
                     fma(minus_quotient, parts.denominator, numerator) + lost);
  // 1 / denominator, roughly.
  return {quotient, rest, fma(parts.denominator, like(lost, -0.5), like(lost, 1.5))};
}

template <class V>
V single_logistic(const V& x) {
  const LogisticQuotient<V> parts = logistic_quotient(x);
  const auto [quotient, rest, inverse] = corrected_quotient(parts, parts.share, parts.lost_share);
  return scale_by_power(fma(rest, inverse, quotient), parts.n);
}

/// x * logistic(x).  Zeros and infinities, which are their own doubles, are times 0 or 1 instead:
/// that keeps a zero's sign, and minus infinity gives NaN.
template <class V>
V single_silu(const V& x) {
  const LogisticQuotient<V> parts = logistic_quotient(x);
  const V factor = maximum(like(x, -128), x), numerator = factor * parts.share;
  const V lost = fma(factor, parts.lost_share, fma(factor, parts.share, -numerator));
  const auto [quotient, rest, inverse] = corrected_quotient(parts, numerator, lost);
  // Below the normal numbers scaling rounds: what it leaves off is added with the correction, so
  // that the sum is rounded once.
  const V scaled = scale_by_power(quotient, parts.n);
  const V left_off = quotient - scale_by_power(scaled, -parts.n);
  const V result = fma(fma(rest, inverse, left_off), scale_by_power(like(x, 1), parts.n), scaled);
  const V step = select(x < like(x, 0), like(x, 0), like(x, 1));
  return select(x + x == x, x * step, result);
}

// --- Powers, and logarithms of other bases: in f64, where 13 terms are right to 2^-35. ---
/// The logarithm of base two in f64: minus infinity for zeros, NaN below.
template <class V>
auto wide_log2(const V& x) {
  const V part = mantissa(x);
  const auto n = to_double(exponent_of_mantissa(x, part)), wide = to_double(part);
  const auto fraction = wide - like(wide, 1);
  const auto series = horner(
      fraction, {0.03797713702719986, -0.102022918046538, 0.13878646946904524, -0.1492095029729587,
                 0.16050429054063006, -0.18000369957175122, 0.20605678502539734,
                 -0.2404584105588664, 0.2885404297610556, -0.360673653636146, 0.4808983326293495,
                 -0.7213475208306028, 1.442695040910665});
  return fma(series, fraction, n);
}

template <class V>
V single_log2(const V& x) {
  return to_single(wide_log2(x));
}

template <class V>
V single_log10(const V& x) {
  const auto result = wide_log2(x);
  return to_single(result * like(result, 0.3010299956639812));
}

/// (2^x - 1) / x for |x| <= 1/2.
template <class V>
V brief_exp2_slope(const V& x) {
  return horner(x, {0.00015353130409289747, 0.0013398858003346333, 0.009618437597968108,
                    0.05550332485230144, 0.24022647919318832, 0.6931472028836418});
}

/// |x|^y.
template <class V>
V power_of_size(const V& size, const V& y) {
  const auto bounded = held_between(to_double(y) * wide_log2(size), -200, 200);
  const auto n = whole_product(bounded, 1).whole, rest = bounded - n;
  const auto value = fma(brief_exp2_slope(rest), rest, like(rest, 1));
  return scale_by_power(to_single(value), to_single(n));
}

/// C's pow for f32: the special cases are those of IEEE 754.
template <class V>
V single_power(const V& x, const V& y) {
  const V zero = like(x, 0), one = like(x, 1);
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  const V size = abs(x), power = power_of_size(size, y);
  const V half = y * like(y, 0.5);
  const auto is_whole = trunc(y) == y, is_odd = is_whole && trunc(half) != half;
  const auto is_negative = has_sign_bit(x);
  const V with_sign = select(is_negative && is_odd, -power, power);
  const auto has_no_root = x < zero && size < infinity && !is_whole;
  const V result =
      select(has_no_root, like(x, std::numeric_limits<double>::quiet_NaN()), with_sign);
  const auto is_one = x == one || y == zero || (size == one && abs(y) == infinity);
  return select(is_one, one, result);
}

// --- What neural networks are made of, in f64, where errors of 2^-28 don't show. ---
/// 2^x of an f64, for |x| <= 1000.
template <class V>
V brief_exp2(const V& x) {
  const WholeProduct<V> n = whole_product(x, 1);
  const V rest = x - n.whole, value = fma(brief_exp2_slope(rest), rest, like(x, 1));
  const auto bits = to_bits(n.bits);
  return from_bits(x, to_bits(value) + (bits << like(bits, 52)));
}

/// x + |x| * the normal distribution's cumulative function of -|x| for x > 0, and less that below:
/// exp(-x^2 / 2) times a polynomial in (|x| - 3) / (|x| + 3).  NaN for minus infinity.
template <class V>
V single_gelu(const V& x) {
  const auto wide = to_double(x);
  const auto one = like(wide, 1), zero = like(wide, 0);
  const auto minus_size =
      maximum(like(wide, -14.5), from_bits(wide, to_bits(wide) | sign_mask(to_bits(wide))));
  const auto inverse = one / (like(wide, 3) - minus_size);
  const auto tail = horner(
      fma(inverse, like(wide, -6), one),
      {5.446712382850527e-05, 0.00013126982479992404, -0.00024475864413559494,
       -0.001032534767081336, 0.0010247832823212554, 0.006969304750940241, -0.01046251990155026,
       -0.047262687877763, 0.23001769991003, -0.509331991396746, 0.7290836903702496});
  const auto exponent = minus_size * minus_size * like(wide, -0.7213475204444817);
  const auto positive = select(wide > zero, wide, wide * zero);
  return to_single(fma(minus_size * inverse * tail, brief_exp2(exponent), positive));
}

/// x / (1 + exp(-2 u)) with u = sqrt(2 / pi) * (x + 0.044715 x^3).  NaN for minus infinity.
template <class V>
V single_gelu_tanh(const V& x) {
  const auto wide = to_double(x), square = wide * wide;
  const auto slope = fma(square, like(wide, -0.1029432395800235), like(wide, -2.302208198144325));
  const auto exponent = wide * slope;
  const auto power = brief_exp2(held_between(exponent, -1000, 1000));
  const auto infinity = like(wide, std::numeric_limits<double>::infinity());
  const auto finite = select(exponent < infinity, wide, wide - wide);
  return to_single(finite / (like(wide, 1) + power));
}

/// x * tanh(softplus(x)) = x e (e + 2) / (e (e + 2) + 2) with e = exp(x).  NaN for minus infinity.
template <class V>
V single_mish(const V& x) {
  const auto wide = to_double(x);
  const auto exponent = minimum(like(wide, 60), wide * like(wide, 1.4426950408889634));
  const auto power = brief_exp2(maximum(like(wide, -1000), exponent));
  const auto product = power * (power + like(wide, 2));
  const auto infinity = like(wide, std::numeric_limits<double>::infinity());
  const auto finite = select(exponent > -infinity, wide, wide - wide);
  return to_single(finite * (product / (product + like(wide, 2))));
}

}  // namespace weft::ir
