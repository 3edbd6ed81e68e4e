// The loops behind jit/fold/scan.h.  Like jit/fold/loops.h this is compiled once an instruction
// set: everything has internal linkage and no function of the standard library is used.
#include "jit/fold/ordered.h"
#include "jit/fold/scan.h"
#include "jit/fold/scan_in_lanes.h"
#include "jit/fold/scan_steps.h"
#include "runtime/cache_line.h"

#include <type_traits>

#if WEFT_VECTOR_BYTES >= 32
#include <immintrin.h>
#endif

namespace weft::jit {
namespace {

/// What partial results are kept in.
template <class T>
struct Kept {
  using type = T;
};
template <>
struct Kept<float> {
  using type = double;
};

struct Sum {
  template <class K, class T>
  static K of(K x, T y) {
    if constexpr (std::is_integral_v<K>) {
      using U = std::make_unsigned_t<K>;
      return static_cast<K>(static_cast<U>(x) + static_cast<U>(y));
    } else {
      return x + static_cast<K>(y);
    }
  }
};
struct Product {
  template <class K, class T>
  static K of(K x, T y) {
    if constexpr (std::is_integral_v<K>) {
      // In 64 bits, where promotion to int can't overflow.
      return static_cast<K>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    } else {
      return x * static_cast<K>(y);
    }
  }
};
struct Larger {
  template <class T>
  static T of(T x, T y) {
    return x > y || x != x ? x : y;
  }
};
struct Smaller {
  template <class T>
  static T of(T x, T y) {
    return x < y || x != x ? x : y;
  }
};

/// What is scanned in place of an element, and the element again.
struct AsItIs {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};
/// Turns the order of integers around, or that of unsigned ones into that of signed ones, so that
/// one loop has all extrema of a size.
template <class T>
struct Flipped {
  T mask;
  T largest;  ///< of bytes; of bools 1, which all but 0 are taken for
  T operator()(T x) const {
    if constexpr (std::is_same_v<T, std::uint8_t>)
      return static_cast<T>((x < largest ? x : largest) ^ mask);
    return static_cast<T>(x ^ mask);
  }
};
/// For `Larger` among numbers of type T, one a size.
template <class T>
Flipped<T> flipped(const Scan& scan) {
  if (is_boolean(scan.dtype)) return {static_cast<T>(scan.op != Op::maximum), T(1)};
  const bool is_signed = scan.dtype == DType::i8 || scan.dtype == DType::i16 ||
                         scan.dtype == DType::i32 || scan.dtype == DType::i64;
  constexpr T sign = static_cast<T>(T(1) << (8 * sizeof(T) - 1));
  const T order = is_signed == std::is_signed_v<T> ? T(0) : sign;
  return {static_cast<T>(scan.op == Op::maximum ? order : ~order), static_cast<T>(~T(0))};
}

/// How elements are seen by `Combine`.
template <class T, class Combine>
auto order_of(const Scan& scan) {
  if constexpr (std::is_same_v<Combine, Larger> && std::is_integral_v<T>)
    return flipped<T>(scan);
  else
    return AsItIs();
}

/// Rows that are scanned together: the elements of a row wait for one another, those of several
/// don't.
constexpr std::int64_t rows_together = 8;
/// Where rows are neighbours in memory: long runs, which memory is read in best, and whose partial
/// results stay in the second cache and fit small stacks.
constexpr std::int64_t neighbours_together = 8192;
/// Shorter rows have too few whole cache lines: twice to five times as slow.
[[maybe_unused]] constexpr std::int64_t least_streamed_bytes = 2048;

template <class Combine>
constexpr bool is_extremum = std::is_same_v<Combine, Larger> || std::is_same_v<Combine, Smaller>;
template <class T, class Combine>
using KeptBy = std::conditional_t<is_extremum<Combine>, T, typename Kept<T>::type>;

#if WEFT_VECTOR_BYTES >= 32
/// As many f64 as a register has lanes for, and f32 of half a register.  `there` says how many of
/// them are in memory: of less than all, AVX2 has none.
#if WEFT_VECTOR_BYTES == 64
struct Doubles {
  static constexpr int lanes = 8;
  using Mask = __mmask8;
  static constexpr Mask all = 0xff;
  static Mask first(std::int64_t count) { return static_cast<Mask>((1 << count) - 1); }

  static __m512d load(const double* from, Mask there) { return _mm512_maskz_loadu_pd(there, from); }
  static __m512d widened(const float* from, Mask there) {
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(there, from));
  }
  static void store(double* to, __m512d x, Mask there) { _mm512_mask_storeu_pd(to, there, x); }
  static void store_narrowed(float* to, __m512d x, Mask there) {
    _mm256_mask_storeu_ps(to, there, _mm512_cvtpd_ps(x));
  }
};
#else
struct Doubles {
  static constexpr int lanes = 4;
  struct Mask {};
  static constexpr Mask all = {};

  static __m256d load(const double* from, Mask) { return _mm256_loadu_pd(from); }
  static __m256d widened(const float* from, Mask) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
  static void store(double* to, __m256d x, Mask) { _mm256_storeu_pd(to, x); }
  static void store_narrowed(float* to, __m256d x, Mask) { _mm_storeu_ps(to, _mm256_cvtpd_ps(x)); }
};
#endif

/// The next `steps` elements of `num` rows, kept in f64; those of one step are `x_step` elements
/// behind those of the last.
template <class Combine, int steps>
[[gnu::always_inline]] inline void next_floats(double* kept, const float* x, std::int64_t x_step,
                                               float* const* y, std::int64_t num) {
  constexpr bool is_sum = std::is_same_v<Combine, Sum>;
  const auto next = [&](std::int64_t row, Doubles::Mask there) __attribute__((always_inline)) {
    auto so_far = Doubles::load(kept + row, there);
#pragma GCC unroll 4
    for (int step = 0; step < steps; ++step) {
      const auto more = Doubles::widened(x + step * x_step + row, there);
      so_far = is_sum ? so_far + more : so_far * more;
      Doubles::store_narrowed(y[step] + row, so_far, there);
    }
    Doubles::store(kept + row, so_far, there);
  };
  std::int64_t row = 0;
  for (; num - row >= Doubles::lanes; row += Doubles::lanes) next(row, Doubles::all);
#if WEFT_VECTOR_BYTES == 64
  if (row < num) next(row, Doubles::first(num - row));
#else
  for (; row < num; ++row)
    for (int step = 0; step < steps; ++step) {
      const double more = element_at(x + step * x_step + row);
      kept[row] = is_sum ? kept[row] + more : kept[row] * more;
      put_at(y[step] + row, static_cast<float>(kept[row]));
    }
#endif
}
#endif

/// The next element of `num` rows: y = kept = kept op x.
template <class T, class Combine, class As = AsItIs>
[[gnu::always_inline]] inline void next_elements(KeptBy<T, Combine>* __restrict kept,
                                                 const T* __restrict x, T* __restrict y,
                                                 std::int64_t num, As as = {}) {
#if WEFT_VECTOR_BYTES >= 32
  if constexpr (std::is_same_v<T, float> && std::is_same_v<KeptBy<T, Combine>, double>) {
    float* const to = y;
    return next_floats<Combine, 1>(kept, x, 0, &to, num);
  }
#endif
  for (std::int64_t row = 0; row < num; ++row) {
    const auto next = Combine::of(kept[row], as(element_at(x + row)));
    kept[row] = next;
    put_at(y + row, as(static_cast<T>(next)));
  }
}

/// Whether elements are all aligned.
template <class T>
[[maybe_unused]] bool is_aligned(const ScanOperand& operand) {
  const auto bits = reinterpret_cast<std::uintptr_t>(operand.data) |
                    static_cast<std::uintptr_t>(operand.stride_bytes);
  return bits % sizeof(T) == 0;
}

#if WEFT_VECTOR_BYTES >= 32
/// Whether there are loops that write past the caches: with AVX2 for what is large the most often.
#if WEFT_VECTOR_BYTES == 64
template <class T, class Combine>
constexpr bool may_stream = true;
#else
template <class T, class Combine>
constexpr bool may_stream = std::is_same_v<Combine, Sum> ? std::is_floating_point_v<T> : false;
#endif

/// Elements of each row that are scanned at once where they are written past the caches: what has
/// accumulated, in the second cache, is then read and written once for all of them.
constexpr int steps_together = 4;

/// The next `steps` elements of `num` rows, those of one step `x_step` elements behind those of the
/// last.
template <class T, class Combine, int steps>
[[gnu::always_inline]] inline void next_steps(KeptBy<T, Combine>* kept, const T* x,
                                              std::int64_t x_step, T* const* y, std::int64_t num) {
  if constexpr (std::is_same_v<T, float>)
    return next_floats<Combine, steps>(kept, x, x_step, y, num);
    // What is read is never what is written.
#pragma GCC ivdep
  for (std::int64_t row = 0; row < num; ++row) {
    auto so_far = kept[row];
#pragma GCC unroll 4
    for (int step = 0; step < steps; ++step) {
      so_far = Combine::of(so_far, x[step * x_step + row]);
      y[step][row] = static_cast<T>(so_far);
    }
    kept[row] = so_far;
  }
}

/// Writes a line that is aligned to where it is, past the caches or not.
template <bool streams>
[[gnu::always_inline]] inline void write_line(void* to, const void* from) {
#if WEFT_VECTOR_BYTES == 64
  const __m512i line = _mm512_load_si512(from);
  streams ? _mm512_stream_si512(static_cast<__m512i*>(to), line) : _mm512_store_si512(to, line);
#else
  const auto* const half = static_cast<const __m256i*>(from);
  auto* const half_to = static_cast<__m256i*>(to);
  const __m256i first = _mm256_load_si256(half), second = _mm256_load_si256(half + 1);
  streams ? _mm256_stream_si256(half_to, first) : _mm256_store_si256(half_to, first);
  streams ? _mm256_stream_si256(half_to + 1, second) : _mm256_store_si256(half_to + 1, second);
#endif
}

/// Writes elements [begin, end) of `lines` to where `y` has them, whole cache lines past the
/// caches. What is left of the last line is moved to the front, or written too if it `is_last`.
/// Returns how many elements were moved.
template <class T>
std::int64_t write_lines(T* y, T* lines, std::int64_t begin, std::int64_t end, bool is_last) {
  constexpr std::int64_t a_line = line_bytes / static_cast<std::int64_t>(sizeof(T));
  std::int64_t i = begin;
  for (; i % a_line != 0 && i < end; ++i) y[i] = lines[i];
  for (; i + a_line <= end; i += a_line) write_line<true>(y + i, lines + i);
  if (!is_last) {
    write_line<false>(lines, lines + i);
    return end - i;
  }
  for (; i < end; ++i) y[i] = lines[i];
  return 0;
}

/// Elements [first, first + steps) of `num` rows that are neighbours, at most `steps_together`: as
/// next_elements(), past the caches.
template <class T, class Combine>
[[gnu::always_inline]] inline void stream_steps(KeptBy<T, Combine>* kept, const ScanOperand& to,
                                                const ScanOperand& from, std::int64_t first,
                                                std::int64_t steps, std::int64_t num,
                                                std::int64_t ahead_bytes) {
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t a_line = line_bytes / itemsize, together = 8 * a_line;
  // Elements lie here as they do within the cache lines of `to`, all in one page: in two of them
  // 5477 columns take Zen 4 12 to 13 ms instead of 9.
  constexpr std::int64_t page_bytes = 4096;
  alignas(page_bytes) T lines[steps_together][together + 2 * a_line];  // NOLINT: as below
  std::int64_t waiting[steps_together];                                // NOLINT: as below
  for (std::int64_t step = 0; step < steps; ++step)
    waiting[step] = static_cast<std::int64_t>(
                        reinterpret_cast<std::uintptr_t>(at<T>(to, 0, first + step)) % line_bytes) /
                    itemsize;
  const std::int64_t x_step = from.stride_bytes / itemsize;
  for (std::int64_t row = 0; row < num; row += together) {
    const std::int64_t taken = num - row < together ? num - row : together;
    const T* const x = at<T>(from, row, first);
    T* y[steps_together];  // NOLINT: as below
    for (std::int64_t step = 0; step < steps; ++step) {
      y[step] = lines[step] + waiting[step];
      const auto* const ahead = reinterpret_cast<const std::byte*>(x + step * x_step) + ahead_bytes;
      for (std::int64_t line = 0; ahead_bytes != 0 && line < together / a_line; ++line)
        __builtin_prefetch(ahead + line * line_bytes);
    }
    // Sums are what is large; products of so many numbers seldom mean much.
    if (std::is_same_v<Combine, Sum> && steps == steps_together)
      next_steps<T, Combine, std::is_same_v<Combine, Sum> ? steps_together : 1>(kept + row, x,
                                                                                x_step, y, taken);
    else
      for (std::int64_t step = 0; step < steps; ++step)
        next_steps<T, Combine, 1>(kept + row, x + step * x_step, 0, y + step, taken);
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t before = waiting[step];
      T* const line = at<T>(to, row, first + step) - before;
      waiting[step] =
          write_lines(line, lines[step], row == 0 ? before : 0, before + taken, row + taken == num);
    }
  }
}

/// Elements [begin, count) of `num` rows that are neighbours, past the caches.
template <class T, class Combine>
[[gnu::noinline]] void stream_rows(KeptBy<T, Combine>* kept, const ScanOperand& to,
                                   const ScanOperand& from, std::int64_t begin, std::int64_t count,
                                   std::int64_t num, std::int64_t ahead_bytes,
                                   const CancellationToken* token) {
  const auto next_few = [&](std::int64_t number) __attribute__((always_inline)) {
    const std::int64_t i = begin + number * steps_together, left = count - i;
    stream_steps<T, Combine>(kept, to, from, i, left < steps_together ? left : steps_together, num,
                             ahead_bytes);
  };
  const std::int64_t num_few = (count - begin + steps_together - 1) / steps_together;
  for_each_step(0, num_few, elements_a_look / (steps_together * num), token, next_few);
}
#endif

template <class T, class Combine, bool are_neighbours>
void scan_rows([[maybe_unused]] const Scan& scan, const ScanOperand& to, const ScanOperand& from,
               std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
               const CancellationToken* token) {
  constexpr std::int64_t together = are_neighbours ? neighbours_together : rows_together;
  using K = KeptBy<T, Combine>;
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  const auto as = order_of<T, Combine>(scan);
  [[maybe_unused]] bool has_streamed = false;
  K memory[together];  // NOLINT: no function of the standard library is used here
  for (std::int64_t first = 0; first < num_rows; first += together) {
    const std::int64_t rows = num_rows - first < together ? num_rows - first : together;
    ScanOperand in = from, out = to;
    in.data += first * from.row_stride_bytes;
    out.data += first * to.row_stride_bytes;
    K* const kept_of_parts = parts.kept == nullptr ? nullptr : kept_from<K>(parts, first);
    K* const kept = are_neighbours && parts.kept != nullptr ? kept_of_parts : memory;
    const auto run = [&](std::int64_t num) __attribute__((always_inline)) {
      const auto kept_bytes = static_cast<std::size_t>(num) * sizeof(K);
      if (!parts.is_first && kept != kept_of_parts)
        __builtin_memcpy(kept, kept_of_parts, kept_bytes);
      for (std::int64_t row = 0; row < (parts.is_first ? num : 0); ++row) {
        kept[row] = static_cast<K>(as(element_at(at<T>(in, row, 0))));
        if constexpr (std::is_same_v<Combine, Sum>) kept[row] = Sum::of(K(0), kept[row]);  // -0
        put_at(at<T>(out, row, 0), as(static_cast<T>(kept[row])));
      }
      const auto next = [&](std::int64_t i) __attribute__((always_inline)) {
        // What is read is never what is written.
        const T* __restrict const x = at<T>(in, 0, i);
        T* __restrict const y = at<T>(out, 0, i);
        if constexpr (are_neighbours) {
          next_elements<T, Combine>(kept, x, y, num, as);
          return;
        }
        const std::int64_t x_step = in.row_stride_bytes / itemsize;
        const std::int64_t y_step = out.row_stride_bytes / itemsize;
        for (std::int64_t row = 0; row < num; ++row) {
          const auto next = Combine::of(kept[row], as(element_at(x + row * x_step)));
          kept[row] = next;
          put_at(y + row * y_step, as(static_cast<T>(next)));
        }
      };
      const std::int64_t begin = parts.is_first ? 1 : 0;
      bool is_streamed = false;
#if WEFT_VECTOR_BYTES >= 32
      if constexpr (are_neighbours && may_stream<T, Combine>) {
        is_streamed = scan.streams && num * itemsize >= least_streamed_bytes && is_aligned<T>(in) &&
                      is_aligned<T>(out);
        if (is_streamed)
          stream_rows<T, Combine>(kept, out, in, begin, count, num, scan.ahead_bytes, token);
      }
#endif
      has_streamed |= is_streamed;
      if (!is_streamed) for_each_step(begin, count, elements_a_look / num, token, next);
      if (kept_of_parts != nullptr && kept != kept_of_parts)
        __builtin_memcpy(kept_of_parts, kept, kept_bytes);
    };
    // A number of rows that is known when this is compiled keeps them in registers.
    if (are_neighbours)
      run(rows);
    else if (rows == together)
      run(together);
    else if (rows == 1)
      run(1);
    else
      run(rows);
  }
#if WEFT_VECTOR_BYTES >= 32
  if (has_streamed) _mm_sfence();
#endif
}

template <class T, class Combine>
void run_scan(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
              std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
              const CancellationToken* token) {
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  if (to.row_stride_bytes == itemsize && from.row_stride_bytes == itemsize && num_rows > 1)
    return scan_rows<T, Combine, true>(scan, to, from, num_rows, count, parts, token);
#if WEFT_VECTOR_BYTES >= 32
  if constexpr (std::is_same_v<T, float>)
    if (to.stride_bytes == itemsize && from.stride_bytes == itemsize && num_rows > 1)
      return scan_in_lanes_of_all<std::is_same_v<Combine, Sum>>(to, from, num_rows, count, parts,
                                                                token);
#endif
  scan_rows<T, Combine, false>(scan, to, from, num_rows, count, parts, token);
}

/// What `make` has for sums and products; null for what has no loops of its own.
template <class Make>
constexpr Scan::Run arithmetic_scan(Op op, DType dtype, const Make& make) {
  const auto of = [&]<class T>(std::type_identity<T>) -> Scan::Run {
    return op == Op::add ? make.template operator()<T, Sum>()
                         : make.template operator()<T, Product>();
  };
  if (op != Op::add && op != Op::mul) return nullptr;
  switch (dtype) {
    case DType::i64: return of(std::type_identity<std::int64_t>{});
    case DType::f32: return of(std::type_identity<float>{});
    case DType::f64: return of(std::type_identity<double>{});
    default: return nullptr;
  }
}
[[maybe_unused]] constexpr Scan::Run find_scan(Op op, DType dtype) {
  return arithmetic_scan(op, dtype, []<class T, class Combine>() { return &run_scan<T, Combine>; });
}

}  // namespace
}  // namespace weft::jit
