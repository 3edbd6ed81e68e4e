// Functions of f32 in f32 arithmetic, within 1 ulp for every input: written for few instructions,
// since a vector of them takes less time than a call.  Polynomials: minimax fits by ir/minimax.py.
#pragma once

#include "ir/exponentials.h"
#include "ir/tables.h"

#include <limits>

namespace weft::ir {

/// A table as the second argument of table_entry(): the one that stands `behind` another.
template <class V>
V table_number(const V& x, Table table, int behind = 0) {
  return like(x, static_cast<int>(table) + behind);
}

// --- Exponentials. ---
/// (exp(x) - 1 - x) / x^2 for |x| < 0.35.
template <class V>
V single_exponential_quadratic(const V& x) {
  return horner(x, {0.0013822971377521753, 0.008369024842977524, 0.04166824743151665,
                    0.166665181517601, 0.4999999403953552});
}

/// (exp(x) - 1) / x for |x| < 0.35.
template <class V>
V single_exponential_slope(const V& x) {
  return fma(single_exponential_quadratic(x), x, like(x, 1));
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

/// exp(x) - 1 = 2^n - 1 + 2^n * (rest + rest^2 * quadratic), half of it: 2^128 is not a number.
template <class V>
V single_expm1(const V& x) {
  const V bounded = held_between(x, -20, 89);
  const WholeProduct<V> power = whole_product(bounded, 1.4426950408889634);
  const V n = power.whole, high = fma(n, like(x, -0.6931471824645996), bounded);
  const V rest = fma(n, like(x, 1.904654299957768e-09), high);
  const V lost_rest = fma(n, like(x, 1.904654299957768e-09), high - rest);
  const V quadratic =
      horner(rest, {0.00019760409486480057, 0.0013932763831689954, 0.008333547972142696,
                    0.04166648909449577, 0.1666666567325592, 0.5});
  const auto bits = to_bits(power.bits);
  const V scale = from_bits(x, to_bits(like(x, 0.5)) + (bits << like(bits, 23)));
  const V base = scale - like(x, 0.5), sum = fma(scale, rest, base);
  const V lost = fma(scale, rest, base - sum) + ((scale - base) - like(x, 0.5));
  const V beyond = fma(rest * rest, quadratic, lost_rest), half = sum + fma(scale, beyond, lost);
  return select(abs(x) < like(x, 0x1p-25), x, half + half);
}

// --- Logarithms. ---
/// The n of x = part * 2^n.
template <class V>
V exponent_of_mantissa(const V& x, const V& part) {
  return exponent(x) + select(part < like(x, 1), like(x, 1), like(x, 0));
}

/// What a sum with the n of a logarithm loses.  Where n is infinite that is NaN: it is taken to be
/// -1, so that zeros and infinity need no other care.
template <class V>
V lost_or_finite(const V& lost) {
  return select(lost > like(lost, -1), lost, like(lost, -1));
}

/// (log(1 + x) - x + x^2 / 2) / x^3, for x from -1/4 to 1/2.
template <class V>
V single_log_cubic(const V& x) {
  return horner(
      x, {-0.04508446902036667, 0.10466279089450836, -0.13163575530052185, 0.14478641748428345,
          -0.1664707511663437, 0.19990810751914978, -0.2500010132789612, 0.3333345055580139});
}

/// n * log(2) + log(1 + fraction), for a fraction from -1/4 to 1/2.
template <class V>
V single_log_of_parts(const V& n, const V& fraction) {
  const V sum = fma(n, like(n, 0.693145751953125), fraction);  // the product is exact
  const V lost = fraction - fma(n, like(n, -0.693145751953125), sum);
  const V correction = fma(n, like(n, 1.4286068203094173e-06), lost_or_finite(lost));
  const V series = fma(single_log_cubic(fraction), fraction, like(n, -0.5));
  return sum + fma(fraction * fraction, series, correction);
}

template <class V>
V single_log(const V& x) {
  const V part = mantissa(x);
  return single_log_of_parts(exponent_of_mantissa(x, part), part - like(x, 1));
}

/// A logarithm to another base: that of two as a number whose multiples by an exponent are exact
/// and what is missing to it, and of e what rounding leaves and takes.
struct Base {
  double log_two_high, log_two_low, log_e_high, log_e_low;
};

/// The parabola and the rest of the natural logarithm, times 1 / log(base).
template <class V>
V single_log_to(const V& x, const Base& base) {
  const V part = mantissa(x), n = exponent_of_mantissa(x, part), fraction = part - like(x, 1);
  const V half = fraction * like(x, -0.5), parabola = fma(half, fraction, fraction);
  const V lost_parabola = fma(half, fraction, fraction - parabola);
  const V beyond = fma(fraction * fraction * fraction, single_log_cubic(fraction), lost_parabola);
  const V slope = like(x, base.log_e_high), product = parabola * slope;
  const V lost_product =
      fma(beyond, slope, fma(parabola, like(x, base.log_e_low), fma(parabola, slope, -product)));
  const V log_two = like(x, base.log_two_high), sum = fma(n, log_two, product);
  const V lost = lost_or_finite(product - fma(n, -log_two, sum)) + lost_product;
  // Not a product of zero, which infinities turn to NaN.
  return sum + (base.log_two_low == 0 ? lost : fma(n, like(x, base.log_two_low), lost));
}

template <class V>
V single_log2(const V& x) {
  return single_log_to(x, {1, 0, 1.4426950216293335, 1.925963033500011e-08});
}

template <class V>
V single_log10(const V& x) {
  return single_log_to(
      x, {0.301025390625, 4.605039066518657e-06, 0.4342944920063019, -1.0103049952192578e-08});
}

/// The parts are those of 1 + x, but the fraction is computed from x, exactly: x * 2^-n + (2^-n -
/// 1). Of 2^-n four times, which is normal for every n.
template <class V>
V single_log1p(const V& x) {
  const auto above = to_bits(like(x, 1) + x) - to_bits(like(x, 0.75));
  const auto n = above >> like(above, 23);
  const V scale = from_bits(x, to_bits(like(x, 4)) - (n << like(above, 23)));
  const V fraction = fma(x * like(x, 0.25), scale, fma(scale, like(x, 0.25), like(x, -1)));
  const V value = single_log_of_parts(to_float(x, n), fraction), size = abs(x);
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  // Small numbers, which a quarter of is not exact, are their own logarithms.
  const V plain = select(size >= like(x, 0x1p-25) && size < infinity, value, x);
  const V nan = like(x, std::numeric_limits<double>::quiet_NaN()), minus_one = like(x, -1);
  return select(x > minus_one, plain, select(x == minus_one, -infinity, nan));
}

// --- Hyperbolic tangent and error function. ---
/// A number that is not negative, with the sign of another.
template <class V>
V with_sign(const V& size, const V& x) {
  const auto sign = to_bits(x) & sign_mask(to_bits(x));
  return from_bits(size, to_bits(size) | sign);
}

/// Tables of a function between points: `centre` and the function there, and after them the terms
/// of a polynomial in what is left of an argument.
template <class V>
V single_by_tables(const V& x, Table centre, double largest) {
  const V size = minimum(like(x, largest), abs(x));
  // Four steps of 1/4, four of 1/2, of 1 and of 2: the last two bits of the exponent and the first
  // two behind it.
  const V shifted = size + like(x, 1);
  const auto bits = to_bits(shifted);
  const V place = from_bits(x, bits >> like(bits, 21));
  const auto entry = [&](int number) {
    return table_entry(place, table_number(x, centre, number));
  };
  const V rest = size - entry(0), square = rest * rest;
  const V high = fma(entry(7), square, fma(entry(6), rest, entry(5)));
  const V curve = fma(high, square, fma(entry(4), rest, entry(3)));
  const V slope = fma(curve, rest, entry(2));
  // In the first step what is added to x, so that the sum is right to the last bit of a small x.
  const V value = select(shifted < like(x, 1.25), size, entry(1));
  return with_sign(fma(slope, rest, value), x);
}

template <class V>
V single_tanh(const V& x) {
  return single_by_tables(x, Table::tanh_centre, 9.5);
}

template <class V>
V single_erf(const V& x) {
  return single_by_tables(x, Table::erf_centre, 4.5);
}

// --- The logistic function and what is multiplied with it. ---
/// (1 - x - exp(-x)) / x^2 for |x| < 0.35.  In pairs of terms: what waits for the last of a chain
/// of products holds up the vectors behind it.
template <class V>
V single_decay_curvature(const V& x, const V& square) {
  const V low = fma(x, like(x, 0.166665181517601), like(x, -0.4999999403953552));
  const V middle = fma(x, like(x, 0.008369024842977524), like(x, -0.04166824743151665));
  return fma(fma(square, like(x, -0.0013822971377521753), middle), square, low);
}

/// unit / logistic(x) = value + lost, and -1 / value.
template <class V>
struct LogisticDenominator {
  V value, lost, minus_inverse;
};

/// unit * (1 + 2^-n * exp(-rest)).  The unit, a power of two, keeps 2^-n and the inverse among the
/// normal numbers.  If it `is_brief`, it lacks what rounding took from 1 - exp(-rest): of the
/// inverse up to a fifth of an ulp.
template <bool is_brief, class V>
LogisticDenominator<V> logistic_denominator(const V& x, const V& unit) {
  const WholeProduct<V> power = whole_product(x, 1.4426950408889634);
  const V n = power.whole, high = fma(n, like(x, -0.6931471824645996), x);
  const V rest = fma(n, like(x, 1.904654299957768e-09), high), square = rest * rest;
  const V curve = single_decay_curvature(rest, square);
  const V decrease = fma(curve, square, rest);  // 1 - exp(-rest)
  const auto bits = to_bits(power.bits);
  const V minus_scale = from_bits(x, to_bits(-unit) - (bits << like(bits, 23)));
  const V base = unit - minus_scale;
  // Nothing where the scale is less than the unit, and needn't be there.
  const V lost_base = unit - (base + minus_scale);
  const V value = fma(decrease, minus_scale, base);
  const V rounding = (base - value) + lost_base, minus_inverse = like(x, -1) / value;
  const V lost = is_brief ? fma(decrease, minus_scale, rounding)
                          : fma(curve * square, minus_scale, fma(rest, minus_scale, rounding));
  return {value, lost, minus_inverse};
}

/// What is missing to 1 in the product of a denominator and its inverse.
template <class V>
V missing_share(const LogisticDenominator<V>& x) {
  const V one = like(x.value, 1);
  return fma(x.minus_inverse, x.lost, fma(x.minus_inverse, x.value, one));
}

template <class V>
V single_logistic(const V& x) {
  const auto denominator = logistic_denominator<true>(held_between(x, -104, 18), like(x, 0x1p-24));
  const V inverse = denominator.minus_inverse;
  return fma(inverse, missing_share(denominator), inverse) * like(x, -0x1p-24);
}

/// x * logistic(x), with the sign of a zero.  NaN for minus infinity.
template <class V>
V single_silu(const V& x) {
  const V bounded = maximum(like(x, -110), x);
  const auto denominator = logistic_denominator<false>(bounded, like(x, 0x1p-33));
  const V inverse = denominator.minus_inverse, minus_product = bounded * inverse;
  const V product = -minus_product, lost = fma(bounded, inverse, product) + (x - x);
  const V excess = fma(minus_product, missing_share(denominator), lost);
  return select(x > like(x, 18), x, (product - excess) * like(x, 0x1p-33));
}

// --- The same under Numerics::fast: one division, and nothing for what rounding takes. ---
template <class V>
V single_fast_logistic(const V& x) {
  const V unit = like(x, 0x1p-24);
  return unit / logistic_denominator<true>(held_between(x, -104, 18), unit).value;
}

/// x * logistic(argument), which is x where that is large, and NaN for minus infinity.  `bounded`
/// is x, not less than where this is zero.
template <class V>
V fast_share(const V& x, const V& bounded, const V& argument) {
  const V unit = like(x, 0x1p-33);
  const V held = held_between(argument, -110, 18);
  const V value = logistic_denominator<true>(held, unit).value + (x - x);
  return select(argument > like(x, 18), x, bounded * unit / value);
}

template <class V>
V single_fast_silu(const V& x) {
  const V bounded = maximum(like(x, -110), x);
  return fast_share(x, bounded, bounded);
}

template <class V>
V single_fast_gelu_tanh(const V& x) {
  const V bounded = maximum(like(x, -11), x);
  const V slope = fma(bounded * bounded, like(x, 0.07135481627359998), like(x, 1.5957691216057308));
  return fast_share(x, bounded, bounded * slope);
}

// --- Powers. ---
/// The logarithm of base two as a sum of two numbers, right to 2^-34: with 1 / c from a table, c
/// next to the mantissa and so short that the mantissa over c is exact, less one the argument of a
/// polynomial.
template <class V>
Sum<V> single_log2_sum(const V& x) {
  const V part = mantissa(x), n = exponent_of_mantissa(x, part);
  const auto bits = to_bits(part);
  const V place = from_bits(x, bits >> like(bits, 19));
  const auto entry = [&](Table table) { return table_entry(place, table_number(x, table)); };
  const V rest = fma(part, entry(Table::inverse), like(x, -1)), square = rest * rest;
  const V high_terms = fma(square, like(x, 0.13288934528827667),
                           fma(rest, like(x, -0.16692526638507843), like(x, 0.20002959668636322)));
  const V low_terms = fma(rest, like(x, -0.24999991059303284), like(x, 0.3333333134651184));
  // The natural logarithm of 1 + rest, as two numbers.
  const V half = rest * like(x, -0.5), parabola = fma(half, rest, rest);
  const V beyond =
      fma(square * rest, fma(high_terms, square, low_terms), fma(half, rest, rest - parabola));
  const V natural = parabola + beyond, lost_natural = beyond - (natural - parabola);
  // Times 1 / ln(2); the product is subtracted, as nothing but its negative is needed.
  const V minus_product = natural * like(x, -1.4426950216293335);
  const V lost_product = fma(lost_natural, like(x, 1.4426950216293335),
                             fma(natural, like(x, 1.925963033500011e-08),
                                 fma(natural, like(x, 1.4426950216293335), minus_product)));
  const V whole = n + entry(Table::log2_high), sum = whole - minus_product;
  const V lost_sum = (whole - sum) - minus_product;
  return {sum, lost_sum + (lost_product + entry(Table::log2_low))};
}

/// |x|^y.  Where the product is infinite or NaN, so is what it loses, which is left out then.
template <class V>
V power_of_size(const V& size, const V& y) {
  const Sum<V> logarithm = single_log2_sum(size);
  const V product = y * logarithm.high, minus_y = -y;
  const V excess = fma(minus_y, logarithm.low, fma(minus_y, logarithm.high, product));
  const V bounded = held_between(product, -160, 160);
  const V known_excess = select(product == bounded, excess, like(y, 0));
  // 2^(n / 16) from tables, n being what the last bits of `shifted` hold.
  const V sixteenth_is_unit = like(y, 0x1.8p19), shifted = bounded + sixteenth_is_unit;
  const V sixteenths = shifted - sixteenth_is_unit;
  const V rest = (bounded - sixteenths) - known_excess;
  // The excess adds up to half of that to the half of a sixteenth that rounding leaves.
  const V slope = horner(
      rest, {0.009617998264729977, 0.05550270155072212, 0.24022650718688965, 0.6931471824645996});
  const auto entry = [&](Table table) { return table_entry(shifted, table_number(y, table)); };
  const V power = entry(Table::exp2_high);
  const V sum = power + fma(power * slope, rest, entry(Table::exp2_low));
  return scale_by_power(sum, floor(sixteenths));
}

/// C's pow from |x|^y: the special cases are those of IEEE 754.
template <class V>
V power_by_size(const V& x, const V& y, const V& power) {
  const V zero = like(x, 0), one = like(x, 1), half = y * like(y, 0.5);
  const auto is_whole = trunc(y) == y, is_odd = is_whole && trunc(half) != half;
  const V with_sign_of_odd = with_sign(power, select(is_odd, x, zero));
  const auto has_no_root =
      x < zero && abs(x) < like(x, std::numeric_limits<double>::infinity()) && !is_whole;
  const V result =
      select(has_no_root, like(x, std::numeric_limits<double>::quiet_NaN()), with_sign_of_odd);
  return select(x == one || y == zero, one, result);
}

template <class V>
V single_power(const V& x, const V& y) {
  // No number but 1 has so small a logarithm that more than 2^33 of it mattered, and 0 times that
  // is no NaN.
  return power_by_size(x, y, power_of_size(abs(x), held_between(y, -0x1p33, 0x1p33)));
}

// --- The normal distribution. ---
/// A polynomial in 2 z - 1 by which z is multiplied, for z = z.high + z.low of a `unit`, which is a
/// power of two: |x| times the normal distribution's cumulative function of -|x| and exp(x^2 / 2),
/// with z = |x| / (|x| + 27 / 8).  That is where the polynomial's first coefficient has few digits,
/// so that what rounding takes from its last step is a difference and a product, and the second is
/// almost a number of f32.
template <class V>
Sum<V> single_normal_tail(const Sum<V>& z, double unit) {
  const V two = like(z.high, 2 / unit), t = fma(z.high, two, like(z.high, -1));
  const V lost_t = fma(z.high, two, -(t + like(t, 1)));
  const V beyond = horner_by_square(
      t, {0.00013697250687982887, 0.00031288270838558674, -0.0008504094439558685,
          -0.002254414837807417, 0.007824743166565895, 0.00872023869305849, -0.0983842983841896});
  const V curve = fma(t, beyond, like(t, 0.295375794172287));
  const V linear = like(t, -0.5529922246932983), constant = like(t, 0.7410802841186523);
  const V slope = fma(t, curve, linear), lost_slope = fma(t, curve, linear - slope);
  const V value = fma(t, slope, constant), derivative = fma(t, curve, slope);
  const V lost_value = fma(lost_t, derivative, fma(t, lost_slope, fma(t, slope, constant - value)));
  const V product = z.high * value, growth = fma(z.high * two, derivative, value);
  return {product, fma(z.high, value, -product) + fma(z.high, lost_value, z.low * growth)};
}

/// x - |x| * the normal distribution's cumulative function of -|x| for x > 0, and minus that
/// below.  Products are kept with what rounding takes from them up to the last sum.  NaN for minus
/// infinity.
template <class V>
V single_gelu(const V& x) {
  const V size = minimum(like(x, 14.5), abs(x));
  // exp(-x^2 / 2) = 2^n * (1 + decrease + lost_decrease) * (1 + lost_exponent).
  const V half = size * like(x, -0.5), exponent = half * size;
  constexpr int bias = 127, more = 64;
  const WholeProduct<V> n = whole_product(exponent, 1.4426950408889634, bias + more);
  const V rest = fma(n.whole, like(x, -0.6931471824645996), exponent);  // exact
  const V lost_exponent = fma(n.whole, like(x, 1.904654299957768e-09), fma(half, size, -exponent));
  const V quadratic = single_exponential_quadratic(rest), square = rest * rest;
  const V decrease = fma(square, quadratic, rest);
  const V lost_decrease = fma(square, quadratic, rest - decrease);
  // In units that keep what is lost of the smallest x among the numbers.
  constexpr double unit = 0x1p24;
  const V share = like(x, 1 / unit), centre = like(x, 3.375 / unit);
  const V divisor = fma(size, share, centre), lost_divisor = fma(size, share, centre - divisor);
  const V inverse = like(x, 1) / divisor, z = size * inverse;
  const V lost_z = fma(-z, lost_divisor, fma(-z, divisor, size)) * inverse;
  const Sum<V> tail = single_normal_tail(Sum<V>{z, lost_z}, unit);
  const V lost = fma(tail.high, lost_exponent, tail.low);
  const V product = tail.high + fma(tail.high, decrease,
                                    fma(tail.high, lost_decrease, fma(lost, decrease, lost)));
  const V scale = from_bits(x, to_bits(n.bits) << like(to_bits(n.bits), 23));
  const V positive = select(x > like(x, 0), x, x * like(x, 0));
  return fma(product * scale, like(x, -0x1p-64 / unit), positive);
}

// --- What neural networks are made of, in f64, where errors of 2^-28 don't show. ---
/// (2^x - 1) / x for |x| <= 1/2.
template <class V>
V brief_exp2_slope(const V& x) {
  return horner(x, {0.00015353130409289747, 0.0013398858003346333, 0.009618437597968108,
                    0.05550332485230144, 0.24022647919318832, 0.6931472028836418});
}

/// 2^x of an f64, for |x| <= 1000.
template <class V>
V brief_exp2(const V& x) {
  const WholeProduct<V> n = whole_product(x, 1);
  const V rest = x - n.whole, value = fma(brief_exp2_slope(rest), rest, like(x, 1));
  const auto bits = to_bits(n.bits);
  return from_bits(x, to_bits(value) + (bits << like(bits, 52)));
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
