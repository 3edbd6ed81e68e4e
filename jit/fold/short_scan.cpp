// Sums and products of short rows, one row after the other: no vectors, so that every instruction
// set shares them.
#include "jit/fold/scans.h"

namespace weft::jit {
namespace {

template <class T, class Combine>
void scan_each_row(const Scan&, const ScanOperand& to, const ScanOperand& from,
                   std::int64_t num_rows, std::int64_t count, const ScanParts&,
                   const CancellationToken* token) {
  const auto next = [&](std::int64_t row) __attribute__((always_inline)) {
    const std::byte* x = from.data + row * from.row_stride_bytes;
    std::byte* y = to.data + row * to.row_stride_bytes;
    auto kept = static_cast<KeptBy<T, Combine>>(*reinterpret_cast<const T*>(x));
    if constexpr (std::is_same_v<Combine, Sum>) kept = Sum::of(decltype(kept)(0), kept);  // -0
    *reinterpret_cast<T*>(y) = static_cast<T>(kept);
    for (std::int64_t i = 1; i < count; ++i) {
      x += from.stride_bytes;
      y += to.stride_bytes;
      kept = Combine::of(kept, *reinterpret_cast<const T*>(x));
      *reinterpret_cast<T*>(y) = static_cast<T>(kept);
    }
  };
  const std::int64_t rows_a_look = elements_a_look / count;
  for_each_step(0, num_rows, rows_a_look > 0 ? rows_a_look : 1, token, next);
}

}  // namespace

Scan::Run short_scan(Op op, DType dtype) {
  return arithmetic_scan(op, dtype,
                         []<class T, class Combine>() { return &scan_each_row<T, Combine>; });
}

}  // namespace weft::jit
