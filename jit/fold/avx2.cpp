#define WEFT_VECTOR_BYTES 32
#include "jit/fold/loop_tables.h"
#include "jit/fold/scans.h"
#include "jit/fold/vector_calls.h"

#include "jit/fold/isa.h"

namespace weft::jit {

constinit const FoldTable fold_loops_avx2(find_loops);
constinit const ExtremumTable extremum_loops_avx2(find_extremum_loops);
constinit const ScanTable scan_avx2(find_scan);
void call_vectors_avx2(const void* function, double* out, const double* x, std::int64_t count) {
  call_vectors(function, out, x, count);
}

}  // namespace weft::jit
