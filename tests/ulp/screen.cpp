// glibc's vector functions are within 4 ulp of f64, which is 2^-27 units of f32; what is put
// together of them here stays below 2^-20.  No function is weft's own.
#include "tests/ulp/screen.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#ifdef __AVX2__

namespace weft::ulp {
namespace {

using Doubles = double __attribute__((vector_size(32)));
using Words = std::int64_t __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(16)));
constexpr std::size_t lanes = 4;

// For four doubles in a register of AVX2.
#define WEFT_VECTOR_FUNCTION(name) extern "C" Doubles _ZGVdN4v_##name(Doubles x);
WEFT_VECTOR_FUNCTION(acos)
WEFT_VECTOR_FUNCTION(acosh)
WEFT_VECTOR_FUNCTION(asin)
WEFT_VECTOR_FUNCTION(asinh)
WEFT_VECTOR_FUNCTION(atan)
WEFT_VECTOR_FUNCTION(atanh)
WEFT_VECTOR_FUNCTION(cbrt)
WEFT_VECTOR_FUNCTION(cos)
WEFT_VECTOR_FUNCTION(cosh)
WEFT_VECTOR_FUNCTION(erf)
WEFT_VECTOR_FUNCTION(erfc)
WEFT_VECTOR_FUNCTION(exp)
WEFT_VECTOR_FUNCTION(exp2)
WEFT_VECTOR_FUNCTION(expm1)
WEFT_VECTOR_FUNCTION(log)
WEFT_VECTOR_FUNCTION(log10)
WEFT_VECTOR_FUNCTION(log1p)
WEFT_VECTOR_FUNCTION(log2)
WEFT_VECTOR_FUNCTION(sin)
WEFT_VECTOR_FUNCTION(sinh)
WEFT_VECTOR_FUNCTION(tan)
WEFT_VECTOR_FUNCTION(tanh)
#undef WEFT_VECTOR_FUNCTION

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class F>
void for_each(const float* x, double* expected, std::size_t count, const F& function) {
  for (std::size_t i = 0; i < count; i += lanes) {
    Floats narrow;
    std::memcpy(&narrow, x + i, sizeof narrow);
    const Doubles result = function(__builtin_convertvector(narrow, Doubles));
    std::memcpy(expected + i, &result, sizeof result);
  }
}

template <class F>
void for_each_alone(const float* x, double* expected, std::size_t count, const F& function) {
  for (std::size_t i = 0; i < count; ++i) expected[i] = function(static_cast<double>(x[i]));
}

Doubles all(double value) { return Doubles{value, value, value, value}; }

Doubles magnitude(Doubles x) {
  return reinterpret_cast<Doubles>(reinterpret_cast<Words>(x) & std::int64_t{0x7fffffffffffffff});
}

/// Functions that leave f32 at both ends are slow where they leave f64 as well.
Doubles bounded(Doubles x, double limit) {
  return x > limit ? all(limit) : x < -limit ? all(-limit) : x;
}

/// `function(x)` from low to high, NaN elsewhere: vector functions are slow where they give NaN.
template <class F>
Doubles within(Doubles x, double low, double high, double instead, const F& function) {
  const Words is_inside = (x >= low) & (x <= high);
  return is_inside ? function(is_inside ? x : all(instead)) : all(not_a_number);
}

/// Rounded to whole numbers; x itself from 2^52 on.
Doubles whole(Doubles x) {
  const Doubles shift = x < 0.0 ? all(-0x1p52) : all(0x1p52);
  return magnitude(x) < 0x1p52 ? x + shift - shift : x;
}

Doubles power(Doubles x) { return _ZGVdN4v_exp(bounded(x, 200)); }

Doubles softplus(Doubles x) {
  return (x > 0.0 ? x : all(0)) + _ZGVdN4v_log1p(power(-magnitude(x)));
}

Doubles mish(Doubles x) {
  const Doubles e = power(x > 40.0 ? all(40) : x), product = e * (e + 2.0);
  return x * (product / (product + 2.0));
}

Doubles gelu_tanh(Doubles x) {
  const Doubles angle = std::sqrt(8 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1.0 + power(-angle));
}

/// 1 - x is exact where the logarithm is small.
Doubles logit(Doubles x) {
  const Words is_middle = (x > 0.25) & (x < 0.75);
  const Doubles near_half = 2.0 * _ZGVdN4v_atanh(2.0 * (is_middle ? x : all(0.5)) - 1.0);
  return is_middle ? near_half : _ZGVdN4v_log(x / (1.0 - x));
}

Doubles sinc(Doubles x) {
  const Doubles turns = whole(x), angle = std::numbers::pi * (x - turns);
  const Words is_odd = whole(turns * 0.5) * 2.0 != turns;
  const Doubles sine = _ZGVdN4v_sin(angle);
  const Doubles result = (is_odd ? -sine : sine) / (std::numbers::pi * x);
  return x == 0.0 ? all(1) : result;
}

/// Two of Halley's steps from a guess that is right to 1 in 300; each triples the digits.
Doubles erfinv(Doubles x) {
  const Doubles size = magnitude(x), rest = 1.0 - size;
  const Words is_small = size < 0.1;
  constexpr double a = 0.147, root_of_pi = 1.7724538509055160;
  const Doubles small = size * (root_of_pi / 2) * (1.0 + std::numbers::pi / 12 * size * size);
  const Doubles logarithm = _ZGVdN4v_log(is_small ? all(0.5) : rest * (1.0 + size));
  const Doubles half = 2 / (std::numbers::pi * a) + logarithm * 0.5;
  const Doubles inner = half * half - logarithm / a;
  Doubles guess;
  for (std::size_t i = 0; i < lanes; ++i) guess[i] = std::sqrt(std::sqrt(inner[i]) - half[i]);
  guess = is_small ? small : guess;
  for (int step = 0; step < 2; ++step) {
    const Doubles error = size < 0.5 ? _ZGVdN4v_erf(guess) - size : rest - _ZGVdN4v_erfc(guess);
    const Doubles newton = error * (root_of_pi / 2) * _ZGVdN4v_exp(guess * guess);
    guess -= newton / (1.0 + guess * newton);
  }
  guess = size == 1.0 ? all(infinity) : guess;
  return x < 0.0 ? -guess : guess;
}

/// From x = 12 on by the asymptotic series, of which the first term left out is 1e-16 there.
double digamma_of_positive(double x) {
  double sum = 0;
  for (; x < 12; x += 1) sum -= 1 / x;
  const double y = 1 / (x * x);
  const double series =
      y *
      (1.0 / 12 -
       y * (1.0 / 120 -
            y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 -
                                                                    y * (1.0 / 12 - y * 0.44)))))));
  return sum + std::log(x) - 0.5 / x - series;
}

/// Without the sign of gamma, which std::lgamma leaves where all threads see it.
double lgamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

/// Near its roots the sum cancels.
double digamma(double x) {
  if (x == 0) return std::copysign(infinity, -x);
  if (x < 0 && (x == std::nearbyint(x) || std::isinf(x))) return not_a_number;
  double result = 0;
  if (x > 0) {
    result = digamma_of_positive(x);
  } else {
    const double angle = std::numbers::pi * (x - std::nearbyint(x));
    result = digamma_of_positive(1 - x) - std::numbers::pi / std::tan(angle);
  }
  return std::abs(result) < 0.05 ? in_doubt : result;
}

struct Row {
  Op op;
  Screen screen;
};

#define WEFT_SCREEN(op, expression)                                          \
  {                                                                          \
    Op::op, [](const float* from, double* expected, std::size_t count) {     \
      for_each(from, expected, count, [](Doubles x) { return expression; }); \
    }                                                                        \
  }
#define WEFT_SCREEN_ALONE(op, expression)                                         \
  {                                                                               \
    Op::op, [](const float* from, double* expected, std::size_t count) {          \
      for_each_alone(from, expected, count, [](double x) { return expression; }); \
    }                                                                             \
  }

constexpr Row table[] = {
    WEFT_SCREEN(exp, power(x)),
    WEFT_SCREEN(exp2, _ZGVdN4v_exp2(bounded(x, 200))),
    WEFT_SCREEN(expm1, _ZGVdN4v_expm1(bounded(x, 200))),
    WEFT_SCREEN(log, within(x, 0, infinity, 1, _ZGVdN4v_log)),
    WEFT_SCREEN(log2, within(x, 0, infinity, 1, _ZGVdN4v_log2)),
    WEFT_SCREEN(log10, within(x, 0, infinity, 1, _ZGVdN4v_log10)),
    WEFT_SCREEN(log1p, within(x, -1, infinity, 0, _ZGVdN4v_log1p)),
    WEFT_SCREEN(cbrt, _ZGVdN4v_cbrt(x)),
    WEFT_SCREEN_ALONE(rsqrt, 1 / std::sqrt(x)),
    WEFT_SCREEN(sin, _ZGVdN4v_sin(x)),
    WEFT_SCREEN(cos, _ZGVdN4v_cos(x)),
    WEFT_SCREEN(tan, _ZGVdN4v_tan(x)),
    WEFT_SCREEN(asin, within(x, -1, 1, 0, _ZGVdN4v_asin)),
    WEFT_SCREEN(acos, within(x, -1, 1, 0, _ZGVdN4v_acos)),
    WEFT_SCREEN(atan, _ZGVdN4v_atan(x)),
    WEFT_SCREEN(sinh, _ZGVdN4v_sinh(bounded(x, 200))),
    WEFT_SCREEN(cosh, _ZGVdN4v_cosh(bounded(x, 200))),
    WEFT_SCREEN(tanh, _ZGVdN4v_tanh(x)),
    WEFT_SCREEN(asinh, _ZGVdN4v_asinh(x)),
    WEFT_SCREEN(acosh, within(x, 1, infinity, 2, _ZGVdN4v_acosh)),
    WEFT_SCREEN(atanh, within(x, -1, 1, 0, _ZGVdN4v_atanh)),
    WEFT_SCREEN(erf, _ZGVdN4v_erf(x)),
    WEFT_SCREEN(erfc, _ZGVdN4v_erfc(bounded(x, 14))),
    WEFT_SCREEN(erfinv, within(x, -1, 1, 0, erfinv)),
    WEFT_SCREEN_ALONE(lgamma, lgamma(x)),
    WEFT_SCREEN_ALONE(digamma, digamma(x)),
    WEFT_SCREEN(sinc, sinc(x)),
    WEFT_SCREEN(sigmoid, 1.0 / (1.0 + power(-x))),
    WEFT_SCREEN(silu, x / (1.0 + power(-x))),
    WEFT_SCREEN(gelu, x * 0.5 * _ZGVdN4v_erfc(bounded(-x * std::numbers::sqrt2 * 0.5, 14))),
    WEFT_SCREEN(gelu_tanh, gelu_tanh(x)),
    WEFT_SCREEN(softplus, softplus(x)),
    WEFT_SCREEN(log_sigmoid, -softplus(-x)),
    WEFT_SCREEN(mish, mish(x)),
    WEFT_SCREEN(logit, within(x, 0, 1, 0.5, logit)),
};
#undef WEFT_SCREEN
#undef WEFT_SCREEN_ALONE

/// Lanes of ones where the error may exceed so many units.
Words may_exceed(Doubles expected, Doubles actual, double ulps) {
  const Doubles size = magnitude(expected), error = magnitude(actual - expected);
  const Doubles normal = size < 0x1p-126 ? all(0x1p-126) : size;
  // The power of two in it, over 2^23.
  const Words exponent = reinterpret_cast<Words>(normal) & std::int64_t{0x7ff0000000000000};
  const Doubles unit = reinterpret_cast<Doubles>(exponent) * 0x1p-23;
  const Words is_near = (error < (ulps - screen_error) * unit) & (size <= 0x1.ffffep127);
  const Words are_nan = (expected != expected) & (actual != actual);
  const Words are_infinite = (size > 0x1.00001p128) & (magnitude(actual) == infinity) &
                             ((actual > 0.0) == (expected > 0.0)) & (size != in_doubt);
  return ~(is_near | are_nan | are_infinite);
}

}  // namespace

Screen find_screen(Op op) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const auto* const row = std::ranges::find(table, op, &Row::op);
  return has_avx2 && row != std::end(table) ? row->screen : nullptr;
}

std::size_t find_candidates(const double* expected, const float* actual, std::size_t count,
                            double ulps, std::uint32_t* candidates) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += lanes) {
    Doubles wanted;
    Floats narrow;
    std::memcpy(&wanted, expected + i, sizeof wanted);
    std::memcpy(&narrow, actual + i, sizeof narrow);
    const Words flags = may_exceed(wanted, __builtin_convertvector(narrow, Doubles), ulps);
    if ((flags[0] | flags[1] | flags[2] | flags[3]) == 0) continue;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      if (flags[lane] != 0) candidates[found++] = static_cast<std::uint32_t>(i + lane);
  }
  return found;
}

}  // namespace weft::ulp

#else  // every result is measured

namespace weft::ulp {

Screen find_screen(Op) { return nullptr; }

std::size_t find_candidates(const double*, const float*, std::size_t count, double,
                            std::uint32_t* candidates) {
  for (std::size_t i = 0; i < count; ++i) candidates[i] = static_cast<std::uint32_t>(i);
  return count;
}

}  // namespace weft::ulp

#endif
