#include <weft/info.h>

#include "jit/backend.h"
#include "runtime/cpu_features.h"
#include "runtime/cuda_driver.h"

#include <weft/disk_cache.h>
#include <weft/parallel.h>

#include <utility>

namespace weft {
namespace {

EngineInfo::CudaLibrary described(std::string name, const CudaLibrary& library) {
  return {std::move(name), library.path, library.version, library.reason};
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
  result.cuda = {described("nvrtc", nvrtc().library), described("driver", cuda_driver().library)};
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
