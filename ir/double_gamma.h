// lgamma and digamma of f64 within one unit in the last place.  Both move a small argument up by 12
// to where a series in 1 / y^2 holds, and reflect one below zero: what cancels there, as far as it
// does, are sums good for 100 bits (ir/long_sums.h).  Only next to a root is that not enough. There
// the function is a parabola around the nearest number of f64; which roots need it was found by
// looking at the numbers next to each.
#pragma once

#include "ir/long_sums.h"

#include <limits>

namespace weft::ir {

/// A function's value and slope, and half its curvature, at the number next to a root.
struct NearRoot {
  double at;
  Sum<double> value, slope;
  double half_curvature;
};

/// `general`, but within 2^-40 of a number of the list, which ascends, the parabola.
template <class V>
V unless_near_root(const V& x, const V& general, std::initializer_list<NearRoot> roots) {
  const NearRoot* root = roots.begin();
  const auto like_sum = [&](const Sum<double>& sum) { return sum_like(x, sum.high, sum.low); };
  V at = like(x, root->at), half_curvature = like(x, root->half_curvature);
  Sum<V> value = like_sum(root->value), slope = like_sum(root->slope);
  for (; root + 1 != roots.end(); ++root) {
    const auto is_above = x > like(x, (root[0].at + root[1].at) / 2);
    at = select(is_above, like(x, root[1].at), at);
    value = select(is_above, like_sum(root[1].value), value);
    slope = select(is_above, like_sum(root[1].slope), slope);
    half_curvature = select(is_above, like(x, root[1].half_curvature), half_curvature);
  }
  const V apart = x - at;
  const Sum<V> line = exact_product(apart, slope.high);
  const Sum<V> high = exact_sum(value.high, line.high);
  const V low = fma(apart, fma(apart, half_curvature, slope.low), line.low + value.low);
  return select(abs(apart) < like(x, 0x1p-40), high.high + (high.low + low), general);
}

/// abs(x) where it is less than 12, else 1; and the products that moving it up takes.
template <class V>
struct MovedUp {
  V size;
  Sum<V> middle;  ///< size + 6
  Sum<V> pairs;  ///< size * (size + 12), by which (size + i) * (size + 12 - i) is this + i (12 - i)
};

template <class V>
MovedUp<V> moved_up(const V& size) {
  const Sum<V> twelve_up = exact_sum(size, like(size, 12));
  const Sum<V> pairs = exact_product(size, twelve_up.high);
  return {size, exact_sum(size, like(size, 6)),
          ordered_sum(pairs.high, fma(size, twelve_up.low, pairs.low))};
}

/// The product of (pairs + i (12 - i)) for i from 1 to 5.
template <class V>
Sum<V> product_of_pairs(const Sum<V>& pairs) {
  return whole_polynomial(pairs, {1, 125, 6063, 141719, 1581820, 6652800});
}

// --- digamma. ---
/// pi / tan(pi r) as a quotient, for 0 < r <= 1/2.  Around a half it is pi tan(pi (1/2 - r)).
template <class V>
struct Quotient {
  Sum<V> above, below;
};

template <class V>
Quotient<V> cotangent_of_turns(const V& r) {
  const V rest = like(r, 0.5) - r;
  const auto is_steep = r < rest;
  const V angle = select(is_steep, r, rest);
  const Sum<V> square = exact_product(angle, angle);
  // Times 1 - angle^2, which the next pole takes: pi angle / tan(pi angle).
  const Sum<V> series =
      long_horner(square,
                  {2.5145795744229564e-08, 8.881213633129455e-08, 3.5776068328674234e-07,
                   1.431016727017794e-06, 5.726662828767924e-06, 2.292993227219314e-05},
                  {{9.193175130055387e-05, -3.0244974935141457e-21},
                   {0.00036967683649867744, -1.4447733959857693e-20},
                   {0.0014969771490200743, -8.582413541485175e-20},
                   {0.006165562140252508, 2.579473534282437e-19},
                   {0.0265314115730096, 1.2966357393430767e-18},
                   {0.1299603434533781, 1.2586467991806854e-17},
                   {1.1252216662741765, -3.415679384906217e-17},
                   {-4.289868133696453, 3.8327576284209304e-16}});
  const Sum<V> above = multiply_and_add(series, square, {1, 0});
  const Sum<V> rest_of_one = ordered_sum(like(r, 1), -square.high);
  const Sum<V> near_pole{rest_of_one.high, rest_of_one.low - square.low};
  const Sum<V> below = multiply(as_sum(angle), near_pole);
  const Sum<V> tangent = multiply(below, sum_like(r, 9.869604401089358, 6.265295508739711e-16));
  return {select(is_steep, above, tangent), select(is_steep, below, above)};
}

/// log(y) - digamma(y) for y >= 12.
template <class V>
Sum<V> below_logarithm(const Sum<V>& y) {
  const Sum<V> inverse = inverse_of(y), square = multiply(inverse, inverse);
  const Sum<V> series =
      long_horner(square,
                  {-378202.48731084185, 43587.82700967087, -3467.6555276402555, 280.25794097752896,
                   -26.44886203515998, 3.053921883084748, -0.4432597001309719, 0.08333333309446939},
                  {{-0.021092796092407808, -2.2503205965650893e-19},
                   {0.007575757575757144, 2.151324296374287e-19},
                   {-0.004166666666666667, 2.5306088516512095e-19},
                   {0.003968253968253968, 2.2014940133240645e-19},
                   {-0.008333333333333333, -1.1564820297376486e-19},
                   {0.08333333333333333, 4.625929269269305e-18}});
  return add(scale(inverse, like(y.high, 0.5)), multiply(square, series));
}

template <class V>
V double_digamma(const V& x) {
  const V zero = like(x, 0), one = like(x, 1), size = abs(x);
  const auto is_below = x < zero, is_moved = size < like(x, 12);
  const Sum<V> y = exact_sum(size, select(is_moved, like(x, 12), zero));
  const MovedUp<V> moved = moved_up(select(is_moved, size, one));
  // The sum of 1 / (size + i) for i from 1 to 11.  There is a 1 / size to subtract above zero, and
  // another to add by the reflection.
  const Sum<V> derivative =
      whole_polynomial(moved.pairs, {11, 1485, 78441, 2018203, 25152996, 120543840});
  const Sum<V> product = multiply(moved.middle, product_of_pairs(moved.pairs));
  const Sum<V> steps = divide(select(is_moved, derivative, as_sum(select(is_below, -one, zero))),
                              select(is_moved, product, as_sum(size)));
  const Sum<V> upper =
      add(add(long_logarithm_of(y), negative(below_logarithm(y))), negative(steps));
  const V turned = size - round(size), sign = select(turned < zero, -one, one);
  const Quotient<V> cotangent = cotangent_of_turns(abs(turned));
  const V pole = select(is_moved, -one, zero);
  const Sum<V> above = select(is_below, scale(cotangent.above, sign), as_sum(pole));
  const Sum<V> below = select(is_below, cotangent.below, as_sum(moved.size));
  const V general = add(upper, divide(above, below)).high;
  const V result = unless_near_root(x, general,
                                    {{-2977.8808777877402,
                                      {1.3170578140239663e-16, 1.1814601307216619e-32},
                                      {73.85543110724767, -3.9945438927770684e-16},
                                      -590.782257597136},
                                     {-5.6671624415568855,
                                      {4.1867794464524804e-17, -2.8341173706222207e-33},
                                      {13.021406387509394, -8.509132351433493e-16},
                                      -24.0108335669899},
                                     {-1.5734984731623904,
                                      {1.5649788481838454e-16, -3.961646636647801e-33},
                                      {9.941513615924176, -5.963201509879849e-16},
                                      -7.802593974782626},
                                     {-0.5040830082644554,
                                      {7.289763902976895e-17, 3.8663134733695455e-33},
                                      {8.939798558792134, 4.529738181690126e-16},
                                      -0.8093454625306499},
                                     {1.4616321449683622,
                                      {-9.241265521729427e-17, -2.5907356508198256e-33},
                                      {0.9676722454476212, 5.0688981776619267e-17},
                                      -0.4427631689835922}});
  const auto is_pole = x < zero && floor(x) == x;
  const V ordinary = select(is_pole, like(x, std::numeric_limits<double>::quiet_NaN()), result);
  // Where the pole at zero is all there is, its sign at zero among it.
  const V finite = select(size < like(x, 0x1p-60), -one / x, ordinary);
  return select(x < like(x, std::numeric_limits<double>::infinity()), finite, x);
}

// --- lgamma. ---
/// factor * sin(pi r) / pi for 0 < r <= 1/2.
template <class V>
Sum<V> sine_of_turns(const V& r, const V& factor) {
  const Sum<V> square = exact_product(r, r);
  const Sum<V> series =
      long_horner(square,
                  {9.294703681319638e-18, -7.742726859075466e-16, 5.5074605197924794e-14,
                   -3.3481335525299923e-12, 1.7165384750529385e-10},
                  {{-7.304711822219486e-09, -1.583127955288085e-25},
                   {2.5312174041370306e-07, -2.0439520239917906e-23},
                   {-6.975873661656381e-06, 2.040529926246208e-22},
                   {0.000148428793031071, 7.159156634582494e-21},
                   {-0.0023460810354558235, -1.695978389001903e-19},
                   {0.0261478478176548, 6.311763753020899e-19},
                   {-0.19075182412208422, 4.419585629198211e-18},
                   {0.8117424252833536, 3.561384032141585e-17},
                   {-1.6449340668482264, -3.040672350398476e-17}});
  return multiply(exact_product(r, factor), multiply_and_add(series, square, {1, 0}));
}

/// lgamma(y) for y = size + shift >= 12, by Stirling's series.
template <class V>
Sum<V> lgamma_far_out(const V& size, const V& shift) {
  const Sum<V> y = exact_sum(size, shift), factor = exact_sum(size, shift - like(size, 0.5));
  const Sum<V> inverse = inverse_of(y), square = multiply(inverse, inverse);
  const Sum<V> series =
      long_horner(square,
                  {-15276.638856600282, 1806.707726656453, -152.1770890176673, 13.364201509511265,
                   -1.3922064329988242, 0.17964342832195435, -0.029550650762659263,
                   0.0064102564042177275, -0.0019175269175179656},
                  {{0.0008417508417508328, 4.692165582451888e-20},
                   {-0.0005952380952380952, -4.918814047887311e-20},
                   {0.0007936507936507937, 6.8642672730255515e-22},
                   {-0.002777777777777778, 1.0601087940951719e-19},
                   {0.08333333333333333, 4.62592926927147e-18}});
  const Sum<V> logarithm = long_logarithm_of(y);
  const Sum<V> less_one = add(logarithm, as_sum(like(size, -1)));
  const Sum<V> rest =
      add(multiply(inverse, series), sum_like(size, 0.4189385332046728, -3.8782941580672414e-17));
  return add(multiply(factor, less_one), rest);
}

template <class V>
V double_lgamma(const V& x) {
  const V zero = like(x, 0), one = like(x, 1), size = abs(x);
  const V infinity = like(x, std::numeric_limits<double>::infinity());
  const auto is_moved = size < like(x, 12), is_tiny = size < like(x, 0x1p-60);
  const auto is_below = x < zero && !is_tiny;
  const MovedUp<V> moved = moved_up(select(is_moved, size, one));
  // The product of size + i for i from 1 to 11.
  const Sum<V> steps =
      select(is_moved, multiply(moved.middle, product_of_pairs(moved.pairs)), as_sum(one));
  // Above zero there is the step from size itself; the reflection has another to take off.
  const Sum<V> sine = sine_of_turns(abs(size - round(size)), select(is_moved, one, size));
  const Sum<V> product = select(is_below, divide(steps, sine), multiply(steps, as_sum(moved.size)));
  const Sum<V> logarithm = long_logarithm_of(select(is_tiny, as_sum(size), product));
  const Sum<V> upper = lgamma_far_out(size, select(is_moved, like(x, 12), zero));
  const V apart = add(select(is_tiny, as_sum(zero), upper), negative(logarithm)).high;
  const V result = unless_near_root(
      x, select(is_below, -apart, apart),
      {{-3.955294284858598,
        {-4.14382750757705e-16, -1.484838516795255e-32},
        {-20.725060845803696, 8.39503460037258e-16},
        251.71468258688918},
       {-3.14358088834998,
        {1.6978655906121085e-15, -2.650245429739361e-32},
        {7.7818846581313625, -3.9812639711617714e-16},
        25.831338372388032},
       {-2.7476826467274127,
        {1.733509244024501e-16, -8.202386541675038e-33},
        {-1.9143501856116005, -2.0659884090609005e-17},
        9.575189475709672},
       {-2.4570247382208006,
        {5.619192358950097e-17, -2.1099251131628624e-33},
        {1.5156034480216576, 9.751053833458153e-17},
        4.8583209516339965},
       {1.0, {0.0, 0.0}, {-0.5772156649015329, 4.942915152430645e-18}, 0.8224670334241132},
       {2.0, {0.0, 0.0}, {0.42278433509846713, 4.942915152430645e-18}, 0.3224670334241132}});
  const auto is_infinite = (x <= zero && floor(x) == x) || size >= like(x, 0x1.754d9278b51a8p+1014);
  return select(x != x, x, select(is_infinite, infinity, result));
}

}  // namespace weft::ir
