#define WEFT_VECTOR_BYTES 16
#include "jit/fold/loop_tables.h"
#include "jit/fold/scans.h"

#include "jit/fold/isa.h"

namespace weft::jit {
// Without AVX2 there is no compiled code either: the op's row serves.
constinit const FoldTable fold_loops_generic([](Op, DType) { return nullptr; });
constinit const ExtremumTable extremum_loops_generic(find_extremum_loops);
constinit const ScanTable scan_generic(find_scan);

}  // namespace weft::jit
