// Scans of extrema.  They are compiled once: what bounds them is the order of their elements.
#define WEFT_VECTOR_BYTES 16
#include "jit/fold/ordered.h"
#include "jit/fold/scans.h"

#include "jit/fold/isa.h"

#include <type_traits>

namespace weft::jit {
namespace {

/// The last that no other is beyond, by `Combine`.
template <class T, class Combine>
void run_places(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
                std::int64_t num_rows, std::int64_t count, std::int64_t first, std::int64_t step,
                const ScanParts& parts, const CancellationToken* token) {
  const auto as = order_of<T, Combine>(scan);
  struct Found {
    T best;
    std::int64_t place;
  };
  for (std::int64_t row = 0; row < num_rows; ++row) {
    Found found{as(element_at(at<T>(from, row, 0))), first};
    resume(found, parts, row);
    const auto next = [&](std::int64_t i) {
      const T x = as(element_at(at<T>(from, row, i)));
      const bool is_later = std::is_same_v<Combine, Larger> ? x >= found.best : x <= found.best;
      if (x != x || is_later) found = {x, first + i * step};
      put_at(at<std::int64_t>(to, row, i), found.place);
    };
    if (!for_each_step(0, count, elements_a_look, token, next)) return;
    keep(found, parts, row);
  }
}

/// `function(std::type_identity<T>)` and the ops of it: those of integers are turned around.
template <class Result, class Function>
Result visit_extremum(Op op, DType dtype, const Function& function) {
  return visit_ordered(dtype, [&]<class T>(std::type_identity<T>) -> Result {
    if constexpr (std::is_floating_point_v<T>)
      return op == Op::maximum ? function.template operator()<T, Larger>()
                               : function.template operator()<T, Smaller>();
    else if constexpr (sizeof(T) == 1)  // the signs that the oldest processors have maxima of
      return function.template operator()<std::uint8_t, Larger>();
    else
      return function.template operator()<std::make_signed_t<T>, Larger>();
  });
}

}  // namespace

Scan::Run extremum_scan(Op op, DType dtype) {
  if (op != Op::maximum && op != Op::minimum) return nullptr;
  return visit_extremum<Scan::Run>(op, dtype,
                                   []<class T, class Combine>() { return &run_scan<T, Combine>; });
}

PlaceScan make_place_scan(Op op, DType dtype) {
  return visit_extremum<PlaceScan>(
      op, dtype, []<class T, class Combine>() { return &run_places<T, Combine>; });
}

}  // namespace weft::jit
