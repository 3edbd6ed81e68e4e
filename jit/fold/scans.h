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

/// The next element of `num` rows: y = kept = kept op x.
template <class T, class Combine, class As = AsItIs>
[[gnu::always_inline]] inline void next_elements(KeptBy<T, Combine>* __restrict kept,
                                                 const T* __restrict x, T* __restrict y,
                                                 std::int64_t num, As as = {}) {
  for (std::int64_t row = 0; row < num; ++row) {
    kept[row] = Combine::of(kept[row], as(x[row]));
    y[row] = as(static_cast<T>(kept[row]));
  }
}

#if defined(__AVX512F__)
/// The same, with the whole cache lines of y written past the caches.
template <class T, class Combine>
[[gnu::noinline]] void stream_next_elements(KeptBy<T, Combine>* kept, const T* x, T* y,
                                            std::int64_t num) {
  constexpr std::int64_t line_bytes = 64;
  constexpr std::int64_t a_line = line_bytes / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t together = 16 * a_line;
  alignas(line_bytes) T buffer[together];  // NOLINT: no function of the standard library is used
  const std::uintptr_t past_line = reinterpret_cast<std::uintptr_t>(y) % line_bytes;
  const bool starts_lines = past_line % sizeof(T) == 0;  // somewhere
  std::int64_t row = (a_line - static_cast<std::int64_t>(past_line / sizeof(T))) % a_line;
  if (row > num || !starts_lines) row = num;
  next_elements<T, Combine>(kept, x, y, row);
  while (num - row >= a_line) {
    const std::int64_t left = num - row;
    const std::int64_t taken = left < together ? left - left % a_line : together;
    next_elements<T, Combine>(kept + row, x + row, buffer, taken);
    for (std::int64_t line = 0; line < taken; line += a_line)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(y + row + line),
                          _mm512_load_si512(buffer + line));
    row += taken;
  }
  next_elements<T, Combine>(kept + row, x + row, y + row, num - row);
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
#if defined(__AVX512F__)
          if (scan.streams && num * itemsize >= least_streamed_bytes) {
            stream_next_elements<T, Combine>(kept, x, y, num);
            return;
          }
#endif
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
      for_each_step(parts.is_first ? 1 : 0, count, elements_a_look / num, token, next);
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
  const auto next = [&](std::int64_t number) __attribute__((always_inline)) {
    const std::int64_t i = number * square_side;
    const std::int64_t left = count - i;
    const auto there = static_cast<__mmask8>(left < square_side ? (1 << left) - 1 : 0xff);
    for (std::int64_t row = 0; row < num_rows; ++row)
      square[row] = _mm256_maskz_loadu_ps(there, at<float>(from, row, i));
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
