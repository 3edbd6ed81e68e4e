// Rows of f32 that are scanned in the lanes of vectors.  A part of jit/fold/scans.h, compiled as it
// is for each instruction set.
#pragma once

#include "jit/fold/scan_steps.h"

#if WEFT_VECTOR_BYTES >= 32
#include <immintrin.h>

namespace weft::jit {
namespace {

/// Rows that are scanned at once, and as many elements of each.
constexpr std::int64_t square_side = 8;

#if WEFT_VECTOR_BYTES == 64
/// Which of the eight elements of a row are there.
struct SquareMask {
  explicit SquareMask(std::int64_t count)
      : mask(static_cast<__mmask8>(count < square_side ? (1 << count) - 1 : 0xff)) {}
  __m256 load(const float* from) const { return _mm256_maskz_loadu_ps(mask, from); }
  void store(float* to, __m256 x) const { _mm256_mask_storeu_ps(to, mask, x); }

  __mmask8 mask;
};

/// What eight rows have accumulated.
struct SquareSums {
  explicit SquareSums(double x) : sums(_mm512_set1_pd(x)) {}
  SquareSums(const double* from, std::int64_t num_rows)
      : sums(_mm512_maskz_loadu_pd(SquareMask(num_rows).mask, from)) {}
  void store(double* to, std::int64_t num_rows) const {
    _mm512_mask_storeu_pd(to, SquareMask(num_rows).mask, sums);
  }
  /// The next element of each row.
  template <bool is_sum>
  __m256 next(__m256 x) {
    const __m512d wide = _mm512_cvtps_pd(x);
    sums = is_sum ? _mm512_add_pd(sums, wide) : _mm512_mul_pd(sums, wide);
    return _mm512_cvtpd_ps(sums);
  }

  __m512d sums;
};
#else
struct SquareMask {
  explicit SquareMask(std::int64_t num)
      : count(num < square_side ? num : square_side),
        mask(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))) {}
  __m256 load(const float* from) const {
    return count == square_side ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, mask);
  }
  /// Stores under a mask take AMD's processors a dozen cycles.
  void store(float* to, __m256 x) const {
    if (count == square_side) return _mm256_storeu_ps(to, x);
    __m128 left = _mm256_castps256_ps128(x);
    if ((count & 4) != 0) {
      _mm_storeu_ps(to, left);
      left = _mm256_extractf128_ps(x, 1);
      to += 4;
    }
    if ((count & 2) != 0) {
      _mm_storel_pi(reinterpret_cast<__m64*>(to), left);
      left = _mm_movehl_ps(left, left);
      to += 2;
    }
    if ((count & 1) != 0) put_at(to, _mm_cvtss_f32(left));
  }

  std::int64_t count;
  __m256i mask;
};

struct SquareSums {
  explicit SquareSums(double x) : low(_mm256_set1_pd(x)), high(low) {}
  SquareSums(const double* from, std::int64_t num_rows) {
    double all[square_side] = {};  // NOLINT: no function of the standard library is used
    for (std::int64_t row = 0; row < num_rows; ++row) all[row] = from[row];
    low = _mm256_loadu_pd(all), high = _mm256_loadu_pd(all + 4);
  }
  void store(double* to, std::int64_t num_rows) const {
    double all[square_side];  // NOLINT: as above
    _mm256_storeu_pd(all, low), _mm256_storeu_pd(all + 4, high);
    for (std::int64_t row = 0; row < num_rows; ++row) to[row] = all[row];
  }
  template <bool is_sum>
  __m256 next(__m256 x) {
    const __m256d more_low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    const __m256d more_high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    low = is_sum ? _mm256_add_pd(low, more_low) : _mm256_mul_pd(low, more_low);
    high = is_sum ? _mm256_add_pd(high, more_high) : _mm256_mul_pd(high, more_high);
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
  }

  __m256d low, high;
};
#endif

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
/// them are transposed, summed or multiplied up, and transposed back.
template <bool is_sum>
[[gnu::always_inline]] inline void scan_in_lanes(const ScanOperand& to, const ScanOperand& from,
                                                 std::int64_t num_rows, std::int64_t count,
                                                 double* so_far, bool is_first,
                                                 const CancellationToken* token) {
  SquareSums kept = is_first ? SquareSums(is_sum ? 0.0 : 1.0) : SquareSums(so_far, num_rows);
  __m256 square[square_side] = {};  // NOLINT: as above
  // No processor reads eight rows ahead that eight others are written between.
  constexpr std::int64_t ahead_bytes = 512;
  const bool is_next = count <= 1024;
  const std::int64_t from_ahead = is_next ? square_side * from.row_stride_bytes : ahead_bytes;
  const std::int64_t to_ahead = is_next ? square_side * to.row_stride_bytes : ahead_bytes;
  const auto next = [&](std::int64_t number) __attribute__((always_inline)) {
    const std::int64_t i = number * square_side;
    const SquareMask there(count - i);
    for (std::int64_t row = 0; row < num_rows; ++row) {
      if (number % 2 == 0) {  // a line is two squares wide
        __builtin_prefetch(at<std::byte>(from, row, i) + from_ahead);
        __builtin_prefetch(at<std::byte>(to, row, i) + to_ahead, 1);
      }
      square[row] = there.load(at<float>(from, row, i));
    }
    transpose_square(square);
    for (__m256& column : square) column = kept.next<is_sum>(column);
    transpose_square(square);
    for (std::int64_t row = 0; row < num_rows; ++row)
      there.store(at<float>(to, row, i), square[row]);
  };
  const std::int64_t num_squares = (count + square_side - 1) / square_side;
  for_each_step(0, num_squares, elements_a_look / (square_side * square_side), token, next);
  if (so_far != nullptr) kept.store(so_far, num_rows);
}

template <bool is_sum>
void scan_in_lanes_of_all(ScanOperand to, ScanOperand from, std::int64_t num_rows,
                          std::int64_t count, const ScanParts& parts,
                          const CancellationToken* token) {
  auto* kept = kept_from<double>(parts, 0);
  for (; num_rows >= square_side; num_rows -= square_side) {
    scan_in_lanes<is_sum>(to, from, square_side, count, kept, parts.is_first, token);
    to.data += square_side * to.row_stride_bytes;
    from.data += square_side * from.row_stride_bytes;
    if (kept != nullptr) kept += square_side;
  }
  if (num_rows > 0) scan_in_lanes<is_sum>(to, from, num_rows, count, kept, parts.is_first, token);
}

}  // namespace
}  // namespace weft::jit
#endif
