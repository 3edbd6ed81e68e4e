// Hand-written loops for AVX2 over operands that lie differently: transpositions, slices and
// pictures.  Sizes are those of the output as the table of workloads has them.

#include "bench/hand_loops.h"

#include <immintrin.h>

namespace weft::bench {
namespace {

using Size = std::int64_t;

inline Size least(Size a, Size b) { return a < b ? a : b; }

inline __m256i load(const char* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline void store(char* to, __m256i x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
inline void stream(char* to, __m256i x) { _mm256_stream_si256(reinterpret_cast<__m256i*>(to), x); }

/// A plane whose lines are read along items and written as columns:
///
///     to[item * to_stride + line * itemsize] = from[line * from_stride + item * itemsize]
struct Plane {
  const char* from;
  Size from_stride;
  char* to;
  Size to_stride;
  Size lines, items;
};

template <int itemsize, bool upper>
inline __m256i unpack(__m256i x, __m256i y) {
  if constexpr (itemsize == 1)
    return upper ? _mm256_unpackhi_epi8(x, y) : _mm256_unpacklo_epi8(x, y);
  else if constexpr (itemsize == 2)
    return upper ? _mm256_unpackhi_epi16(x, y) : _mm256_unpacklo_epi16(x, y);
  else if constexpr (itemsize == 4)
    return upper ? _mm256_unpackhi_epi32(x, y) : _mm256_unpacklo_epi32(x, y);
  else
    return upper ? _mm256_unpackhi_epi64(x, y) : _mm256_unpacklo_epi64(x, y);
}

inline __m256i load_lanes(const char* first, const char* second) {
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(second));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/// 16 bytes of each of 32 / itemsize lines become 16 / itemsize vectors, a row each.
template <int itemsize, class Store>
inline void transpose_step(const char* from, Size stride, Store store_row) {
  constexpr int side = 16 / itemsize;
  __m256i rows[side];
#pragma GCC unroll 16
  for (int k = 0; k < side; ++k)
    rows[k] = load_lanes(from + k * stride, from + (k + side) * stride);
#pragma GCC unroll 4
  for (int apart = side / 2; apart > 0; apart /= 2)
#pragma GCC unroll 16
    for (int k = 0; k < side; ++k) {
      if ((k & apart) != 0) continue;
      const __m256i low = unpack<itemsize, false>(rows[k], rows[k + apart]);
      rows[k + apart] = unpack<itemsize, true>(rows[k], rows[k + apart]);
      rows[k] = low;
    }
#pragma GCC unroll 16
  for (int k = 0; k < side; ++k) store_row(k, rows[k]);
}

/// Step by step to where the items belong, in blocks of `lines`; `store_row(to, row)` gets the
/// address of the first item of a row of a step.  What is left over at the ends is done again from
/// further back.
template <int itemsize, class Store>
inline void transpose_steps(const Plane& plane, Size lines, Store store_row) {
  constexpr Size step_lines = 32 / itemsize, step_items = 16 / itemsize;
  for (Size line = 0; line < plane.lines; line += lines)
    for (Size i = 0; i < plane.items; i += 4 * step_items)
      for (Size j = line; j < least(line + lines, plane.lines); j += step_lines)
        for (Size k = i; k < least(i + 4 * step_items, plane.items); k += step_items) {
          const Size from_item = least(k, plane.items - step_items);
          const Size from_line = least(j, plane.lines - step_lines);
          char* const to = plane.to + from_item * plane.to_stride + from_line * itemsize;
          transpose_step<itemsize>(
              plane.from + from_line * plane.from_stride + from_item * itemsize, plane.from_stride,
              [&](int row, __m256i x) { store_row(to + row * plane.to_stride, x); });
        }
}

/// A cache line of each of `most_lines` lines goes into a buffer, of which `write(to, row, bytes)`
/// then gets row by row: what is read is read once, and what is written, several cache lines.
template <int itemsize, Size most_lines, class Write>
inline void transpose_by_buffer(const Plane& plane, Write write) {
  constexpr Size items = 64 / itemsize, step_lines = 32 / itemsize, step_items = 16 / itemsize;
  constexpr Size row_bytes = most_lines * itemsize + 64;  // rows don't fight for one set of ways
  alignas(64) char buffer[items * row_bytes];
  const Size lines = least(most_lines, plane.lines);
  for (Size i = 0; i < plane.items; i += items)
    for (Size j = 0; j < plane.lines; j += lines) {
      const Size item = least(i, plane.items - items), line = least(j, plane.lines - lines);
      const char* const from = plane.from + line * plane.from_stride + item * itemsize;
      for (Size s = 0; s < lines; s += step_lines) {
        const Size at = least(s, lines - step_lines);
        for (Size k = 0; k < items; k += step_items)
          transpose_step<itemsize>(from + at * plane.from_stride + k * itemsize, plane.from_stride,
                                   [&](int row, __m256i x) {
                                     store(buffer + (k + row) * row_bytes + at * itemsize, x);
                                   });
      }
      for (Size k = 0; k < items; ++k)
        write(plane.to + (item + k) * plane.to_stride + line * itemsize, buffer + k * row_bytes,
              lines * itemsize);
    }
}

inline bool starts_lines(const Plane& plane) {
  return (reinterpret_cast<std::uintptr_t>(plane.to) |
          static_cast<std::uintptr_t>(plane.to_stride)) %
             64 ==
         0;
}

template <int itemsize>
void transpose(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  const Plane plane{static_cast<const char*>(args.in[0]),
                    rows * itemsize,
                    static_cast<char*>(args.out),
                    columns * itemsize,
                    columns,
                    rows};
  if (2 * rows * columns * itemsize < streamed_bytes || !starts_lines(plane))
    return transpose_steps<itemsize>(plane, 64, store);
  transpose_by_buffer<itemsize, 256 / itemsize>(plane, [](char* to, const char* row, Size bytes) {
    for (Size k = 0; k < bytes; k += 32) stream(to + k, load(row + k));
  });
  _mm_sfence();
}

/// `a` lies as the output, b transposed.
void add_transposed(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  const char* const a = static_cast<const char*>(args.in[0]);
  const Plane plane{static_cast<const char*>(args.in[1]),
                    rows * 4,
                    static_cast<char*>(args.out),
                    columns * 4,
                    columns,
                    rows};
  const auto sum = [&](const char* to, __m256i b) {
    const __m256 x = _mm256_loadu_ps(reinterpret_cast<const float*>(a + (to - plane.to)));
    return _mm256_castps_si256(_mm256_add_ps(x, _mm256_castsi256_ps(b)));
  };
  if (12 * rows * columns < streamed_bytes || !starts_lines(plane))
    return transpose_steps<4>(plane, 256, [&](char* to, __m256i b) { store(to, sum(to, b)); });
  transpose_by_buffer<4, 128>(plane, [&](char* to, const char* row, Size bytes) {
    for (Size k = 0; k < bytes; k += 32) stream(to + k, sum(to + k, load(row + k)));
  });
  _mm_sfence();
}

inline __m256i greater(__m256i x, const float* y) {
  return _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(x), _mm256_loadu_ps(y), _CMP_GT_OQ));
}

/// 32 numbers are compared at a time, and packed.
void greater_transposed(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  const float* const b = static_cast<const float*>(args.in[1]);
  char* const out = static_cast<char*>(args.out);
  const __m256i one = _mm256_set1_epi8(1);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  // Rows of the output are counted as if they had four bytes an item.
  const Plane plane{
      static_cast<const char*>(args.in[0]), rows * 4, out, columns * 4, columns, rows};
  transpose_by_buffer<4, 64>(plane, [&](const char* to, const char* row, Size bytes) {
    const Size at = (to - out) / 4, count = bytes / 4;
    for (Size i = 0; i < count; i += 32) {
      const Size k = least(i, count - 32);
      const float* const y = b + at + k;
      const char* const x = row + 4 * k;
      const __m256i low = _mm256_packs_epi32(greater(load(x), y), greater(load(x + 32), y + 8));
      const __m256i high =
          _mm256_packs_epi32(greater(load(x + 64), y + 16), greater(load(x + 96), y + 24));
      const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
      store(out + at + k, _mm256_and_si256(packed, one));
    }
  });
}

/// Planes of three channels to pixels.
template <bool streams>
void interleave(const HandArgs& args) {
  const Size pixels = args.size[2] * args.size[3];
  __m256i order[3][3];  // [vector][channel]
  alignas(32) int mask[3][3][8];
  for (int vector = 0; vector < 3; ++vector)
    for (int channel = 0; channel < 3; ++channel) {
      alignas(32) int item[8];
      for (int i = 0; i < 8; ++i) {
        const int place = 8 * vector + i;
        item[i] = place / 3;
        mask[vector][channel][i] = place % 3 == channel ? -1 : 0;
      }
      order[vector][channel] = _mm256_load_si256(reinterpret_cast<const __m256i*>(item));
    }
  const auto chosen = [&](__m256 rest, __m256 x, int vector, int channel) {
    const __m256 is_own = _mm256_load_ps(reinterpret_cast<const float*>(mask[vector][channel]));
    return _mm256_blendv_ps(rest, _mm256_permutevar8x32_ps(x, order[vector][channel]), is_own);
  };
  for (Size image = 0; image < args.size[0]; ++image) {
    const float* from = static_cast<const float*>(args.in[0]) + image * 3 * pixels;
    float* to = static_cast<float*>(args.out) + image * 3 * pixels;
    for (Size i = 0; i + 8 <= pixels; i += 8)
      for (int vector = 0; vector < 3; ++vector) {
        const __m256 first = _mm256_permutevar8x32_ps(_mm256_loadu_ps(from + i), order[vector][0]);
        const __m256 two = chosen(first, _mm256_loadu_ps(from + pixels + i), vector, 1);
        const __m256 x = chosen(two, _mm256_loadu_ps(from + 2 * pixels + i), vector, 2);
        float* const place = to + 3 * i + 8 * vector;
        streams ? _mm256_stream_ps(place, x) : _mm256_storeu_ps(place, x);
      }
  }
  if (streams) _mm_sfence();
}

/// Of three channels whose pixels fill whole vectors; others are transposed.
void planes_to_pixels(const HandArgs& args) {
  const Size channels = args.size[1], pixels = args.size[2] * args.size[3];
  const Size bytes = channels * pixels * 4;
  const bool is_large = 2 * args.size[0] * bytes >= streamed_bytes;
  if (channels == 3) return is_large ? interleave<true>(args) : interleave<false>(args);
  for (Size i = 0; i < args.size[0]; ++i)
    transpose_steps<4>({static_cast<const char*>(args.in[0]) + i * bytes, pixels * 4,
                        static_cast<char*>(args.out) + i * bytes, channels * 4, channels, pixels},
                       64, store);
}

/// Every other row, and of it every `step`-th item.  Nothing beyond the last one is read.
template <int step>
void slice(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  const __m256i order = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5);
  const __m256i seven = _mm256_setr_epi32(-1, -1, -1, -1, -1, -1, -1, 0);
  const __m256i six = _mm256_setr_epi32(-1, -1, -1, -1, -1, -1, 0, 0);
  for (Size row = 0; row < rows; ++row) {
    const float* from = static_cast<const float*>(args.in[0]) + row * columns * 2 * step;
    float* to = static_cast<float*>(args.out) + row * columns;
    for (Size i = 0; i < columns; i += 8) {
      const float* at = from + i * step;
      const __m256 first = _mm256_loadu_ps(at);
      if constexpr (step == 2) {
        const __m256 both = _mm256_shuffle_ps(first, _mm256_maskload_ps(at + 8, seven), 0x88);
        _mm256_storeu_ps(to + i,
                         _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(both), 0xD8)));
      } else {
        const __m256 two = _mm256_blend_ps(first, _mm256_loadu_ps(at + 8), 0x92);
        const __m256 all = _mm256_blend_ps(two, _mm256_maskload_ps(at + 16, six), 0x24);
        _mm256_storeu_ps(to + i, _mm256_permutevar8x32_ps(all, order));
      }
    }
  }
}

/// x / c for one c and many x of ordinary size, with the bits of the division: the product with the
/// reciprocal, and a correction by its remainder.
struct Quotient {
  __m256 divisor, reciprocal;

  explicit Quotient(float c) : divisor(_mm256_set1_ps(c)), reciprocal(_mm256_set1_ps(1 / c)) {}
  __m256 of(__m256 x) const {
    const __m256 quotient = _mm256_mul_ps(x, reciprocal);
    const __m256 remainder = _mm256_fmsub_ps(quotient, divisor, x);
    return _mm256_fnmadd_ps(remainder, reciprocal, quotient);
  }
};

/// Byte `colour` of each of 16 pixels out of 48 bytes in three registers.
struct Colour {
  alignas(16) char order[3][16];

  explicit Colour(int colour) {
    for (int pixel = 0; pixel < 16; ++pixel)
      for (int part = 0; part < 3; ++part) {
        const int place = 3 * pixel + colour - 16 * part;
        order[part][pixel] = static_cast<char>(place >= 0 && place < 16 ? place : 0x80);
      }
  }
  __m128i from(const __m128i* bytes, int part) const {
    return _mm_shuffle_epi8(_mm_loadu_si128(bytes + part),
                            _mm_load_si128(reinterpret_cast<const __m128i*>(order[part])));
  }
  __m128i pick(const __m128i* bytes) const {
    return _mm_or_si128(_mm_or_si128(from(bytes, 0), from(bytes, 1)), from(bytes, 2));
  }
};

/// The same bits as two divisions and a subtraction; the pixels fill whole vectors.
void normalize(const HandArgs& args) {
  const float* mean = static_cast<const float*>(args.in[1]);
  const float* deviation = static_cast<const float*>(args.in[2]);
  const Size pixels = args.numel / (3 * args.size[0]);
  const Colour colours[3] = {Colour(0), Colour(1), Colour(2)};
  const Quotient by_255(255),
      by_deviation[3] = {Quotient(deviation[0]), Quotient(deviation[1]), Quotient(deviation[2])};
  for (Size image = 0; image < args.size[0]; ++image) {
    const unsigned char* in = static_cast<const unsigned char*>(args.in[0]) + image * pixels * 3;
    float* out = static_cast<float*>(args.out) + image * pixels * 3;
    for (Size i = 0; i + 16 <= pixels; i += 16)
#pragma GCC unroll 3
      for (int c = 0; c < 3; ++c) {
        const __m128i bytes = colours[c].pick(reinterpret_cast<const __m128i*>(in + 3 * i));
        const auto finish = [&](__m128i eight, float* to) {
          const __m256 value = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
          const __m256 centred = _mm256_sub_ps(by_255.of(value), _mm256_set1_ps(mean[c]));
          _mm256_storeu_ps(to, by_deviation[c].of(centred));
        };
        finish(bytes, out + c * pixels + i);
        finish(_mm_srli_si128(bytes, 8), out + c * pixels + i + 8);
      }
  }
}

}  // namespace

const HandLoop hand_layouts_avx2[] = {
    {"transpose_u8", transpose<1>},
    {"transpose_u16", transpose<2>},
    {"transpose_f32", transpose<4>},
    {"transpose_f64", transpose<8>},
    {"add_t", add_transposed},
    {"gt_t", greater_transposed},
    {"nchw_to_nhwc", planes_to_pixels},
    {"slice_2x2", slice<2>},
    {"slice_2x3", slice<3>},
    {"normalize", normalize},
    {nullptr, nullptr},
};

}  // namespace weft::bench
