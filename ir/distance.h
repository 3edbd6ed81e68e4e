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

/// Sizes of f64 of which squares neither overflow nor lose digits, and what scales back.
template <class V>
struct ScaledPair {
  V larger, smaller, back;
};
template <class V>
ScaledPair<V> scaled_pair(const V& x_size, const V& y_size) {
  const auto is_x_larger = x_size >= y_size;
  const V larger = select(is_x_larger, x_size, y_size);
  const V smaller = select(is_x_larger, y_size, x_size);
  const V one = like(larger, 1), up = like(larger, 0x1p600), down = like(larger, 0x1p-600);
  const auto is_huge = larger > like(larger, 0x1p511), is_tiny = larger < like(larger, 0x1p-459);
  const V factor = select(is_huge, down, select(is_tiny, up, one));
  return {larger * factor, smaller * factor, select(is_huge, up, select(is_tiny, down, one))};
}

/// In f64, within an ulp.  Of the parts a and b <= a the sum of squares is a^2 + b^2, or, where b
/// is more than half of a, 2 b a + (a - b)^2: what is rounded before the sum is its smaller half.
template <class V>
V double_distance(const V& x, const V& y) {
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  const V x_size = abs(x), y_size = abs(y);
  const auto [a, b, back] = scaled_pair(x_size, y_size);
  const V twice_b = b + b;
  const auto is_close = twice_b >= a;
  const V rest = select(is_close, a - b, b);
  const V length = sqrt(fma(select(is_close, twice_b, a), a, rest * rest)) * back;
  return select(x_size == infinity || y_size == infinity, infinity, length);
}

/// In f64, rounded as the exact length is in all but one of some thousand cases: the square of a
/// first result, and those of the parts, with what they are rounded by, say what it is off by
/// (Borges, An Improved Algorithm for hypot(a, b), 2019).
template <class V>
V exact_distance(const V& x, const V& y) {
  const V zero = like(x, 0), infinity = like(x, std::numeric_limits<double>::infinity());
  const V x_size = abs(x), y_size = abs(y);
  const auto [a, b, back] = scaled_pair(x_size, y_size);
  const V length = sqrt(fma(a, a, b * b)), square = length * length, a_square = a * a;
  const V excess =
      fma(-b, b, square - a_square) + fma(length, length, -square) - fma(a, a, -a_square);
  const V better = select(length == zero, zero, length - excess / (length + length));
  return select(x_size == infinity || y_size == infinity, infinity, better * back);
}

template <class V>
V real_hypot(const V& x, const V& y) {
  return by_precision(
      x, y, [](const auto& v, const auto& w) { return single_distance(v, w); },
      [](const auto& v, const auto& w) { return exact_distance(v, w); });
}

}  // namespace weft::ir
