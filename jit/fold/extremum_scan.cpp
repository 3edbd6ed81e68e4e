// Scans of extrema.  They are compiled once: what bounds them is the order of their elements.
#define WEFT_VECTOR_BYTES 16
#include "jit/fold/ordered.h"
#include "jit/fold/scans.h"

#include "jit/fold/isa.h"

#include <type_traits>

namespace weft::jit {

Scan::Run extremum_scan(Op op, DType dtype) {
  if (op != Op::maximum && op != Op::minimum) return nullptr;
  return visit_ordered(dtype, [&]<class T>(std::type_identity<T>) -> Scan::Run {
    if constexpr (std::is_floating_point_v<T>)
      return op == Op::maximum ? &run_scan<T, Larger> : &run_scan<T, Smaller>;
    else if constexpr (sizeof(T) == 1)  // the signs that the oldest processors have maxima of
      return &run_scan<std::uint8_t, Larger>;
    else
      return &run_scan<std::make_signed_t<T>, Larger>;
  });
}

}  // namespace weft::jit
