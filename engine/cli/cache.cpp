// weft cache stats|clear|verify|export|import.
#include "engine/cli/command.h"

#include <weft/disk_cache.h>
#include <weft/error.h>

#include <nlohmann/json.hpp>

#include <iostream>

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

void print(const Json& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void print_stats(const DiskCache& cache, bool as_json) {
  const DiskCache::Content content = cache.content();
  const DiskCacheOptions& options = cache.options();
  if (as_json)
    return print({{"folder", options.folder},
                  {"mode", name(options.mode)},
                  {"entries", content.num_entries},
                  {"bytes", content.bytes},
                  {"max_bytes", options.max_bytes},
                  {"unfinished", content.num_unfinished}});
  std::cout << "folder      " << options.folder << "\nmode        " << name(options.mode)
            << "\nentries     " << content.num_entries << "\nbytes       " << content.bytes
            << " of " << options.max_bytes << "\nunfinished  " << content.num_unfinished << '\n';
}

std::string entries_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " entry" : " entries");
}

void verify(const DiskCache& cache, bool as_json) {
  const std::vector<std::string> damaged = cache.damaged();
  const std::uint64_t entries = cache.content().num_entries;
  // With an error there is one object only, the error's.
  std::string list;
  for (const std::string& line : damaged) list += "\n" + line;
  const std::string fault = cache.fault_of_folder();
  WEFT_CHECK(fault.empty(), ArgumentError, "none of ", entries,
             " entries is used: ", cache.options().folder, ' ', fault, list);
  WEFT_CHECK(damaged.empty(), ArgumentError, damaged.size(), " of ", entries,
             " entries can't be used, and will be made anew: ", damaged.front(),
             damaged.size() > 1 ? " ..." : "", list);
  if (as_json) return print({{"entries", entries}, {"damaged", 0}});
  std::cout << entries_text(entries) << ", all sound\n";
}

/// `count` entries, and what was done with them.
void print_count(std::uint64_t count, const char* done, bool as_json) {
  if (as_json) return print({{done, count}});
  std::cout << entries_text(count) << ' ' << done << '\n';
}

}  // namespace

void run_cache(const CacheArguments& arguments) {
  const std::string& action = arguments.action;
  const bool takes_file = action == "export" || action == "import";
  WEFT_CHECK(takes_file || action == "stats" || action == "clear" || action == "verify",
             ArgumentError, "unknown action '", action,
             "'; there are stats, clear, verify, export, import");
  WEFT_CHECK(takes_file == !arguments.file.empty(), ArgumentError, "cache ", action,
             takes_file ? " takes the name of a file" : " takes no file");
  const DiskCacheOptions options = DiskCacheOptions::from_environment();
  WEFT_CHECK(!options.folder.empty(), UnsupportedError,
             "there is no folder for the cache: neither WEFT_CACHE_DIR nor HOME is set");
  DiskCache cache(options);
  if (action == "stats") return print_stats(cache, arguments.json);
  if (action == "verify") return verify(cache, arguments.json);
  if (action == "clear") return print_count(cache.clear(), "removed", arguments.json);
  try {
    if (action == "export")
      print_count(cache.export_to(arguments.file), "exported", arguments.json);
    else
      print_count(cache.import_from(arguments.file), "imported", arguments.json);
  } catch (const ArgumentError& error) {
    throw ArgumentError(arguments.file + ": " + error.what());
  } catch (const DeviceError& error) {
    throw DeviceError(arguments.file + ": " + error.what());
  }
}

}  // namespace weft::cli
