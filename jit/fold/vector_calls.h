// Calls of a vector function over arrays.  Like jit/fold/loops.h this is compiled once an
// instruction set: everything has internal linkage and no function of the standard library is used.
#pragma once

#include <immintrin.h>
#include <cstdint>

namespace weft::jit {
namespace {

#if defined(__AVX512F__)
using Doubles = __m512d;
inline Doubles load_doubles(const double* x) { return _mm512_loadu_pd(x); }
inline void store_doubles(double* x, Doubles value) { _mm512_storeu_pd(x, value); }
#else
using Doubles = __m256d;
inline Doubles load_doubles(const double* x) { return _mm256_loadu_pd(x); }
inline void store_doubles(double* x, Doubles value) { _mm256_storeu_pd(x, value); }
#endif

/// Whole vectors, the last of which may begin within `count` and end behind.
inline void call_vectors(const void* function, double* out, const double* x, std::int64_t count) {
  constexpr auto lanes = static_cast<std::int64_t>(sizeof(Doubles) / sizeof(double));
  const auto of =
      reinterpret_cast<Doubles (*)(Doubles)>(reinterpret_cast<std::uintptr_t>(function));
  for (std::int64_t i = 0; i < count; i += lanes) store_doubles(out + i, of(load_doubles(x + i)));
}

}  // namespace
}  // namespace weft::jit
