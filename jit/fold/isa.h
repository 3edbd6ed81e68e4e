// The loops of jit/fold/loop_tables.h and jit/fold/scans.h, once an instruction set.
#pragma once

#include "jit/fold/fold.h"
#include "jit/fold/scan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::jit {

/// By op and dtype a pointer, or null, as for all other ops.  Data, so that none of the
/// instructions that the loops are compiled with is taken to look one up: explain() does so for
/// machines other than this one.
template <class Pointer, Op... ops>
class LoopTable {
 public:
  template <class Find>
  constexpr explicit LoopTable(const Find& find) {
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (const DType dtype : all_dtypes)
        entries_[row][static_cast<std::size_t>(dtype)] = find(rows[row], dtype);
  }

  Pointer operator()(Op op, DType dtype) const {
    const auto found = std::ranges::find(rows, op);
    if (found == rows.end()) return nullptr;
    return entries_[static_cast<std::size_t>(found - rows.begin())]
                   [static_cast<std::size_t>(dtype)];
  }

 private:
  static constexpr std::array rows{ops...};
  std::array<std::array<Pointer, num_dtypes>, sizeof...(ops)> entries_{};
};
using FoldTable = LoopTable<const FoldLoops*, Op::add, Op::mul, Op::bitwise_or, Op::bitwise_and,
                            Op::maximum, Op::minimum>;
using ExtremumTable = LoopTable<const ExtremumLoops*, Op::maximum, Op::minimum>;
using ScanTable = LoopTable<Scan::Run, Op::add, Op::mul>;

#define WEFT_FOLD_ISA(isa)                         \
  extern const FoldTable fold_loops_##isa;         \
  extern const ExtremumTable extremum_loops_##isa; \
  extern const ScanTable scan_##isa;
WEFT_FOLD_ISA(generic)
#if defined(__x86_64__)
WEFT_FOLD_ISA(avx2)
WEFT_FOLD_ISA(avx512)

/// out[i] = function(x[i]) for a function of a vector of f64, in whole vectors.
void call_vectors_avx2(const void* function, double* out, const double* x, std::int64_t count);
void call_vectors_avx512(const void* function, double* out, const double* x, std::int64_t count);
#else
inline constexpr auto &fold_loops_avx2 = fold_loops_generic,
                      &fold_loops_avx512 = fold_loops_generic;
inline constexpr auto &extremum_loops_avx2 = extremum_loops_generic,
                      &extremum_loops_avx512 = extremum_loops_generic;
inline constexpr auto &scan_avx2 = scan_generic, &scan_avx512 = scan_generic;
#endif
#undef WEFT_FOLD_ISA

/// For every instruction set.
Scan::Run extremum_scan(Op op, DType dtype);

}  // namespace weft::jit
