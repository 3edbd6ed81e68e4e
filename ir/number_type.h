// Number<T>, one element of dtype T, and what templates over Number and Value ask of it.  Its
// arithmetic is in ir/number.h.
#pragma once

#include <weft/convert.h>

#include <complex>
#include <cstdint>
#include <type_traits>

namespace weft::ir {

template <class T>
struct computed_as_t : std::type_identity<T> {};
template <>
struct computed_as_t<f16> : std::type_identity<float> {};
template <>
struct computed_as_t<bf16> : std::type_identity<float> {};
template <>
struct computed_as_t<f8e4m3fn> : std::type_identity<float> {};
template <>
struct computed_as_t<f8e5m2> : std::type_identity<float> {};
template <>
struct computed_as_t<c32> : std::type_identity<c64> {};
/// The C++ type that elements of T are computed in.
template <class T>
using computed_as = typename computed_as_t<T>::type;

template <class T>
struct real_type_t : std::type_identity<T> {};
template <>
struct real_type_t<c32> : std::type_identity<f16> {};
template <class Part>
struct real_type_t<std::complex<Part>> : std::type_identity<Part> {};
/// real_dtype() for C++ types.
template <class T>
using real_type = typename real_type_t<T>::type;

template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_int = std::is_integral_v<T> && !is_bool<T>;

template <class T>
struct Number {
  using Storage = T;
  using Computed = computed_as<T>;

  Number() = default;
  constexpr explicit Number(Computed value) : value(value) {}
  /// A constant of the table: `T(1)`.
  template <class Constant>
  requires(!std::is_same_v<Constant, Computed> &&
           std::is_arithmetic_v<Constant>) constexpr explicit Number(Constant constant)
      : value(convert<Computed>(constant)) {}

  static Number from_storage(T stored) { return Number(convert<Computed>(stored)); }
  T to_storage() const { return convert<T>(value); }

  Computed value;
};

using Mask = Number<bool>;

namespace internal {
/// The type to compute integers of type T in without signed overflow or promotion surprises.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
}  // namespace internal

// --- What templates over Number and Value ask of x. ---
template <class T>
Number<T> like(const Number<T>&, double constant) {
  return Number<T>(constant);
}
/// A constant that depends on the precision computed in.
template <class T>
Number<T> like(const Number<T>&, double for_f32, double for_f64) {
  return Number<T>(sizeof(real_type<computed_as<T>>) == 4 ? for_f32 : for_f64);
}
template <class T>
constexpr bool is_integral_type(const Number<T>&) {
  return std::is_integral_v<T>;
}
template <class T>
constexpr bool is_complex_type(const Number<T>&) {
  return is_complex(dtype_of<T>);
}
template <class T>
constexpr bool is_wide_type(const Number<T>&) {
  return sizeof(T) >= 4;
}
inline Number<double> to_double(const Number<float>& x) {
  return Number<double>(static_cast<double>(x.value));
}
inline Number<float> to_single(const Number<double>& x) {
  return Number<float>(static_cast<float>(x.value));
}
/// An integer of the same size as a float.
template <class T, class Integer>
Number<T> to_float(const Number<T>&, const Number<Integer>& integer) {
  return Number<T>(static_cast<T>(integer.value));
}
template <class T>
Number<std::int32_t> to_i32(const Number<T>& x) {
  return Number<std::int32_t>(static_cast<std::int32_t>(x.value));
}
/// real(x) or, for a complex dtype, complex(x).
template <class T, class Real, class Complex>
auto by_kind(const Number<T>& x, Real of_real, Complex of_complex) {
  if constexpr (is_complex(dtype_of<T>))
    return of_complex(x);
  else
    return of_real(x);
}
/// singles(x) for complex numbers of two f32, else doubles(x).
template <class T, class Singles, class Doubles>
Number<T> by_part_precision(const Number<T>& x, Singles singles, Doubles doubles) {
  if constexpr (std::is_same_v<T, std::complex<float>>)
    return singles(x);
  else
    return doubles(x);
}
/// single(x) in float for f32 and smaller floats, else of_double(x).
template <class T, class Single, class Double>
auto by_precision(const Number<T>& x, Single single, Double of_double) {
  if constexpr (std::is_same_v<T, double>) {
    return of_double(x);
  } else {
    const auto result = single(Number<float>(x.value));
    if constexpr (std::is_same_v<decltype(result), const Number<float>>)
      return Number<T>(result.value);
    else
      return result;
  }
}
template <class T, class Single, class Double>
Number<T> by_precision(const Number<T>& x, const Number<T>& y, Single single, Double of_double) {
  if constexpr (std::is_same_v<T, double>)
    return of_double(x, y);
  else
    return Number<T>(single(Number<float>(x.value), Number<float>(y.value)).value);
}

}  // namespace weft::ir
