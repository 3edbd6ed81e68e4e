// Hand-written loops for AVX2, for machines without AVX-512, over operands that lie side by side.

#include "bench/hand_loops.h"

#include <immintrin.h>

namespace weft::bench {
namespace {

/// Calls `step(i)` for whole vectors of eight, four an iteration; the caller finishes from the
/// result on.
template <class Step>
inline std::int64_t vectors(std::int64_t numel, Step step) {
  std::int64_t i = 0;
  for (; i + 32 <= numel; i += 32) {
    step(i);
    step(i + 8);
    step(i + 16);
    step(i + 24);
  }
  for (; i + 8 <= numel; i += 8) step(i);
  return i;
}

void copy(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  for (std::int64_t i = vectors(
           args.numel, [&](auto at) { _mm256_storeu_ps(out + at, _mm256_loadu_ps(x + at)); });
       i < args.numel; ++i)
    out[i] = x[i];
}

void add(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  const float* y = static_cast<const float*>(args.in[1]);
  std::int64_t i = vectors(args.numel, [&](auto at) {
    _mm256_storeu_ps(out + at, _mm256_add_ps(_mm256_loadu_ps(x + at), _mm256_loadu_ps(y + at)));
  });
  for (; i < args.numel; ++i) out[i] = x[i] + y[i];
}

void multiply_add(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  const float* y = static_cast<const float*>(args.in[1]);
  const float* z = static_cast<const float*>(args.in[2]);
  std::int64_t i = vectors(args.numel, [&](auto at) {
    const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(x + at), _mm256_loadu_ps(y + at));
    _mm256_storeu_ps(out + at, _mm256_add_ps(product, _mm256_loadu_ps(z + at)));
  });
  for (; i < args.numel; ++i) out[i] = x[i] * y[i] + z[i];
}

void cast_f16_f32(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const unsigned short* x = static_cast<const unsigned short*>(args.in[0]);
  std::int64_t i = vectors(args.numel, [&](auto at) {
    _mm256_storeu_ps(out + at,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + at))));
  });
  for (; i < args.numel; ++i) out[i] = _cvtsh_ss(x[i]);
}

void cast_f32_f16(const HandArgs& args) {
  unsigned short* out = static_cast<unsigned short*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  std::int64_t i = vectors(args.numel, [&](auto at) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + at), _MM_FROUND_TO_NEAREST_INT));
  });
  for (; i < args.numel; ++i) out[i] = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
}

void cast_u8_f32(const HandArgs& args) {
  float* out = static_cast<float*>(args.out);
  const unsigned char* x = static_cast<const unsigned char*>(args.in[0]);
  std::int64_t i = vectors(args.numel, [&](auto at) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + at));
    _mm256_storeu_ps(out + at, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)));
  });
  for (; i < args.numel; ++i) out[i] = static_cast<float>(x[i]);
}

/// Rounded to nearest even, in the low halves of items.
inline __m256i to_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
  const __m256 is_nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  return _mm256_srli_epi32(
      _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(rounded), quiet, is_nan)), 16);
}

void cast_f32_bf16(const HandArgs& args) {
  unsigned short* out = static_cast<unsigned short*>(args.out);
  const float* x = static_cast<const float*>(args.in[0]);
  const auto first = [](__m256i items) {
    return static_cast<unsigned short>(_mm256_extract_epi16(items, 0));
  };
  std::int64_t i = 0;
  for (; i + 16 <= args.numel; i += 16) {
    const __m256i packed =
        _mm256_packus_epi32(to_bf16(_mm256_loadu_ps(x + i)), to_bf16(_mm256_loadu_ps(x + i + 8)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_permute4x64_epi64(packed, 0xD8));
  }
  for (; i < args.numel; ++i) out[i] = first(to_bf16(_mm256_set1_ps(x[i])));
}

/// Reads `bytes` and folds them into one register, so that no load can be left out.
inline __m256i read(const char* in, std::int64_t bytes) {
  __m256i a = _mm256_setzero_si256(), b = a;
  std::int64_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    a = _mm256_or_si256(a, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i)));
    b = _mm256_or_si256(b, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + 32)));
  }
  return _mm256_or_si256(a, b);
}

void stream(const StreamArgs& args) {
  constexpr std::int64_t block = 1024;
  std::int64_t read_bytes = 0;
  for (std::int64_t done = 0; done < args.out_bytes; done += block) {
    const std::int64_t end = done + block < args.out_bytes ? done + block : args.out_bytes;
    const std::int64_t read_end =
        static_cast<std::int64_t>(static_cast<double>(args.in_bytes) * static_cast<double>(end) /
                                  static_cast<double>(args.out_bytes));
    const __m256i value = read(args.in + read_bytes, read_end - read_bytes);
    read_bytes = read_end;
    std::int64_t i = done;
    if (args.is_non_temporal)
      for (; i + 32 <= end; i += 32)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(args.out + i), value);
    else
      for (; i + 32 <= end; i += 32)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.out + i), value);
    for (; i < end; ++i) args.out[i] = static_cast<char>(_mm256_extract_epi8(value, 0));
  }
  if (args.is_non_temporal) _mm_sfence();
}

const HandLoop none[] = {{nullptr, nullptr}};

const HandLoop loops[] = {
    {"copy", copy},
    {"add", add},
    {"fma", multiply_add},
    {"cast_f16_f32", cast_f16_f32},
    {"cast_f32_f16", cast_f32_f16},
    {"cast_u8_f32", cast_u8_f32},
    {"cast_f32_bf16", cast_f32_bf16},
    {nullptr, nullptr},
};

}  // namespace

const HandSet hand_avx2 = {loops, hand_layouts_avx2, none, stream};

}  // namespace weft::bench
