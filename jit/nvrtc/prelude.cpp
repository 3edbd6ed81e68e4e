// What generated source is written with.  No CUDA header: NVRTC knows the functions that are used
// here without one.
#include "jit/nvrtc/definition.h"
#include "jit/nvrtc/operators.h"

#include <array>

namespace weft::jit::nvrtc {
namespace {

constexpr std::string_view types = R"(typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
)";

/// What stands further up may be used by what stands further down.
constexpr auto definitions = std::to_array<Definition>({
    {"u128", R"(
struct alignas(16) u128 {
  u64 lo, hi;
};
)"},
    {"Vector", R"(
// Neighbours in memory, moved by one instruction.
template <class T, int N>
struct alignas(sizeof(T) * N) Vector {
  T item[N];
};
)"},
    {"load", R"(
#ifdef __CUDACC__
template <class T>
__device__ __forceinline__ T load(const void* from) {
  return *(const T*)from;
}
#endif
)"},
    {"store", R"(
#ifdef __CUDACC__
template <class T>
__device__ __forceinline__ void store(void* to, const T& value) {
  *(T*)to = value;
}
#endif
)"},
    {"thread_again", R"(
#ifdef __CUDACC__
// The number of the thread, which the compiler takes for another each time: what follows from it is
// computed again behind a barrier, and takes no registers until then.
__device__ __forceinline__ u32 thread_again() {
  u32 thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}
#endif
)"},
    {"place_at", R"(
// What an operand without memory says.
template <class T>
__device__ __forceinline__ T place_at(const void* address) {
  return T(address) / 8;
}
)"},
    {"keep_place", R"(
// The first or the last of the extrema, and of NaN, which are before all.
template <bool is_maximum, bool keeps_last, class T, class V>
__device__ __forceinline__ void keep_place(T& kept, i64& place, V more, i64 more_place) {
  const T x = T(more);
  const bool is_nan = x != x, was_nan = kept != kept;
  const bool is_equal = is_nan ? was_nan : x == kept;
  const bool is_more = is_nan ? !was_nan : !was_nan && (is_maximum ? x > kept : x < kept);
  if (is_more || (is_equal && (keeps_last ? more_place > place : more_place < place))) {
    kept = x;
    place = more_place;
  }
}
)"},
    {"_halves", R"(
// Elements at multiples of half their size.
template <int N>
struct Word;
template <>
struct Word<1> {
  typedef u8 Type;
};
template <>
struct Word<2> {
  typedef u16 Type;
};
template <>
struct Word<4> {
  typedef u32 Type;
};
template <>
struct Word<8> {
  typedef u64 Type;
};
template <class T>
union Halves {
  typedef typename Word<sizeof(T) / 2>::Type Half;
  T whole;
  Half half[2];
};
template <class T>
__device__ __forceinline__ T load_halves(const void* from) {
  typedef typename Halves<T>::Half Half;
  Halves<T> element;
  element.half[0] = load<Half>(from);
  element.half[1] = load<Half>((const u8*)from + sizeof(Half));
  return element.whole;
}
template <class T>
__device__ __forceinline__ void store_halves(void* to, const T& value) {
  Halves<T> element;
  element.whole = value;
  store(to, element.half[0]);
  store((u8*)to + sizeof(element.half[0]), element.half[1]);
}
)"},
    {"quotient", R"(
// n / divisor for n below 2^31 (2^63): the high half of a product, an addition and a shift.
struct Divisor {
  u64 divisor, magic, shift;
};
__device__ __forceinline__ u32 quotient(u32 n, const Divisor& by) {
  return (__umulhi(n, u32(by.magic)) + n) >> u32(by.shift);
}
__device__ __forceinline__ u64 quotient(u64 n, const Divisor& by) {
  return (__umul64hi(n, by.magic) + n) >> by.shift;
}
)"},
    {"FloatDivider", R"(
// Divides by the same number again and again.  From the product with the reciprocal, correctly
// rounded, one correction leads to within an ulp of the quotient, and the next, with Markstein's
// theorem, to the quotient rounded correctly; as long as every step stays among normal numbers.
struct FloatDivider {
  f32 by, reciprocal;
  bool is_middling;
};
__device__ __forceinline__ bool is_middling(f32 x) { return fabsf(x) >= 0x1p-60f && fabsf(x) <= 0x1p60f; }
__device__ __forceinline__ FloatDivider float_divider(f32 by) { return {by, 1.0f / by, is_middling(by)}; }
__device__ __forceinline__ f32 divided(f32 x, const FloatDivider& d) {
  const f32 product = x * d.reciprocal;
  const f32 close = fmaf(fmaf(-product, d.by, x), d.reciprocal, product);
  const f32 quotient = fmaf(fmaf(-close, d.by, x), d.reciprocal, close);
  if (d.is_middling && is_middling(x)) return quotient;
  return d.is_middling && x == 0.0f ? product : x / d.by;
}
)"},
    {"stepped", R"(
// Bytes of `count` steps.  With 32-bit indices strides fit 32 bits, too.
__device__ __forceinline__ i64 stepped(u32 count, i64 stride) { return i64(i32(count)) * i32(stride); }
__device__ __forceinline__ i64 stepped(u64 count, i64 stride) { return i64(count) * stride; }
)"},
    {"from_lane", R"(
// The value of another lane of the warp: `apart` further on, `apart` before, or number `lane`.
struct LaneAfter {
  static __device__ __forceinline__ u32 word(u32 word, u32 apart) { return __shfl_down_sync(0xffffffffu, word, apart); }
};
struct LaneBefore {
  static __device__ __forceinline__ u32 word(u32 word, u32 apart) { return __shfl_up_sync(0xffffffffu, word, apart); }
};
struct OneLane {
  static __device__ __forceinline__ u32 word(u32 word, u32 lane) { return __shfl_sync(0xffffffffu, word, lane); }
};
template <class Lane, class T>
__device__ __forceinline__ T from_lane(const T& value, u32 lane) {
  union {
    u32 word[(sizeof(T) + 3) / 4];
    T whole;
  } bits;
  bits.word[0] = 0;
  bits.whole = value;
#pragma unroll
  for (int i = 0; i < (sizeof(T) + 3) / 4; ++i)
    bits.word[i] = Lane::word(bits.word[i], lane);
  return bits.whole;
}
)"},
    {"half_to_float", R"(
#ifdef __CUDACC__
__device__ __forceinline__ f32 cvt_f32_f16(u16 half) {
  f32 wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(half));
  return wide;
}
#endif
// The instruction forgets which NaN it was.
__device__ __forceinline__ f32 half_to_float(u16 half) {
  const u32 nan = (u32(half & 0x8000u) << 16) | 0x7fc00000u | (u32(half & 0x3ffu) << 13);
  return (half & 0x7fffu) > 0x7c00u ? __uint_as_float(nan) : cvt_f32_f16(half);
}
)"},
    {"float_to_half", R"(
#ifdef __CUDACC__
__device__ __forceinline__ u16 cvt_f16_f32(f32 wide) {
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(wide));
  return half;
}
#endif
// The instruction forgets which NaN it was.
__device__ __forceinline__ u16 float_to_half(f32 wide) {
  const u32 bits = __float_as_uint(wide);
  const u16 nan = u16(((bits >> 16) & 0x8000u) | 0x7e00u | ((bits >> 13) & 0x3ffu));
  return wide != wide ? nan : cvt_f16_f32(wide);
}
)"},
    {"double_to_float", R"(
#ifdef __CUDACC__
__device__ __forceinline__ f32 cvt_f32_f64(f64 wide) { return f32(wide); }
#endif
// The instruction forgets which NaN it was.
__device__ __forceinline__ f32 double_to_float(f64 wide) {
  const u64 bits = u64(__double_as_longlong(wide));
  const u32 nan = (u32(bits >> 32) & 0x80000000u) | 0x7fc00000u | (u32(bits >> 29) & 0x7fffffu);
  const f32 narrow = cvt_f32_f64(wide);
  return narrow != narrow ? __uint_as_float(nan) : narrow;
}
)"},
    {"float_to_double", R"(
#ifdef __CUDACC__
__device__ __forceinline__ f64 cvt_f64_f32(f32 narrow) { return f64(narrow); }
#endif
// The instruction forgets which NaN it was.
__device__ __forceinline__ f64 float_to_double(f32 narrow) {
  const u32 bits = __float_as_uint(narrow);
  const u64 nan = (u64(bits & 0x80000000u) << 32) | 0x7ff8000000000000ull | (u64(bits & 0x7fffffu) << 29);
  return narrow != narrow ? __longlong_as_double(i64(nan)) : cvt_f64_f32(narrow);
}
)"},
    {"complex_", R"(
// Complex numbers as the bits of their parts.
__device__ __forceinline__ f32 complex_real(u64 x) { return __uint_as_float(u32(x)); }
__device__ __forceinline__ f32 complex_imag(u64 x) { return __uint_as_float(u32(x >> 32)); }
__device__ __forceinline__ f64 complex_real(const u128& x) { return __longlong_as_double(i64(x.lo)); }
__device__ __forceinline__ f64 complex_imag(const u128& x) { return __longlong_as_double(i64(x.hi)); }
__device__ __forceinline__ u64 complex_of(f32 real, f32 imag) {
  return (u64(__float_as_uint(imag)) << 32) | __float_as_uint(real);
}
__device__ __forceinline__ u128 complex_of(f64 real, f64 imag) {
  return u128{u64(__double_as_longlong(real)), u64(__double_as_longlong(imag))};
}
template <class T>
__device__ __forceinline__ T complex_sum(const T& x, const T& y) {
  return complex_of(complex_real(x) + complex_real(y), complex_imag(x) + complex_imag(y));
}
template <class T>
__device__ __forceinline__ T complex_product(const T& x, const T& y) {
  return complex_of(complex_real(x) * complex_real(y) - complex_imag(x) * complex_imag(y),
                    complex_real(x) * complex_imag(y) + complex_imag(x) * complex_real(y));
}
__device__ __forceinline__ u128 complex_to_double(u64 x) {
  return complex_of(float_to_double(complex_real(x)), float_to_double(complex_imag(x)));
}
__device__ __forceinline__ u64 complex_to_float(const u128& x) {
  return complex_of(double_to_float(complex_real(x)), double_to_float(complex_imag(x)));
}
)"},
    {"truncate_to_i32", R"(
// What does not fit, and NaN, is the smallest integer.
__device__ __forceinline__ i32 truncate_to_i32(f32 x) {
  return x >= -2147483648.0f && x < 2147483648.0f ? i32(x) : i32(0x80000000u);
}
__device__ __forceinline__ i32 truncate_to_i32(f64 x) {
  return x > -2147483649.0 && x < 2147483648.0 ? i32(x) : i32(0x80000000u);
}
)"},
    {"truncate_to_i64", R"(
// What does not fit, and NaN, is the smallest integer.
template <class T>
__device__ __forceinline__ i64 truncate_to_i64(T x) {
  return x >= T(-9223372036854775808.0) && x < T(9223372036854775808.0)
             ? i64(x)
             : i64(0x8000000000000000ull);
}
)"},
    {"truncate_to_u64", R"(
// Modulo 2^64 in [-2^63, 2^64), 2^63 elsewhere.
template <class T>
__device__ __forceinline__ u64 truncate_to_u64(T x) {
  const T half = T(9223372036854775808.0);
  if (x >= half && x < half + half) return u64(i64(x - half)) + 0x8000000000000000ull;
  return x >= -half && x < half ? u64(i64(x)) : 0x8000000000000000ull;
}
)"},
    {"greatest_common_divisor", R"(
// Euclid's algorithm on magnitudes; the smallest integer is its own.
template <class T>
__device__ T greatest_common_divisor(T x, T y) {
  const u64 mask = ~u64(0) >> (64 - 8 * sizeof(T));
  u64 a = (x < T(0) ? 0 - u64(x) : u64(x)) & mask;
  u64 b = (y < T(0) ? 0 - u64(y) : u64(y)) & mask;
  while (b != 0) {
    const u64 rest = a % b;
    a = b;
    b = rest;
  }
  return T(a);
}
)"},
    {"mantissa", R"(
// x / 2^n in [3/4, 3/2); 1 for zeros and infinity, NaN below zero.
template <class T>
__device__ T mantissa(T x) {
  if (!(x >= T(0))) return sqrt(T(-1));
  if (x == T(0) || x - x != T(0)) return T(1);
  int power;
  const T part = T(frexp(f64(x), &power));
  return part < T(0.75) ? part + part : part;
}
)"},
    {"table_entry", R"(
__device__ const f32 tables[][16] = {
)"
#define WEFT_TABLE(name, ...) "{" #__VA_ARGS__ "},\n"
#include "ir/tables.def"
#undef WEFT_TABLE
                    R"(};
__device__ f32 table_entry(f32 x, f32 y) { return tables[int(y)][__float_as_uint(x) & 15]; }
)"},
    {"integer_power", R"(
// Repeated squaring, which wraps; a negative exponent gives the truncated fraction.
template <class T>
__device__ T integer_power(T x, T y) {
  if (y < T(0)) return x == T(1) ? x : x == T(-1) ? T((y & T(1)) != 0 ? -1 : 1) : T(0);
  u64 result = 1, power = u64(x);
  for (u64 exponent = u64(y); exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= power;
    power *= power;
  }
  return T(result);
}
)"},
});

}  // namespace

std::string prelude_for(std::string_view code) {
  // From the last to the first, so that what a definition uses is found to be used.
  std::string used;
  const auto add_used = [&](std::span<const Definition> all) {
    for (std::size_t i = all.size(); i-- > 0;)
      if (code.find(all[i].name) != code.npos || used.find(all[i].name) != used.npos)
        used.insert(0, all[i].text);
  };
  add_used(complex_functions());
  add_used(definitions);
  return std::string(types) + used;
}

}  // namespace weft::jit::nvrtc
