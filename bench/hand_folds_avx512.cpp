// Hand-written loops for AVX-512 F, BW and VL: reductions, and rows that are read several times.
// They do less than weft: sums have other trees and so other last bits, maxima look for no NaN, and
// softmax multiplies by a reciprocal instead of dividing.

#include "bench/hand_loops.h"

#include <immintrin.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace weft::bench {
namespace {

using Size = std::int64_t;

/// Of one f32 each an accumulator adds so many before they go into a double, which keeps errors
/// small.
constexpr Size block = 4096;

struct Sum {
  static __m512 identity() { return _mm512_setzero_ps(); }
  static __m512 combine(__m512 x, __m512 y) { return _mm512_add_ps(x, y); }
  static float reduce(__m512 x) { return _mm512_reduce_add_ps(x); }
};

struct Max {
  static __m512 identity() { return _mm512_set1_ps(-std::numeric_limits<float>::infinity()); }
  static __m512 combine(__m512 x, __m512 y) { return _mm512_max_ps(x, y); }
  static float reduce(__m512 x) { return _mm512_reduce_max_ps(x); }
};

/// Folds the vectors `at(i)` of so many elements, a multiple of 16, eight at a time.
template <class Fold, class At>
inline float fold(Size count, At at) {
  __m512 parts[8];
  for (__m512& part : parts) part = Fold::identity();
  Size i = 0;
  for (; i + 128 <= count; i += 128)
    for (int k = 0; k < 8; ++k) parts[k] = Fold::combine(parts[k], at(i + 16 * k));
  for (; i + 16 <= count; i += 16) parts[0] = Fold::combine(parts[0], at(i));
  for (int width = 4; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) parts[k] = Fold::combine(parts[k], parts[k + width]);
  return Fold::reduce(parts[0]);
}

template <class At, class One>
inline double sum_in_blocks(Size numel, At at, One one) {
  double sum = 0;
  const Size vectors = numel / 16 * 16;
  for (Size first = 0; first < vectors; first += block)
    sum += fold<Sum>(vectors - first < block ? vectors - first : block,
                     [&](Size i) { return at(first + i); });
  for (Size i = vectors; i < numel; ++i) sum += one(i);
  return sum;
}

void sum_all(const HandArgs& args) {
  const float* const a = static_cast<const float*>(args.in[0]);
  *static_cast<float*>(args.out) = static_cast<float>(sum_in_blocks(
      args.in_size[0], [&](Size i) { return _mm512_loadu_ps(a + i); },
      [&](Size i) { return a[i]; }));
}

void sum_all_squares(const HandArgs& args) {
  const float* const a = static_cast<const float*>(args.in[0]);
  const float* const b = static_cast<const float*>(args.in[1]);
  const auto at = [&](Size i) {
    const __m512 sum = _mm512_add_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i));
    return _mm512_mul_ps(sum, sum);
  };
  *static_cast<float*>(args.out) = static_cast<float>(
      sum_in_blocks(args.in_size[0], at, [&](Size i) { return (a[i] + b[i]) * (a[i] + b[i]); }));
}

void amax_all(const HandArgs& args) {
  const float* const a = static_cast<const float*>(args.in[0]);
  const Size vectors = args.in_size[0] / 16 * 16;
  float most = fold<Max>(vectors, [&](Size i) { return _mm512_loadu_ps(a + i); });
  for (Size i = vectors; i < args.in_size[0]; ++i) most = a[i] > most ? a[i] : most;
  *static_cast<float*>(args.out) = most;
}

/// Columns of 64 at a time over 32 rows, whose results wait in the output.
template <class Fold>
void fold_columns(const HandArgs& args) {
  const Size rows = args.in_size[0], columns = args.in_size[1];
  const float* const a = static_cast<const float*>(args.in[0]);
  float* const out = static_cast<float*>(args.out);
  for (Size first = 0; first < rows; first += 32) {
    const Size last = first + 32 < rows ? first + 32 : rows;
    for (Size column = 0; column < columns; column += 64) {
      __m512 parts[4];
      __mmask16 masks[4];
      for (int k = 0; k < 4; ++k) {
        const Size left = columns - column - 16 * k;
        masks[k] = static_cast<__mmask16>(left >= 16 ? 0xFFFF : left <= 0 ? 0 : (1 << left) - 1);
        parts[k] =
            first == 0 ? Fold::identity() : _mm512_maskz_loadu_ps(masks[k], out + column + 16 * k);
      }
      const float* at = a + first * columns + column;
      for (Size row = first; row < last; ++row, at += columns)
        for (int k = 0; k < 4; ++k)
          parts[k] = Fold::combine(parts[k], _mm512_maskz_loadu_ps(masks[k], at + 16 * k));
      for (int k = 0; k < 4; ++k) _mm512_mask_storeu_ps(out + column + 16 * k, masks[k], parts[k]);
    }
  }
}

/// Of images [N, C, H, W], whose planes are read in order.
void sum_planes(const HandArgs& args) {
  const Size channels = args.in_size[1], pixels = args.in_size[2] * args.in_size[3];
  const float* a = static_cast<const float*>(args.in[0]);
  float* const out = static_cast<float*>(args.out);
  for (Size i = 0; i < args.in_size[0]; ++i)
    for (Size channel = 0; channel < channels; ++channel, a += pixels) {
      const Size vectors = pixels / 16 * 16;
      float sum = fold<Sum>(vectors, [&](Size k) { return _mm512_loadu_ps(a + k); });
      for (Size k = vectors; k < pixels; ++k) sum += a[k];
      out[channel] = i == 0 ? sum : out[channel] + sum;
    }
}

/// For x from -87 to 0, by a polynomial of degree seven.
inline __m512 exponential(__m512 x) {
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504F)), 0);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693145752F), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(1.42860677e-6F), r);
  __m512 p = _mm512_set1_ps(1.98756911e-4F);
  for (const float factor : {1.39819994e-3F, 8.33345205e-3F, 4.16657962e-2F, 1.66666657e-1F, 0.5F})
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(factor));
  p = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), _mm512_add_ps(r, _mm512_set1_ps(1)));
  return _mm512_scalef_ps(p, n);
}

/// Row by row: what the first pass brings into the first cache the others find there, and the last
/// writes past the caches where all is large.  While a row is computed the next is asked for.
template <bool streams, class Row>
inline void rows_of(const HandArgs& args, Row row) {
  const Size rows = args.in_size[0], columns = args.in_size[1];
  const float* in = static_cast<const float*>(args.in[0]);
  float* out = static_cast<float*>(args.out);
  for (Size i = 0; i < rows; ++i, in += columns, out += columns)
    row(in, out, columns, [&](Size at, __m512 x) {
      streams ? _mm512_stream_ps(out + at, x) : _mm512_storeu_ps(out + at, x);
    });
  if (streams) _mm_sfence();
}

inline __m512 load_and_ask(const float* row, Size i, Size columns) {
  _mm_prefetch(reinterpret_cast<const char*>(row + columns + i), _MM_HINT_T0);
  return _mm512_loadu_ps(row + i);
}

/// Rows of whole vectors.
template <bool streams>
void softmax_rows(const HandArgs& args) {
  rows_of<streams>(args, [](const float* in, float* out, Size columns, auto store) {
    const __m512 most =
        _mm512_set1_ps(fold<Max>(columns, [&](Size i) { return _mm512_loadu_ps(in + i); }));
    const float sum = fold<Sum>(columns, [&](Size i) {
      const __m512 x = exponential(_mm512_sub_ps(load_and_ask(in, i, columns), most));
      _mm512_storeu_ps(out + i, x);
      return x;
    });
    const __m512 factor = _mm512_set1_ps(1 / sum);
    for (Size i = 0; i < columns; i += 16)
      store(i, _mm512_mul_ps(_mm512_loadu_ps(out + i), factor));
  });
}

template <bool streams>
void layer_norm_rows(const HandArgs& args) {
  rows_of<streams>(args, [](const float* in, float*, Size columns, auto store) {
    const float sum = fold<Sum>(columns, [&](Size i) { return _mm512_loadu_ps(in + i); });
    const __m512 mean = _mm512_set1_ps(sum / static_cast<float>(columns));
    const float squares = fold<Sum>(columns, [&](Size i) {
      const __m512 x = _mm512_sub_ps(load_and_ask(in, i, columns), mean);
      return _mm512_mul_ps(x, x);
    });
    const __m512 deviation =
        _mm512_set1_ps(std::sqrt(squares / static_cast<float>(columns) + 1e-5F));
    for (Size i = 0; i < columns; i += 16)
      store(i, _mm512_div_ps(_mm512_sub_ps(_mm512_loadu_ps(in + i), mean), deviation));
  });
}

bool is_large(const HandArgs& args) {
  return 8 * args.in_size[0] * args.in_size[1] >= streamed_bytes;
}
void softmax(const HandArgs& args) {
  is_large(args) ? softmax_rows<true>(args) : softmax_rows<false>(args);
}
void layer_norm(const HandArgs& args) {
  is_large(args) ? layer_norm_rows<true>(args) : layer_norm_rows<false>(args);
}

}  // namespace

const HandLoop hand_folds_avx512[] = {
    {"sum_all", sum_all},
    {"sum_all_squares", sum_all_squares},
    {"amax_all", amax_all},
    {"sum_outer", fold_columns<Sum>},
    {"amax_outer", fold_columns<Max>},
    {"sum_nhw_nchw", sum_planes},
    {"softmax", softmax},
    {"layer_norm", layer_norm},
    {nullptr, nullptr},
};

}  // namespace weft::bench
