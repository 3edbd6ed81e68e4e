// Depth-first search over the variables, the largest coefficient first.  At every level the range
// that the remaining terms can reach and the greatest common divisor of their coefficients leave
// few values; strides, which mostly are multiples of each other, leave one or two.
#include "engine/overlap/overlap_solver.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

namespace weft {
namespace {

/// Sums beyond any machine's memory are left open; so nothing below has to look for overflow.
using Wide = __int128;
constexpr Wide largest_sum = Wide{1} << 60;

/// `coefficient * x`, both positive, x up to `bound`.
struct Term {
  std::int64_t coefficient;
  std::int64_t bound;
  std::int64_t reach_of_rest = 0;  ///< the largest sum of the terms after this one
  std::int64_t gcd_of_rest = 0;    ///< of their coefficients; 0 if there are none
};

/// The x in [0, modulus) with a * x = 1 (mod modulus).   Requires: a and modulus have no common
/// divisor.
std::int64_t inverse(std::int64_t a, std::int64_t modulus) {
  std::int64_t r0 = modulus, r1 = a % modulus;
  std::int64_t x0 = 0, x1 = 1;
  while (r1 != 0) {
    const std::int64_t quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    x0 = std::exchange(x1, x0 - quotient * x1);
  }
  return x0 < 0 ? x0 + modulus : x0;
}

std::int64_t multiply_modulo(std::int64_t a, std::int64_t b, std::int64_t modulus) {
  return static_cast<std::int64_t>(static_cast<__int128>(a) * b % modulus);
}

class Search {
 public:
  Search(std::vector<Term> terms, std::int64_t max_steps)
      : terms_(std::move(terms)), steps_left_(max_steps) {
    std::int64_t reach = 0;
    std::int64_t gcd = 0;
    for (std::size_t i = terms_.size(); i-- > 0;) {
      terms_[i].reach_of_rest = reach;
      terms_[i].gcd_of_rest = gcd;
      reach += terms_[i].coefficient * terms_[i].bound;
      gcd = std::gcd(gcd, terms_[i].coefficient);
    }
    reach_ = reach;
    gcd_ = gcd;
  }

  /// Whether the sum can be `low`, ..., or `high`.
  Solvable reach_window(std::int64_t low, std::int64_t high) {
    if (low <= 0 && high >= 0) return Solvable::yes;
    if (terms_.empty()) return Solvable::no;
    low = std::max<std::int64_t>(low, 0);
    high = std::min(high, reach_);
    for (std::int64_t sum = (low + gcd_ - 1) / gcd_ * gcd_; sum <= high; sum += gcd_) {
      const Solvable found = reach_from(0, sum);
      if (found != Solvable::no) return found;
    }
    return Solvable::no;
  }

 private:
  /// Whether terms from `index` on can make `sum`.
  Solvable reach_from(std::size_t index, std::int64_t sum) {
    if (sum == 0) return Solvable::yes;
    if (index == terms_.size()) return Solvable::no;
    if (--steps_left_ < 0) return Solvable::unknown;
    const Term& term = terms_[index];
    const std::int64_t shortfall = sum - term.reach_of_rest;
    const std::int64_t lowest =
        shortfall <= 0 ? 0 : (shortfall + term.coefficient - 1) / term.coefficient;
    std::int64_t x = std::min(term.bound, sum / term.coefficient);
    std::int64_t step = 1;
    if (term.gcd_of_rest == 0) {
      return x * term.coefficient == sum ? Solvable::yes : Solvable::no;
    }
    // What is left must be a multiple of the other coefficients' divisor.
    const std::int64_t gcd = std::gcd(term.coefficient, term.gcd_of_rest);
    if (sum % gcd != 0) return Solvable::no;
    step = term.gcd_of_rest / gcd;
    if (step > 1) {
      const std::int64_t residue =
          multiply_modulo(sum / gcd % step, inverse(term.coefficient / gcd % step, step), step);
      x -= ((x - residue) % step + step) % step;
    }
    for (; x >= lowest; x -= step) {
      const Solvable found = reach_from(index + 1, sum - x * term.coefficient);
      if (found != Solvable::no) return found;
    }
    return Solvable::no;
  }

  std::vector<Term> terms_;
  std::int64_t steps_left_;
  std::int64_t reach_ = 0;
  std::int64_t gcd_ = 0;
};

}  // namespace

Solvable solve(const std::vector<BoundedTerm>& terms, std::int64_t window_low,
               std::int64_t window_high, std::int64_t max_steps) {
  if (std::ranges::any_of(terms, [](const BoundedTerm& term) { return term.low > term.high; }))
    return Solvable::no;
  std::vector<Term> positive;
  Wide smallest_sum = 0, reach = 0;
  for (const BoundedTerm& term : terms) {
    if (term.coefficient == 0) continue;
    const Wide bound = Wide{term.high} - term.low;
    const Wide coefficient = term.coefficient;
    smallest_sum += coefficient * (coefficient < 0 ? term.high : term.low);
    reach += (coefficient < 0 ? -coefficient : coefficient) * bound;
    if (reach > largest_sum || smallest_sum > largest_sum || smallest_sum < -largest_sum)
      return Solvable::unknown;
    if (bound != 0)
      positive.push_back({std::abs(term.coefficient), static_cast<std::int64_t>(bound)});
  }
  std::ranges::sort(positive, std::greater(), &Term::coefficient);
  std::vector<Term> merged;
  for (const Term& term : positive) {
    if (!merged.empty() && merged.back().coefficient == term.coefficient) {
      merged.back().bound += term.bound;
    } else {
      merged.push_back(term);
    }
  }
  const auto base = static_cast<std::int64_t>(smallest_sum);
  return Search(std::move(merged), max_steps).reach_window(window_low - base, window_high - base);
}

std::optional<std::vector<std::int64_t>> first_solution(std::vector<BoundedTerm> terms,
                                                        std::int64_t window_low,
                                                        std::int64_t window_high) {
  if (solve(terms, window_low, window_high) != Solvable::yes) return {};
  std::vector<std::int64_t> solution;
  for (BoundedTerm& term : terms) {
    // Whether a solution lies below a bound only changes once as the bound grows.
    while (term.low < term.high) {
      const std::int64_t high = term.high;
      term.high = std::midpoint(term.low, high);
      const Solvable below = solve(terms, window_low, window_high);
      if (below == Solvable::unknown) return {};
      if (below == Solvable::yes) continue;
      term.low = term.high + 1;
      term.high = high;
    }
    solution.push_back(term.low);
  }
  return solution;
}

}  // namespace weft
