// Functions of complex numbers.  Of two f32 they are computed in f64 with an error below 2^-33 of
// each part, and rounded once; of two f64 each part is within two and a half units in the last
// place.  Zeros, infinities and NaN are treated as in C (Annex G): an angle that is none leaves an
// infinite size infinite and a zero zero.
#pragma once

#include "ir/circular.h"
#include "ir/distance.h"
#include "ir/double_functions.h"
#include "ir/exponentials.h"
#include "ir/inverse_circular.h"

#include <limits>

namespace weft::ir {

template <class V>
struct ComplexParts {
  V real, imag;
};

/// `of_parts` of both parts in f64, which gives those of the result.
template <class V, class OfParts>
V by_parts(const V& z, const OfParts& of_parts) {
  const auto result = of_parts(to_double(real(z)), to_double(imag(z)));
  return complex(to_single(result.real), to_single(result.imag));
}

/// for_cosine * cos(angle) and for_sine * sin(angle), the factors being functions of `exponent`
/// that are finite where it is not.
template <class V>
ComplexParts<V> turned(const V& exponent, const V& angle, const V& for_cosine, const V& for_sine) {
  const V zero = like(angle, 0), infinity = like(angle, std::numeric_limits<double>::infinity());
  const Waves<V> waves = waves_of(double_angle(angle));
  const auto is_no_angle = !(abs(angle) < infinity);
  const auto stays_real = is_no_angle && (for_cosine == zero || abs(exponent) == infinity);
  const auto stays_zero = is_no_angle && for_sine == zero;
  const auto is_real_nan = angle == zero && exponent != exponent;
  return {
      select(stays_real, for_cosine, for_cosine * cosine_of(angle, waves)),
      select(stays_zero, for_sine, select(is_real_nan, angle, for_sine * sine_of(angle, waves)))};
}

template <class V>
ComplexParts<V> exp_of_parts(const V& x, const V& y) {
  const V zero = like(x, 0), infinity = like(x, std::numeric_limits<double>::infinity());
  const V size = select(x == -infinity, zero, rough_exp(x));
  return turned(x, y, size, size);
}
template <class V>
ComplexParts<V> sinh_of_parts(const V& x, const V& y) {
  return turned(x, y, rough_sinh(x), rough_cosh(x));
}
template <class V>
ComplexParts<V> cosh_of_parts(const V& x, const V& y) {
  return turned(x, y, rough_cosh(x), rough_sinh(x));
}
/// -i sinh(iz) by sinh of yi - x.
template <class V>
ComplexParts<V> sin_by_sinh(const ComplexParts<V>& sinh) {
  return {sinh.imag, sinh.real};
}
template <class V>
ComplexParts<V> sin_of_parts(const V& x, const V& y) {
  return sin_by_sinh(sinh_of_parts(y, x));
}
/// cosh(iz) by cosh of yi - x.
template <class V>
ComplexParts<V> cos_by_cosh(const ComplexParts<V>& cosh) {
  return {cosh.real, -cosh.imag};
}
template <class V>
ComplexParts<V> cos_of_parts(const V& x, const V& y) {
  return cos_by_cosh(cosh_of_parts(y, x));
}

/// Squares of f32 are exact.  Next to a size of 1 the difference of the square from it is, too, but
/// for one rounding, and its logarithm is a series in that.
template <class V>
ComplexParts<V> log_of_parts(const V& x, const V& y) {
  const V x_size = abs(x), y_size = abs(y),
          infinity = like(x, std::numeric_limits<double>::infinity());
  const auto is_x_larger = x_size >= y_size;
  const V larger = select(is_x_larger, x_size, y_size);
  const V smaller = select(is_x_larger, y_size, x_size), rest = smaller * smaller;
  const V excess = fma(larger, larger, like(x, -1)) + rest;
  const auto is_near_one = abs(excess) < like(x, 0.25);
  const V near = rough_log_near_one(select(is_near_one, excess, like(x, 0)));
  const V twice = select(is_near_one, near, rough_log(fma(larger, larger, rest)));
  const auto is_infinite = x_size == infinity || y_size == infinity;
  return {select(is_infinite, infinity, twice * like(x, 0.5)), double_atan2(y, x)};
}

template <class V>
ComplexParts<V> scaled(const ComplexParts<V>& parts, double factor) {
  return {parts.real * like(parts.real, factor), parts.imag * like(parts.imag, factor)};
}
template <class V>
ComplexParts<V> log2_of_parts(const V& x, const V& y) {
  return scaled(log_of_parts(x, y), 1.4426950408889634);
}
template <class V>
ComplexParts<V> log10_of_parts(const V& x, const V& y) {
  return scaled(log_of_parts(x, y), 0.43429448190325182);
}

// --- Of two f64. ---
/// From here on both parts of an exponential are infinite or 0.
inline constexpr double largest_power = 1600;

/// turned() of sizes times a power of two: a size beyond the range of f64 may have parts within it.
/// What of the power is in range is taken first, so that no small part loses digits on the way;
/// what is smaller than all numbers is rounded once, at the end.
template <class V>
ComplexParts<V> turned_and_scaled(const V& exponent, const V& angle, const V& for_cosine,
                                  const V& for_sine, const V& power) {
  const V first =
      select(power < like(power, -1000), like(power, 0), minimum(like(power, 1000), power));
  const V factor = power_of_two(first);
  const auto [real, imag] = turned(exponent, angle, for_cosine * factor, for_sine * factor);
  // Of a NaN there is no power, and a zero that it leaves is one.
  const V rest = select(power == power, power - first, like(power, 0));
  return {scale_by_power(real, rest), scale_by_power(imag, rest)};
}

template <class V>
ComplexParts<V> double_exp_of_parts(const V& x, const V& y) {
  const ScaledSum<V> power = exponential_of(as_sum(held_between(x, -1000, largest_power)));
  const V zero = like(x, 0), minus_infinity = like(x, -std::numeric_limits<double>::infinity());
  const V size = select(x == minus_infinity, zero, power.value.high + power.value.low);
  return turned_and_scaled(x, y, size, size, power.exponent);
}

template <class V>
ComplexParts<V> double_sinh_of_parts(const V& x, const V& y) {
  const HyperbolicPair<V> pair = hyperbolic_pair(x, largest_power);
  return turned_and_scaled(x, y, pair.sine, pair.cosine, pair.exponent);
}
template <class V>
ComplexParts<V> double_cosh_of_parts(const V& x, const V& y) {
  const HyperbolicPair<V> pair = hyperbolic_pair(x, largest_power);
  return turned_and_scaled(x, y, pair.cosine, pair.sine, pair.exponent);
}
template <class V>
ComplexParts<V> double_sin_of_parts(const V& x, const V& y) {
  return sin_by_sinh(double_sinh_of_parts(y, x));
}
template <class V>
ComplexParts<V> double_cos_of_parts(const V& x, const V& y) {
  return cos_by_cosh(double_cosh_of_parts(y, x));
}

/// x^2 + y^2 - 1 for x >= y >= 0 and a sum of squares that is near 1: what cancels is exact.
template <class V>
Sum<V> excess_of_squares(const Sum<V>& x_square, const Sum<V>& y_square) {
  const Sum<V> first = exact_sum(x_square.high, like(x_square.high, -1));
  const Sum<V> second = exact_sum(first.high, y_square.high);
  const Sum<V> rest = exact_sum(x_square.low, y_square.low);
  const Sum<V> sum = exact_sum(second.high, rest.high);
  return ordered_sum(sum.high, sum.low + (rest.low + (second.low + first.low)));
}

/// The logarithm of x^2 + y^2, of positive finite parts or a zero among them.
template <class V>
Sum<V> log_of_squares(const V& x_size, const V& y_size) {
  const auto [larger, smaller, back] = scaled_pair(x_size, y_size);
  const Sum<V> x_square = exact_product(larger, larger), y_square = exact_product(smaller, smaller);
  const Sum<V> square = add(x_square, y_square);
  const V one = like(larger, 1), zero = like(larger, 0);
  const auto is_near_one =
      back == one && square.high > like(larger, 0.75) && square.high < like(larger, 1.4);
  const SplitSum<V> split = split_sum(square);
  // Both squares were divided by that of `back`, a power of two.
  const V more = select(back == one, zero, select(back > one, like(one, 1200), like(one, -1200)));
  const Sum<V> fraction =
      select(is_near_one, excess_of_squares(x_square, y_square), split.fraction);
  return logarithm_near_one(fraction, select(is_near_one, zero, split.exponent + more));
}

/// The logarithm times a factor in two parts, which the angle is multiplied by, too.
template <class V>
ComplexParts<V> double_log_of_parts(const V& x, const V& y, double factor, double factor_low) {
  const V x_size = abs(x), y_size = abs(y), zero = like(x, 0),
          infinity = like(x, std::numeric_limits<double>::infinity());
  const auto is_zero = x == zero && y == zero;
  const Sum<V> square = log_of_squares(select(is_zero, like(x, 1), x_size), y_size);
  const Sum<V> product = multiply(square, sum_like(x, 0.5 * factor, 0.5 * factor_low));
  const auto is_infinite = x_size == infinity || y_size == infinity;
  const V angle = double_atan2(y, x);
  return {select(is_zero, -infinity, select(is_infinite, infinity, product.high + product.low)),
          factor == 1 ? angle : angle * like(x, factor)};
}

/// sqrt of a half of the size and of the real part's, of which the other part follows.
template <class V>
ComplexParts<V> sqrt_of_sizes(const V& x, const V& y, const V& x_size, const V& y_size,
                              const V& size, const V& back) {
  const V zero = like(x, 0), infinity = like(x, std::numeric_limits<double>::infinity());
  const V root = select(x_size == infinity, infinity, sqrt((x_size + size) * like(x, 0.5)));
  const V other = y_size / select(root == zero, like(x, 1), root + root);
  const V larger = root * back, smaller = other * back;
  const auto is_left = x < zero;
  const auto is_infinite = abs(y) == infinity;
  return {select(is_infinite, infinity, select(is_left, smaller, larger)),
          select(is_infinite, y, with_sign_of(select(is_left, larger, smaller), y))};
}
template <class V>
ComplexParts<V> sqrt_of_parts(const V& x, const V& y) {
  const V size = sqrt(fma(x, x, y * y));
  return sqrt_of_sizes(x, y, abs(x), abs(y), size, like(x, 1));
}
/// Scaled where the sum of sizes would overflow, or where it would have lost digits.
template <class V>
ComplexParts<V> double_sqrt_of_parts(const V& x, const V& y) {
  const V larger = maximum(abs(x), abs(y)), one = like(x, 1);
  const auto is_huge = larger > like(x, 0x1p1000), is_tiny = larger < like(x, 0x1p-900);
  const V factor = select(is_huge, like(x, 0x1p-2), select(is_tiny, like(x, 0x1p120), one));
  const V back = select(is_huge, like(x, 2), select(is_tiny, like(x, 0x1p-60), one));
  const V x_size = abs(x) * factor, y_size = abs(y) * factor;
  return sqrt_of_sizes(x, y, x_size, y_size, double_distance(x_size, y_size), back);
}

/// WEFT_COMPLEX_BY_PARTS(name, parts of two f64 x and y): of two f32 by name_of_parts().
#define WEFT_COMPLEX_BY_PARTS(name, of_doubles)                                                \
  template <class V>                                                                           \
  V complex_##name(const V& z) {                                                               \
    return by_part_precision(                                                                  \
        z,                                                                                     \
        [](const auto& singles) {                                                              \
          return by_parts(singles,                                                             \
                          [](const auto& x, const auto& y) { return name##_of_parts(x, y); }); \
        },                                                                                     \
        [](const auto& doubles) {                                                              \
          const auto x = real(doubles), y = imag(doubles);                                     \
          const auto result = of_doubles;                                                      \
          return complex(result.real, result.imag);                                            \
        });                                                                                    \
  }
WEFT_COMPLEX_BY_PARTS(sqrt, double_sqrt_of_parts(x, y))
WEFT_COMPLEX_BY_PARTS(exp, double_exp_of_parts(x, y))
WEFT_COMPLEX_BY_PARTS(sin, double_sin_of_parts(x, y))
WEFT_COMPLEX_BY_PARTS(cos, double_cos_of_parts(x, y))
WEFT_COMPLEX_BY_PARTS(sinh, double_sinh_of_parts(x, y))
WEFT_COMPLEX_BY_PARTS(cosh, double_cosh_of_parts(x, y))
WEFT_COMPLEX_BY_PARTS(log, double_log_of_parts(x, y, 1, 0))
WEFT_COMPLEX_BY_PARTS(log2, double_log_of_parts(x, y, 1.4426950408889634, 2.0355273740931033e-17))
WEFT_COMPLEX_BY_PARTS(log10, double_log_of_parts(x, y, 0.4342944819032518, 1.098319650216765e-17))
#undef WEFT_COMPLEX_BY_PARTS

}  // namespace weft::ir
