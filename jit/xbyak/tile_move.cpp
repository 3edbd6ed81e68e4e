// How rectangles of items are moved, and pixels taken apart.
#include "jit/xbyak/tile_move.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace weft::jit::xbyak {
namespace {

constexpr std::int64_t line_bytes = 64;

template <class Item>
void transpose_items(const Rectangle& r) {
  for (std::int64_t j = 0; j < r.num_items; ++j)
    for (std::int64_t i = 0; i < r.num_lines; ++i)
      std::memcpy(r.to + j * r.to_stride + i * static_cast<std::int64_t>(sizeof(Item)),
                  r.from + i * r.from_stride + j * static_cast<std::int64_t>(sizeof(Item)),
                  sizeof(Item));
}

struct Wide {
  std::uint64_t halves[2];
};

/// Rectangles too thin for any vector.
void transpose_item_by_item(int itemsize, const Rectangle& r) {
  switch (itemsize) {
    case 1: return transpose_items<std::uint8_t>(r);
    case 2: return transpose_items<std::uint16_t>(r);
    case 4: return transpose_items<std::uint32_t>(r);
    case 8: return transpose_items<std::uint64_t>(r);
    default: return transpose_items<Wide>(r);
  }
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

void transpose(const TileCode& tile, const TileOperand& operand, const Rectangle& r) {
  const int narrow_step = 16 / operand.itemsize;
  if (r.num_items < narrow_step || r.num_lines < narrow_step)
    return transpose_item_by_item(operand.itemsize, r);
  const bool is_wide = r.num_lines >= wide_step_bytes / operand.itemsize;
  tile.at<TransposeFunction>(is_wide ? operand.wide_transpose : operand.narrow_transpose)(
      r.from, r.from_stride, r.to, r.to_stride, r.num_lines, r.num_items);
}

std::int64_t even_part(std::int64_t total, std::int64_t most) {
  if (total <= most) return total;
  const std::int64_t unit = most >= 16 ? 16 : 1;
  most -= most % unit;
  const std::int64_t num_parts = (total + most - 1) / most;
  return round_up((total + num_parts - 1) / num_parts, unit);
}

bool starts_lines(const std::byte* at, std::int64_t stride) {
  constexpr std::uintptr_t mask = line_bytes - 1;
  return ((reinterpret_cast<std::uintptr_t>(at) | static_cast<std::uintptr_t>(stride)) & mask) == 0;
}

void stream_row(std::byte* to, const std::byte* from, std::int64_t size_bytes) {
  const auto misalignment = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) & 63);
  const std::int64_t head = std::min((line_bytes - misalignment) & 63, size_bytes);
  std::memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t at = head;
  for (; at + line_bytes <= size_bytes; at += line_bytes)
    for (std::int64_t part = 0; part < line_bytes; part += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part)));
  std::memcpy(to + at, from + at, static_cast<std::size_t>(size_bytes - at));
}

void prefetch_lines(const std::byte* at, std::int64_t stride, std::int64_t count,
                    std::int64_t size_bytes) {
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t byte = 0; byte < size_bytes; byte += line_bytes)
      _mm_prefetch(at + i * stride + byte, _MM_HINT_T1);
}

bool is_pixels(const TileOperand& operand, const Plane& plane, std::size_t index) {
  return operand.ways != 0 && plane.rows == operand.ways &&
         plane.column_stride[index] == operand.ways * operand.itemsize &&
         plane.row_stride[index] == operand.itemsize;
}

void interleave_pixels(const TileCode& tile, const TileOperand& operand, std::byte* planes,
                       std::int64_t plane_stride, std::byte* pixels, std::int64_t count,
                       bool streams) {
  const bool is_whole_lines =
      operand.is_output ? starts_lines(pixels, 0) : starts_lines(planes, plane_stride);
  const FunctionOffset function = streams && is_whole_lines && operand.streaming_interleave != 0
                                      ? operand.streaming_interleave
                                      : operand.interleave;
  tile.at<InterleaveFunction>(function)(planes, plane_stride, pixels, count);
  const std::int64_t done = count / operand.group_items * operand.group_items;
  const std::int64_t itemsize = operand.itemsize;
  const std::int64_t pixel_stride = itemsize * operand.ways;
  planes += done * itemsize;
  pixels += done * pixel_stride;
  if (operand.is_output)
    transpose_item_by_item(
        operand.itemsize, {planes, plane_stride, pixels, pixel_stride, operand.ways, count - done});
  else
    transpose_item_by_item(
        operand.itemsize, {pixels, pixel_stride, planes, plane_stride, count - done, operand.ways});
}

}  // namespace weft::jit::xbyak
