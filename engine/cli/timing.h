// Medians of repeated calls.
#pragma once

#include <functional>

namespace weft::cli {

/// The median time of `repetitions` calls, each timed by itself.
double median_ns(const std::function<void()>& call, int repetitions);

/// The median time of a call, over batches that are long against the clock, for about `budget_s` in
/// all.  `progress` is told after each batch how much of it is done, from 0 to 1.
double steady_ns(const std::function<void()>& call, double budget_s,
                 const std::function<void(double fraction)>& progress = {});

}  // namespace weft::cli
