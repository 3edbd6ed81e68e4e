// Where SLEEF 3 is further from the exact result than its bounds say, other functions take its
// place, in scalar code and in vectors alike:
//
// - pow of f64 is infinite from 1.79769313e308 on, a 10^-9 below the largest number: that of the C
//   library.
// - sin, cos and tan of f64 from 2^31 to 10^14 are off by up to 10^4 ulp next to multiples of
//   pi / 2, and the C library's by ten: those of an angle that is reduced exactly.
// - tan of f64 loses the last bit of subnormal numbers, which are their own tangents.
#pragma once

#include <weft/op.h>

#include <cmath>
#include <string_view>
#include <type_traits>

namespace weft::ir {

inline constexpr double first_turned_far = 0x1p31, first_turned_right = 1e14;
inline constexpr double largest_tiny = 0x1p-1021;

inline bool is_turned_far(double x) {
  return std::fabs(x) >= first_turned_far && std::fabs(x) < first_turned_right;
}

/// Of such angles.
double sin_of_far(double x);
double cos_of_far(double x);
double tan_of_far(double x);

/// `value`, which SLEEF gave for x, or what is right.
template <Op op, class T>
T repaired(T value, T x) {
  if constexpr (std::is_same_v<T, double>) {
    if constexpr (op == Op::library_sin) return is_turned_far(x) ? sin_of_far(x) : value;
    if constexpr (op == Op::library_cos) return is_turned_far(x) ? cos_of_far(x) : value;
    if constexpr (op == Op::library_tan) {
      if (std::fabs(x) < largest_tiny) return x;
      return is_turned_far(x) ? tan_of_far(x) : value;
    }
  }
  return value;
}
template <Op op, class T>
T repaired(T value, T x, T y) {
  if constexpr (op == Op::library_pow && std::is_same_v<T, double>) {
    if (!std::isinf(value) || !std::isfinite(x) || !std::isfinite(y)) [[likely]]
      return value;
    return x == 0 ? value : std::pow(x, y);
  }
  return value;
}

/// What takes the place of the function of that name, which is `library`; null if nothing does.
const void* repaired_function(std::string_view symbol, const void* library);

}  // namespace weft::ir
