// What the processor says of itself.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace weft {

struct CpuidLeaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// All zeros where the processor has no such leaf.
inline CpuidLeaf cpuid(unsigned leaf, unsigned subleaf = 0) {
  CpuidLeaf result;
  if (!__get_cpuid_count(leaf, subleaf, &result.eax, &result.ebx, &result.ecx, &result.edx))
    return {};
  return result;
}

}  // namespace weft
#endif
