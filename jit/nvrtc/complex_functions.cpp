// Functions of complex numbers in generated source, for the ops of weft/complex_functions.def: CUDA
// has none without headers.
//
// They compute in f64, for f32 as well but for the exponent of a power, in parts: nothing cancels
// that need not, what is out of range on the way only is scaled, and infinities, NaN and the signs
// of zeros are those of C's Annex G, as the interpreter has them.  They are not inlined, so that
// the two ops of one function are one call.
#include "jit/nvrtc/definition.h"

#include <array>

namespace weft::jit::nvrtc {
namespace {

constexpr auto definitions = std::to_array<Definition>({
    {"Parts", R"(
struct Parts {
  f64 real, imag;
};
__device__ __forceinline__ f64 infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
__device__ __forceinline__ bool is_infinite(f64 x) { return fabs(x) == infinity(); }
__device__ __forceinline__ bool is_finite(f64 x) { return fabs(x) < infinity(); }
// As copysign(), but a NaN is positive.
__device__ __forceinline__ f64 with_sign_of(f64 size, f64 x) { return x != x ? size : copysign(size, x); }
)"},
    {"exp_times", R"(
// exp(x) * (a + bi), also where exp(x) alone is out of range.
__device__ __forceinline__ Parts exp_times(f64 x, f64 a, f64 b) {
  if (fabs(x) < 700.0) {
    const f64 size = exp(x);
    return {size * a, size * b};
  }
  const f64 root = exp(0.5 * x);
  if (root < infinity()) return {a * root * root, b * root * root};
  const f64 quarter = exp(0.25 * x);
  return {a * quarter * quarter * quarter * quarter, b * quarter * quarter * quarter * quarter};
}
)"},
    {"exact_sum", R"(
// x + y, and what rounding takes from it.
__device__ __forceinline__ f64 exact_sum(f64 x, f64 y, f64& lost) {
  const f64 sum = x + y, added = sum - x;
  lost += (x - (sum - added)) + (y - added);
  return sum;
}
)"},
    {"log_of_modulus", R"(
// log |x + yi|.  Near 1, where the logarithm is near 0, |x + yi|^2 - 1 is summed without an error
// that counts; elsewhere the modulus is a T, and that of f64 is not needed: it is off by more than
// its square.
template <class T>
__device__ __forceinline__ f64 log_of_modulus(f64 x, f64 y) {
  const f64 a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
  if (a == infinity()) return a;
  if (x != x || y != y) return x + y;
  const f64 aa = a * a, bb = b * b;
  if (a < 2.0 && b < 1.0 && aa + bb >= 0.5) {
    f64 lost = 0.0;
    const f64 sum = exact_sum(exact_sum(aa, -1.0, lost), bb, lost);
    const f64 rest = exact_sum(fma(a, a, -aa), fma(b, b, -bb), lost);
    const f64 beyond = exact_sum(sum, rest, lost);
    return 0.5 * log1p(beyond + lost);
  }
  if (sizeof(T) == sizeof(f64) && a > 1e-150 && a < 1e150) return 0.5 * log(aa + bb);
  const f64 ln2 = 0.6931471805599453;
  if (a > 1e300) return log(hypot(0.25 * a, 0.25 * b)) + 2.0 * ln2;
  if (a < 1e-290) return log(hypot(a * 0x1p100, b * 0x1p100)) - 100.0 * ln2;
  return log(f64(T(hypot(a, b))));
}
)"},
    {"parts_of_sqrt", R"(
__device__ __noinline__ Parts parts_of_sqrt(f64 x, f64 y) {
  if (is_infinite(y)) return {infinity(), y};
  if (y == 0.0) return x < 0.0 ? Parts{0.0, copysign(sqrt(-x), y)} : Parts{sqrt(x) + 0.0, x != x ? x : y};
  if (is_infinite(x)) {
    const f64 other = y != y ? y : 0.0;
    return x > 0.0 ? Parts{x, with_sign_of(other, y)} : Parts{other, with_sign_of(-x, y)};
  }
  f64 a = fabs(x), b = fabs(y), root = 1.0;
  if (fmax(a, b) > 1e300) {
    a *= 0.0625, b *= 0.0625, root = 4.0;
  } else if (fmax(a, b) < 1e-290) {
    a *= 0x1p108, b *= 0x1p108, root = 0x1p-54;
  }
  const f64 large = sqrt(0.5 * (hypot(a, b) + a)), small = b / (large + large);
  return x < 0.0 ? Parts{small * root, copysign(large * root, y)} : Parts{large * root, copysign(small * root, y)};
}
)"},
    {"parts_of_library_exp", R"(
__device__ __noinline__ Parts parts_of_library_exp(f64 x, f64 y) {
  if (y == 0.0) return {exp(x), y};
  if (!is_finite(y)) {
    const f64 nan = y - y;
    return is_infinite(x) ? x < 0.0 ? Parts{0.0, with_sign_of(0.0, y)} : Parts{x, nan} : Parts{nan, nan};
  }
  f64 sine, cosine;
  sincos(y, &sine, &cosine);
  return exp_times(x, cosine, sine);
}
)"},
    {"parts_of_library_tanh", R"(
// Of the quotient (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y).
__device__ __noinline__ Parts parts_of_library_tanh(f64 x, f64 y) {
  if (y == 0.0) return {tanh(x), y};
  if (!is_finite(y)) {
    const f64 nan = y - y;
    if (is_infinite(x)) return {copysign(1.0, x), with_sign_of(0.0, y)};
    return {x == 0.0 ? x : nan, nan};
  }
  f64 sine, cosine;
  sincos(y, &sine, &cosine);
  if (fabs(x) > 22.0) {
    const f64 small = exp(-fabs(x));
    return {copysign(1.0, x), 4.0 * sine * small * (cosine * small)};
  }
  const f64 sine_of_x = sinh(x), divisor = sine_of_x * sine_of_x + cosine * cosine;
  return {sine_of_x * cosh(x) / divisor, sine * cosine / divisor};
}
)"},
    {"parts_of_library_tan", R"(
// tanh of i times the number.
__device__ __forceinline__ Parts parts_of_library_tan(f64 x, f64 y) {
  const Parts turned = parts_of_library_tanh(y, x);
  return {turned.imag, turned.real};
}
)"},
    {"parts_of_library_asin", R"(
// Kahan's expressions in the roots of 1 - z and 1 + z, in which no terms cancel.
__device__ __noinline__ Parts parts_of_library_asin(f64 x, f64 y) {
  if (x != x || y != y) {
    const f64 nan = x + y;
    if (x == 0.0) return {x, nan};
    return {nan, is_infinite(x) || is_infinite(y) ? with_sign_of(infinity(), y) : nan};
  }
  const f64 larger = fmax(fabs(x), fabs(y));
  if (larger < 1e-9) return {x, y};
  if (larger > 1e150)
    return {atan2(x, fabs(y)), copysign(log_of_modulus<f64>(x, y) + 0.6931471805599453, y)};
  const Parts p = parts_of_sqrt(1.0 - x, -y), q = parts_of_sqrt(1.0 + x, y);
  return {atan(x / (p.real * q.real - p.imag * q.imag)), asinh(p.real * q.imag - p.imag * q.real)};
}
)"},
    {"parts_of_library_acos", R"(
// Likewise.
__device__ __noinline__ Parts parts_of_library_acos(f64 x, f64 y) {
  if (x != x || y != y) {
    const f64 nan = x + y;
    if (x == 0.0) return {1.5707963267948966, nan};
    return {nan, is_infinite(x) || is_infinite(y) ? -with_sign_of(infinity(), y) : nan};
  }
  const f64 larger = fmax(fabs(x), fabs(y));
  if (larger < 1e-9) return {1.5707963267948966 - x, -y};
  if (larger > 1e150)
    return {atan2(fabs(y), x), -copysign(log_of_modulus<f64>(x, y) + 0.6931471805599453, y)};
  const Parts p = parts_of_sqrt(1.0 - x, -y), q = parts_of_sqrt(1.0 + x, y);
  return {2.0 * atan2(p.real, q.real), asinh(p.imag * q.real - p.real * q.imag)};
}
)"},
    {"parts_of_library_asinh", R"(
// asin of i times the number.
__device__ __forceinline__ Parts parts_of_library_asinh(f64 x, f64 y) {
  const Parts turned = parts_of_library_asin(y, x);
  return {turned.imag, turned.real};
}
)"},
    {"parts_of_library_acosh", R"(
__device__ __forceinline__ Parts parts_of_library_acosh(f64 x, f64 y) {
  const Parts turned = parts_of_library_acos(x, y);
  return {fabs(turned.imag), with_sign_of(turned.real, y)};
}
)"},
    {"parts_of_library_atanh", R"(
__device__ __noinline__ Parts parts_of_library_atanh(f64 x, f64 y) {
  const f64 right_angle = 1.5707963267948966;
  if (is_infinite(y) || (is_infinite(x) && y == y)) return {with_sign_of(0.0, x), copysign(right_angle, y)};
  if (x != x || y != y) return {x == 0.0 || is_infinite(x) ? copysign(0.0, x) : x + y, x + y};
  const f64 a = fabs(x), b = fabs(y);
  if (fmax(a, b) > 1e150) {
    const f64 size = hypot(0.25 * a, 0.25 * b);
    return {0.25 * (0.25 * x / size / size), copysign(right_angle, y)};
  }
  const f64 away = 1.0 - a, imag = 0.5 * atan2(y + y, away * (1.0 + a) - y * y);
  if (away == 0.0 && b < 1e-150) return {copysign(0.5 * (0.6931471805599453 - log(b)), x), imag};
  return {copysign(0.25 * log1p(4.0 * a / (away * away + y * y)), x), imag};
}
)"},
    {"parts_of_library_atan", R"(
// atanh of i times the number.
__device__ __forceinline__ Parts parts_of_library_atan(f64 x, f64 y) {
  const Parts turned = parts_of_library_atanh(y, x);
  return {turned.imag, turned.real};
}
)"},
    {"Pair", R"(
// A number of about 100 bits, as an unevaluated sum.
struct Pair {
  f64 high, low;
};
__device__ __forceinline__ Pair sum(f64 x, f64 y) {
  Pair pair{0.0, 0.0};
  pair.high = exact_sum(x, y, pair.low);
  return pair;
}
__device__ __forceinline__ Pair sum(Pair x, Pair y) {
  const Pair pair = sum(x.high, y.high);
  return sum(pair.high, pair.low + (x.low + y.low));
}
__device__ __forceinline__ Pair difference(Pair x, Pair y) { return sum(x, Pair{-y.high, -y.low}); }
__device__ __forceinline__ Pair product(f64 x, f64 y) {
  const f64 high = x * y;
  return {high, fma(x, y, -high)};
}
__device__ __forceinline__ Pair product(Pair x, f64 y) {
  const Pair pair = product(x.high, y);
  return sum(pair.high, fma(x.low, y, pair.low));
}
__device__ __forceinline__ Pair product(Pair x, Pair y) {
  const Pair pair = product(x.high, y.high);
  return sum(pair.high, fma(x.high, y.low, fma(x.low, y.high, pair.low)));
}
__device__ __forceinline__ Pair ratio(Pair x, Pair y) {
  const f64 high = x.high / y.high;
  const Pair rest = difference(x, product(y, high));
  return sum(high, rest.high / y.high);
}
// Of |x| <= 0.18 the arc tangent, x - x^3 / 3 + x^5 / 5 ..., for a sign of -1, and the hyperbolic one,
// in which all terms are added, for 1.  Those from x^13 on count from the 34th bit.
__device__ __forceinline__ Pair inverse_tangent(Pair x, f64 sign) {
  const Pair square = product(product(x, x), sign);
  f64 rest = 0.0;
#pragma unroll
  for (int n = 35; n > 11; n -= 2) rest = fma(rest, square.high, 1.0 / n);
  Pair series{rest, 0.0};
  const Pair parts[] = {{1.0 / 11, -2.523234146875356e-18}, {1.0 / 9, 6.1679056923619804e-18},
                        {1.0 / 7, 7.93016446160826e-18}, {1.0 / 5, -1.1102230246251566e-17}, {1.0 / 3, 1.850371707708594e-17}};
#pragma unroll
  for (int i = 0; i < 5; ++i) series = sum(parts[i], product(series, square));
  return sum(x, product(x, product(series, square)));
}
)"},
    {"over_power", R"(
// Of numbers that are not both 0 the magnitudes, the larger first, over the power of 2 that is next
// below it.
__device__ __forceinline__ Parts over_power(f64 x, f64 y, int& power) {
  const f64 larger = fmax(fabs(x), fabs(y)), smaller = fmin(fabs(x), fabs(y));
  frexp(larger, &power);
  --power;
  return {ldexp(larger, -power), ldexp(smaller, -power)};
}
)"},
    {"pair_of_log", R"(
// log |x + yi| of finite numbers that are not both 0: those of a power of 2, and of a number between
// the roots of 1/2 and 2, from which 1 is taken before anything is rounded.
__device__ __forceinline__ Pair pair_of_log(f64 x, f64 y) {
  int power, more;
  const Parts z = over_power(x, y, power);
  const Pair aa = product(z.real, z.real), bb = product(z.imag, z.imag);
  if (frexp(aa.high + bb.high, &more) < 0.7071067811865476) --more;
  const f64 scale = ldexp(1.0, -more);
  f64 lost = 0.0;
  const f64 sum_of_highs = exact_sum(exact_sum(aa.high * scale, -1.0, lost), bb.high * scale, lost);
  const f64 sum_of_lows = exact_sum(aa.low * scale, bb.low * scale, lost);
  const f64 high = exact_sum(sum_of_highs, sum_of_lows, lost);
  const Pair beyond = sum(high, lost);
  const Pair half_of_ln2{0.34657359027997264, 1.1595234069231498e-17};
  return sum(product(half_of_ln2, 2.0 * power + more), inverse_tangent(ratio(beyond, sum(Pair{2.0, 0.0}, beyond)), 1.0));
}
)"},
    {"pair_of_angle", R"(
// The angle of x + yi, which is neither 0 nor infinite: that between 0 and 45 degrees is the one whose
// tangent is the nearest of 0, 1/4, 1/2, 3/4 and 1, and the one from there.
__device__ __forceinline__ Pair pair_of_angle(f64 x, f64 y) {
  int power;
  const Parts z = over_power(x, y, power);
  const f64 a = z.real, b = z.imag;
  const f64 near = 0.25 * rint(4.0 * (b / a));
  const Pair known = near == 0.0    ? Pair{0.0, 0.0}
                     : near == 0.25 ? Pair{0.24497866312686414, 1.0698755618734451e-17}
                     : near == 0.5  ? Pair{0.4636476090008061, 2.2698777452961687e-17}
                     : near == 0.75 ? Pair{0.6435011087932844, 1.5834785051444286e-17}
                                    : Pair{0.7853981633974483, 3.061616997868383e-17};
  const Pair across = difference(Pair{b, 0.0}, product(a, near)), along = sum(Pair{a, 0.0}, product(b, near));
  Pair angle = sum(known, inverse_tangent(ratio(across, along), -1.0));
  if (fabs(y) > fabs(x)) angle = difference(Pair{1.5707963267948966, 6.123233995736766e-17}, angle);
  if (x < 0.0) angle = difference(Pair{3.141592653589793, 1.2246467991473532e-16}, angle);
  const f64 sign = copysign(1.0, y);
  return {angle.high * sign, angle.low * sign};
}
)"},
    {"over_factorials", R"(
// 1 / n! + x / (n + step)! + x^2 / (n + 2 step)! ..., the last of which is 1 / last!.
template <int n, int last, int step>
__device__ __forceinline__ f64 over_factorials(f64 x) {
  f64 factorial = 1.0;
#pragma unroll
  for (int i = 2; i <= n; ++i) factorial *= i;
  if constexpr (n < last) return fma(over_factorials<n + step, last, step>(x), x, 1.0 / factorial);
  return 1.0 / factorial;
}
)"},
    {"exp_of_pairs", R"(
// exp(x) (cos y + i sin y) of x within 1000 and y within 2^50, from what multiples of log 2 and of
// a right angle leave of them.  What is not normal is rounded a second time; zeros
// are positive.
__device__ __forceinline__ Parts exp_of_pairs(Pair x, Pair y) {
  const f64 power = rint(x.high * 1.4426950408889634), turns = rint(y.high * 0.6366197723675814);
  const Pair a = difference(x, product(Pair{0.6931471805599453, 2.3190468138462996e-17}, power));
  const Pair b = difference(y, product(Pair{1.5707963267948966, 6.123233995736766e-17}, turns));
  const Pair bb = product(b, b);
  const f64 of_exp = a.high * a.high * over_factorials<2, 15, 1>(a.high);
  const f64 of_cos = bb.high * bb.high * over_factorials<4, 18, 2>(-bb.high);
  const f64 of_sin = b.high * -bb.high * over_factorials<3, 19, 2>(-bb.high);
  const Pair size = sum(sum(Pair{1.0, 0.0}, a), Pair{of_exp, 0.0});
  const Pair cosine = sum(sum(Pair{1.0, 0.0}, product(bb, -0.5)), Pair{of_cos, 0.0}), sine = sum(b, Pair{of_sin, 0.0});
  const bool is_across = (i64(turns) & 1) != 0;
  const f64 real = product(size, is_across ? sine : cosine).high, imag = product(size, is_across ? cosine : sine).high;
  return {ldexp(((i64(turns) + 1) & 2) != 0 ? 0.0 - real : real, int(power)),
          ldexp((i64(turns) & 2) != 0 ? 0.0 - imag : imag, int(power))};
}
)"},
    {"parts_of_library_pow", R"(
// A product that has become NaN in both parts is infinite if one of its numbers is.
template <class T>
__device__ __forceinline__ Parts product_with_infinities(T a, T b, T c, T d) {
  const Parts product{a * c - b * d, a * d + b * c};
  if (product.real == product.real || product.imag == product.imag) return product;
  const bool is_first = is_infinite(a) || is_infinite(b), is_second = is_infinite(c) || is_infinite(d);
  const bool overflows = is_infinite(a * c) || is_infinite(b * d) || is_infinite(a * d) || is_infinite(b * c);
  if (!is_first && !is_second && !overflows) return product;
  const auto direction = [](bool is_infinity, f64 x) {
    return T(is_infinity ? copysign(is_infinite(x) ? 1.0 : 0.0, x) : x != x ? 0.0 : x);
  };
  a = direction(is_first, a), b = direction(is_first, b);
  c = direction(is_second, c), d = direction(is_second, d);
  return {infinity() * (a * c - b * d), infinity() * (a * d + b * c)};
}
// x + yi to the power of z + wi, as C defines it: exp of (z + wi) log(x + yi).  As on the CPU and in
// PyTorch the logarithm and the product of f32 are f32, with the modulus: what they round shows in
// large powers.  Those of f64 are pairs: the power is rounded once.
template <class T>
__device__ __noinline__ Parts parts_of_library_pow(T x, T y, T z, T w) {
  if constexpr (sizeof(T) == sizeof(f32)) {
    const Parts exponent = product_with_infinities(z, w, T(log_of_modulus<T>(x, y)), T(atan2(f64(y), f64(x))));
    return parts_of_library_exp(exponent.real, exponent.imag);
  } else {
    const bool has_log = is_finite(x) && is_finite(y) && (x != 0.0 || y != 0.0);
    const Pair size = has_log ? pair_of_log(x, y) : Pair{log(hypot(x, y)), 0.0};
    const Pair angle = has_log ? pair_of_angle(x, y) : Pair{atan2(y, x), 0.0};
    const Parts exponent = product_with_infinities(z, w, size.high, angle.high);
    if (!(has_log && fabs(exponent.real) < 1000.0 && fabs(exponent.imag) < 0x1p50))
      return parts_of_library_exp(exponent.real, exponent.imag);
    const Pair turn = sum(product(angle, z), product(size, w));
    const Parts power = exp_of_pairs(sum(product(size, z), product(angle, -w)), turn);
    return {power.real, turn.high == 0.0 ? copysign(0.0, exponent.imag) : power.imag};
  }
}
)"},
});

}  // namespace

std::span<const Definition> complex_functions() { return definitions; }

}  // namespace weft::jit::nvrtc
