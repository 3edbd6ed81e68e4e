// Powers of f64 up to the largest number.  SLEEF 3 calls infinite what is above 1.797693130e308, a
// 10^-9 below that number; there the C library's function, which rounds as well, takes its place.
#pragma once

#include <cmath>
#include <string_view>

namespace weft::ir {

/// `power`, which SLEEF gave for x to the power of y.
inline double power_below_infinity(double power, double x, double y) {
  if (!std::isinf(power) || !std::isfinite(x) || !std::isfinite(y) || x == 0) [[likely]]
    return power;
  return std::pow(x, y);
}

/// What takes the place of the function of that name, which is `library`; null if nothing does.
const void* power_function(std::string_view symbol, const void* library);

}  // namespace weft::ir
