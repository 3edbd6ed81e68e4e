// The loops behind jit/fold/scan.h.  Like jit/fold/loops.h this is compiled once an instruction
// set: everything has internal linkage and no function of the standard library is used.
#include "jit/fold/ordered.h"
#include "jit/fold/scan.h"
#include "jit/fold/scan_steps.h"

#include <type_traits>

#if defined(__AVX512F__)
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
  T operator()(T x) const { return static_cast<T>(x ^ mask); }
};
/// For `Larger` among numbers of type T, one a size.
template <class T>
Flipped<T> flipped(const Scan& scan) {
  const bool is_signed = scan.dtype == DType::i8 || scan.dtype == DType::i16 ||
                         scan.dtype == DType::i32 || scan.dtype == DType::i64;
  constexpr T sign = static_cast<T>(T(1) << (8 * sizeof(T) - 1));
  const T order = is_signed == std::is_signed_v<T> ? T(0) : sign;
  return {static_cast<T>(scan.op == Op::maximum ? order : ~order)};
}

/// How elements are seen by `Combine`.
template <class T, class Combine>
auto order_of(const Scan& scan) {
  if constexpr (std::is_same_v<Combine, Larger> && std::is_integral_v<T>)
    return flipped<T>(scan);
  else
    return AsItIs();
}

template <class T>
T* at(const ScanOperand& operand, std::int64_t row, std::int64_t i) {
  return reinterpret_cast<T*>(operand.data + row * operand.row_stride_bytes +
                              i * operand.stride_bytes);
}

/// Rows that are scanned together: the elements of a row wait for one another, those of several
/// don't.
constexpr std::int64_t rows_together = 8;
/// Where rows are neighbours in memory: long runs, which memory is read in best, and whose partial
/// results stay in the second cache and fit small stacks.
constexpr std::int64_t neighbours_together = 8192;
/// Shorter rows have too few whole cache lines: twice to five times as slow.
[[maybe_unused]] constexpr std::int64_t least_streamed_bytes = 2048;

template <class T, class Combine>
using KeptBy =
    std::conditional_t<std::is_same_v<Combine, Larger> || std::is_same_v<Combine, Smaller>, T,
                       typename Kept<T>::type>;

#if defined(__AVX512F__)
/// The next `steps` elements of `num` rows, kept in f64; those of one step are `x_step` elements
/// behind those of the last.
template <class Combine, int steps>
[[gnu::always_inline]] inline void next_floats(double* kept, const float* x, std::int64_t x_step,
                                               float* const* y, std::int64_t num) {
  constexpr bool is_sum = std::is_same_v<Combine, Sum>;
  const auto next = [&](std::int64_t row, __mmask8 there) __attribute__((always_inline)) {
    __m512d so_far = _mm512_maskz_loadu_pd(there, kept + row);
#pragma GCC unroll 4
    for (int step = 0; step < steps; ++step) {
      const __m512d more = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(there, x + step * x_step + row));
      so_far = is_sum ? _mm512_add_pd(so_far, more) : _mm512_mul_pd(so_far, more);
      _mm256_mask_storeu_ps(y[step] + row, there, _mm512_cvtpd_ps(so_far));
    }
    _mm512_mask_storeu_pd(kept + row, there, so_far);
  };
  std::int64_t row = 0;
  for (; num - row >= 8; row += 8) next(row, 0xff);
  if (row < num) next(row, static_cast<__mmask8>((1 << (num - row)) - 1));
}
#endif

/// The next element of `num` rows: y = kept = kept op x.
template <class T, class Combine, class As = AsItIs>
[[gnu::always_inline]] inline void next_elements(KeptBy<T, Combine>* __restrict kept,
                                                 const T* __restrict x, T* __restrict y,
                                                 std::int64_t num, As as = {}) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float> && std::is_same_v<KeptBy<T, Combine>, double>) {
    float* const to = y;
    return next_floats<Combine, 1>(kept, x, 0, &to, num);
  }
#endif
  for (std::int64_t row = 0; row < num; ++row) {
    kept[row] = Combine::of(kept[row], as(x[row]));
    y[row] = as(static_cast<T>(kept[row]));
  }
}

/// Whether elements are all aligned.
template <class T>
[[maybe_unused]] bool is_aligned(const ScanOperand& operand) {
  const auto bits = reinterpret_cast<std::uintptr_t>(operand.data) |
                    static_cast<std::uintptr_t>(operand.stride_bytes);
  return bits % sizeof(T) == 0;
}

#if defined(__AVX512F__)
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

constexpr std::int64_t line_bytes = 64;

/// Writes elements [begin, end) of `lines` to where `y` has them, whole cache lines past the
/// caches. What is left of the last line is moved to the front, or written too if it `is_last`.
/// Returns how many elements were moved.
template <class T>
std::int64_t write_lines(T* y, T* lines, std::int64_t begin, std::int64_t end, bool is_last) {
  constexpr std::int64_t a_line = line_bytes / static_cast<std::int64_t>(sizeof(T));
  std::int64_t i = begin;
  for (; i % a_line != 0 && i < end; ++i) y[i] = lines[i];
  for (; i + a_line <= end; i += a_line)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(y + i), _mm512_load_si512(lines + i));
  if (!is_last) {
    _mm512_store_si512(lines, _mm512_load_si512(lines + i));
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

/// What is kept of the rows of `parts`, from row number `first` on.
template <class K>
K* kept_from(const ScanParts& parts, std::int64_t first) {
  static_assert(sizeof(K) <= ScanParts::bytes_a_row);
  return reinterpret_cast<K*>(parts.kept) + first;
}

template <class T, class Combine, bool are_neighbours>
void scan_rows([[maybe_unused]] const Scan& scan, const ScanOperand& to, const ScanOperand& from,
               std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
               const CancellationToken* token) {
  constexpr std::int64_t together = are_neighbours ? neighbours_together : rows_together;
  using K = KeptBy<T, Combine>;
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  const auto as = order_of<T, Combine>(scan);
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
        kept[row] = static_cast<K>(as(*at<T>(in, row, 0)));
        if constexpr (std::is_same_v<Combine, Sum>) kept[row] = Sum::of(K(0), kept[row]);  // -0
        *at<T>(out, row, 0) = as(static_cast<T>(kept[row]));
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
          kept[row] = Combine::of(kept[row], as(x[row * x_step]));
          y[row * y_step] = as(static_cast<T>(kept[row]));
        }
      };
      const std::int64_t begin = parts.is_first ? 1 : 0;
#if defined(__AVX512F__)
      const bool streams = are_neighbours && scan.streams &&
                           num * itemsize >= least_streamed_bytes && is_aligned<T>(in) &&
                           is_aligned<T>(out);
      if (streams)
        stream_rows<T, Combine>(kept, out, in, begin, count, num, scan.ahead_bytes, token);
      else
#endif
        for_each_step(begin, count, elements_a_look / num, token, next);
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
#if defined(__AVX512F__)
  if (scan.streams) _mm_sfence();
#endif
}

#if defined(__AVX512F__)
/// Rows that a register of f64 has lanes for, and as many elements of each.
constexpr std::int64_t square_side = 8;

inline void transpose_square(__m256* rows) {
  __m256 pairs[8], fours[8];  // NOLINT: no function of the standard library is used
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    fours[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    fours[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    fours[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    fours[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}

/// `num_rows` <= square_side rows of f32 whose elements are neighbours, a lane each: squares of
/// them are transposed, scanned, and transposed back.
template <class Combine>
[[gnu::always_inline]] inline void scan_in_lanes(const ScanOperand& to, const ScanOperand& from,
                                                 std::int64_t num_rows, std::int64_t count,
                                                 double* so_far, bool is_first,
                                                 const CancellationToken* token) {
  constexpr bool is_sum = std::is_same_v<Combine, Sum>;
  const auto rows = static_cast<__mmask8>((1 << num_rows) - 1);
  __m512d kept = is_first ? _mm512_set1_pd(is_sum ? 0 : 1) : _mm512_maskz_loadu_pd(rows, so_far);
  __m256 square[square_side] = {};  // NOLINT: as above
  // No processor reads eight rows ahead that eight others are written between.
  constexpr std::int64_t ahead_bytes = 512;
  const auto next = [&](std::int64_t number) __attribute__((always_inline)) {
    const std::int64_t i = number * square_side;
    const std::int64_t left = count - i;
    const auto there = static_cast<__mmask8>(left < square_side ? (1 << left) - 1 : 0xff);
    for (std::int64_t row = 0; row < num_rows; ++row) {
      if (number % 2 == 0) {  // a line is two squares wide
        __builtin_prefetch(at<std::byte>(from, row, i) + ahead_bytes);
        __builtin_prefetch(at<std::byte>(to, row, i) + ahead_bytes, 1);
      }
      square[row] = _mm256_maskz_loadu_ps(there, at<float>(from, row, i));
    }
    transpose_square(square);
    for (__m256& column : square) {
      const __m512d x = _mm512_cvtps_pd(column);
      kept = is_sum ? _mm512_add_pd(kept, x) : _mm512_mul_pd(kept, x);
      column = _mm512_cvtpd_ps(kept);
    }
    transpose_square(square);
    for (std::int64_t row = 0; row < num_rows; ++row)
      _mm256_mask_storeu_ps(at<float>(to, row, i), there, square[row]);
  };
  const std::int64_t num_squares = (count + square_side - 1) / square_side;
  for_each_step(0, num_squares, elements_a_look / (square_side * square_side), token, next);
  if (so_far != nullptr) _mm512_mask_storeu_pd(so_far, rows, kept);
}

template <class Combine>
void scan_in_lanes_of_all(ScanOperand to, ScanOperand from, std::int64_t num_rows,
                          std::int64_t count, const ScanParts& parts,
                          const CancellationToken* token) {
  auto* kept = kept_from<double>(parts, 0);
  for (; num_rows >= square_side; num_rows -= square_side) {
    scan_in_lanes<Combine>(to, from, square_side, count, kept, parts.is_first, token);
    to.data += square_side * to.row_stride_bytes;
    from.data += square_side * from.row_stride_bytes;
    if (kept != nullptr) kept += square_side;
  }
  if (num_rows > 0) scan_in_lanes<Combine>(to, from, num_rows, count, kept, parts.is_first, token);
}
#endif

template <class T, class Combine>
void run_scan(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
              std::int64_t num_rows, std::int64_t count, const ScanParts& parts,
              const CancellationToken* token) {
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  if (to.row_stride_bytes == itemsize && from.row_stride_bytes == itemsize && num_rows > 1)
    return scan_rows<T, Combine, true>(scan, to, from, num_rows, count, parts, token);
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    if (to.stride_bytes == itemsize && from.stride_bytes == itemsize && num_rows > 1)
      return scan_in_lanes_of_all<Combine>(to, from, num_rows, count, parts, token);
#endif
  scan_rows<T, Combine, false>(scan, to, from, num_rows, count, parts, token);
}

/// Sums and products; null for what has no loops of its own.
[[maybe_unused]] Scan::Run find_scan(Op op, DType dtype) {
  const auto arithmetic = [&]<class T>(std::type_identity<T>) -> Scan::Run {
    return op == Op::add ? &run_scan<T, Sum> : &run_scan<T, Product>;
  };
  if (op != Op::add && op != Op::mul) return nullptr;
  switch (dtype) {
    case DType::i64: return arithmetic(std::type_identity<std::int64_t>{});
    case DType::f32: return arithmetic(std::type_identity<float>{});
    case DType::f64: return arithmetic(std::type_identity<double>{});
    default: return nullptr;
  }
}

}  // namespace
}  // namespace weft::jit
