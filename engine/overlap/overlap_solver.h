// Bounded integer equations: is there a choice of the variables for which a sum falls into a
// window? That is what overlap of strided views comes down to.  Exact; NP-hard in general, and
// quick for strides.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

/// `coefficient * x` with x in [low, high].
struct BoundedTerm {
  std::int64_t coefficient;
  std::int64_t low;
  std::int64_t high;
};

enum class Solvable : std::uint8_t {
  no,
  yes,
  unknown,  ///< the search was given up
};

/// Steps of the search after which it is given up.
inline constexpr std::int64_t default_solver_steps = 1 << 18;

/// Whether window_low <= sum of the terms <= window_high for some choice of the variables.
///
/// Unknown, too, where sums of the terms go beyond 2^60: no machine has such differences of
/// addresses, but layouts without memory do.
Solvable solve(const std::vector<BoundedTerm>& terms, std::int64_t window_low,
               std::int64_t window_high, std::int64_t max_steps = default_solver_steps);

/// The solution with the smallest value of the first term's variable, then of the second's, and so
/// on; nothing if there is none, or if the search was given up.
std::optional<std::vector<std::int64_t>> first_solution(std::vector<BoundedTerm> terms,
                                                        std::int64_t window_low,
                                                        std::int64_t window_high);

}  // namespace weft
