#define WEFT_VECTOR_BYTES 32
#include "jit/fold/loop_tables.h"
#include "jit/fold/scans.h"
#include "jit/fold/vector_calls.h"

#include "jit/fold/isa.h"

namespace weft::jit {

const FoldLoops* fold_loops_avx2(Op op, DType dtype) { return find_loops(op, dtype); }
const ExtremumLoops* extremum_loops_avx2(Op op, DType dtype) {
  return find_extremum_loops(op, dtype);
}
Scan::Run scan_avx2(Op op, DType dtype) { return find_scan(op, dtype); }
void call_vectors_avx2(const void* function, double* out, const double* x, std::int64_t count) {
  call_vectors(function, out, x, count);
}

}  // namespace weft::jit
