#include <weft/fuzz.h>

#include "engine/fuzz/crash_report.h"
#include "engine/fuzz/generate.h"
#include "engine/fuzz/shrink.h"

#include <weft/error.h>
#include <weft/info.h>

#include <chrono>

namespace weft {
namespace {

using fuzzing::Case, fuzzing::Engines, fuzzing::Finding, fuzzing::Outcome;

std::vector<std::string> usable_backends() {
  std::vector<std::string> result;
  for (const EngineInfo::Backend& backend : engine_info().backends)
    if (backend.unavailable_reason.empty() && backend.name != "interp")
      result.push_back(backend.name);
  return result;
}

FuzzFailure failure_of(const Case& fuzz_case, Finding finding, Engines& engines) {
  const std::string backend = finding.backend;
  const Case smallest = fuzzing::shrink(fuzz_case, finding, [&](const Case& candidate) {
    Outcome outcome{};
    return fuzzing::check_case(candidate, backend, engines, outcome);
  });
  FuzzFailure failure;
  failure.backend = finding.backend;
  failure.what = finding.what;
  failure.command = fuzzing::command_text(smallest, finding.backend);
  failure.cxx = fuzzing::cxx_text(smallest, finding.backend);
  return failure;
}

}  // namespace

FuzzReport fuzz(const FuzzOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  std::vector<std::string> backends = options.backends;
  if (backends.empty()) backends = usable_backends();
  std::erase(backends, "interp");
  backends.insert(backends.begin(), "interp");  // what the others are compared with comes first

  const fuzzing::CrashReport crash_report(options.reports_crashes);
  Engines engines;
  FuzzReport report;
  for (const std::string& backend : backends) report.backends[backend];
  for (std::uint64_t index = options.first_case; Clock::now() < end; ++index) {
    if (options.max_cases && index - options.first_case == *options.max_cases) break;
    const Case fuzz_case = fuzzing::generate_case(options.seed, index);
    ++report.num_cases;
    for (const std::string& backend : backends) {
      if (options.reports_crashes) crash_report.describe(fuzzing::command_text(fuzz_case, backend));
      Outcome outcome{};
      const auto finding = fuzzing::check_case(fuzz_case, backend, engines, outcome);
      if (finding) {
        report.failure = failure_of(fuzz_case, *finding, engines);
        report.failure->case_index = index;
        return report;
      }
      if (outcome == Outcome::refused) ++report.backends[backend].refused;
      if (outcome == Outcome::compared) ++report.backends[backend].compared;
      if (outcome == Outcome::rejected && backend == "interp") ++report.num_rejected;
    }
    engines.count_case();
  }
  return report;
}

std::optional<FuzzFailure> replay_fuzz_case(const FuzzReplay& replay) {
  const Case fuzz_case = fuzzing::parse_case(replay);
  Engines engines;
  Outcome outcome{};
  const auto finding = fuzzing::check_case(fuzz_case, replay.backend, engines, outcome);
  if (finding) return failure_of(fuzz_case, *finding, engines);
  WEFT_CHECK(outcome != Outcome::rejected, ArgumentError,
             "the call is not valid: every backend throws the same error");
  WEFT_CHECK(outcome != Outcome::refused, UnsupportedError, "backend ", replay.backend,
             " refuses this call");
  return {};
}

}  // namespace weft
