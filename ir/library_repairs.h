// Where SLEEF 3 is further from the exact result than its bounds say, other functions take its
// place, in scalar code and in vectors alike: sin, cos and tan of f64 from 2^31 to 10^14 are off by
// up to 10^4 ulp next to multiples of pi / 2, and the C library's by ten.
#pragma once

#include <weft/op.h>

#include <cmath>
#include <string_view>
#include <type_traits>

namespace weft::ir {

inline constexpr double first_turned_far = 0x1p31, first_turned_right = 1e14;

inline bool is_turned_far(double x) {
  return std::fabs(x) >= first_turned_far && std::fabs(x) < first_turned_right;
}

/// Of such angles, which are reduced exactly.
double sin_of_far(double x);
double cos_of_far(double x);
double tan_of_far(double x);

/// `value`, which SLEEF gave for x, or what is right.
template <Op op, class T>
T repaired(T value, T x) {
  if constexpr (std::is_same_v<T, double>) {
    if constexpr (op == Op::library_sin) return is_turned_far(x) ? sin_of_far(x) : value;
    if constexpr (op == Op::library_cos) return is_turned_far(x) ? cos_of_far(x) : value;
    if constexpr (op == Op::library_tan) return is_turned_far(x) ? tan_of_far(x) : value;
  }
  return value;
}

/// What takes the place of the function of that name, which is `library`; null if nothing does.
const void* repaired_function(std::string_view symbol, const void* library);

}  // namespace weft::ir
