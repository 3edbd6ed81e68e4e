#include <weft/info.h>

#include "jit/backend.h"
#include "runtime/cpu_features.h"

#include <weft/disk_cache.h>
#include <weft/parallel.h>

namespace weft {

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
  result.cache_folder = DiskCacheOptions::from_environment().folder;
  return result;
}

}  // namespace weft
