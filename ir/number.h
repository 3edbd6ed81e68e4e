// Number<T>: one element of dtype T with the arithmetic that the op table means.  Signed integers
// wrap; small floats are held as float and rounded when stored; comparisons give Number<bool>.
#pragma once

#include "ir/distance.h"
#include "ir/library_repairs.h"
#include "ir/number_type.h"
#include "ir/vector_math.h"

#include <weft/convert.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

// The library's header hides the fma variants from code that is compiled without fma; they exist
// anyway.
#define WEFT_VECTOR_MATH_DECLARE(name, stem, accuracy)       \
  float Sleef_finz_##stem##f1_##accuracy##purecfma(float);   \
  float Sleef_cinz_##stem##f1_##accuracy##purec(float);      \
  double Sleef_finz_##stem##d1_##accuracy##purecfma(double); \
  double Sleef_cinz_##stem##d1_##accuracy##purec(double);
extern "C" {
WEFT_VECTOR_MATH_ROWS(WEFT_VECTOR_MATH_DECLARE)
}
#undef WEFT_VECTOR_MATH_DECLARE

namespace weft::ir {

// --- Arithmetic. ---
template <class T>
Number<T> operator+(const Number<T>& x, const Number<T>& y) {
  if constexpr (is_bool<T>)
    return Number<T>(x.value != y.value || x.value);
  else if constexpr (is_int<T>)
    return Number<T>(
        static_cast<T>(internal::Wrapping<T>(x.value) + internal::Wrapping<T>(y.value)));
  else
    return Number<T>(x.value + y.value);
}

template <class T>
Number<T> operator-(const Number<T>& x, const Number<T>& y) {
  if constexpr (is_bool<T>)
    return Number<T>(x.value != y.value);
  else if constexpr (is_int<T>)
    return Number<T>(
        static_cast<T>(internal::Wrapping<T>(x.value) - internal::Wrapping<T>(y.value)));
  else
    return Number<T>(x.value - y.value);
}

template <class T>
Number<T> operator*(const Number<T>& x, const Number<T>& y) {
  if constexpr (is_bool<T>) {
    return Number<T>(x.value && y.value);
  } else if constexpr (is_int<T>) {
    return Number<T>(
        static_cast<T>(internal::Wrapping<T>(x.value) * internal::Wrapping<T>(y.value)));
  } else if constexpr (is_complex(dtype_of<T>)) {
    // Without C's recovery of infinities from NaNs, as PyTorch and every backend.
    const auto a = x.value, b = y.value;
    return Number<T>(computed_as<T>(a.real() * b.real() - a.imag() * b.imag(),
                                    a.real() * b.imag() + a.imag() * b.real()));
  } else {
    return Number<T>(x.value * y.value);
  }
}

template <class T>
Number<T> quotient(const Number<T>& x, const Number<T>& y);

/// True division; integers, which the table never divides so, give the quotient.
template <class T>
Number<T> operator/(const Number<T>& x, const Number<T>& y) {
  if constexpr (std::is_integral_v<T>) {
    return quotient(x, y);
  } else if constexpr (is_complex(dtype_of<T>)) {
    // Smith's method: divide by the larger part first, so that nothing overflows early.
    using Part = typename computed_as<T>::value_type;
    const Part a = x.value.real(), b = x.value.imag(), c = y.value.real(), d = y.value.imag();
    if (std::abs(c) >= std::abs(d)) {
      if (c == 0 && d == 0) return Number<T>(computed_as<T>(a / std::abs(c), b / std::abs(d)));
      const Part ratio = d / c, scale = c + d * ratio;
      return Number<T>(computed_as<T>((a + b * ratio) / scale, (b - a * ratio) / scale));
    }
    const Part ratio = c / d, scale = d + c * ratio;
    return Number<T>(computed_as<T>((a * ratio + b) / scale, (b * ratio - a) / scale));
  } else {
    return Number<T>(x.value / y.value);
  }
}

template <class T>
Number<T> operator-(const Number<T>& x) {
  if constexpr (std::is_integral_v<T>)
    return Number<T>(0) - x;
  else
    return Number<T>(-x.value);
}

// --- Comparison and choice. ---
#define WEFT_COMPARISON(symbol, condition)                                           \
  template <class T>                                                                 \
  requires(condition) Mask operator symbol(const Number<T>& x, const Number<T>& y) { \
    return Mask(x.value symbol y.value);                                             \
  }
WEFT_COMPARISON(==, true)
WEFT_COMPARISON(!=, true)
WEFT_COMPARISON(<, !is_complex(dtype_of<T>))
WEFT_COMPARISON(<=, !is_complex(dtype_of<T>))
WEFT_COMPARISON(>, !is_complex(dtype_of<T>))
WEFT_COMPARISON(>=, !is_complex(dtype_of<T>))
#undef WEFT_COMPARISON

inline Mask operator&&(const Mask& x, const Mask& y) { return Mask(x.value && y.value); }
inline Mask operator||(const Mask& x, const Mask& y) { return Mask(x.value || y.value); }
inline Mask operator!(const Mask& x) { return Mask(!x.value); }

template <class T>
Number<T> select(const Mask& mask, const Number<T>& x, const Number<T>& y) {
  return mask.value ? x : y;
}

template <class T>
Number<T> maximum(const Number<T>& x, const Number<T>& y) {
  return select(x > y || x != x, x, y);
}
template <class T>
Number<T> minimum(const Number<T>& x, const Number<T>& y) {
  return select(x < y || x != x, x, y);
}

// --- Bits of integers and bool. ---
template <class T>
requires std::is_integral_v<T> Number<T>
operator&(const Number<T>& x, const Number<T>& y) {
  return Number<T>(static_cast<T>(x.value & y.value));
}
template <class T>
requires std::is_integral_v<T> Number<T>
operator|(const Number<T>& x, const Number<T>& y) {
  return Number<T>(static_cast<T>(x.value | y.value));
}
template <class T>
requires std::is_integral_v<T> Number<T>
operator^(const Number<T>& x, const Number<T>& y) {
  return Number<T>(static_cast<T>(x.value ^ y.value));
}
template <class T>
requires std::is_integral_v<T> Number<T>
operator~(const Number<T>& x) {
  if constexpr (is_bool<T>)
    return Number<T>(!x.value);
  else
    return Number<T>(static_cast<T>(~x.value));
}
template <class T>
requires is_int<T> Number<T>
operator<<(const Number<T>& x, const Number<T>& y) {
  constexpr std::uint64_t width = 8 * sizeof(T);
  const auto count = static_cast<std::make_unsigned_t<T>>(y.value);
  return Number<T>(count < width ? static_cast<T>(internal::Wrapping<T>(x.value) << count) : T(0));
}
template <class T>
requires is_int<T> Number<T>
operator>>(const Number<T>& x, const Number<T>& y) {
  constexpr std::uint64_t width = 8 * sizeof(T);
  const auto count = static_cast<std::make_unsigned_t<T>>(y.value);
  if constexpr (std::is_unsigned_v<T>)
    return Number<T>(count < width ? static_cast<T>(x.value >> count) : T(0));
  else
    return Number<T>(static_cast<T>(x.value >> (count < width ? count : width - 1)));
}

template <std::size_t size_bytes>
using SignedOfSize = std::conditional_t<
    size_bytes == 1, std::int8_t,
    std::conditional_t<size_bytes == 2, std::int16_t,
                       std::conditional_t<size_bytes == 4, std::int32_t, std::int64_t>>>;

/// A float's bits as a signed integer; an integer as it is.
template <class T>
auto to_bits(const Number<T>& x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    using Integer = SignedOfSize<sizeof(T)>;
    return Number<Integer>(std::bit_cast<Integer>(x.to_storage()));
  }
}
/// The integer that has only its sign bit set.
template <class T>
Number<T> sign_mask(const Number<T>&) {
  return Number<T>(std::numeric_limits<T>::min());
}
/// The inverse of to_bits().
template <class T, class Integer>
Number<T> from_bits(const Number<T>&, const Number<Integer>& bits) {
  return Number<T>::from_storage(std::bit_cast<T>(bits.value));
}

// --- Rounding and roots.  Integers are whole. ---
#define WEFT_ROUNDING(name, function)      \
  template <class T>                       \
  Number<T> name(const Number<T>& x) {     \
    if constexpr (std::is_integral_v<T>)   \
      return x;                            \
    else                                   \
      return Number<T>(function(x.value)); \
  }
WEFT_ROUNDING(floor, std::floor)
WEFT_ROUNDING(ceil, std::ceil)
WEFT_ROUNDING(trunc, std::trunc)
WEFT_ROUNDING(round, std::nearbyint)
#undef WEFT_ROUNDING

template <class T>
Number<T> fma(const Number<T>& x, const Number<T>& y, const Number<T>& z) {
  return Number<T>(std::fma(x.value, y.value, z.value));
}

/// Towards zero; x / 0 is 0, and the smallest integer / -1 is itself.
template <class T>
Number<T> quotient(const Number<T>& x, const Number<T>& y) {
  if constexpr (std::is_integral_v<T>) {
    if (y.value == 0) return Number<T>(0);
    if constexpr (std::is_signed_v<T>)
      if (y.value == -1) return -x;
    return Number<T>(static_cast<T>(x.value / y.value));
  } else {
    return trunc(x / y);
  }
}

// --- Complex parts. ---
template <class T>
Number<real_type<T>> real(const Number<T>& x) {
  if constexpr (is_complex(dtype_of<T>))
    return Number<real_type<T>>(x.value.real());
  else
    return x;
}
template <class T>
Number<real_type<T>> imag(const Number<T>& x) {
  if constexpr (is_complex(dtype_of<T>))
    return Number<real_type<T>>(x.value.imag());
  else
    return Number<T>(0);
}
template <class T>
auto complex(const Number<T>& real_part, const Number<T>& imaginary_part) {
  using Pair = std::conditional_t<std::is_same_v<T, f16>, c32, std::complex<computed_as<T>>>;
  return Number<Pair>(computed_as<Pair>(real_part.value, imaginary_part.value));
}
template <class T>
Number<T> conj(const Number<T>& x) {
  if constexpr (is_complex(dtype_of<T>))
    return Number<T>(std::conj(x.value));
  else
    return x;
}

// --- The library's functions. ---
namespace internal {
/// Without fma the library's other deterministic variants serve: the same accuracy, other bits.
inline const bool host_has_fma = [] {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}();
#define WEFT_VECTOR_MATH_CALL(name, stem, accuracy)                                        \
  inline float call_##name(float x) {                                                      \
    return repaired<Op::name>(host_has_fma ? Sleef_finz_##stem##f1_##accuracy##purecfma(x) \
                                           : Sleef_cinz_##stem##f1_##accuracy##purec(x),   \
                              x);                                                          \
  }                                                                                        \
  inline double call_##name(double x) {                                                    \
    return repaired<Op::name>(host_has_fma ? Sleef_finz_##stem##d1_##accuracy##purecfma(x) \
                                           : Sleef_cinz_##stem##d1_##accuracy##purec(x),   \
                              x);                                                          \
  }
WEFT_VECTOR_MATH_ROWS(WEFT_VECTOR_MATH_CALL)
#undef WEFT_VECTOR_MATH_CALL

/// The same number, with the same NaN for every NaN: the sign of one would show in the zeros that
/// complex functions return for it.
template <class Part>
std::complex<Part> with_plain_nans(const std::complex<Part>& x) {
  constexpr Part nan = std::numeric_limits<Part>::quiet_NaN();
  return {x.real() != x.real() ? nan : x.real(), x.imag() != x.imag() ? nan : x.imag()};
}

/// Complex functions of c64 are computed in c128, which costs the oracle nothing that matters.
template <class T, class Function>
Number<T> by_double(const Number<T>& x, Function function) {
  const std::complex<double> result = function(with_plain_nans(std::complex<double>(x.value)));
  return Number<T>(computed_as<T>(result));
}
}  // namespace internal

/// Functions of complex numbers.
#define WEFT_FUNCTION(name, of_complex)                                                            \
  template <class T>                                                                               \
  requires(is_complex(dtype_of<T>)) Number<T> name(const Number<T>& x) {                           \
    return internal::by_double(x,                                                                  \
                               [](std::complex<double> value) { return std::of_complex(value); }); \
  }
WEFT_FUNCTION(library_tan, tan)
WEFT_FUNCTION(library_asin, asin)
WEFT_FUNCTION(library_acos, acos)
WEFT_FUNCTION(library_atan, atan)
WEFT_FUNCTION(library_tanh, tanh)
WEFT_FUNCTION(library_asinh, asinh)
WEFT_FUNCTION(library_acosh, acosh)
WEFT_FUNCTION(library_atanh, atanh)
#undef WEFT_FUNCTION

/// Functions of real numbers.
#define WEFT_FUNCTION(name, stem, accuracy)                               \
  template <class T>                                                      \
  requires(!is_complex(dtype_of<T>)) Number<T> name(const Number<T>& x) { \
    return Number<T>(internal::call_##name(x.value));                     \
  }
WEFT_VECTOR_MATH_ROWS(WEFT_FUNCTION)
#undef WEFT_FUNCTION

template <class T>
Number<T> sqrt(const Number<T>& x) {
  if constexpr (is_complex(dtype_of<T>))
    return complex_sqrt(x);
  else
    return Number<T>(std::sqrt(x.value));
}

template <class T>
Number<real_type<T>> abs(const Number<T>& x) {
  if constexpr (is_complex(dtype_of<T>)) {
    using Part = Number<typename computed_as<T>::value_type>;
    const Part re(x.value.real()), im(x.value.imag());
    if constexpr (std::is_same_v<Part, Number<float>>)
      return Number<real_type<T>>(single_distance(re, im).value);
    else
      return Number<real_type<T>>(double_distance(re, im).value);
  } else if constexpr (std::is_integral_v<T>) {
    return select(x < Number<T>(0), -x, x);
  } else {
    return Number<T>(std::abs(x.value));
  }
}

/// As PyTorch: not by way of double.
template <class T>
requires(is_complex(dtype_of<T>)) Number<T> library_pow(const Number<T>& x, const Number<T>& y) {
  return Number<T>(
      std::pow(internal::with_plain_nans(x.value), internal::with_plain_nans(y.value)));
}

/// Repeated squaring, which wraps; a negative exponent gives the truncated fraction.
template <class T>
requires is_int<T> Number<T> integer_power(const Number<T>& x, const Number<T>& y) {
  if ((y < Number<T>(0)).value) {
    const Number<T> of_minus_one((y.value & 1) != 0 ? -1 : 1);
    return select(x == Number<T>(1), x, select(x == Number<T>(-1), of_minus_one, Number<T>(0)));
  }
  Number<T> result(1), power = x;
  for (auto exponent = static_cast<std::make_unsigned_t<T>>(y.value); exponent != 0;
       exponent = static_cast<std::make_unsigned_t<T>>(exponent >> 1)) {
    if ((exponent & 1) != 0) result = result * power;
    power = power * power;
  }
  return result;
}

/// Of sizes, which are unsigned: the smallest integer has one.
template <class T>
Number<T> gcd(const Number<T>& x, const Number<T>& y) {
  using Size = std::make_unsigned_t<T>;
  auto a = static_cast<Size>(abs(x).value), b = static_cast<Size>(abs(y).value);
  while (b != 0) {
    const auto rest = static_cast<Size>(a % b);
    a = b;
    b = rest;
  }
  return Number<T>(static_cast<T>(a));
}

/// The argument of a complex number; of a real one 0 or pi.
template <class T>
Number<real_type<T>> angle(const Number<T>& x) {
  if constexpr (is_complex(dtype_of<T>)) {
    return Number<real_type<T>>(real_atan2(imag(x), real(x)).value);
  } else {
    const Number<T> of_negative(3.141592653589793);
    return select(x != x, x, select(x < Number<T>(0), of_negative, Number<T>(0)));
  }
}

}  // namespace weft::ir
