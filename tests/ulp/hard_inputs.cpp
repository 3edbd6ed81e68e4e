#include "tests/ulp/hard_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::ulp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int num_intervals = 30;

int sign_at(const Reference& reference, double x) {
  mpfr_t argument, value;
  mpfr_inits2(precision, argument, value, nullptr);
  mpfr_set_d(argument, x, MPFR_RNDN);
  reference.function(value, argument, argument);
  const int sign = mpfr_sgn(value);
  mpfr_clears(argument, value, nullptr);
  return sign;
}

/// The number next to a root between `low` and `high`, or `low` if the signs there are the same.
double root_between(const Reference& reference, double low, double high) {
  const int sign = sign_at(reference, low);
  if (sign == sign_at(reference, high)) return low;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) return low;
    (sign_at(reference, middle) == sign ? low : high) = middle;
  }
}

/// Poles, and the roots between them: digamma has one, which is where lgamma is smallest between
/// two.
std::vector<double> points_of_gamma(Op op) {
  const Reference& digamma = *find_reference(Op::digamma);
  // The last is the number nearest to a root of digamma's first 10^8 below zero.
  std::vector<double> points{1, 2, root_between(digamma, 1, 2), -2977.8808777877402};
  for (int n = 0; n < num_intervals; ++n) {
    const double pole = -n, low = std::nextafter(pole - 1, 0),
                 high = std::nextafter(pole, -infinity);
    const double root = root_between(digamma, low, std::min(high, -0x1p-60));
    points.insert(points.end(), {pole, root});
    if (op == Op::lgamma)
      for (const double end : {low, high})
        points.push_back(root_between(*find_reference(op), root, end));
  }
  return points;
}

/// Where functions are 0 or 1, or turn.
std::vector<double> ordinary_points() {
  std::vector<double> points;
  for (int n = -40; n <= 40; ++n) points.insert(points.end(), {n * 0.5, n * 1.5707963267948966});
  return points;
}

/// The y for which exp(x) + exp(y) is 1, where x is below 0.
double partner(double x) { return std::log(-std::expm1(x)); }
double partner_of_2(double x) { return std::log2(-std::expm1(x * 0.6931471805599453)); }

/// Between -1 and 1.
double fraction(std::mt19937_64& random) { return static_cast<double>(random()) * 0x1p-63 - 1; }

}  // namespace

HardInputs::HardInputs(const Reference& reference, DType dtype)
    : num_cancelled_bits_(dtype == DType::f32 ? 24 : 45) {
  if (reference.op == Op::lgamma || reference.op == Op::digamma)
    points_ = points_of_gamma(reference.op);
  else if (reference.op == Op::logaddexp)
    partner_ = partner;
  else if (reference.op == Op::logaddexp2)
    partner_ = partner_of_2;
  else
    points_ = ordinary_points();
}

void HardInputs::draw(std::mt19937_64& random, double& x, double& y) {
  const int exponent = static_cast<int>(random() % 54);
  if (partner_ != nullptr) {
    x = -std::ldexp(1 + std::abs(fraction(random)), -1 - exponent);
    // Not nearer to where the terms cancel than they are exact.
    const double apart =
        std::ldexp(1, -static_cast<int>(random() % static_cast<unsigned>(num_cancelled_bits_)));
    y = partner_(x) * (1 + (fraction(random) < 0 ? -apart : apart));
    return;
  }
  // Powers of numbers near 1 are ordinary where the exponent is large.
  y = std::ldexp(fraction(random), exponent + 8);
  // All points in turn, their neighbours in the next round but one.
  const double point = points_[num_drawn_ % points_.size()];
  const std::uint64_t round = num_drawn_++ / points_.size();
  if (round % 2 != 0) {
    x = point + std::ldexp(fraction(random), -exponent);
    return;
  }
  x = point;
  const double end = fraction(random) < 0 ? -infinity : infinity;
  for (std::uint64_t step = round / 2 % 8; step > 0; --step) x = std::nextafter(x, end);
}

}  // namespace weft::ulp
