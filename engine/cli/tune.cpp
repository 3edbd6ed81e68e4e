// weft tune: measures this machine's thresholds, stores them, and shows which are used.
#include "engine/cli/command.h"
#include "engine/cli/progress.h"
#include "engine/cli/table.h"

#include <weft/error.h>
#include <weft/tune.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

void print(const ordered_json& json) {
  std::cout << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

/// Errors: UnsupportedError if the environment leaves no place for a file.
std::string file_to_store() {
  std::string file = tuning_file();
  WEFT_CHECK(!file.empty(), UnsupportedError,
             "there is no place for thresholds: WEFT_TUNE is off, or neither XDG_CONFIG_HOME nor "
             "HOME is set");
  return file;
}

TuneReport measured(const TuneArguments& arguments) {
  Progress progress(static_cast<int>(tuning_fields().size()));
  std::string current;
  TuneOptions options;
  if (arguments.is_quick) {
    options.most_bytes = std::int64_t{8} << 20;
    options.rounds = 3;
  }
  options.progress = [&](std::string_view threshold, double fraction) {
    if (current != threshold) progress.begin(current = threshold);
    progress.at(fraction);
  };
  return measure_tuning(options);
}

void measure(const TuneArguments& arguments) {
  const std::string file = arguments.is_trial ? std::string() : file_to_store();
  if (!file.empty()) check_tuning_file(file);
  const TuneReport report = measured(arguments);
  if (!file.empty()) store_tuning(file, report.tuning);

  const Tuning defaults;
  ordered_json json;
  json["file"] = file.empty() ? ordered_json() : ordered_json(file);
  json["thresholds"] = ordered_json::array();
  Table table({"threshold", "default", "measured", "how"});
  for (const TuningField& field : tuning_fields()) {
    const auto finding =
        std::ranges::find(report.findings, field.name, &TuneReport::Finding::threshold);
    const std::int64_t standard = defaults.*field.value;
    json["thresholds"].push_back({{"name", field.name},
                                  {"default", standard},
                                  {"measured", finding->measured},
                                  {"how", finding->how}});
    table.add({std::string(field.name),
               standard == 0 ? "by the processor" : std::to_string(standard),
               std::to_string(finding->measured), finding->how});
  }
  if (arguments.json) return print(json);
  table.print(std::cout);
  std::cout << (file.empty() ? "nothing is stored (--dry-run)" : "stored in " + file) << '\n';
}

void show(bool as_json) {
  const StoredTuning& stored = machine_tuning();
  const std::string source = stored.is_stored ? stored.file : "default";
  ordered_json json;
  json["file"] = stored.file.empty() ? ordered_json() : ordered_json(stored.file);
  json["source"] = source;
  json["ignored"] = stored.fault.empty() ? ordered_json() : ordered_json(stored.fault);
  Table table({"thresholds", stored.is_stored ? stored.file : "weft's defaults"});
  if (!stored.fault.empty()) table.add({"ignored", stored.file + ": it " + stored.fault});
  for (const TuningField& field : tuning_fields()) {
    const std::int64_t value = stored.tuning.*field.value;
    json["thresholds"].push_back({{"name", field.name}, {"value", value}});
    table.add({std::string(field.name), value == 0 ? "by the processor" : std::to_string(value)});
  }
  if (as_json) return print(json);
  table.print(std::cout);
}

void clear(bool as_json) {
  const std::string file = file_to_store();
  std::error_code error;
  const bool is_removed = std::filesystem::remove(file, error);
  WEFT_CHECK(!error, DeviceError, "cannot remove '", file, "': ", error.message());
  if (as_json) return print({{"file", file}, {"removed", is_removed}});
  std::cout << (is_removed ? "removed " : "there is no ") << file << '\n';
}

}  // namespace

void run_tune(const TuneArguments& arguments) {
  const std::string& action = arguments.action;
  if (action == "measure") return measure(arguments);
  WEFT_CHECK(action == "show" || action == "clear", ArgumentError, "unknown action '", action,
             "'; there are measure, show and clear");
  WEFT_CHECK(!arguments.is_quick && !arguments.is_trial, ArgumentError, "tune ", action,
             " takes no --quick and no --dry-run: both are for measuring");
  return action == "show" ? show(arguments.json) : clear(arguments.json);
}

}  // namespace weft::cli
