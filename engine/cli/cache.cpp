// weft cache stats|clear|verify.
#include "engine/cli/command.h"

#include <weft/error.h>
#include <weft/info.h>

namespace weft::cli {

void run_cache(const CacheArguments& arguments) {
  const std::string& action = arguments.action;
  WEFT_CHECK(action == "stats" || action == "clear" || action == "verify", ArgumentError,
             "unknown action '", action, "'; there are stats, clear, verify");
  throw UnsupportedError(
      "cache " + action +
      ": the disk cache is not built yet; kernels are kept in the memory of each "
      "process only, and its folder will be " +
      engine_info().cache_folder);
}

}  // namespace weft::cli
