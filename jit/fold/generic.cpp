#define WEFT_VECTOR_BYTES 16
#include "jit/fold/loops.h"
#include "jit/fold/scans.h"

#include "jit/fold/isa.h"

namespace weft::jit {
namespace {

Scan::Run find_extremum_scan(Op op, DType dtype) {
  if (op != Op::maximum && op != Op::minimum) return nullptr;
  return visit_ordered(dtype, [&]<class T>(std::type_identity<T>) -> Scan::Run {
    return op == Op::maximum ? &run_scan<T, Larger> : &run_scan<T, Smaller>;
  });
}

}  // namespace

// Without AVX2 there is no compiled code either: the op's row serves.
FoldLoops fold_loops_generic(Op, DType) { return {}; }
ExtremumLoops extremum_loops_generic(Op op, DType dtype) { return find_extremum_loops(op, dtype); }
Scan::Run scan_generic(Op op, DType dtype) {
  const Scan::Run run = find_scan(op, dtype);
  return run != nullptr ? run : find_extremum_scan(op, dtype);
}

}  // namespace weft::jit
