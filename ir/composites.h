// Meanings that need more than one line: templates over V, which is Number<T> when numbers are
// computed and Value when IR is built.  No branches on values; on dtypes (is_integral_type) they
// are fine.
#pragma once

#include "ir/circular.h"
#include "ir/complex_functions.h"
#include "ir/distance.h"
#include "ir/double_exponentials.h"
#include "ir/double_functions.h"
#include "ir/double_gamma.h"
#include "ir/double_logarithms.h"
#include "ir/double_power.h"
#include "ir/exponentials.h"
#include "ir/gamma.h"
#include "ir/inverse_circular.h"
#include "ir/single_functions.h"
#include "ir/special.h"

#include <limits>

namespace weft::ir {

template <class V>
V clamp_to(const V& x, const V& low, const V& high) {
  return minimum(high, maximum(low, x));
}

// --- Sign and class. ---
template <class V>
V sign_of(const V& x) {
  return select(x > like(x, 0), like(x, 1), select(x < like(x, 0), like(x, -1), like(x, 0)));
}

template <class V>
auto has_sign_bit(const V& x) {
  const auto bits = to_bits(x);
  return bits < like(bits, 0);
}

/// A small float's sign is that of the float it is computed as; NaN has one too.
template <class V>
auto sign_bit_of(const V& x) {
  const auto of_float = [](const auto& wide) { return has_sign_bit(wide); };
  return is_integral_type(x) ? has_sign_bit(x) : by_precision(x, of_float, of_float);
}

template <class V>
V with_sign_of(const V& x, const V& y) {
  const auto x_bits = to_bits(x), y_bits = to_bits(y);
  const auto sign = sign_mask(x_bits);
  return from_bits(x, (x_bits & ~sign) | (y_bits & sign));
}

template <class V>
auto is_infinite(const V& x) {
  if (is_integral_type(x)) return x != x;
  const auto of_part = [](const auto& part) {
    return abs(part) == like(part, std::numeric_limits<double>::infinity());
  };
  return is_complex_type(x) ? of_part(real(x)) || of_part(imag(x)) : of_part(real(x));
}

template <class V>
auto is_finite(const V& x) {
  if (is_integral_type(x)) return x == x;
  const auto of_part = [](const auto& part) {
    return abs(part) < like(part, std::numeric_limits<double>::infinity());
  };
  return is_complex_type(x) ? of_part(real(x)) && of_part(imag(x)) : of_part(real(x));
}

template <class V>
V copy_sign(const V& x, const V& y) {
  const auto of_floats = [](const auto& v, const auto& w) { return with_sign_of(v, w); };
  return by_precision(x, y, of_floats, of_floats);
}

/// Of a complex number the direction.
template <class V>
V direction_of(const V& x) {
  return by_kind(
      x, [](const auto& number) { return sign_of(number); },
      [](const auto& number) {
        const auto size = abs(number);
        const auto direction = complex(real(number) / size, imag(number) / size);
        return select(size == like(size, 0), like(number, 0), direction);
      });
}

template <class V>
auto is_infinity(const V& x, double infinity) {
  return is_integral_type(x) ? x != x : x == like(x, infinity);
}

/// x with NaN and the infinities replaced.
template <class V>
V without_special(const V& x, const V& for_nan, const V& for_infinity,
                  const V& for_minus_infinity) {
  if (is_integral_type(x)) return x;
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  const V finite =
      select(x == infinity, for_infinity, select(x == -infinity, for_minus_infinity, x));
  return select(x != x, for_nan, finite);
}

// --- Rounding and the parts of a float. ---
/// 10^n for a whole n that is not negative, infinite beyond the numbers.
template <class V>
V wide_power_of_ten(const V& n) {
  V power = like(n, 1), rest = n;
  constexpr double factors[] = {1e256, 1e128, 1e64, 1e32, 1e16, 1e8, 1e4, 1e2, 1e1};
  int bit = 512;
  for (const double factor : factors) {
    bit /= 2;
    const auto is_set = rest >= like(n, bit);
    power = select(is_set, power * like(n, factor), power);
    rest = select(is_set, rest - like(n, bit), rest);
  }
  return power;
}

template <class V>
V power_of_ten(const V& n) {
  return by_precision(
      n, [](const auto& v) { return to_single(wide_power_of_ten(to_double(v))); },
      [](const auto& v) { return wide_power_of_ten(v); });
}

template <class V>
V round_to_decimals(const V& x, const V& decimals) {
  const V scale = power_of_ten(abs(decimals));
  return select(decimals < like(x, 0), round(x / scale) * scale, round(x * scale) / scale);
}

/// x = mantissa * 2^exponent with the mantissa in [0.5, 1); both parts of zero are zero, and
/// numbers that are not finite are their own mantissa with the exponent 0.
template <class V>
auto exponent_of(const V& x) {
  const V wide = abs(x);
  const auto is_subnormal = wide < like(x, 0x1p-126, 0x1p-1022);
  const auto bits = to_bits(select(is_subnormal, wide * like(x, 0x1p23, 0x1p52), wide));
  const auto biased = bits >> like(bits, 23, 52);
  const auto shift = select(is_subnormal, like(bits, 126 + 23, 1022 + 52), like(bits, 126, 1022));
  const auto has_exponent = is_finite(x) && x != like(x, 0);
  return select(has_exponent, biased - shift, like(bits, 0));
}

template <class V>
auto frexp_exponent_of(const V& x) {
  return by_precision(
      x, [](const auto& wide) { return to_i32(exponent_of(wide)); },
      [](const auto& wide) { return to_i32(exponent_of(wide)); });
}

template <class V>
V frexp_mantissa_of(const V& x) {
  return by_precision(
      x, [](const auto& wide) { return mantissa_of(wide); },
      [](const auto& wide) { return mantissa_of(wide); });
}

template <class V>
V mantissa_of(const V& x) {
  const auto is_subnormal = abs(x) < like(x, 0x1p-126, 0x1p-1022);
  const auto bits = to_bits(select(is_subnormal, x * like(x, 0x1p23, 0x1p52), x));
  const auto fraction_and_sign = bits & ~(like(bits, 255, 2047) << like(bits, 23, 52));
  const V mantissa = from_bits(x, fraction_and_sign | to_bits(like(x, 0.5)));
  return select(is_finite(x) && x != like(x, 0), mantissa, x);
}

/// Of a whole number exactly, also if it is complex.
template <class V>
V two_to(const V& x) {
  return by_kind(
      x, [](const auto& v) { return exp2(v); },
      [](const auto& v) {
        const auto size = exp2(real(v)), angle = imag(v) * like(imag(v), 0.6931471805599453);
        const auto is_real = angle == like(angle, 0);
        // The sine of 0 is 0 also times an infinite size.
        return complex(select(is_real, size, size * cos(angle)),
                       select(is_real, angle, size * sin(angle)));
      });
}

/// The bits of a float, less the sign, count its values in order: one more is the next one up.
template <class V>
V next_after(const V& x, const V& y) {
  const auto bits = to_bits(x);
  const V zero = like(x, 0);
  const V smallest = from_bits(x, (to_bits(y) & sign_mask(bits)) | like(bits, 1));
  const auto one = select((x < y) == (x > zero), like(bits, 1), like(bits, -1));
  const V moved = select(x == zero, smallest, from_bits(x, bits + one));
  return select(x != x || y != y, x + y, select(x == y, y, moved));
}

// --- Division with a remainder. ---
/// C's fmod, exact and with the sign of x.  Of an integer n near |x / y| the difference |x| - n |y|
/// is exact where it is in [-|y|, |y|), and the result is the one that is in [0, |y|): where n was
/// off by more than one, which takes quotients of more digits than V has, it is called for.
template <class V>
V float_rest(const V& x, const V& y) {
  const auto rest_of = [](const auto& v, const auto& w) {
    const auto size = abs(v), divisor = abs(w);
    const auto rest = fma(trunc(size / divisor), -divisor, size);
    const auto likely = select(rest < like(v, 0), rest + divisor, rest);
    return with_sign_of(fmod_beyond(size, divisor, likely), v);
  };
  return by_precision(x, y, rest_of, rest_of);
}

template <class V>
V remainder_towards_zero(const V& x, const V& y) {
  if (is_integral_type(x)) return x - quotient(x, y) * y;
  return float_rest(x, y);
}

template <class V>
V remainder_down(const V& x, const V& y) {
  const V zero = like(x, 0), rest = remainder_towards_zero(x, y);
  return select(rest != zero && (rest < zero) != (y < zero), rest + y, rest);
}

template <class V>
V quotient_towards_zero(const V& x, const V& y) {
  if (is_integral_type(x)) return quotient(x, y);
  return trunc(x / y);
}

/// Out of range the low bits of the exact result, or for integers of 32 and 64 bits the size of
/// what the product wraps to, as PyTorch has it.
template <class V>
V least_common_multiple(const V& x, const V& y) {
  const V zero = like(x, 0), product = quotient(x, gcd(x, y)) * y;
  if (is_wide_type(x)) return abs(product);
  return select((x < zero) != (y < zero), zero - product, product);
}

template <class V>
V integer_quotient_down(const V& x, const V& y) {
  const V zero = like(x, 0), result = quotient(x, y), rest = x - result * y;
  const auto is_below = rest != zero && (rest < zero) != (y < zero) && y != zero;
  return select(is_below, result - like(x, 1), result);
}

/// As Python divides floats: from the exact remainder, so that the quotient is never one too large.
template <class V>
V float_quotient_down(const V& x, const V& y) {
  const V zero = like(x, 0), one = like(x, 1);
  const V rest = float_rest(x, y);
  const V plain = (x - rest) / y;
  const V whole = select(rest != zero && (rest < zero) != (y < zero), plain - one, plain);
  const V down = floor(whole);
  const V nearest = select(whole - down > like(x, 0.5), down + one, down);
  return select(y == zero, x / y, select(whole == zero, with_sign_of(zero, x / y), nearest));
}

template <class V>
V quotient_down(const V& x, const V& y) {
  return is_integral_type(x) ? integer_quotient_down(x, y) : float_quotient_down(x, y);
}

// --- Smooth functions: which of the versions computes in which dtype. ---
// WEFT_BY_PRECISION(name, f32, f64): expressions in v.  Small floats compute as f32.
#define WEFT_BY_PRECISION(name, for_f32, for_f64)                                         \
  template <class V>                                                                      \
  auto name(const V& x) {                                                                 \
    return by_precision(                                                                  \
        x, [](const auto& v) { return for_f32; }, [](const auto& v) { return for_f64; }); \
  }
#define WEFT_ROUGH(name, function, for_f64) \
  WEFT_BY_PRECISION(name, to_single(function(to_double(v))), for_f64)
WEFT_BY_PRECISION(real_exp, single_exp(v), exponential(v))
WEFT_BY_PRECISION(real_log, single_log(v), logarithm(v))
WEFT_BY_PRECISION(real_sin, sine_of(v, waves_of(single_angle(v))),
                  sine_of(v, waves_of(double_angle(v))))
WEFT_BY_PRECISION(real_cos, cosine_of(v, waves_of(single_angle(v))),
                  cosine_of(v, waves_of(double_angle(v))))
WEFT_BY_PRECISION(real_tan, tangent_of(v, single_angle(v)), tangent_of(v, double_angle(v)))
WEFT_BY_PRECISION(real_atan, single_atan(v), double_atan(v))
WEFT_BY_PRECISION(real_asin, arc_sine(v, single_arc_sine_series),
                  arc_sine(v, double_arc_sine_series))
WEFT_BY_PRECISION(real_acos, arc_cosine(v, single_arc_sine_series),
                  arc_cosine(v, double_arc_sine_series))
WEFT_BY_PRECISION(real_tanh, single_tanh(v), double_tanh(v))
WEFT_BY_PRECISION(real_erf, single_erf(v), double_erf(v))
WEFT_BY_PRECISION(real_logistic, single_logistic(v), logistic(v))
WEFT_ROUGH(real_lgamma, rough_lgamma, double_lgamma(v))
WEFT_BY_PRECISION(real_exp2, single_exp2(v), double_exp2(v))
WEFT_BY_PRECISION(real_expm1, single_expm1(v), double_expm1(v))
WEFT_BY_PRECISION(real_log2, single_log2(v), double_log2(v))
WEFT_BY_PRECISION(real_log10, single_log10(v), double_log10(v))
WEFT_BY_PRECISION(real_log1p, single_log1p(v), double_log1p(v))
WEFT_ROUGH(real_sinh, rough_sinh, double_sinh(v))
WEFT_ROUGH(real_cosh, rough_cosh, double_cosh(v))
WEFT_ROUGH(real_asinh, rough_asinh, double_asinh(v))
WEFT_ROUGH(real_acosh, rough_acosh, double_acosh(v))
WEFT_ROUGH(real_atanh, rough_atanh, double_atanh(v))
WEFT_ROUGH(real_cbrt, rough_cbrt, double_cbrt(v))
WEFT_ROUGH(real_erfc, rough_erfc, double_erfc(v))
WEFT_ROUGH(real_erfinv, rough_inverse_erf, double_inverse_erf(v))
WEFT_ROUGH(real_digamma, rough_digamma, double_digamma(v))
WEFT_ROUGH(real_logit, rough_logit, double_logit(v))
WEFT_BY_PRECISION(real_silu, single_silu(v), double_silu(v))
WEFT_BY_PRECISION(real_gelu, single_gelu(v), double_gelu(v))
WEFT_BY_PRECISION(real_gelu_tanh, single_gelu_tanh(v), double_gelu_tanh(v))
WEFT_BY_PRECISION(real_fast_logistic, single_fast_logistic(v), logistic(v))
WEFT_BY_PRECISION(real_fast_silu, single_fast_silu(v), double_silu(v))
WEFT_BY_PRECISION(real_fast_gelu_tanh, single_fast_gelu_tanh(v), double_gelu_tanh(v))
WEFT_ROUGH(real_softplus, rough_softplus, double_softplus(v))
/// Above 20 the argument itself, as in PyTorch; f32 can't tell.
WEFT_BY_PRECISION(cut_softplus, real_softplus(v), select(v > like(v, 20), v, double_softplus(v)))
WEFT_BY_PRECISION(real_mish, single_mish(v), double_mish(v))
WEFT_ROUGH(real_sinc, rough_sinc, double_sinc(v))
#undef WEFT_ROUGH
#undef WEFT_BY_PRECISION

template <class V>
V complex_sinc(const V& x) {
  const V angle = x * like(x, 3.141592653589793);
  return select(x == like(x, 0), like(x, 1), complex_sin(angle) / angle);
}

template <class V>
V real_or_complex_rsqrt(const V& x) {
  return by_kind(
      x,
      [](const auto& number) {
        const auto of_float = [](const auto& v) { return reciprocal_root(v); };
        return by_precision(number, of_float, of_float);
      },
      [](const auto& number) { return like(number, 1) / sqrt(number); });
}

#define WEFT_REAL_OR_COMPLEX(name, of_complex)                     \
  template <class V>                                               \
  V real_or_complex_##name(const V& x) {                           \
    return by_kind(                                                \
        x, [](const auto& number) { return real_##name(number); }, \
        [](const auto& number) { return of_complex(number); });    \
  }
WEFT_REAL_OR_COMPLEX(exp, complex_exp)
WEFT_REAL_OR_COMPLEX(log, complex_log)
WEFT_REAL_OR_COMPLEX(sin, complex_sin)
WEFT_REAL_OR_COMPLEX(cos, complex_cos)
WEFT_REAL_OR_COMPLEX(sinh, complex_sinh)
WEFT_REAL_OR_COMPLEX(cosh, complex_cosh)
WEFT_REAL_OR_COMPLEX(tan, library_tan)
WEFT_REAL_OR_COMPLEX(asin, library_asin)
WEFT_REAL_OR_COMPLEX(acos, library_acos)
WEFT_REAL_OR_COMPLEX(atan, library_atan)
WEFT_REAL_OR_COMPLEX(tanh, library_tanh)
WEFT_REAL_OR_COMPLEX(asinh, library_asinh)
WEFT_REAL_OR_COMPLEX(acosh, library_acosh)
WEFT_REAL_OR_COMPLEX(atanh, library_atanh)
#undef WEFT_REAL_OR_COMPLEX

/// `of_real`, or for complex numbers an expression of its own.
#define WEFT_REAL_OR_EXPRESSION(name, of_real, of_complex)                                   \
  template <class V>                                                                         \
  V name(const V& x) {                                                                       \
    return by_kind(                                                                          \
        x, [](const auto& v) { return of_real; }, [](const auto& v) { return of_complex; }); \
  }
WEFT_REAL_OR_EXPRESSION(log2_of, real_log2(v), complex_log2(v))
WEFT_REAL_OR_EXPRESSION(log10_of, real_log10(v), complex_log10(v))
WEFT_REAL_OR_EXPRESSION(sigmoid_of, real_logistic(v), like(v, 1) / (like(v, 1) + complex_exp(-v)))
WEFT_REAL_OR_EXPRESSION(silu_of, real_silu(v), v / (like(v, 1) + complex_exp(-v)))
WEFT_REAL_OR_EXPRESSION(sinc_of, real_sinc(v), complex_sinc(v))
WEFT_REAL_OR_EXPRESSION(softsign_of, v / (like(v, 1) + abs(v)),
                        v / (like(v, 1) + complex(abs(v), like(abs(v), 0))))
#undef WEFT_REAL_OR_EXPRESSION

template <class V>
V real_pow(const V& x, const V& y) {
  return by_precision(
      x, y, [](const auto& base, const auto& exponent) { return single_power(base, exponent); },
      [](const auto& base, const auto& exponent) { return double_power(base, exponent); });
}

template <class V>
V real_atan2(const V& y, const V& x) {
  return by_precision(
      y, x, [](const auto& v, const auto& w) { return single_atan2(v, w); },
      [](const auto& v, const auto& w) { return double_atan2(v, w); });
}

/// Integers and complex numbers are the backends' business.
template <class V>
V power(const V& x, const V& y) {
  const auto of_real = [&y](const auto& base) {
    if constexpr (requires { integer_power(base, y); })
      if (is_integral_type(base)) return integer_power(base, y);
    return real_pow(base, y);
  };
  return by_kind(x, of_real, [&y](const auto& base) { return library_pow(base, y); });
}

template <class V>
V log_add_exp(const V& x, const V& y) {
  return by_precision(
      x, y,
      [](const auto& v, const auto& w) {
        return to_single(rough_log_add_powers(to_double(v), to_double(w), 1));
      },
      [](const auto& v, const auto& w) { return double_log_add_exp(v, w); });
}

template <class V>
V log_add_exp2(const V& x, const V& y) {
  return by_precision(
      x, y,
      [](const auto& v, const auto& w) {
        return to_single(rough_log_add_powers(to_double(v), to_double(w), 0.6931471805599453));
      },
      [](const auto& v, const auto& w) { return double_log_add_exp2(v, w); });
}

/// x * log(y), and 0 for x = 0 unless y is NaN.
template <class V>
V x_log_y(const V& x, const V& y) {
  const V product = by_precision(
      x, y,
      [](const auto& v, const auto& w) {
        return to_single(to_double(v) * rough_log(to_double(w)));
      },
      [](const auto& v, const auto& w) { return double_times_log(v, w); });
  return select(y != y, y, select(x == like(x, 0), like(x, 0), product));
}

/// Of a complex number, its magnitude.
template <class V>
auto is_below_half(const V& number) {
  if constexpr (requires { number < number; })
    if (!is_complex_type(number)) return number < like(number, 0.5);
  const auto size = abs(number);
  return size < like(size, 0.5);
}

/// From the nearer end and with fma, as PyTorch's vector loops: exact at both.  Below 0 the first
/// is the nearer one.
template <class V>
V interpolate(const V& from, const V& to, const V& weight) {
  const auto is_near = is_below_half(weight);
  const V step = select(is_near, weight, weight - like(weight, 1)),
          base = select(is_near, from, to);
  if constexpr (requires { from < to; })
    if (!is_complex_type(from)) return fma(step, to - from, base);
  return base + step * (to - from);
}

}  // namespace weft::ir
