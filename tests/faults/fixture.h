// Runs work with each fault that it can meet, and looks at what comes of it.
#pragma once

#include "tests/faults/inject.h"

#include <weft.h>
#include <weft/engine.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/temporary_folder.h"

namespace weft::faults {

/// Some work and what it computes, as a number.
using Scenario = std::function<std::uint64_t()>;

class Faults : public testing::Test {
 protected:
  const std::string& folder() const { return folder_; }

  /// Runs the scenario with each fault.  What a fault leaves behind once is what is kept for good,
  /// such as a table made on first use; what is left behind each time is a leak.
  static void run_with_faults(Kind kind, const Scenario& scenario);

 private:
  const TemporaryFolder temporary_{memory_folder()};
  const std::string folder_ = temporary_.path();
};

/// What the scenario makes of a fault: "" if its outcome is as it has to be, the right result or a
/// typed error.
std::string outcome_of(Kind kind, std::int64_t nth, Injection::Span span, const Scenario& scenario,
                       std::uint64_t expected, bool& has_hit);

/// No scenario has so many calls that can fail.
inline constexpr std::int64_t most_faults = 20000;

EngineOptions options_with(std::string backend, std::string tiers);
std::uint64_t hash_of(Engine& engine, const Tensor& tensor);
/// Two expressions and a copy, all of which a new engine compiles.
std::uint64_t first_calls(const EngineOptions& options);

}  // namespace weft::faults
