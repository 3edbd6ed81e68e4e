// The loops of jit/fold/loop_tables.h and jit/fold/scans.h, once an instruction set.  They can be
// looked up on any machine, as explain() does for another one.
#pragma once

#include "jit/fold/fold.h"
#include "jit/fold/scan.h"

#include <cstdint>

namespace weft::jit {

#define WEFT_FOLD_ISA(isa)                                       \
  const FoldLoops* fold_loops_##isa(Op op, DType dtype);         \
  const ExtremumLoops* extremum_loops_##isa(Op op, DType dtype); \
  Scan::Run scan_##isa(Op op, DType dtype);
WEFT_FOLD_ISA(generic)
#if defined(__x86_64__)
WEFT_FOLD_ISA(avx2)
WEFT_FOLD_ISA(avx512)

/// out[i] = function(x[i]) for a function of a vector of f64, in whole vectors.
void call_vectors_avx2(const void* function, double* out, const double* x, std::int64_t count);
void call_vectors_avx512(const void* function, double* out, const double* x, std::int64_t count);
#else
inline constexpr auto fold_loops_avx2 = fold_loops_generic, fold_loops_avx512 = fold_loops_generic;
inline constexpr auto extremum_loops_avx2 = extremum_loops_generic,
                      extremum_loops_avx512 = extremum_loops_generic;
inline constexpr auto scan_avx2 = scan_generic, scan_avx512 = scan_generic;
#endif
#undef WEFT_FOLD_ISA

/// For every instruction set.
Scan::Run extremum_scan(Op op, DType dtype);

}  // namespace weft::jit
