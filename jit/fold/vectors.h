// Vectors of WEFT_VECTOR_BYTES and the ops on them.  Each file that includes this is compiled for
// another instruction set, so that everything here has internal linkage.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::jit {
namespace {

constexpr int vector_bytes = WEFT_VECTOR_BYTES;

template <class T, int bytes>
struct VectorOf {
  using type __attribute__((vector_size(bytes))) = T;
};
template <class T, int bytes>
using Vector = typename VectorOf<T, bytes>::type;

template <class V>
V load(const void* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}
template <class V, std::size_t... lane>
[[gnu::always_inline]] inline auto lanes_of(const V& value, std::index_sequence<lane...>,
                                            auto first) {
  return __builtin_shufflevector(value, value, (lane + first)...);
}

/// Has what was loaded stay in a register: as the operand of several instructions it would be
/// loaded again by each.
template <class V>
[[gnu::always_inline]] inline void keep_in_register([[maybe_unused]] V& value) {
#if WEFT_VECTOR_BYTES == 64
  asm("" : "+v"(value));
#elif defined(__AVX2__)
  asm("" : "+x"(value));
#endif
}

template <class V>
void store(void* to, const V& value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

/// `value` with its first `size_bytes` bytes, fewer than it has, taken from memory.
template <class V>
[[gnu::always_inline]] inline V load_part(const V& value, const void* from,
                                          std::int64_t size_bytes) {
#if WEFT_VECTOR_BYTES == 64
  const __mmask64 mask = (std::uint64_t{1} << size_bytes) - 1;
  return reinterpret_cast<V>(_mm512_mask_loadu_epi8(reinterpret_cast<__m512i>(value), mask, from));
#else
#if WEFT_VECTOR_BYTES >= 32
  // A copy of so many bytes is a call.
  if constexpr (sizeof(value[0]) >= 4) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(size_bytes / 4)), lanes);
    const __m256i part = _mm256_maskload_epi32(static_cast<const int*>(from), mask);
    return reinterpret_cast<V>(_mm256_blendv_epi8(reinterpret_cast<__m256i>(value), part, mask));
  }
#endif
  V result = value;
  __builtin_memcpy(&result, from, static_cast<std::size_t>(size_bytes));
  return result;
#endif
}

/// A bit for each byte of a comparison's result.
[[gnu::always_inline]] inline std::uint64_t true_bytes(const void* comparison) {
#if WEFT_VECTOR_BYTES == 64
  return _mm512_movepi8_mask(_mm512_loadu_si512(comparison));
#elif WEFT_VECTOR_BYTES == 32
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_loadu_si256(static_cast<const __m256i*>(comparison))));
#elif defined(__x86_64__)
  return static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_loadu_si128(static_cast<const __m128i*>(comparison))));
#else
  const auto* const bytes = static_cast<const unsigned char*>(comparison);
  std::uint64_t bits = 0;
  for (int i = 0; i < WEFT_VECTOR_BYTES; ++i) bits |= std::uint64_t{bytes[i]} >> 7 << i;
  return bits;
#endif
}

/// Whether there was a NaN in any of the vectors noted, at half a comparison a vector.
template <class T>
struct NanFlag {
  static constexpr bool exists = false;
};
#if WEFT_VECTOR_BYTES == 64
#define WEFT_NAN_FLAG(type, suffix, mask)                                              \
  template <>                                                                          \
  struct NanFlag<type> {                                                               \
    static constexpr bool exists = true;                                               \
    using V = Vector<type, 64>;                                                        \
    void note(V x, V y) {                                                              \
      seen = static_cast<mask>(seen | _mm512_cmp_##suffix##_mask(x, y, _CMP_UNORD_Q)); \
    }                                                                                  \
    bool is_set() const { return seen != 0; }                                          \
    mask seen = 0;                                                                     \
  };
WEFT_NAN_FLAG(float, ps, __mmask16)
WEFT_NAN_FLAG(double, pd, __mmask8)
#undef WEFT_NAN_FLAG
#elif WEFT_VECTOR_BYTES == 32
#define WEFT_NAN_FLAG(type, suffix, vector)                                     \
  template <>                                                                   \
  struct NanFlag<type> {                                                        \
    static constexpr bool exists = true;                                        \
    using V = Vector<type, 32>;                                                 \
    void note(V x, V y) {                                                       \
      seen = _mm256_or_##suffix(seen, _mm256_cmp_##suffix(x, y, _CMP_UNORD_Q)); \
    }                                                                           \
    bool is_set() const { return _mm256_movemask_##suffix(seen) != 0; }         \
    vector seen{};                                                              \
  };
WEFT_NAN_FLAG(float, ps, __m256)
WEFT_NAN_FLAG(double, pd, __m256d)
#undef WEFT_NAN_FLAG
#endif

// Ops on vectors and single elements alike, as the op table has them.
struct Add {
  template <class V>
  static V of(V x, V y) {
    return x + y;
  }
};
struct Mul {
  template <class V>
  static V of(V x, V y) {
    return x * y;
  }
};
/// Of complex numbers, vectors of pairs.
struct ComplexMul {
  template <class V>
  static V of(V x, V y) {
    return of_lanes(x, y, std::make_index_sequence<sizeof(V) / sizeof(x[0])>());
  }

 private:
  template <class V, std::size_t... lane>
  [[gnu::always_inline]] static V of_lanes(V x, V y, std::index_sequence<lane...>) {
    const V real = __builtin_shufflevector(y, y, (lane & ~std::size_t{1})...);
    const V imaginary = __builtin_shufflevector(y, y, (lane | 1)...);
    const V by_real = x * real;
    const V by_imaginary = __builtin_shufflevector(x, x, (lane ^ 1)...) * imaginary;
    return __builtin_shufflevector(by_real - by_imaginary, by_real + by_imaginary,
                                   ((lane & 1) * sizeof...(lane) + lane)...);
  }
};
struct Or {
  template <class V>
  static V of(V x, V y) {
    return x | y;
  }
};
struct And {
  template <class V>
  static V of(V x, V y) {
    return x & y;
  }
};
// Of bools: a byte of a tensor that was viewed as bool is true unless it is 0.
struct Any {
  template <class V>
  static V of(V x, V y) {
    const V either = x | y;
    return either < 1 ? either : 1;
  }
};
/// One instruction, and what the op table has where there is no NaN.
struct OrderedMax {
  template <class V>
  static V of(V x, V y) {
    return x > y ? x : y;
  }
};
struct OrderedMin {
  template <class V>
  static V of(V x, V y) {
    return x < y ? x : y;
  }
};
struct Max {
  using Ordered = OrderedMax;
  template <class V>
  static V of(V x, V y) {
    return ((x > y) | (x != x)) ? x : y;
  }
};
struct Min {
  using Ordered = OrderedMin;
  template <class V>
  static V of(V x, V y) {
    return ((x < y) | (x != x)) ? x : y;
  }
};

}  // namespace
}  // namespace weft::jit
