// Sums and products of short rows, one row after the other: no vectors, so that every instruction
// set shares them.
#include "jit/fold/scans.h"

namespace weft::jit {
namespace {

/// A row of sums or products, in several parts if it is long: what `kept` has so far is taken up.
template <class T, class Combine>
struct Row {
  const std::byte* x;
  std::byte* y;
  KeptBy<T, Combine> kept;

  Row(const ScanOperand& to, const ScanOperand& from, std::int64_t row)
      : x(from.data + row * from.row_stride_bytes),
        y(to.data + row * to.row_stride_bytes),
        kept(element_at(reinterpret_cast<const T*>(x))) {
    if constexpr (std::is_same_v<Combine, Sum>) kept = Sum::of(decltype(kept)(0), kept);  // -0
    put_at(reinterpret_cast<T*>(y), static_cast<T>(kept));
  }
  [[gnu::always_inline]] void next(const ScanOperand& to, const ScanOperand& from) {
    x += from.stride_bytes;
    y += to.stride_bytes;
    kept = Combine::of(kept, element_at(reinterpret_cast<const T*>(x)));
    put_at(reinterpret_cast<T*>(y), static_cast<T>(kept));
  }
};

/// Few neighbours may be long.
template <class T, class Combine>
[[gnu::noinline]] void scan_long_rows(const ScanOperand& to, const ScanOperand& from,
                                      std::int64_t num_rows, std::int64_t count,
                                      const CancellationToken* token) {
  for (std::int64_t number = 0; number < num_rows; ++number) {
    Row<T, Combine> row(to, from, number);
    const auto next = [&](std::int64_t) __attribute__((always_inline)) { row.next(to, from); };
    if (!for_each_step(1, count, elements_a_look, token, next)) return;
  }
}

template <class T, class Combine>
void scan_each_row(const Scan&, const ScanOperand& to, const ScanOperand& from,
                   std::int64_t num_rows, std::int64_t count, const ScanParts&,
                   const CancellationToken* token) {
  if (count > elements_a_look) return scan_long_rows<T, Combine>(to, from, num_rows, count, token);
  const auto scan_row = [&](std::int64_t number) __attribute__((always_inline)) {
    Row<T, Combine> row(to, from, number);
    for (std::int64_t i = 1; i < count; ++i) row.next(to, from);
  };
  for_each_step(0, num_rows, elements_a_look / count, token, scan_row);
}

}  // namespace

Scan one_row_after_the_other(Scan scan) {
  const Scan::Run run = arithmetic_scan(
      scan.op, scan.dtype, []<class T, class Combine>() { return &scan_each_row<T, Combine>; });
  if (run == nullptr) return scan;
  scan.run = run;
  scan.isa = Isa::generic;
  scan.source = "scan_each_row of jit/fold/short_scan.cpp";
  return scan;
}

}  // namespace weft::jit
