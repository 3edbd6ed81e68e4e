// The inverses of sine, cosine and tangent within 1 ulp, in the arithmetic of f32 or f64.
// Polynomials: minimax fits by ir/minimax.py.
#pragma once

#include "ir/double_sums.h"

#include <limits>

namespace weft::ir {

/// pi / 2.
template <class V>
Sum<V> right_angle_like(const V& x) {
  return {like(x, 1.5707963705062866, 1.5707963267948966),
          like(x, -4.371139000186241e-08, 6.123233995736766e-17)};
}

/// base + atan(t + lost): an angle that is less than a sixteenth of a turn from one that is a
/// multiple of an eighth.
template <class V>
struct ArcQuotient {
  Sum<V> base;
  V t, lost;
};

/// base + atan(t + lost) for |t| <= tan(pi / 8); `series` is (atan(t) / t - 1) / t^2.
template <class V>
V arc_beyond(const ArcQuotient<V>& x, const V& square, const V& series) {
  const Sum<V> leading = ordered_sum(x.base.high, x.t);
  // What is lost counts as much as the angle rises: by 1 / (1 + t^2), nearly.
  const V low = fma(-x.lost, square, x.lost) + (leading.low + x.base.low);
  return leading.high + fma(x.t * square, series, low);
}

/// Of x >= 0: x itself, (x - 1) / (x + 1) or -1 / x.
template <class V>
ArcQuotient<V> arc_quotient(const V& x) {
  const V one = like(x, 1), zero = like(x, 0), half = like(x, 0.5);
  const auto is_near = x < like(x, 0.41421356237309503);
  const auto is_far = x > like(x, 2.414213562373095);
  const Sum<V> before = exact_sum(x, -one), behind = exact_sum(x, one);
  const auto is_between = !(is_near || is_far);
  const V over = select(is_between, before.high, select(is_near, x, -one));
  const V under = select(is_between, behind.high, select(is_near, one, x));
  const V inverse = one / under, t = over * inverse;
  const V low = select(is_between, before.low - t * behind.low, zero);
  const Sum<V> quarter = right_angle_like(x);
  const V share = select(is_between, half, select(is_near, zero, one));
  return {scale(quarter, share), t, (fma(-t, under, over) + low) * inverse};
}

template <class V>
V single_arc(const ArcQuotient<V>& x) {
  const V square = x.t * x.t;
  return arc_beyond(
      x, square,
      horner(square, {-0.060892265290021896, 0.10598964989185333, -0.14244379103183746,
                      0.19998528063297272, -0.33333316445350647}));
}

template <class V>
V double_arc(const ArcQuotient<V>& x) {
  const V square = x.t * x.t;
  return arc_beyond(x, square,
                    horner(square, {-0.017895872560712036, 0.03805496296674218,
                                    -0.05038958972702333, 0.058478202996759696, -0.066630957297255,
                                    0.0769205959701025, -0.09090897730312528, 0.11111110782809003,
                                    -0.1428571428019115, 0.19999999999953638, -0.333333333333332}));
}

template <class V>
V single_atan(const V& x) {
  return with_sign_of(single_arc(arc_quotient(minimum(like(x, 0x1p64), abs(x)))), x);
}

template <class V>
V double_atan(const V& x) {
  return with_sign_of(double_arc(arc_quotient(minimum(like(x, 0x1p64), abs(x)))), x);
}

// --- Of a point. ---
/// The coordinates of a direction, the smaller and the larger one, both not negative: so scaled
/// that nothing overflows, and vanishes only where the angle does.
template <class V>
struct Direction {
  V smaller, larger;
};

template <class V>
Direction<V> direction_of(const V& x, const V& y) {
  const V zero = like(x, 0), one = like(x, 1);
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  const V smaller = minimum(x, y), larger = maximum(x, y);
  const V up = like(x, 0x1p64, 0x1p512), down = like(x, 0x1p-40, 0x1p-100);
  const V scale = select(larger < like(x, 0x1p24, 0x1p54), up,
                         select(larger > like(x, 0x1p100, 0x1p1000), down, one));
  const auto is_end = larger == zero || larger == infinity;
  return {select(is_end, select(smaller == infinity, one, zero), smaller * scale),
          select(is_end, one, larger * scale)};
}

/// The angle of the point (x, y), without the sign that y gives it.
template <class V>
ArcQuotient<V> direction_quotient(const V& y, const V& x) {
  const V zero = like(x, 0), one = like(x, 1);
  const auto [a, b] = direction_of(abs(x), abs(y));
  const auto is_between = a > b * like(x, 0.41421356237309503);
  const Sum<V> before = exact_sum(a, -b), behind = exact_sum(a, b);
  const V over = select(is_between, before.high, a), under = select(is_between, behind.high, b);
  const V inverse = one / under, t = over * inverse;
  const V low = select(is_between, before.low - t * behind.low, zero);
  const V lost = (fma(-t, under, over) + low) * inverse;
  // In eighths of a turn: behind the axis that is nearer, or before it.
  const auto is_steep = abs(y) > abs(x), is_left = has_sign_bit(x);
  const auto is_before = is_steep != is_left;
  const V axis = select(is_steep, like(x, 2), select(is_left, like(x, 4), zero));
  const V eighth = select(is_between, one, zero);
  const V eighths = axis + select(is_before, -eighth, eighth);
  const Sum<V> unit = scale(right_angle_like(x), like(x, 0.5));
  const Sum<V> base = exact_product(eighths, unit.high);
  return {Sum<V>{base.high, fma(eighths, unit.low, base.low)}, select(is_before, -t, t),
          select(is_before, -lost, lost)};
}

template <class V>
V single_atan2(const V& y, const V& x) {
  return with_sign_of(single_arc(direction_quotient(y, x)), y);
}

template <class V>
V double_atan2(const V& y, const V& x) {
  return with_sign_of(double_arc(direction_quotient(y, x)), y);
}

// --- Inverses of sine and cosine. ---
/// asin(root) = root + bend, with root and its square: those of |x| up to a half, and of
/// (1 - |x|) / 2 beyond, of which the arc sine is half the arc cosine of |x|.
template <class V>
struct ArcSine {
  V root, square, lost;
};

template <class V>
ArcSine<V> arc_sine_of(const V& size) {
  const V half = like(size, 0.5), zero = like(size, 0);
  const auto is_near = size < half;
  const V square = select(is_near, size * size, fma(-half, size, half));
  const V other = sqrt(square), root = select(is_near, size, other);
  const V lost = fma(-other, other, square) / (other + other);
  return {root, square, select(is_near || other == zero, zero, lost)};
}

template <class V>
V single_arc_sine_series(const V& square) {
  return horner(square, {0.03760448470711708, 0.014371635392308235, 0.031826868653297424,
                         0.04451443627476692, 0.0750051885843277, 0.16666659712791443});
}

/// (asin(x) / x - 1) / x^2 in x^2, for |x| <= 1/2.
template <class V>
V double_arc_sine_series(const V& square) {
  return horner(square, {0.03269831804379543, -0.021110813977110423, 0.021786656450991676,
                         0.0036737463132729613, 0.010788929529491025, 0.011397358971488912,
                         0.013981010958230925, 0.01735159609385009, 0.022372215874772894,
                         0.030381942676330452, 0.04464285717526466, 0.07499999999970122,
                         0.16666666666666763});
}

/// `whole` right angles without `angle` and what this lacks.
template <class V>
V right_angles_without(const V& whole, const V& angle, const V& lacking) {
  const Sum<V> start = scale(right_angle_like(whole), whole);
  const Sum<V> leading = ordered_sum(start.high, -angle);
  return leading.high + ((leading.low - lacking) + start.low);
}

/// `series` is one of the two above.
template <class V>
V arc_sine(const V& x, V (*series)(const V&)) {
  const ArcSine<V> arc = arc_sine_of(abs(x));
  const auto is_near = abs(x) < like(x, 0.5);
  const V bend = fma(arc.root * arc.square, series(arc.square), arc.lost);
  const V beyond = right_angles_without(like(x, 1), arc.root + arc.root, bend + bend);
  return with_sign_of(select(is_near, arc.root + bend, beyond), x);
}

template <class V>
V arc_cosine(const V& x, V (*series)(const V&)) {
  const ArcSine<V> arc = arc_sine_of(abs(x));
  const V zero = like(x, 0), one = like(x, 1);
  const auto is_near = abs(x) < like(x, 0.5), is_negative = x < zero;
  const V root = select(is_near, x, arc.root + arc.root);
  const V bend = fma(arc.root * arc.square, series(arc.square), arc.lost);
  const V lacking = select(is_near, with_sign_of(bend, x), bend + bend);
  const V start = select(is_near, one, select(is_negative, like(x, 2), zero));
  const V angle = right_angles_without(start, root, lacking);
  return select(is_near || is_negative, angle, root + lacking);
}

}  // namespace weft::ir
