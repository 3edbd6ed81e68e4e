// The loops that hand_avx2.cpp and hand_avx512.cpp write with intrinsics.  Those two files are
// compiled for more than the machine may have, so nothing inline may be shared with the rest of the
// program.
#pragma once

#include <cstdint>

namespace weft::bench {

struct HandArgs {
  void* out;
  const void* in[3];
  std::int64_t numel;
  std::int64_t num_images;  ///< normalize only
};

struct StreamArgs {
  const char* in;
  std::int64_t in_bytes;
  char* out;
  std::int64_t out_bytes;
  bool is_non_temporal;
};

struct HandLoop {
  const char* workload;
  void (*run)(const HandArgs& args);
};

/// The loops of one instruction set; the array ends with a row of nulls.
struct HandSet {
  const HandLoop* loops;
  void (*stream)(const StreamArgs& args);  ///< reads and writes so many bytes, in step
};

extern const HandSet hand_avx2;
extern const HandSet hand_avx512;

/// The better set that this machine runs, or null.
const HandSet* hand_set();

}  // namespace weft::bench
