#include "jit/fold/scan.h"

#include "jit/fold/complex_lanes.h"
#include "jit/fold/isa.h"
#include "jit/fold/log_scan.h"
#include "jit/fold/scan_steps.h"

#include <weft/cancel.h>
#include <weft/error.h>

#include <type_traits>

namespace weft::jit {
namespace {

/// Complex numbers.
template <class T, class Combine>
void run_complex(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
                 std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
                 const CancellationToken* token) {
  constexpr std::int64_t itemsize = sizeof(T);
  if (scan.run_real != nullptr && num_rows > 1 && to.row_stride_bytes == itemsize &&
      from.row_stride_bytes == itemsize)
    return scan.run_real(scan, {to.data, itemsize / 2, to.stride_bytes},
                         {from.data, itemsize / 2, from.stride_bytes}, 2 * num_rows, count, parts,
                         token);
  for (std::int64_t row = 0; row < num_rows; ++row) {
    ComplexLanes kept{std::is_same_v<Combine, ComplexSum> ? 0. : 1.};
    resume(kept, parts, row);
    const std::byte* const in = from.data + row * from.row_stride_bytes;
    std::byte* const out = to.data + row * to.row_stride_bytes;
    const auto next = [&](std::int64_t i) {
      kept = Combine::of(kept, load_complex<T>(in + i * from.stride_bytes));
      store_complex<T>(out + i * to.stride_bytes, kept);
    };
    if (!for_each_step(0, count, elements_a_look, token, next)) return;
    keep(kept, parts, row);
  }
}

/// Complex sums and products.
Scan::Run complex_scan(Op op, DType dtype) {
  if ((op != Op::add && op != Op::mul) || (dtype != DType::c64 && dtype != DType::c128))
    return nullptr;
  const auto of = [&]<class T>(std::type_identity<T>) -> Scan::Run {
    return op == Op::add ? run_complex<T, ComplexSum> : run_complex<T, ComplexProduct>;
  };
  return dtype == DType::c64 ? of(std::type_identity<c64>{}) : of(std::type_identity<c128>{});
}

}  // namespace

bool is_scan_cancelled(const CancellationToken* token) {
  return token != nullptr && token->is_cancelled();
}

Scan make_scan(Op op, DType dtype, Isa isa) {
  const auto& find = isa == Isa::avx512 ? scan_avx512 : isa == Isa::avx2 ? scan_avx2 : scan_generic;
  const char* const vectors = "run_scan of jit/fold/scans.h";
  Scan scan{op, dtype, find(op, dtype), isa, vectors};
  if (scan.run != nullptr) return scan;
  if (op == Op::logaddexp) {
    scan.run = log_scan(dtype);
    scan.source = "run_log_scan of jit/fold/log_scan.cpp";
    scan.math = &log_math(isa);
    scan.element_ns = 8;
  } else {
    scan.isa = Isa::generic;
    scan.run = extremum_scan(op, dtype);
  }
  if (scan.run == nullptr) {
    scan.run = complex_scan(op, dtype);
    scan.source = "run_complex of jit/fold/scan.cpp";
    if (op == Op::add) scan.run_real = find(op, real_dtype(dtype));
  }
  WEFT_ASSERT(scan.run != nullptr, "no scan by ", name(op), " in ", name(dtype));
  return scan;
}

}  // namespace weft::jit
