#include "jit/tiles/lines.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace weft::jit::tiles {
namespace {

std::int64_t beyond_line(const std::byte* at, std::int64_t line_bytes) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at)) & (line_bytes - 1);
}

/// Copies a cache line past the caches; `to` is where one begins.  The processor puts the four
/// stores together.
void stream_line(std::byte* to, const std::byte* from) {
  const auto* const in = reinterpret_cast<const __m128i*>(from);
  auto* const out = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
  const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
  _mm_stream_si128(out, a);
  _mm_stream_si128(out + 1, b);
  _mm_stream_si128(out + 2, c);
  _mm_stream_si128(out + 3, d);
}

}  // namespace

void RowsByLines::write(std::byte* to, std::int64_t num_rows, std::int64_t size_bytes,
                        bool is_first, bool is_last) const {
  std::byte* piece = pieces();
  for (std::int64_t row = 0; row < num_rows; ++row, to += to_stride_, piece += stride_) {
    std::int64_t at = 0;
    const std::int64_t begun = beyond_line(to, line_bytes);
    if (!is_first) {
      at = -begun;
    } else if (begun != 0) {
      at = std::min(line_bytes - begun, size_bytes);
      std::memcpy(to, piece, static_cast<std::size_t>(at));
    }
    for (; at + line_bytes <= size_bytes; at += line_bytes) stream_line(to + at, piece + at);
    if (is_last)
      std::memcpy(to + at, piece + at, static_cast<std::size_t>(size_bytes - at));
    else
      std::memmove(piece - line_bytes, piece + size_bytes - line_bytes, line_bytes);
  }
}

}  // namespace weft::jit::tiles
