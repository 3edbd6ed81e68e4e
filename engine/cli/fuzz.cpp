// weft fuzz: random expressions on every backend.
#include "engine/cli/arguments.h"
#include "engine/cli/command.h"
#include "engine/cli/table.h"

#include <weft/error.h>
#include <weft/fuzz.h>

#include <nlohmann/json.hpp>

#include <iostream>
#include <random>

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

/// An error of its own kind: what was found is weft's fault.  With JSON the error is all there is
/// to say, so that the whole case goes into its message.
[[noreturn]] void fail(const FuzzFailure& failure, bool json) {
  const std::string what = "fuzzing found a difference on " + failure.backend + ": " + failure.what;
  if (json) throw InternalError(what + "\n" + failure.command + "\n" + failure.cxx);
  std::cout << "\nbackend " << failure.backend << ": " << failure.what << "\n\n"
            << failure.command << "\n\n"
            << failure.cxx << std::flush;
  throw InternalError(what);
}

void print_json(const FuzzReport& report, std::uint64_t seed) {
  ordered_json json{{"seed", seed},
                    {"cases", report.num_cases},
                    {"rejected", report.num_rejected},
                    {"backends", ordered_json::object()}};
  for (const auto& [backend, counts] : report.backends)
    json["backends"][backend] = {{"compared", counts.compared}, {"refused", counts.refused}};
  std::cout << json.dump(2) << '\n';
}

void replay(const FuzzArguments& arguments) {
  FuzzReplay replay;
  replay.expressions = arguments.replay;
  replay.operands = arguments.operands;
  replay.outputs = arguments.outputs;
  replay.numerics = read_numerics(arguments.numerics);
  replay.seed = arguments.seed.value_or(1);
  const bool is_one = !arguments.backend.empty();
  std::vector<std::string> as_expected;
  for (const std::string& backend : is_one ? std::vector{arguments.backend} : usable_backends()) {
    replay.backend = backend;
    try {
      if (const auto failure = replay_fuzz_case(replay)) fail(*failure, arguments.json);
      as_expected.push_back(backend);
    } catch (const UnsupportedError& error) {
      if (is_one || backend == "interp") throw;  // what it refuses has nothing to compare with
      if (!arguments.json) std::cout << error.what() << '\n';
      continue;
    }
    if (!arguments.json) std::cout << backend << ": as expected\n";
  }
  if (!arguments.json) return;
  ordered_json json;
  if (is_one)
    json["backend"] = arguments.backend;
  else
    json["backends"] = as_expected;
  json["as_expected"] = true;
  std::cout << json.dump(2) << '\n';
}

}  // namespace

void run_fuzz(const FuzzArguments& arguments) {
  if (!arguments.backend.empty()) check_backend(arguments.backend);
  if (!arguments.replay.empty()) return replay(arguments);
  WEFT_CHECK(arguments.operands.empty() && arguments.outputs.empty(), ArgumentError,
             "operands and --out belong to --replay");
  WEFT_CHECK(arguments.seconds > 0, ArgumentError, "--seconds is a number above 0, not ",
             arguments.seconds);
  FuzzOptions options;
  options.seconds = arguments.seconds;
  options.seed = arguments.seed ? *arguments.seed : std::random_device()();
  if (!arguments.backend.empty()) options.backends = {arguments.backend};
  options.first_case = arguments.first_case;
  options.max_cases = arguments.max_cases;
  options.reports_crashes = true;
  // Before the work: it may not end well.
  if (!arguments.json) std::cout << "seed " << options.seed << std::endl;
  const FuzzReport report = fuzz(options);
  if (arguments.json) {
    if (report.failure) fail(*report.failure, true);
    return print_json(report, options.seed);
  }
  std::cout << report.num_cases << " cases, " << report.num_rejected << " of them no valid call\n";
  Table table({"backend", "compared", "refused"});
  for (const auto& [backend, counts] : report.backends)
    table.add({backend, std::to_string(counts.compared), std::to_string(counts.refused)});
  table.print(std::cout);
  if (!report.failure) return;
  std::cout << "case " << report.failure->case_index << " of seed " << options.seed << " fails\n";
  fail(*report.failure, false);
}

}  // namespace weft::cli
