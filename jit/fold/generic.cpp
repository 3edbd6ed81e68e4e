#define WEFT_VECTOR_BYTES 16
#include "jit/fold/loop_tables.h"
#include "jit/fold/scans.h"

#include "jit/fold/isa.h"

namespace weft::jit {
// Without AVX2 there is no compiled code either: the op's row serves.
const FoldLoops* fold_loops_generic(Op, DType) { return nullptr; }
const ExtremumLoops* extremum_loops_generic(Op op, DType dtype) {
  return find_extremum_loops(op, dtype);
}
Scan::Run scan_generic(Op op, DType dtype) { return find_scan(op, dtype); }

}  // namespace weft::jit
