// Meanings that need more than one line: templates over V, which is Number<T> when numbers are
// computed and Value when IR is built.  No branches on values; on dtypes (is_integral_type) they
// are fine.
#pragma once

#include <limits>

namespace weft::ir {

template <class V>
V clamp_to(const V& x, const V& low, const V& high) {
  return minimum(maximum(x, low), high);
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
template <class V>
V remainder_towards_zero(const V& x, const V& y) {
  if (is_integral_type(x)) return x - quotient(x, y) * y;
  return c_fmod(x, y);
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
  const V rest = c_fmod(x, y);
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

// --- Smooth functions, each accurate over the whole range. ---
/// 1 / (1 + exp(-x)) with an exponential that never overflows.
template <class V>
V logistic(const V& x) {
  const V one = like(x, 1), small = exp(-abs(x));
  return select(x >= like(x, 0), one, small) / (one + small);
}

/// x * logistic(u).  exp(u) is taken as a square: it would lose bits as a subnormal number.
template <class V>
V times_logistic(const V& x, const V& u) {
  const V root = exp(abs(u) * like(x, -0.5));
  const auto is_upper = u >= like(x, 0);
  const V ratio = select(is_upper, x, x * root) / (like(x, 1) + root * root);
  return select(is_upper, ratio, ratio * root);
}

/// x times the normal distribution's cumulative function: x / 2 * erfc(-x / sqrt 2).  Rounding the
/// argument of erfc would cost up to 100 ulp, so its rest enters through the derivative.
template <class V>
V times_normal_cdf(const V& x) {
  const double high = 0.7071067811865476, low = -4.833646656726457e-17;
  const V factor = like(x, -high);
  const V argument = x * factor;
  const V rest = fma(x, factor, -argument) - x * like_rest(x, high, low);
  const V slope = like(x, -1.1283791670955126) * exp(-(argument * argument));
  const V correction = select(is_finite(x), slope * rest, like(x, 0));
  return like(x, 0.5) * x * (erfc(argument) + correction);
}

/// Near the end of the range log1p(x) = log1p(x / 256) + log(256).
template <class V>
V log_of_one_plus(const V& x) {
  const auto is_large = x > like(x, 1e37, 1e306);
  const V result = bounded_log1p(select(is_large, x * like(x, 1.0 / 256), x));
  return select(is_large, result + like(x, 5.545177444479562), result);
}

/// Near the end of the range sinh and cosh are taken at an x nearer to zero, by a step that
/// subtracts without rounding, and scaled by its exponential.
inline constexpr double hyperbolic_step = 0.6875, exp_of_hyperbolic_step = 1.9887374695822919;

template <class V>
V hyperbolic_sine(const V& x) {
  if constexpr (requires { x < x; }) {
    if (is_complex_type(x)) return bounded_sinh(x);
    const auto is_large = abs(x) > like(x, 88, 709);
    const V nearer = x - with_sign_of(like(x, hyperbolic_step), x);
    const V result = bounded_sinh(select(is_large, nearer, x));
    return select(is_large, result * like(x, exp_of_hyperbolic_step), result);
  } else {
    return bounded_sinh(x);
  }
}

template <class V>
V hyperbolic_cosine(const V& x) {
  if constexpr (requires { x < x; }) {
    if (is_complex_type(x)) return bounded_cosh(x);
    const V size = abs(x);
    const auto is_large = size > like(x, 88, 709);
    const V result = bounded_cosh(select(is_large, size - like(x, hyperbolic_step), size));
    return select(is_large, result * like(x, exp_of_hyperbolic_step), result);
  } else {
    return bounded_cosh(x);
  }
}

/// From `asymptotic_from` on, asinh and acosh are log(2 * x) to the last bit.
template <class V>
V log_of_double(const V& x) {
  return log(x) + like(x, 0.6931471805599453);
}
inline constexpr double asymptotic_from = 1e18;

template <class V>
V inverse_sinh(const V& x) {
  if constexpr (requires { x < x; }) {
    if (is_complex_type(x)) return bounded_asinh(x);
    const V size = abs(x);
    return select(size < like(x, asymptotic_from), bounded_asinh(x),
                  with_sign_of(log_of_double(size), x));
  } else {
    return bounded_asinh(x);
  }
}

template <class V>
V inverse_cosh(const V& x) {
  if constexpr (requires { x < x; }) {
    if (is_complex_type(x)) return bounded_acosh(x);
    return select(x < like(x, asymptotic_from), bounded_acosh(x), log_of_double(x));
  } else {
    return bounded_acosh(x);
  }
}

template <class V>
V log_add_exp(const V& x, const V& y) {
  const V apart = maximum(x, y) + bounded_log1p(exp(-abs(x - y)));
  return select(x == y, x + like(x, 0.6931471805599453), apart);
}

/// From the nearer end, as PyTorch: exact at both.
template <class V>
V interpolate(const V& from, const V& to, const V& weight) {
  const auto size = abs(weight);
  return select(size < like(size, 0.5), from + weight * (to - from),
                to - (to - from) * (like(weight, 1) - weight));
}

}  // namespace weft::ir
