// Hand-written loops for AVX-512 F, BW and VL over operands that lie differently: transpositions,
// permutations and slices.  Sizes are those of the output as the table of workloads has them.

#include "bench/hand_loops.h"

#include <immintrin.h>

namespace weft::bench {
namespace {

using Size = std::int64_t;

inline Size least(Size a, Size b) { return a < b ? a : b; }

/// A plane whose lines are read along items and written as columns:
///
///     to[item * to_stride + line * itemsize] = op(from[line * from_stride + item * itemsize])
struct Plane {
  const char* from;
  Size from_stride;
  char* to;
  Size to_stride;
  Size lines, items;
};

template <int itemsize, bool upper>
inline __m512i unpack(__m512i x, __m512i y) {
  if constexpr (itemsize == 1)
    return upper ? _mm512_unpackhi_epi8(x, y) : _mm512_unpacklo_epi8(x, y);
  else if constexpr (itemsize == 2)
    return upper ? _mm512_unpackhi_epi16(x, y) : _mm512_unpacklo_epi16(x, y);
  else if constexpr (itemsize == 4)
    return upper ? _mm512_unpackhi_epi32(x, y) : _mm512_unpacklo_epi32(x, y);
  else
    return upper ? _mm512_unpackhi_epi64(x, y) : _mm512_unpacklo_epi64(x, y);
}

inline __m128i load_lane(const char* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

/// 16 bytes of each of 64 / itemsize lines become 16 / itemsize vectors, a row each.
template <int itemsize, class Store>
inline void transpose_step(const char* from, Size stride, Store store) {
  constexpr int side = 16 / itemsize;
  __m512i rows[side], next[side];
#pragma GCC unroll 16
  for (int k = 0; k < side; ++k) {
    const char* line = from + k * stride;
    const __m512i first = _mm512_castsi128_si512(load_lane(line));
    const __m512i second = _mm512_inserti32x4(first, load_lane(line + side * stride), 1);
    const __m512i third = _mm512_inserti32x4(second, load_lane(line + 2 * side * stride), 2);
    rows[k] = _mm512_inserti32x4(third, load_lane(line + 3 * side * stride), 3);
  }
#pragma GCC unroll 4
  for (int width = 1; width < side; width *= 2) {
#pragma GCC unroll 8
    for (int k = 0; k < side / 2; ++k) {
      next[2 * k] = unpack<itemsize, false>(rows[k], rows[k + side / 2]);
      next[2 * k + 1] = unpack<itemsize, true>(rows[k], rows[k + side / 2]);
    }
#pragma GCC unroll 16
    for (int k = 0; k < side; ++k) rows[k] = next[k];
  }
#pragma GCC unroll 16
  for (int k = 0; k < side; ++k) store(k, rows[k]);
}

/// The part of a plane that has whole steps, in blocks of `lines` by `items`; `store(to, row)` gets
/// the address of the first item of a row of a step.  What is left over at the ends is done again
/// from further back.
template <int itemsize, class Store>
inline void transpose_blocks(const Plane& plane, Size lines, Size items, Store store) {
  constexpr Size step_lines = 64 / itemsize, step_items = 16 / itemsize;
  for (Size line = 0; line < plane.lines; line += lines)
    for (Size item = 0; item < plane.items; item += items) {
      const Size last_item = least(item + items, plane.items);
      const Size last_line = least(line + lines, plane.lines);
      for (Size i = item; i < last_item; i += 4 * step_items)
        for (Size j = line; j < last_line; j += step_lines)
          for (Size k = i; k < least(i + 4 * step_items, last_item); k += step_items) {
            const Size from_item = least(k, plane.items - step_items);
            const Size from_line = least(j, plane.lines - step_lines);
            char* const to = plane.to + from_item * plane.to_stride + from_line * itemsize;
            transpose_step<itemsize>(
                plane.from + from_line * plane.from_stride + from_item * itemsize,
                plane.from_stride,
                [&](int row, __m512i x) { store(to + row * plane.to_stride, x); });
          }
    }
}

inline bool starts_lines(const Plane& plane) {
  return (reinterpret_cast<std::uintptr_t>(plane.to) |
          static_cast<std::uintptr_t>(plane.to_stride)) %
             64 ==
         0;
}

/// Copies a plane of at least a step; `streams` past the caches where its rows are whole lines.
template <int itemsize>
void transpose_plane(const Plane& plane, bool streams) {
  constexpr Size step_lines = 64 / itemsize;
  if (streams && starts_lines(plane) && plane.lines % step_lines == 0)
    return transpose_blocks<itemsize>(
        plane, step_lines > 32 ? step_lines : 32, plane.items,
        [](char* to, __m512i x) { _mm512_stream_si512(reinterpret_cast<__m512i*>(to), x); });
  transpose_blocks<itemsize>(plane, 128, plane.items,
                             [](char* to, __m512i x) { _mm512_storeu_si512(to, x); });
}

/// Lines of f32 that become columns of rows anywhere.
struct Columns {
  const char* from;
  Size from_stride;
  char* to;
  const Size* row_offsets;  ///< of each item's row, in bytes
  Size lines, items;
};

/// 16 by 16; fewer lines are masked.
void transpose_square(const Columns& part) {
  char* const to = part.to;
  if (part.lines == 16) {
    for (int k = 0; k < 16; k += 4)
      transpose_step<4>(part.from + 4 * k, part.from_stride, [&](int row, __m512i x) {
        _mm512_storeu_si512(to + part.row_offsets[k + row], x);
      });
    return;
  }
  alignas(64) char lines[16][64];
  for (Size i = 0; i < part.lines; ++i)
    _mm512_store_si512(lines[i], _mm512_loadu_si512(part.from + i * part.from_stride));
  const auto mask = static_cast<__mmask16>((1U << part.lines) - 1);
  for (int k = 0; k < 16; k += 4)
    transpose_step<4>(&lines[0][4 * k], 64, [&](int row, __m512i x) {
      _mm512_mask_storeu_epi32(to + part.row_offsets[k + row], mask, x);
    });
}

/// What is left over at the ends is done again from further back, and by items if there are fewer
/// than 16.
void transpose_columns(const Columns& whole) {
  if (whole.items < 16) {
    for (Size line = 0; line < whole.lines; ++line)
      for (Size item = 0; item < whole.items; ++item)
        *reinterpret_cast<float*>(whole.to + whole.row_offsets[item] + line * 4) =
            *reinterpret_cast<const float*>(whole.from + line * whole.from_stride + item * 4);
    return;
  }
  for (Size item = 0; item < whole.items; item += 16)
    for (Size line = 0; line < whole.lines; line += 16) {
      const Size first_item = least(item, whole.items - 16);
      const Size first_line = whole.lines < 16 ? 0 : least(line, whole.lines - 16);
      transpose_square({whole.from + first_line * whole.from_stride + first_item * 4,
                        whole.from_stride, whole.to + first_line * 4,
                        whole.row_offsets + first_item, least(16, whole.lines), 16});
    }
}

template <int itemsize>
void transpose(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  const bool streams = 2 * rows * columns * itemsize >= streamed_bytes;
  transpose_plane<itemsize>({static_cast<const char*>(args.in[0]), rows * itemsize,
                             static_cast<char*>(args.out), columns * itemsize, columns, rows},
                            streams);
  if (streams) _mm_sfence();
}

void batched_transpose(const HandArgs& args) {
  const Size rows = args.size[1], columns = args.size[2];
  const Size plane_bytes = rows * columns * 4;
  const bool streams = 2 * args.size[0] * plane_bytes >= streamed_bytes;
  for (Size i = 0; i < args.size[0]; ++i)
    transpose_plane<4>({static_cast<const char*>(args.in[0]) + i * plane_bytes, rows * 4,
                        static_cast<char*>(args.out) + i * plane_bytes, columns * 4, columns, rows},
                       streams);
  if (streams) _mm_sfence();
}

/// Half a line of bf16 from a vector of f32, rounded to nearest even; the inputs hold no NaN.
inline __m256i to_bf16(__m512i bits) {
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}

// Two vectors of lines make a cache line of the output, which waits in a buffer for its other half.
// What is left over at the ends is done again from further back, as in transpose_blocks().
void transpose_cast(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  const char* const from = static_cast<const char*>(args.in[0]);
  char* const to = static_cast<char*>(args.out);
  const bool streams = 6 * rows * columns >= streamed_bytes &&
                       starts_lines({from, rows * 4, to, columns * 2, columns, rows});
  alignas(64) char half[16][32];
  for (Size left = 0; left < columns; left += 32)
    for (Size top = 0; top < rows; top += 4) {
      const Size panel = least(left, columns - 32), step = least(top, rows - 4);
      const char* const at = from + (panel * rows + step) * 4;
      transpose_step<4>(at, rows * 4, [&](int k, __m512i x) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(half[k]), to_bf16(x));
      });
      transpose_step<4>(at + 16 * rows * 4, rows * 4, [&](int k, __m512i x) {
        const __m256i first = _mm256_load_si256(reinterpret_cast<const __m256i*>(half[k]));
        const __m512i line = _mm512_inserti64x4(_mm512_castsi256_si512(first), to_bf16(x), 1);
        auto* const out = reinterpret_cast<__m512i*>(to + (step + k) * columns * 2 + panel * 2);
        streams ? _mm512_stream_si512(out, line) : _mm512_storeu_si512(out, line);
      });
    }
  if (streams) _mm_sfence();
}

/// `a` lies as the output, b transposed.
template <class Store>
void with_transposed(const char* a, const Plane& plane, Store store) {
  transpose_blocks<4>(plane, 256, 64, [&](char* to, __m512i b) {
    store(to, _mm512_loadu_ps(a + (to - plane.to)), _mm512_castsi512_ps(b));
  });
}

void add_transposed(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  with_transposed(static_cast<const char*>(args.in[0]),
                  {static_cast<const char*>(args.in[1]), rows * 4, static_cast<char*>(args.out),
                   columns * 4, columns, rows},
                  [](char* to, __m512 a, __m512 b) { _mm512_storeu_ps(to, _mm512_add_ps(a, b)); });
}

void greater_transposed(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  const char* const b = static_cast<const char*>(args.in[1]);
  char* const out = static_cast<char*>(args.out);
  const __m128i one = _mm_set1_epi8(1);
  const Plane plane{
      static_cast<const char*>(args.in[0]), rows * 4, out, columns * 4, columns, rows};
  transpose_blocks<4>(plane, 256, 64, [&](char* to, __m512i a) {
    const Size at = to - out;
    const __mmask16 is_greater =
        _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_loadu_ps(b + at), _CMP_GT_OQ);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at / 4), _mm_maskz_mov_epi8(is_greater, one));
  });
}

/// Of images [N, C, H, W], one is planes of pixels, the other pixels of channels.
struct Images {
  Size count, channels, pixels;
  explicit Images(const HandArgs& args)
      : count(args.size[0]), channels(args.size[1]), pixels(args.size[2] * args.size[3]) {}
  Size bytes() const { return channels * pixels * 4; }
};

void add_small_images(const HandArgs& args, const Images& images) {
  const float* const a = static_cast<const float*>(args.in[0]);
  const float* const b = static_cast<const float*>(args.in[1]);
  float* const out = static_cast<float*>(args.out);
  for (Size i = 0; i < images.count; ++i)
    for (Size pixel = 0; pixel < images.pixels; ++pixel)
      for (Size channel = 0; channel < images.channels; ++channel) {
        const Size image = i * images.channels * images.pixels;
        const Size at = image + pixel * images.channels + channel;
        out[at] = a[at] + b[image + channel * images.pixels + pixel];
      }
}

void add_images(const HandArgs& args) {
  const Images images(args);
  if (images.channels < 16) return add_small_images(args, images);
  for (Size i = 0; i < images.count; ++i) {
    const Size at = i * images.bytes();
    with_transposed(
        static_cast<const char*>(args.in[0]) + at,
        {static_cast<const char*>(args.in[1]) + at, images.pixels * 4,
         static_cast<char*>(args.out) + at, images.channels * 4, images.channels, images.pixels},
        [](char* to, __m512 a, __m512 b) { _mm512_storeu_ps(to, _mm512_add_ps(a, b)); });
  }
}

/// Where item i of vector `vector` of three comes from: below 16 the first, below 32 the second.
struct ThreeWays {
  __m512i first[3], second[3];
  explicit ThreeWays(bool to_pixels) {
    for (int vector = 0; vector < 3; ++vector) {
      alignas(64) int from_two[16], from_third[16];
      for (int i = 0; i < 16; ++i) {
        const int at = to_pixels ? 16 * vector + i : 3 * i + vector;
        const int source = to_pixels ? at % 3 : at / 16;
        const int item = to_pixels ? at / 3 : at % 16;
        from_two[i] = source < 2 ? 16 * source + item : 0;
        from_third[i] = source == 2 ? 16 + item : i;
      }
      first[vector] = _mm512_load_si512(from_two);
      second[vector] = _mm512_load_si512(from_third);
    }
  }
  __m512 of(int vector, __m512 a, __m512 b, __m512 c) const {
    return _mm512_permutex2var_ps(_mm512_permutex2var_ps(a, first[vector], b), second[vector], c);
  }
};

/// Images of three channels, whose pixels fill whole vectors.
template <bool to_pixels, bool streams>
void interleave(const HandArgs& args, const Images& images) {
  const ThreeWays ways(to_pixels);
  for (Size image = 0; image < images.count; ++image) {
    const float* from = static_cast<const float*>(args.in[0]) + image * 3 * images.pixels;
    float* to = static_cast<float*>(args.out) + image * 3 * images.pixels;
    const Size from_step = to_pixels ? images.pixels : 16;
    const Size to_step = to_pixels ? 16 : images.pixels;
    for (Size i = 0; i + 16 <= images.pixels; i += 16) {
      const float* at = from + (to_pixels ? i : 3 * i);
      const __m512 a = _mm512_loadu_ps(at), b = _mm512_loadu_ps(at + from_step),
                   c = _mm512_loadu_ps(at + 2 * from_step);
      float* const out = to + (to_pixels ? 3 * i : i);
      for (int vector = 0; vector < 3; ++vector) {
        const __m512 x = ways.of(vector, a, b, c);
        streams ? _mm512_stream_ps(out + vector * to_step, x)
                : _mm512_storeu_ps(out + vector * to_step, x);
      }
    }
  }
  if (streams) _mm_sfence();
}

template <bool to_pixels>
void convert_images(const HandArgs& args) {
  const Images images(args);
  const bool streams = 2 * images.count * images.bytes() >= streamed_bytes;
  if (images.channels == 3)
    return streams ? interleave<to_pixels, true>(args, images)
                   : interleave<to_pixels, false>(args, images);
  const Size lines = to_pixels ? images.channels : images.pixels;
  const Size items = to_pixels ? images.pixels : images.channels;
  for (Size i = 0; i < images.count; ++i)
    transpose_plane<4>({static_cast<const char*>(args.in[0]) + i * images.bytes(), items * 4,
                        static_cast<char*>(args.out) + i * images.bytes(), lines * 4, lines, items},
                       streams);
  if (streams) _mm_sfence();
}

/// Rows of whole vectors, in the order in which they are written; past the caches in that in which
/// they are read.
void swap_middle(const HandArgs& args) {
  const Size batch = args.size[0], rows = args.size[1], groups = args.size[2], width = args.size[3];
  const float* from = static_cast<const float*>(args.in[0]);
  float* to = static_cast<float*>(args.out);
  const bool streams = 8 * batch * rows * groups * width >= streamed_bytes;
  for (Size i = 0; i < batch && streams; ++i)
    for (Size group = 0; group < groups; ++group)
      for (Size row = 0; row < rows; ++row, from += width)
        for (Size k = 0; k < width; k += 16)
          _mm512_stream_ps(to + ((i * rows + row) * groups + group) * width + k,
                           _mm512_loadu_ps(from + k));
  for (Size i = 0; i < batch && !streams; ++i)
    for (Size row = 0; row < rows; ++row)
      for (Size group = 0; group < groups; ++group, to += width) {
        const float* at = from + ((i * groups + group) * rows + row) * width;
        for (Size k = 0; k < width; k += 16) _mm512_storeu_ps(to + k, _mm512_loadu_ps(at + k));
      }
  if (streams) _mm_sfence();
}

/// As many as the largest workload has.
constexpr Size most_rows = 256;

/// All four dimensions reversed, of 16 planes at a time: so many rows are written side by side.
void reverse_dimensions(const HandArgs& args) {
  const Size a = args.size[0], b = args.size[1], c = args.size[2], d = args.size[3];
  const char* const from = static_cast<const char*>(args.in[0]);
  char* const to = static_cast<char*>(args.out);
  Size rows[most_rows];
  for (Size i = 0; i < a; ++i) rows[i] = i * b * c * d * 4;
  for (Size j = 0; j < b; ++j)
    for (Size first = 0; first < a; first += 16)
      for (Size k = 0; k < c; ++k)
        transpose_columns({from + ((k * b + j) * a + first) * 4, a * b * c * 4,
                           to + (j * c + k) * d * 4, rows + first, d, least(16, a - first)});
}

/// From (3, 0, 5, 1, 4, 2): a run over the dimensions 4 and 2 becomes rows of dimension 5.
void permute_six(const HandArgs& args) {
  const Size* const size = args.size;
  const Size run = size[2] * size[4], to_step = size[3] * size[4] * size[5];
  const char* const from = static_cast<const char*>(args.in[0]);
  char* const to = static_cast<char*>(args.out);
  Size rows[most_rows];
  for (Size i = 0; i < run; ++i) rows[i] = (i % size[2] * to_step + i / size[2] * size[5]) * 4;
  for (Size i = 0; i < size[0]; ++i)
    for (Size j = 0; j < size[1]; ++j)
      for (Size k = 0; k < size[3]; ++k)
        transpose_columns({from + ((k * size[0] + i) * size[5] * size[1] + j) * run * 4,
                           size[1] * run * 4,
                           to + ((i * size[1] + j) * size[2] * to_step + k * size[4] * size[5]) * 4,
                           rows, size[5], run});
}

/// Every other row, and of it every `step`-th item.  Nothing beyond the last one is read.
template <int step>
void slice(const HandArgs& args) {
  const Size rows = args.size[0], columns = args.size[1];
  alignas(64) int from_two[16], from_third[16];
  for (int i = 0; i < 16; ++i) {
    from_two[i] = step * i < 32 ? step * i : 0;
    from_third[i] = step * i < 32 ? i : step * i - 16;
  }
  const __m512i first = _mm512_load_si512(from_two), second = _mm512_load_si512(from_third);
  for (Size row = 0; row < rows; ++row) {
    const float* from = static_cast<const float*>(args.in[0]) + row * columns * 2 * step;
    float* to = static_cast<float*>(args.out) + row * columns;
    for (Size i = 0; i < columns; i += 16) {
      const float* at = from + i * step;
      const __m512 last = _mm512_maskz_loadu_ps(step == 2 ? 0x7FFF : 0xFFFF, at + 16);
      __m512 x = _mm512_permutex2var_ps(_mm512_loadu_ps(at), first, last);
      if constexpr (step == 3)
        x = _mm512_permutex2var_ps(x, second, _mm512_maskz_loadu_ps(0x3FFF, at + 32));
      _mm512_storeu_ps(to + i, x);
    }
  }
}

}  // namespace

const HandLoop hand_layouts_avx512[] = {
    {"transpose_u8", transpose<1>},
    {"transpose_u16", transpose<2>},
    {"transpose_f32", transpose<4>},
    {"transpose_f64", transpose<8>},
    {"transpose_cast_f32_bf16", transpose_cast},
    {"batched_transpose", batched_transpose},
    {"add_t", add_transposed},
    {"gt_t", greater_transposed},
    {"conflict_add", add_images},
    {"nchw_to_nhwc", convert_images<true>},
    {"nhwc_to_nchw", convert_images<false>},
    {"perm_0213", swap_middle},
    {"perm_3210", reverse_dimensions},
    {"perm_6d", permute_six},
    {"slice_2x2", slice<2>},
    {"slice_2x3", slice<3>},
    {nullptr, nullptr},
};

}  // namespace weft::bench
