// Exponentials, logarithms and powers out of primitives, so that every backend computes them inline
// and gets the same bits.  Two kinds: f64 natively (exp, log: at most 1 ulp), and the "rough" ones,
// which compute f32 functions in f64 with a relative error below 2^-44: rounded to f32 they are
// right but for ties.  What has f32 arithmetic of its own is in ir/single_functions.h. Polynomials:
// minimax fits by ir/minimax.py.
#pragma once

#include <initializer_list>
#include <limits>
#include <utility>

namespace weft::ir {

/// The polynomial with these coefficients, highest first, in x.
template <class V>
V horner(const V& x, std::initializer_list<double> coefficients) {
  V sum = like(x, *coefficients.begin());
  for (const double* next = coefficients.begin() + 1; next != coefficients.end(); ++next)
    sum = fma(sum, x, like(x, *next));
  return sum;
}

/// The same in two halves that don't wait for one another: that of the even powers, and of the odd.
template <class V>
V horner_by_square(const V& x, std::initializer_list<double> coefficients) {
  const V square = x * x;
  const double* next = coefficients.begin();
  V own = like(x, *next++), other = like(x, *next++);
  bool is_own = true;
  for (; next != coefficients.end(); ++next, is_own = !is_own) {
    V& sum = is_own ? own : other;
    sum = fma(sum, square, like(x, *next));
  }
  return is_own ? fma(own, x, other) : fma(other, x, own);
}

/// x * factor rounded to a whole number.  `bits` holds that number and `more` in its low bits: at
/// this size the unit of a float is one.
template <class V>
struct WholeProduct {
  V bits, whole;
};

template <class V>
WholeProduct<V> whole_product(const V& x, double factor, int more = 0) {
  const V unit_is_one = like(x, 0x1.8p23 + more, 0x1.8p52 + more);
  const V shifted = fma(x, like(x, factor), unit_is_one);
  return {shifted, shifted - unit_is_one};
}

/// x within [low, high], NaN as it is.
template <class V>
V held_between(const V& x, double low, double high) {
  return maximum(like(x, low), minimum(like(x, high), x));
}

/// 2^(n + more) for the n that the low bits of a whole product hold.  Requires: that is a normal
/// number.
template <class V, class Integer>
V power_of_bits(const V& x, const Integer& bits, int more = 0) {
  return from_bits(x, (bits + like(bits, 127 + more, 1023 + more)) << like(bits, 23, 52));
}

/// 2^n for a whole n that makes a normal number.
template <class V>
V power_of_two(const V& n) {
  return power_of_bits(n, to_bits(n + like(n, 0x1.8p23, 0x1.8p52)));
}

/// x = n * ln(2) + rest, with n in the low bits of `bits`.
template <class V>
struct Reduced {
  decltype(to_bits(std::declval<const V&>())) bits;
  V n, rest;
};

template <class V>
Reduced<V> reduce_exponent(const V& x) {
  const WholeProduct<V> power = whole_product(x, 1.4426950408889634);
  const V high = fma(power.whole, like(x, -0.6931471805599453), x);
  return {to_bits(power.bits), power.whole,
          fma(power.whole, like(x, -2.3190468138462996e-17), high)};
}

/// (exp(x) - 1) / x for |x| < 0.35.
template <class V>
V exponential_slope(const V& x) {
  const V quadratic = horner(
      x, {2.4999338379061147e-08, 2.763093707507321e-07, 2.7557592416927482e-06,
          2.480149132626869e-05, 0.00019841269495677753, 0.0013888888945164518,
          0.008333333333501306, 0.041666666666525125, 0.166666666666664, 0.5000000000000011});
  return fma(quadratic, x, like(x, 1));
}

template <class V>
V exponential(const V& x) {
  const Reduced<V> reduced = reduce_exponent(held_between(x, -746, 710));
  const V value = fma(exponential_slope(reduced.rest), reduced.rest, like(x, 1));
  return scale_by_power(value, reduced.n);
}

/// exp(x) * 2^-shift as an unevaluated sum, for |x| so small that this is a normal number.
template <class V>
struct Sum {
  V high, low;
};

template <class V>
Sum<V> exponential_sum(const V& x, int shift) {
  const Reduced<V> reduced = reduce_exponent(x);
  const V one = like(x, 1), slope = exponential_slope(reduced.rest);
  const V high = fma(slope, reduced.rest, one);
  const V low = fma(slope, reduced.rest, one - high);
  const V scale = power_of_bits(x, reduced.bits, -shift);
  return {high * scale, low * scale};
}

// --- Logarithm. ---
/// x = 2^exponent * (1 + fraction), with 1 + fraction between sqrt(1/2) and sqrt(2).
template <class V>
struct Parts {
  V exponent, fraction;
};

/// The exponent of a normal number, an integer of as many bits as it has.
template <class V>
auto whole_exponent(const V& x) {
  const auto bits = to_bits(x);
  return (bits - to_bits(like(x, 0.7071067811865476))) >> like(bits, 23, 52);
}

/// x / 2^n for such an exponent, where x and that are normal numbers; zero where it is just below
/// them, and anything elsewhere.
template <class V, class Integer>
V divided_by_power(const V& x, const Integer& n) {
  return from_bits(x, to_bits(x) - (n << like(n, 23, 52)));
}

/// Of a normal number.
template <class V>
Parts<V> split_normal(const V& x) {
  const auto exponent = whole_exponent(x);
  return {to_float(x, exponent), divided_by_power(x, exponent) - like(x, 1)};
}

/// Of a positive number.
template <class V>
Parts<V> split(const V& x) {
  const auto is_subnormal = x < like(x, 0x1p-126, 0x1p-1022);
  const V scaled = select(is_subnormal, x * like(x, 0x1p23, 0x1p52), x);
  const Parts<V> parts = split_normal(scaled);
  return {select(is_subnormal, parts.exponent - like(x, 23, 52), parts.exponent), parts.fraction};
}

/// log(1 + f) - f + half_square + more, for a small f with half its square, by atanh, which
/// converges faster.
template <class V>
V log_beyond_parabola(const V& f, const V& half_square, const V& more) {
  const V s = f / (like(f, 2) + f), z = s * s;
  const V series =
      horner(z, {0.06624031200154319, 0.0662537292081733, 0.07693523856716092, 0.09090888554723285,
                 0.1111111131040795, 0.14285714284667933, 0.20000000000002538, 0.3333333333333333});
  return fma(s, fma(like(f, 2) * z, series, half_square), more);
}

/// log(1 + f) - f + correction.
template <class V>
V log_curvature(const V& f, const V& correction) {
  const V half_square = like(f, 0.5) * f * f;
  return log_beyond_parabola(f, half_square, correction) - half_square;
}

/// `result` for positive finite x; what a logarithm is elsewhere.
template <class V>
V logarithm_or_special(const V& x, const V& result) {
  const V infinity = like(x, std::numeric_limits<double>::infinity()), zero = like(x, 0);
  const V of_others = select(x < zero, like(x, std::numeric_limits<double>::quiet_NaN()), x);
  const V special = select(x == zero, -infinity, of_others);
  return select(x > zero && x < infinity, result, special);
}

/// What log(x) begins with: a multiple of ln(2), of which nothing is rounded, and the fraction;
/// `low` is what their sum loses.
template <class V>
Sum<V> leading_sum(const Parts<V>& parts) {
  const V multiple = parts.exponent * like(parts.exponent, 0.6931471803691238);
  const V sum = multiple + parts.fraction;
  return {sum, parts.fraction - (sum - multiple)};
}

/// The logarithm with that sum.
template <class V>
V logarithm_of_parts(const Parts<V>& parts, const Sum<V>& leading) {
  const V correction = fma(parts.exponent, like(leading.low, 1.9082149292705877e-10), leading.low);
  return leading.high + log_curvature(parts.fraction, correction);
}

template <class V>
V logarithm(const V& x) {
  const Parts<V> parts = split(x);
  return logarithm_or_special(x, logarithm_of_parts(parts, leading_sum(parts)));
}

// --- Rough functions of f64, for f32.  Their arguments come from f32. ---
template <class V>
V rough_exponential_slope(const V& x) {
  return fma(horner(x, {2.749079352560763e-06, 2.4882377564043015e-05, 0.00019841551884964702,
                        0.0013888808041147853, 0.008333333079798392, 0.04166666698009343,
                        0.16666666667313149, 0.49999999999637074}),
             x, like(x, 1));
}

template <class V>
Reduced<V> rough_reduce(const V& x) {
  const WholeProduct<V> power = whole_product(x, 1.4426950408889634);
  return {to_bits(power.bits), power.whole, fma(power.whole, like(x, -0.6931471805599453), x)};
}

/// As large and as small as f64 can say where f32 has long been infinite and zero.
template <class V>
V rough_exp(const V& x) {
  const Reduced<V> reduced = rough_reduce(held_between(x, -700, 700));
  const V value = fma(rough_exponential_slope(reduced.rest), reduced.rest, like(x, 1));
  return value * power_of_bits(x, reduced.bits);
}

template <class V>
V rough_expm1(const V& x) {
  const Reduced<V> reduced = rough_reduce(held_between(x, -700, 700));
  const V scale = power_of_bits(x, reduced.bits);
  const V value = rough_exponential_slope(reduced.rest) * reduced.rest;
  return with_sign_of(fma(scale, value, scale - like(x, 1)), x);  // -0 stays what it is
}

template <class V>
V rough_exp2(const V& x) {
  const V bounded = held_between(x, -1000, 1000);
  const WholeProduct<V> power = whole_product(bounded, 1);
  const V rest = (bounded - power.whole) * like(x, 0.6931471805599453);
  const V value = fma(rough_exponential_slope(rest), rest, like(x, 1));
  return value * power_of_bits(x, to_bits(power.bits));
}

/// log(1 + f) by the series of atanh, with these terms after the first.
template <class V>
V rough_log_by_atanh(const V& f, std::initializer_list<double> terms) {
  const V s = f / (like(f, 2) + f), z = s * s, twice = s + s;
  return fma(twice * z, horner(z, terms), twice);
}

/// log(1 + f) for a small f.
template <class V>
V rough_log_near_one(const V& f) {
  return rough_log_by_atanh(f, {0.09799417193092763, 0.11087616464211754, 0.14286065183486513,
                                0.19999997719473298, 0.3333333333813103});
}

/// log(1 + f) for f from 0 to 1, in one piece.
template <class V>
V rough_log_above_one(const V& f) {
  return rough_log_by_atanh(f, {0.0887826876610567, 0.049473492353873036, 0.06793974453601385,
                                0.07682059343036937, 0.0909141258410745, 0.11111096249475559,
                                0.142857145331038, 0.19999999997984616, 0.3333333333333898});
}

template <class V>
V rough_log(const V& x) {
  const Parts<V> parts = split_normal(x);
  const V result =
      fma(parts.exponent, like(x, 0.6931471805599453), rough_log_near_one(parts.fraction));
  return logarithm_or_special(x, result);
}

template <class V>
V rough_log2(const V& x) {
  const Parts<V> parts = split_normal(x);
  const V result =
      fma(rough_log_near_one(parts.fraction), like(x, 1.4426950408889634), parts.exponent);
  return logarithm_or_special(x, result);
}

template <class V>
V rough_cbrt(const V& x) {
  return with_sign_of(rough_exp2(rough_log2(abs(x)) * like(x, 1.0 / 3)), x);
}

/// Where 1 + x rounds, x is the fraction itself.
template <class V>
V rough_log1p(const V& x) {
  const auto is_near = abs(x) < like(x, 0.25);
  return select(is_near, rough_log_near_one(select(is_near, x, like(x, 0))),
                rough_log(like(x, 1) + x));
}

// --- Functions that keep their accuracy where their parts cancel. ---
template <class V>
V rough_sinh(const V& x) {
  const V less_one = rough_expm1(abs(x));
  return with_sign_of(like(x, 0.5) * (less_one + less_one / (less_one + like(x, 1))), x);
}

template <class V>
V rough_cosh(const V& x) {
  const V value = rough_exp(abs(x));
  return like(x, 0.5) * (value + like(x, 1) / value);
}

template <class V>
V rough_asinh(const V& x) {
  const V size = abs(x), square = size * size, one = like(x, 1);
  const V result = with_sign_of(rough_log1p(size + square / (one + sqrt(one + square))), x);
  return select(size < like(x, std::numeric_limits<double>::infinity()), result, x);
}

template <class V>
V rough_acosh(const V& x) {
  const V above_one = x - like(x, 1);
  const V result = rough_log1p(above_one + sqrt(above_one * (above_one + like(x, 2))));
  return select(x < like(x, 1), like(x, std::numeric_limits<double>::quiet_NaN()), result);
}

template <class V>
V rough_atanh(const V& x) {
  return like(x, 0.5) * rough_log1p((x + x) / (like(x, 1) - x));
}

// --- Powers. ---
/// 1 / sqrt(x) with the errors of the root and of the quotient put right.
template <class V>
V reciprocal_root(const V& x) {
  const auto is_small = x < like(x, 0x1p-100, 0x1p-900);
  const V scaled = select(is_small, x * like(x, 0x1p64, 0x1p512), x);
  const V root = sqrt(scaled), inverse = like(x, 1) / root;
  const V lost_root = fma(-root, root, scaled), lost_inverse = fma(-root, inverse, like(x, 1));
  const V share = lost_inverse - like(x, 0.5) * lost_root * inverse * inverse;
  const V right = fma(inverse, share, inverse);
  const auto is_ordinary = x > like(x, 0) && x < like(x, std::numeric_limits<double>::infinity());
  const V result = select(is_ordinary, right, inverse);
  return select(is_small, result * like(x, 0x1p32, 0x1p256), result);
}

}  // namespace weft::ir
