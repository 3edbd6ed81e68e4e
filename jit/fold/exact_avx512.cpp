#define WEFT_VECTOR_BYTES 64
#include "jit/fold/exact_loops.h"

namespace weft::jit {

const ExactLoops* exact_loops_avx512(DType dtype) { return find_exact_loops(dtype); }

}  // namespace weft::jit
