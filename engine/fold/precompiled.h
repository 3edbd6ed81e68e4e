// The loops of folds and scans that were compiled with weft, for explanations: which of them a plan
// runs, and what their machine code looks like.
#pragma once

#include "jit/assembly_loops.h"
#include "jit/throughput.h"
#include "runtime/cpu_features.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft {

struct FoldPlan;

/// One such function.
struct PrecompiledLoop {
  std::string name;                ///< "Loops::rows of jit/fold/loops.h, maximum f32"
  Isa isa = Isa::generic;          ///< that it is compiled for
  const void* entry = nullptr;     ///< where it begins, in this process
  std::string purpose;             ///< "folds rows to one element each"
  std::int64_t element_bytes = 0;  ///< of what its hot loop reads; 0: it also reads other things
  /// Loops of it that read more in an iteration don't run: they are for more rows than there are.
  std::int64_t most_loaded_bytes = std::numeric_limits<std::int64_t>::max();
  /// Of a loop that loads so many, what it folds the others into.
  std::int64_t kept_bytes = 0;
};

/// Those that run_fold() calls for whole blocks; the first one does most of the work.  Empty where
/// there is code for the fold from the first call on, or nothing is read.
std::vector<PrecompiledLoop> precompiled_loops(const FoldPlan& plan);

/// The machine code of one.
struct LoopListing {
  std::string text;            ///< its name, and the code; or why there is no code to be seen
  jit::AssemblyLoops loops;    ///< found in the code
  std::int64_t elements = 0;   ///< of an iteration of the hot loop; 0: not known
  jit::Throughput throughput;  ///< of the hot loop
};
LoopListing list_loop(const PrecompiledLoop& loop);

}  // namespace weft
