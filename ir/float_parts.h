// The meaning of weft/float_parts.def on numbers.
#pragma once

#include "ir/number.h"
#include "ir/tables.h"

#include <algorithm>
#include <cstddef>

namespace weft::ir {

template <class T>
Number<T> scale_by_power(const Number<T>& x, const Number<T>& y) {
  if (y.value != y.value) return y;
  const auto power = std::clamp<computed_as<T>>(y.value, -5000, 5000);
  return Number<T>(std::scalbn(x.value, static_cast<int>(power)));
}

template <class T>
Number<T> exponent(const Number<T>& x) {
  return Number<T>(std::logb(x.value));
}

template <class T>
Number<T> mantissa(const Number<T>& x) {
  using Real = computed_as<T>;
  if (!(x.value >= 0)) return Number<T>(std::numeric_limits<Real>::quiet_NaN());
  if (x.value == 0 || std::isinf(x.value)) return Number<T>(Real(1));
  int power = 0;
  const Real part = std::frexp(x.value, &power);  // in [1/2, 1)
  return Number<T>(part < Real(0.75) ? 2 * part : part);
}

template <class T>
Number<T> table_entry(const Number<T>& x, const Number<T>& y) {
  const auto place = static_cast<std::size_t>(to_bits(x).value & 15);
  return Number<T>(table_of(static_cast<double>(y.value))[place]);
}

template <class T>
Number<T> sin_beyond(const Number<T>& x, const Number<T>& y) {
  return std::abs(x.value) >= computed_as<T>(largest_reduced(dtype_of<T>)) ? library_sin(x) : y;
}

template <class T>
Number<T> cos_beyond(const Number<T>& x, const Number<T>& y) {
  return std::abs(x.value) >= computed_as<T>(largest_reduced(dtype_of<T>)) ? library_cos(x) : y;
}

template <class T>
Number<T> tan_beyond(const Number<T>& x, const Number<T>& y) {
  return std::abs(x.value) >= computed_as<T>(largest_reduced(dtype_of<T>)) ? library_tan(x) : y;
}

template <class T>
Number<T> fmod_beyond(const Number<T>& x, const Number<T>& y, const Number<T>& z) {
  const bool is_known = (z.value >= 0 && z.value < y.value) || y.value == 0;
  return is_known ? z : Number<T>(std::fmod(x.value, y.value));
}

}  // namespace weft::ir
