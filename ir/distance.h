// The length of a pair, which is the absolute value of a complex number: infinite where a part is,
// beside NaN, too.
#pragma once

#include <limits>

namespace weft::ir {

/// In f32, with an exact sum of squares but for one rounding.
template <class V>
V single_distance(const V& x, const V& y) {
  const auto wide_x = to_double(x), wide_y = to_double(y);
  const V length = to_single(sqrt(fma(wide_x, wide_x, wide_y * wide_y)));
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  return select(abs(x) == infinity || abs(y) == infinity, infinity, length);
}

/// In f64, within an ulp.  Of the parts a and b <= a the sum of squares is a^2 + b^2, or, where b
/// is more than half of a, 2 b a + (a - b)^2: what is rounded before the sum is its smaller half.
template <class V>
V double_distance(const V& x, const V& y) {
  const V infinity = like(x, std::numeric_limits<double>::infinity()), one = like(x, 1);
  const V x_size = abs(x), y_size = abs(y);
  const auto is_x_larger = x_size >= y_size;
  const V larger = select(is_x_larger, x_size, y_size);
  const V smaller = select(is_x_larger, y_size, x_size);
  // Squares neither overflow nor lose digits.
  const V up = like(x, 0x1p600), down = like(x, 0x1p-600);
  const auto is_huge = larger > like(x, 0x1p511), is_tiny = larger < like(x, 0x1p-459);
  const V factor = select(is_huge, down, select(is_tiny, up, one));
  const V back = select(is_huge, up, select(is_tiny, down, one));
  const V a = larger * factor, b = smaller * factor, twice_b = b + b;
  const auto is_close = twice_b >= a;
  const V rest = select(is_close, a - b, b);
  const V length = sqrt(fma(select(is_close, twice_b, a), a, rest * rest)) * back;
  return select(x_size == infinity || y_size == infinity, infinity, length);
}

}  // namespace weft::ir
