// What weft_cuda_bench measures.
#pragma once

#include <string>
#include <vector>

namespace weft::bench {

struct CudaWorkload {
  std::string name;
  std::string expression;            ///< over a, b, c
  std::vector<std::string> layouts;  ///< of a, b, c, then of the output
  bool is_exact = true;              ///< the same bits as on the CPU; else close to them
};

/// Of sizes several times the caches of a device; `quick` ones are for trying programs out.
std::vector<CudaWorkload> cuda_workloads(bool quick);

}  // namespace weft::bench
