#include "ir/library_repairs.h"

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::ir {
namespace {

/// What is left of an angle without quarter turns, and how many of these there were.
struct Reduced {
  long double rest;
  std::int64_t quarters;
};

/// Three parts of pi / 2 are right to 2^-164, and a product with a whole number is two numbers.
/// What rounding takes from each sum is kept.
Reduced reduce(double x) {
  constexpr double half_pi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                -0x1.f1976b7ed8fbcp-110};
  const double turns = std::nearbyint(x * 0.63661977236758134);
  double sum = x, lost = 0;
  const auto add = [&](double part) {
    const double whole = sum + part, added = whole - sum;
    lost += (sum - (whole - added)) + (part - added);
    sum = whole;
  };
  for (const double part : half_pi) {
    const double product = turns * part;
    add(-product);
    add(-std::fma(turns, part, -product));
  }
  return {static_cast<long double>(sum) + lost, static_cast<std::int64_t>(turns)};
}

double of_quarters(const Reduced& angle, std::int64_t quarters) {
  const long double value = (quarters & 1) == 0 ? std::sin(angle.rest) : std::cos(angle.rest);
  return static_cast<double>((quarters & 2) == 0 ? value : -value);
}

/// The library's function for so many lanes, written once it is found.
template <Op op, int lanes>
constinit std::atomic<const void*> library_function{nullptr};

template <Op op>
[[gnu::noinline]] void repair(double* values, const double* x, int lanes) {
  for (int i = 0; i < lanes; ++i) values[i] = repaired<op>(values[i], x[i]);
}

template <Op op>
double scalar(double x) {
  const auto library =
      reinterpret_cast<double (*)(double)>(const_cast<void*>(library_function<op, 1>.load()));
  return repaired<op>(library(x), x);
}

#if defined(__x86_64__)
/// Whether some lane may have to be repaired.
[[gnu::target("avx2")]] inline bool has_far(__m128d x) {
  const __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), x);
  return _mm_movemask_pd(_mm_cmpge_pd(size, _mm_set1_pd(first_turned_far))) != 0;
}
[[gnu::target("avx2")]] inline bool has_far(__m256d x) {
  const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
  return _mm256_movemask_pd(_mm256_cmp_pd(size, _mm256_set1_pd(first_turned_far), _CMP_GE_OQ)) != 0;
}
[[gnu::target("avx512f")]] inline bool has_far(__m512d x) {
  return _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(first_turned_far), _CMP_GE_OQ) != 0;
}

// A function for each width, because one that takes vectors in registers is compiled for them.
#define WEFT_REPAIR(op, lanes, Vector, isa)                                                  \
  [[gnu::target(isa)]] Vector op##_##lanes(Vector x) {                                       \
    Vector value = reinterpret_cast<Vector (*)(Vector)>(                                     \
        const_cast<void*>(library_function<Op::op, lanes>.load()))(x);                       \
    if (has_far(x)) [[unlikely]]                                                             \
      repair<Op::op>(reinterpret_cast<double*>(&value), reinterpret_cast<const double*>(&x), \
                     lanes);                                                                 \
    return value;                                                                            \
  }
#define WEFT_REPAIR_WIDTHS(op)        \
  WEFT_REPAIR(op, 2, __m128d, "avx2") \
  WEFT_REPAIR(op, 4, __m256d, "avx2") \
  WEFT_REPAIR(op, 8, __m512d, "avx512f")
WEFT_REPAIR_WIDTHS(library_sin)
WEFT_REPAIR_WIDTHS(library_cos)
WEFT_REPAIR_WIDTHS(library_tan)
#undef WEFT_REPAIR_WIDTHS
#undef WEFT_REPAIR
#endif

struct Row {
  std::string_view part;  ///< of the name that no other function's has
  std::atomic<const void*>& replaced;
  const void* function;
};

template <class Function>
const void* address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

double sin_of_far(double x) {
  const Reduced angle = reduce(x);
  return of_quarters(angle, angle.quarters);
}

double cos_of_far(double x) {
  const Reduced angle = reduce(x);
  return of_quarters(angle, angle.quarters + 1);
}

double tan_of_far(double x) {
  const Reduced angle = reduce(x);
  const long double value = std::tan(angle.rest);
  return static_cast<double>((angle.quarters & 1) == 0 ? value : -1 / value);
}

const void* repaired_function(std::string_view symbol, const void* library) {
  static const Row rows[] = {
#define WEFT_ROW(part, op, lanes, function) \
  {part, library_function<Op::op, lanes>, address(function)}
    WEFT_ROW("_sind1_", library_sin, 1, scalar<Op::library_sin>),
    WEFT_ROW("_cosd1_", library_cos, 1, scalar<Op::library_cos>),
    WEFT_ROW("_tand1_", library_tan, 1, scalar<Op::library_tan>),
#if defined(__x86_64__)
    WEFT_ROW("_sind2_", library_sin, 2, library_sin_2),
    WEFT_ROW("_sind4_", library_sin, 4, library_sin_4),
    WEFT_ROW("_sind8_", library_sin, 8, library_sin_8),
    WEFT_ROW("_cosd2_", library_cos, 2, library_cos_2),
    WEFT_ROW("_cosd4_", library_cos, 4, library_cos_4),
    WEFT_ROW("_cosd8_", library_cos, 8, library_cos_8),
    WEFT_ROW("_tand2_", library_tan, 2, library_tan_2),
    WEFT_ROW("_tand4_", library_tan, 4, library_tan_4),
    WEFT_ROW("_tand8_", library_tan, 8, library_tan_8),
#endif
#undef WEFT_ROW
  };
  for (const Row& row : rows) {
    if (symbol.find(row.part) == symbol.npos) continue;
    row.replaced = library;
    return row.function;
  }
  return nullptr;
}

}  // namespace weft::ir
