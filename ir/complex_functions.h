// Functions of complex numbers of two f32: computed in f64 with an error below 2^-33 of each part,
// and rounded once.  Those of two f64 are the C library's.  Zeros, infinities and NaN are treated
// as in C (Annex G): an angle that is none leaves an infinite size infinite and a zero zero.
#pragma once

#include "ir/circular.h"
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
/// -i sinh(iz).
template <class V>
ComplexParts<V> sin_of_parts(const V& x, const V& y) {
  const ComplexParts<V> result = sinh_of_parts(y, x);
  return {result.imag, result.real};
}
/// cosh(iz).
template <class V>
ComplexParts<V> cos_of_parts(const V& x, const V& y) {
  const ComplexParts<V> result = cosh_of_parts(y, x);
  return {result.real, -result.imag};
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
inline constexpr double log2_of_e = 1.4426950408889634, log10_of_e = 0.43429448190325182;
template <class V>
ComplexParts<V> log2_of_parts(const V& x, const V& y) {
  return scaled(log_of_parts(x, y), log2_of_e);
}
template <class V>
ComplexParts<V> log10_of_parts(const V& x, const V& y) {
  return scaled(log_of_parts(x, y), log10_of_e);
}
/// A complex number times a real one.  As a product of complex numbers, infinity would meet a 0 of
/// the other's imaginary part and make a NaN.
template <class V>
V scale_parts(const V& x, double factor) {
  const auto re = real(x), im = imag(x);
  return complex(re * like(re, factor), im * like(im, factor));
}

/// WEFT_COMPLEX_BY_PARTS(name, expression in `doubles`): of two f32 by name_of_parts().
#define WEFT_COMPLEX_BY_PARTS(name, of_doubles)                                                \
  template <class V>                                                                           \
  V complex_##name(const V& z) {                                                               \
    return by_part_precision(                                                                  \
        z,                                                                                     \
        [](const auto& singles) {                                                              \
          return by_parts(singles,                                                             \
                          [](const auto& x, const auto& y) { return name##_of_parts(x, y); }); \
        },                                                                                     \
        [](const auto& doubles) { return of_doubles; });                                       \
  }
WEFT_COMPLEX_BY_PARTS(exp, library_exp(doubles))
WEFT_COMPLEX_BY_PARTS(log, library_log(doubles))
WEFT_COMPLEX_BY_PARTS(sin, library_sin(doubles))
WEFT_COMPLEX_BY_PARTS(cos, library_cos(doubles))
WEFT_COMPLEX_BY_PARTS(sinh, library_sinh(doubles))
WEFT_COMPLEX_BY_PARTS(cosh, library_cosh(doubles))
WEFT_COMPLEX_BY_PARTS(log2, scale_parts(library_log(doubles), log2_of_e))
WEFT_COMPLEX_BY_PARTS(log10, scale_parts(library_log(doubles), log10_of_e))
#undef WEFT_COMPLEX_BY_PARTS

}  // namespace weft::ir
