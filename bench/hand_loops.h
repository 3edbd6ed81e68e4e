// The loops that hand_avx2.cpp, hand_layouts_avx2.cpp, hand_folds_avx512.cpp, hand_avx512.cpp and
// hand_layouts_avx512.cpp write with intrinsics.
// Those files are compiled for more than the machine may have, so nothing inline may be shared with
// the rest of the program.
#pragma once

#include <cstdint>

namespace weft::bench {

/// From so many bytes on, read and written together, loops that stream store past the caches.
constexpr std::int64_t streamed_bytes = std::int64_t{24} << 20;

struct HandArgs {
  void* out;
  const void* in[3];
  std::int64_t numel;
  std::int64_t size[6];  ///< of the output, as the table of workloads has it; 1 where it has fewer
  std::int64_t in_size[6];  ///< of the first input
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

/// The loops of one instruction set; each array ends with a row of nulls.
struct HandSet {
  const HandLoop* loops;
  const HandLoop* layouts;                 ///< loops over operands that lie differently
  const HandLoop* folds;                   ///< loops that reduce
  void (*stream)(const StreamArgs& args);  ///< reads and writes so many bytes, in step
};

extern const HandLoop hand_layouts_avx2[];
extern const HandLoop hand_layouts_avx512[];
extern const HandLoop hand_folds_avx512[];
extern const HandSet hand_avx2;
extern const HandSet hand_avx512;

/// The better set that this machine runs, or null.
const HandSet* hand_set();

}  // namespace weft::bench
