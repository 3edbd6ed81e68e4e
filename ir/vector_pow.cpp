#include "ir/vector_pow.h"

#include <atomic>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::ir {
namespace {

/// The library's function for so many lanes, written once it is found.
template <int lanes>
constinit std::atomic<const void*> library_power{nullptr};

template <int lanes>
const void* wrapped(const void* library, const void* wrapper) {
  library_power<lanes> = library;
  return wrapper;
}

double scalar_power(double x, double y) {
  using Function = double (*)(double, double);
  const auto library = reinterpret_cast<Function>(
      const_cast<void*>(library_power<1>.load(std::memory_order_relaxed)));
  return power_below_infinity(library(x, y), x, y);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] inline bool has_infinity(__m128d x) {
  const __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), x);
  return _mm_movemask_pd(_mm_cmpeq_pd(size, _mm_set1_pd(HUGE_VAL))) != 0;
}
[[gnu::target("avx2")]] inline bool has_infinity(__m256d x) {
  const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
  return _mm256_movemask_pd(_mm256_cmp_pd(size, _mm256_set1_pd(HUGE_VAL), _CMP_EQ_OQ)) != 0;
}
[[gnu::target("avx512f")]] inline bool has_infinity(__m512d x) {
  return _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(HUGE_VAL), _CMP_EQ_OQ) != 0;
}

// A function for each width, because one that takes vectors in registers is compiled for them.
#define WEFT_POWER(name, lanes, Vector, isa)                                                 \
  [[gnu::target(isa)]] Vector name(Vector x, Vector y) {                                     \
    using Function = Vector (*)(Vector, Vector);                                             \
    Vector power = reinterpret_cast<Function>(                                               \
        const_cast<void*>(library_power<lanes>.load(std::memory_order_relaxed)))(x, y);      \
    if (has_infinity(power)) [[unlikely]]                                                    \
      for (int i = 0; i < lanes; ++i) power[i] = power_below_infinity(power[i], x[i], y[i]); \
    return power;                                                                            \
  }
WEFT_POWER(power_of_two_lanes, 2, __m128d, "avx2")
WEFT_POWER(power_of_four_lanes, 4, __m256d, "avx2")
WEFT_POWER(power_of_eight_lanes, 8, __m512d, "avx512f")
#undef WEFT_POWER
#endif

}  // namespace

const void* power_function(std::string_view symbol, const void* library) {
  const auto is = [&](std::string_view part) { return symbol.find(part) != symbol.npos; };
  if (is("_powd1_")) return wrapped<1>(library, reinterpret_cast<const void*>(scalar_power));
#if defined(__x86_64__)
  if (is("_powd2_")) return wrapped<2>(library, reinterpret_cast<const void*>(power_of_two_lanes));
  if (is("_powd4_")) return wrapped<4>(library, reinterpret_cast<const void*>(power_of_four_lanes));
  if (is("_powd8_"))
    return wrapped<8>(library, reinterpret_cast<const void*>(power_of_eight_lanes));
#endif
  return nullptr;
}

}  // namespace weft::ir
