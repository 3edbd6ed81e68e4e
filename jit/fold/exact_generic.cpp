#define WEFT_VECTOR_BYTES 16
#include "jit/fold/exact_loops.h"

namespace weft::jit {

const ExactLoops* exact_loops_generic(DType dtype) { return find_exact_loops(dtype); }

}  // namespace weft::jit
