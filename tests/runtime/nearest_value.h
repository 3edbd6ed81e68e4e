// Rounding by search, to check conversions against: shares no arithmetic with weft/convert.h.
#pragma once

#include <weft/dtype.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::testing {

/// How a small float is laid out, in the words of its definition.
struct SmallFormat {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;
  int num_patterns() const { return 1 << (1 + exponent_bits + fraction_bits); }
  int sign_bit() const { return num_patterns() / 2; }
  /// Infinity; or the NaN of a format without one.
  int special() const {
    return has_infinity ? ((1 << exponent_bits) - 1) << fraction_bits : sign_bit() - 1;
  }
};

template <class T>
constexpr SmallFormat format_of() {
  if (dtype_of<T> == DType::f16) return {5, 10, true};
  if (dtype_of<T> == DType::bf16) return {8, 7, true};
  if (dtype_of<T> == DType::f8e4m3fn) return {4, 3, false};
  return {5, 2, true};
}

/// The number that `magnitude` would be if no pattern were special.
inline long double decode_magnitude(const SmallFormat& format, int magnitude) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = magnitude >> format.fraction_bits;
  const int fraction = magnitude & ((1 << format.fraction_bits) - 1);
  const int hidden = exponent == 0 ? 0 : 1 << format.fraction_bits;
  return std::ldexp(static_cast<long double>(hidden + fraction),
                    std::max(exponent, 1) - bias - format.fraction_bits);
}

/// The value of any pattern, as the format's definition has it.
template <class T>
long double decode(T value) {
  const SmallFormat format = format_of<T>();
  const int magnitude = value.bits & (format.sign_bit() - 1);
  const bool is_negative = (value.bits & format.sign_bit()) != 0;
  const bool is_nan =
      format.has_infinity ? magnitude > format.special() : magnitude == format.special();
  long double result = decode_magnitude(format, magnitude);
  if (is_nan)
    result = std::numeric_limits<long double>::quiet_NaN();
  else if (magnitude >= format.special())
    result = std::numeric_limits<long double>::infinity();
  return is_negative ? -result : result;
}

/// The pattern nearest to `value`, ties to the even one.  Requires: not NaN.
template <class T>
T nearest(long double value) {
  const SmallFormat format = format_of<T>();
  static const std::vector<long double> values = [&] {  // ascending; the last stands for overflow
    std::vector<long double> result;
    for (int i = 0; i <= format.special(); ++i) result.push_back(decode_magnitude(format, i));
    return result;
  }();
  const long double magnitude = std::fabs(value);
  auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  int pattern = format.special();
  if (above != values.end()) {
    pattern = static_cast<int>(above - values.begin()) - 1;
    // A sum of neighbours has few bits, so the middle is exact and so is the comparison.
    const long double middle = (values[pattern] + *above) / 2;
    if (magnitude > middle || (magnitude == middle && pattern % 2 != 0)) ++pattern;
  }
  using Word = decltype(T::bits);
  return T{static_cast<Word>(pattern | (std::signbit(value) ? format.sign_bit() : 0))};
}

}  // namespace weft::testing
