// Hand-written loops for AVX-512 F, BW and VL.

#include "bench/hand_loops.h"

#include <immintrin.h>

namespace weft::bench {
namespace {

/// Calls `step(i)` for whole vectors, four an iteration, and `tail(i, mask)` for what is left.
template <int lanes, class Step, class Tail>
inline void vectors(std::int64_t numel, Step step, Tail tail) {
  std::int64_t i = 0;
  for (; i + 4 * lanes <= numel; i += 4 * lanes) {
    step(i);
    step(i + lanes);
    step(i + 2 * lanes);
    step(i + 3 * lanes);
  }
  for (; i + lanes <= numel; i += lanes) step(i);
  if (i < numel) tail(i, (std::uint64_t{1} << (numel - i)) - 1);
}

/// Calls `run` with how to store a whole vector: past the caches if so many bytes are moved, all of
/// them f32, and the output begins a line.
template <class Run>
inline void with_store(const HandArgs& args, std::int64_t moved_bytes, Run run) {
  if (moved_bytes < streamed_bytes || reinterpret_cast<std::uintptr_t>(args.out) % 64 != 0)
    return run([](float* to, __m512 x) { _mm512_storeu_ps(to, x); });
  run([](float* to, __m512 x) { _mm512_stream_ps(to, x); });
  _mm_sfence();
}

// A binary op on vectors of 32-bit floats with its tail; `op` sees and gives __m512.
template <class Op, class Store>
inline void on_floats(const HandArgs& args, Op op, Store store) {
  float* out = static_cast<float*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  const float* y = static_cast<const float*>(args.in[1]);
  vectors<16>(
      args.numel,
      [&](std::int64_t i) { store(out + i, op(_mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i))); },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        _mm512_mask_storeu_ps(
            out + i, mask,
            op(_mm512_maskz_loadu_ps(mask, x + i), _mm512_maskz_loadu_ps(mask, y + i)));
      });
}

template <class Op>
inline void on_floats(const HandArgs& args, Op op) {
  with_store(args, 12 * args.numel, [&](auto store) { on_floats(args, op, store); });
}

template <class Op, class Store>
inline void on_one_float(const HandArgs& args, Op op, Store store) {
  float* out = static_cast<float*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  vectors<16>(
      args.numel, [&](std::int64_t i) { store(out + i, op(_mm512_loadu_ps(x + i))); },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        _mm512_mask_storeu_ps(out + i, mask, op(_mm512_maskz_loadu_ps(mask, x + i)));
      });
}

template <class Op>
inline void on_one_float(const HandArgs& args, Op op) {
  with_store(args, 8 * args.numel, [&](auto store) { on_one_float(args, op, store); });
}

void copy(const HandArgs& args) {
  on_one_float(args, [](__m512 x) { return x; });
}
void add(const HandArgs& args) {
  on_floats(args, [](__m512 x, __m512 y) { return _mm512_add_ps(x, y); });
}
void clamp(const HandArgs& args) {
  on_one_float(args, [](__m512 x) {
    return _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-1.0F)), _mm512_set1_ps(1.0F));
  });
}
void square_root(const HandArgs& args) {
  on_one_float(args, [](__m512 x) { return _mm512_sqrt_ps(x); });
}

/// In the cache, what the arithmetic of a chain costs at least.
template <int length>
void chain(const HandArgs& args) {
  on_floats(args, [](__m512 x, __m512 y) {
    __m512 result = _mm512_add_ps(x, y);
#pragma GCC unroll 32
    for (int i = 2; i <= length; ++i)
      result = i % 2 == 0 ? _mm512_mul_ps(result, x) : _mm512_sub_ps(result, y);
    return result;
  });
}

template <class Store>
inline void multiply_add(const HandArgs& args, Store store) {
  float* out = static_cast<float*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  const float* y = static_cast<const float*>(args.in[1]);
  const float* z = static_cast<const float*>(args.in[2]);
  vectors<16>(
      args.numel,
      [&](std::int64_t i) {
        store(out + i, _mm512_add_ps(_mm512_mul_ps(_mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i)),
                                     _mm512_loadu_ps(z + i)));
      },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        const __m512 product =
            _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, x + i), _mm512_maskz_loadu_ps(mask, y + i));
        _mm512_mask_storeu_ps(out + i, mask,
                              _mm512_add_ps(product, _mm512_maskz_loadu_ps(mask, z + i)));
      });
}

void multiply_add(const HandArgs& args) {
  with_store(args, 16 * args.numel, [&](auto store) { multiply_add(args, store); });
}

template <class Op>
inline void on_bytes(const HandArgs& args, std::int64_t item_bytes, Op op) {
  char* out = static_cast<char*>(args.out);
  const char* x = static_cast<const char*>(args.in[0]);
  const char* y = static_cast<const char*>(args.in[1]);
  vectors<64>(
      args.numel * item_bytes,
      [&](std::int64_t i) {
        _mm512_storeu_si512(out + i, op(_mm512_loadu_si512(x + i), _mm512_loadu_si512(y + i)));
      },
      [&](std::int64_t i, std::uint64_t mask) {
        _mm512_mask_storeu_epi8(
            out + i, mask,
            op(_mm512_maskz_loadu_epi8(mask, x + i), _mm512_maskz_loadu_epi8(mask, y + i)));
      });
}
void add_i8(const HandArgs& args) {
  on_bytes(args, 1, [](__m512i x, __m512i y) { return _mm512_add_epi8(x, y); });
}
void add_i16(const HandArgs& args) {
  on_bytes(args, 2, [](__m512i x, __m512i y) { return _mm512_add_epi16(x, y); });
}

void less(const HandArgs& args) {
  char* out = static_cast<char*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  const float* y = static_cast<const float*>(args.in[1]);
  const __m128i one = _mm_set1_epi8(1);
  vectors<16>(
      args.numel,
      [&](std::int64_t i) {
        const __mmask16 is_less =
            _mm512_cmp_ps_mask(_mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i), _CMP_LT_OQ);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm_maskz_mov_epi8(is_less, one));
      },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        const __mmask16 is_less = _mm512_cmp_ps_mask(
            _mm512_maskz_loadu_ps(mask, x + i), _mm512_maskz_loadu_ps(mask, y + i), _CMP_LT_OQ);
        _mm_mask_storeu_epi8(out + i, mask, _mm_maskz_mov_epi8(is_less, one));
      });
}

void where(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const char* choice = static_cast<const char*>(args.in[0]);
  const float* x = static_cast<const float*>(args.in[1]);
  const float* y = static_cast<const float*>(args.in[2]);
  vectors<16>(
      args.numel,
      [&](std::int64_t i) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(choice + i));
        const __mmask16 is_x = _mm_test_epi8_mask(bytes, bytes);
        _mm512_storeu_ps(
            out + i, _mm512_mask_blend_ps(is_x, _mm512_loadu_ps(y + i), _mm512_loadu_ps(x + i)));
      },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        const __m128i bytes = _mm_maskz_loadu_epi8(mask, choice + i);
        const __mmask16 is_x = _mm_test_epi8_mask(bytes, bytes);
        _mm512_mask_storeu_ps(out + i, mask,
                              _mm512_mask_blend_ps(is_x, _mm512_maskz_loadu_ps(mask, y + i),
                                                   _mm512_maskz_loadu_ps(mask, x + i)));
      });
}

void cast_u8_f32(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const char* x = static_cast<const char*>(args.in[0]);
  vectors<16>(
      args.numel,
      [&](std::int64_t i) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
        _mm512_storeu_ps(out + i, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)));
      },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        const __m128i bytes = _mm_maskz_loadu_epi8(mask, x + i);
        _mm512_mask_storeu_ps(out + i, mask, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)));
      });
}

template <class Widen>
inline void from_half(const HandArgs& args, Widen widen) {
  float* out = static_cast<float*>(args.out);
  const short* x = static_cast<const short*>(args.in[0]);
  vectors<16>(
      args.numel,
      [&](std::int64_t i) {
        _mm512_storeu_ps(out + i,
                         widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i))));
      },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        _mm512_mask_storeu_ps(out + i, mask, widen(_mm256_maskz_loadu_epi16(mask, x + i)));
      });
}
void cast_f16_f32(const HandArgs& args) {
  from_half(args, [](__m256i x) { return _mm512_cvtph_ps(x); });
}
void cast_bf16_f32(const HandArgs& args) {
  from_half(args, [](__m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
  });
}

template <class Narrow>
inline void to_half(const HandArgs& args, Narrow narrow) {
  short* out = static_cast<short*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  vectors<16>(
      args.numel,
      [&](std::int64_t i) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), narrow(_mm512_loadu_ps(x + i)));
      },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask16 mask = static_cast<__mmask16>(rest);
        _mm256_mask_storeu_epi16(out + i, mask, narrow(_mm512_maskz_loadu_ps(mask, x + i)));
      });
}
void cast_f32_f16(const HandArgs& args) {
  to_half(args, [](__m512 x) { return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); });
}
// Round to nearest even on the integer, which would make infinities of some NaNs.
void cast_f32_bf16(const HandArgs& args) {
  to_half(args, [](__m512 x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
    const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(
        _mm512_mask_mov_epi32(_mm512_srli_epi32(rounded, 16), is_nan, _mm512_set1_epi32(0x7FC0)));
  });
}

void cast_f32_i32(const HandArgs& args) {
  on_one_float(args, [](__m512 x) { return _mm512_castsi512_ps(_mm512_cvttps_epi32(x)); });
}

void cast_f64_f32(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const double* x = static_cast<const double*>(args.in[0]);
  vectors<8>(
      args.numel,
      [&](std::int64_t i) { _mm256_storeu_ps(out + i, _mm512_cvtpd_ps(_mm512_loadu_pd(x + i))); },
      [&](std::int64_t i, std::uint64_t rest) {
        const __mmask8 mask = static_cast<__mmask8>(rest);
        _mm256_mask_storeu_ps(out + i, mask, _mm512_cvtpd_ps(_mm512_maskz_loadu_pd(mask, x + i)));
      });
}

/// Byte `colour` of each of 16 pixels out of 48 bytes in three registers.
struct Colour {
  __m128i from0, from1, from2;  // pshufb indices; 0x80 gives zero

  explicit Colour(int colour) {
    alignas(16) char index[3][16];
    for (int pixel = 0; pixel < 16; ++pixel)
      for (int part = 0; part < 3; ++part) {
        const int place = 3 * pixel + colour - 16 * part;
        index[part][pixel] = static_cast<char>(place >= 0 && place < 16 ? place : 0x80);
      }
    from0 = _mm_load_si128(reinterpret_cast<const __m128i*>(index[0]));
    from1 = _mm_load_si128(reinterpret_cast<const __m128i*>(index[1]));
    from2 = _mm_load_si128(reinterpret_cast<const __m128i*>(index[2]));
  }
  __m128i pick(__m128i a, __m128i b, __m128i c) const {
    return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, from0), _mm_shuffle_epi8(b, from1)),
                        _mm_shuffle_epi8(c, from2));
  }
};

/// x / c for one c and many x of ordinary size, with the bits of the division: the product with the
/// reciprocal, and a correction by its remainder.
struct Quotient {
  __m512 divisor, reciprocal;

  explicit Quotient(float c) : divisor(_mm512_set1_ps(c)), reciprocal(_mm512_set1_ps(1 / c)) {}
  __m512 of(__m512 x) const {
    const __m512 quotient = _mm512_mul_ps(x, reciprocal);
    const __m512 remainder = _mm512_fmsub_ps(quotient, divisor, x);
    return _mm512_fnmadd_ps(remainder, reciprocal, quotient);
  }
};

// The same bits as two divisions and a subtraction.
void normalize(const HandArgs& args) {
  const float* mean = static_cast<const float*>(args.in[1]);
  const float* std = static_cast<const float*>(args.in[2]);
  const std::int64_t pixels = args.numel / (3 * args.size[0]);
  const Colour colours[3] = {Colour(0), Colour(1), Colour(2)};
  const Quotient by_255(255), by_std[3] = {Quotient(std[0]), Quotient(std[1]), Quotient(std[2])};
  for (std::int64_t image = 0; image < args.size[0]; ++image) {
    const unsigned char* in = static_cast<const unsigned char*>(args.in[0]) + image * pixels * 3;
    float* out = static_cast<float*>(args.out) + image * pixels * 3;
    std::int64_t i = 0;
    for (; i + 16 <= pixels; i += 16) {
      const __m128i* bytes = reinterpret_cast<const __m128i*>(in + 3 * i);
      const __m128i x = _mm_loadu_si128(bytes), y = _mm_loadu_si128(bytes + 1),
                    z = _mm_loadu_si128(bytes + 2);
      for (int c = 0; c < 3; ++c) {
        const __m512 value = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(colours[c].pick(x, y, z)));
        const __m512 centred = _mm512_sub_ps(by_255.of(value), _mm512_set1_ps(mean[c]));
        _mm512_storeu_ps(out + c * pixels + i, by_std[c].of(centred));
      }
    }
    for (; i < pixels; ++i)
      for (int c = 0; c < 3; ++c)
        out[c * pixels + i] = (static_cast<float>(in[3 * i + c]) / 255 - mean[c]) / std[c];
  }
}

/// Reads `bytes` and folds them into one register, so that no load can be left out.
inline __m512i read(const char* in, std::int64_t bytes) {
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
  std::int64_t i = 0;
  for (; i + 256 <= bytes; i += 256) {
    a = _mm512_or_si512(a, _mm512_loadu_si512(in + i));
    b = _mm512_or_si512(b, _mm512_loadu_si512(in + i + 64));
    c = _mm512_or_si512(c, _mm512_loadu_si512(in + i + 128));
    d = _mm512_or_si512(d, _mm512_loadu_si512(in + i + 192));
  }
  for (; i + 64 <= bytes; i += 64) a = _mm512_or_si512(a, _mm512_loadu_si512(in + i));
  return _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d));
}

void stream(const StreamArgs& args) {
  constexpr std::int64_t block = 1024;
  std::int64_t read_bytes = 0;
  for (std::int64_t done = 0; done < args.out_bytes; done += block) {
    const std::int64_t end = done + block < args.out_bytes ? done + block : args.out_bytes;
    const std::int64_t read_end =
        static_cast<std::int64_t>(static_cast<double>(args.in_bytes) * static_cast<double>(end) /
                                  static_cast<double>(args.out_bytes));
    const __m512i value = read(args.in + read_bytes, read_end - read_bytes);
    read_bytes = read_end;
    std::int64_t i = done;
    if (args.is_non_temporal)
      for (; i + 64 <= end; i += 64)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(args.out + i), value);
    else
      for (; i + 64 <= end; i += 64) _mm512_storeu_si512(args.out + i, value);
    if (i < end) _mm512_mask_storeu_epi8(args.out + i, (std::uint64_t{1} << (end - i)) - 1, value);
  }
  if (args.is_non_temporal) _mm_sfence();
}

const HandLoop loops[] = {
    {"copy", copy},
    {"add", add},
    {"fma", multiply_add},
    {"clamp", clamp},
    {"sqrt", square_root},
    {"chain_16", chain<16>},
    {"chain_24", chain<24>},
    {"chain_32", chain<32>},
    {"add_i8", add_i8},
    {"add_i16", add_i16},
    {"lt", less},
    {"where", where},
    {"cast_u8_f32", cast_u8_f32},
    {"cast_f16_f32", cast_f16_f32},
    {"cast_bf16_f32", cast_bf16_f32},
    {"cast_f32_f16", cast_f32_f16},
    {"cast_f32_bf16", cast_f32_bf16},
    {"cast_f32_i32", cast_f32_i32},
    {"cast_f64_f32", cast_f64_f32},
    {"normalize", normalize},
    {nullptr, nullptr},
};

}  // namespace

const HandSet hand_avx512 = {loops, hand_layouts_avx512, hand_folds_avx512, stream};

}  // namespace weft::bench
