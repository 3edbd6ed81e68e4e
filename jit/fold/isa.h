// The loops of jit/fold/loops.h and jit/fold/scans.h, once an instruction set.
#pragma once

#include "jit/fold/fold.h"
#include "jit/fold/scan.h"

namespace weft::jit {

#define WEFT_FOLD_ISA(isa)                                \
  FoldLoops fold_loops_##isa(Op op, DType dtype);         \
  ExtremumLoops extremum_loops_##isa(Op op, DType dtype); \
  Scan::Run scan_##isa(Op op, DType dtype);
WEFT_FOLD_ISA(generic)
WEFT_FOLD_ISA(avx2)
WEFT_FOLD_ISA(avx512)
#undef WEFT_FOLD_ISA

}  // namespace weft::jit
