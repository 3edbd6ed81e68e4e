#include "engine/cli/timing.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace weft::cli {
namespace {

double batch_ns(const std::function<void()>& call, std::int64_t count) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) call();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(count);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

double median_ns(const std::function<void()>& call, int repetitions) {
  std::vector<double> samples;
  samples.reserve(static_cast<std::size_t>(std::max(0, repetitions)));
  for (int i = 0; i < repetitions; ++i) samples.push_back(batch_ns(call, 1));
  return median(std::move(samples));
}

double steady_ns(const std::function<void()>& call, double budget_s,
                 const std::function<void(double fraction)>& progress) {
  constexpr double batch_target_ns = 200e3;
  const double first = std::max(1.0, batch_ns(call, 1));
  // The first call may have met cold caches, so the size of the batches is set by a second look.
  const auto trial = static_cast<std::int64_t>(std::clamp(batch_target_ns / first, 1.0, 1e5));
  const double warm = std::max(0.5, batch_ns(call, trial));
  const auto count = static_cast<std::int64_t>(std::clamp(batch_target_ns / warm, 1.0, 1e7));
  const double spent_a_batch = warm * static_cast<double>(count);
  const auto batches = static_cast<int>(std::clamp(budget_s * 1e9 / spent_a_batch, 1.0, 1001.0));
  std::vector<double> samples;
  samples.reserve(static_cast<std::size_t>(batches));
  for (int i = 0; i < batches; ++i) {
    samples.push_back(batch_ns(call, count));
    if (progress) progress(static_cast<double>(i + 1) / batches);
  }
  return median(std::move(samples));
}

}  // namespace weft::cli
