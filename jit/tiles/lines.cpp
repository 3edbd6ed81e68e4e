#include "jit/tiles/lines.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace weft::jit::tiles {
namespace {

/// Of the line of the cache in which an address lies.
std::int64_t bytes_of_line_before(const std::byte* at) {
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

/// The whole lines of a row from `at`, where one begins, on; returns where they end.
std::int64_t stream_lines(std::byte* to, const std::byte* from, std::int64_t at,
                          std::int64_t size_bytes) {
  for (; at + line_bytes <= size_bytes; at += line_bytes) stream_line(to + at, from + at);
  return at;
}

/// What comes before the first line that begins in a row; returns where that is.
std::int64_t copy_head(std::byte* to, const std::byte* from, std::int64_t size_bytes) {
  const std::int64_t begun = bytes_of_line_before(to);
  if (begun == 0) return 0;
  const std::int64_t head = std::min(line_bytes - begun, size_bytes);
  std::memcpy(to, from, static_cast<std::size_t>(head));
  return head;
}

void copy_tail(std::byte* to, const std::byte* from, std::int64_t at, std::int64_t size_bytes) {
  std::memcpy(to + at, from + at, static_cast<std::size_t>(size_bytes - at));
}

}  // namespace

void stream_rows(const Rows& rows) {
  std::byte* to = rows.to;
  const std::byte* from = rows.from;
  for (std::int64_t row = 0; row < rows.num_rows; ++row) {
    const std::int64_t head = copy_head(to, from, rows.size_bytes);
    copy_tail(to, from, stream_lines(to, from, head, rows.size_bytes), rows.size_bytes);
    to += rows.to_stride;
    from += rows.from_stride;
  }
}

void RowsByLines::write(std::byte* to, std::int64_t num_rows, std::int64_t size_bytes,
                        bool is_first, bool is_last) const {
  std::byte* piece = pieces();
  for (std::int64_t row = 0; row < num_rows; ++row, to += to_stride_, piece += stride_) {
    const std::int64_t begin =
        is_first ? copy_head(to, piece, size_bytes) : -bytes_of_line_before(to);
    const std::int64_t end = stream_lines(to, piece, begin, size_bytes);
    if (is_last)
      copy_tail(to, piece, end, size_bytes);
    else
      std::memmove(piece - line_bytes, piece + size_bytes - line_bytes, line_bytes);
  }
}

}  // namespace weft::jit::tiles
