// weft info: what this build and this machine offer.
#include "engine/cli/command.h"
#include "engine/cli/table.h"

#include <weft/info.h>

#include <nlohmann/json.hpp>

#include <iostream>

namespace weft::cli {

void run_info(const InfoArguments& arguments) {
  const EngineInfo info = engine_info();
  if (arguments.json) {
    using nlohmann::ordered_json;
    ordered_json json;
    json["version"] = info.version;
    json["compiler"] = info.compiler;
    json["backends"] = ordered_json::array();
    for (const EngineInfo::Backend& backend : info.backends) {
      json["backends"].push_back({{"name", backend.name},
                                  {"available", backend.unavailable_reason.empty()},
                                  {"reason", backend.unavailable_reason}});
    }
    for (const EngineInfo::CudaLibrary& library : info.cuda) {
      json["cuda"][library.name] = {
          {"path", library.path}, {"version", library.version}, {"reason", library.reason}};
    }
    json["cpu"] = {{"features", info.cpu_features},
                   {"l1d_bytes", info.l1d_bytes},
                   {"l2_bytes", info.l2_bytes},
                   {"l3_bytes", info.l3_bytes}};
    json["threads"] = info.num_threads;
    json["cache_folder"] = info.cache_folder;
    std::cout << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
    return;
  }
  Table table({"weft", info.version + " (" + info.compiler + ")"});
  for (const EngineInfo::Backend& backend : info.backends) {
    const std::string& reason = backend.unavailable_reason;
    table.add({"backend " + backend.name, reason.empty() ? "available" : "no: " + reason});
  }
  for (const EngineInfo::CudaLibrary& library : info.cuda) {
    table.add({"cuda " + library.name, library.reason.empty()
                                           ? library.version + " (" + library.path + ")"
                                           : "no: " + library.reason});
  }
  table.add({"cpu", info.cpu_features});
  table.add({"caches", std::to_string(info.l1d_bytes >> 10) + " KiB L1d, " +
                           std::to_string(info.l2_bytes >> 10) + " KiB L2, " +
                           std::to_string(info.l3_bytes >> 10) + " KiB L3"});
  table.add({"threads", std::to_string(info.num_threads)});
  table.add({"cache folder", info.cache_folder});
  table.print(std::cout);
}

}  // namespace weft::cli
