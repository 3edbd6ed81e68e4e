#include <weft/info.h>

#include "jit/backend.h"
#include "runtime/cpu_features.h"
#include "runtime/parallel.h"

#include <cstdlib>

namespace weft {
namespace {

std::string cache_folder() {
  const char* const cache_home = std::getenv("XDG_CACHE_HOME");
  // The XDG specification has relative paths ignored.
  if (cache_home != nullptr && cache_home[0] == '/') return std::string(cache_home) + "/weft";
  const char* const home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "") + "/.cache/weft";
}

}  // namespace

EngineInfo engine_info() {
  EngineInfo result;
  result.version = WEFT_VERSION;
#if defined(__clang__)
  result.compiler = "clang " __clang_version__;
#else
  result.compiler = "gcc " __VERSION__;
#endif
  for (const char* name : {"interp", "xbyak", "llvm", "nvrtc"}) {
    result.backends.push_back({name, jit::unavailable_reason(name)});
  }
  const CpuFeatures& features = host_features();
  result.cpu_features = features.text();
  result.l1d_bytes = features.l1d_bytes;
  result.l2_bytes = features.l2_bytes;
  result.l3_bytes = features.l3_bytes;
  result.num_threads = num_threads();
  result.cache_folder = cache_folder();
  return result;
}

}  // namespace weft
