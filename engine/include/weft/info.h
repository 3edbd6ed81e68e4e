// What this build of weft and this machine offer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

struct EngineInfo {
  struct Backend {
    std::string name;
    std::string unavailable_reason;  ///< empty: usable
  };
  /// One of CUDA's libraries, which are looked for at run time.
  struct CudaLibrary {
    std::string name;     ///< "nvrtc", "driver"
    std::string path;     ///< empty: not found
    std::string version;  ///< "13.0"
    std::string reason;   ///< what is missing and how to get it; empty: found
  };
  std::string version;
  std::string compiler;  ///< that built weft
  std::vector<Backend> backends;
  std::vector<CudaLibrary> cuda;
  std::string cpu_features;  ///< "avx512+vbmi+bf16"
  std::int64_t l1d_bytes;
  std::int64_t l2_bytes;
  std::int64_t l3_bytes;
  int num_threads;           ///< that the process may use
  std::string cache_folder;  ///< of the disk cache; empty if there is none
};

/// Opens CUDA's libraries, where there are any, to ask them for their versions.
///
/// Errors: ArgumentError if WEFT_ISA in the environment is none that this machine has.
EngineInfo engine_info();

}  // namespace weft
