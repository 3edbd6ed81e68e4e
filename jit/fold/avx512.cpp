#define WEFT_VECTOR_BYTES 64
#include "jit/fold/loop_tables.h"
#include "jit/fold/scans.h"
#include "jit/fold/vector_calls.h"

#include "jit/fold/isa.h"

namespace weft::jit {

constinit const FoldTable fold_loops_avx512(find_loops);
constinit const ExtremumTable extremum_loops_avx512(find_extremum_loops);
constinit const ScanTable scan_avx512(find_scan);
void call_vectors_avx512(const void* function, double* out, const double* x, std::int64_t count) {
  call_vectors(function, out, x, count);
}

}  // namespace weft::jit
