// How rectangles of items are moved, and pixels taken apart.
#include "jit/tiles/move.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace weft::jit::tiles {
namespace {

template <class Item>
void transpose_items(const Rectangle& r) {
  for (std::int64_t j = 0; j < r.num_items; ++j)
    for (std::int64_t i = 0; i < r.num_lines; ++i)
      std::memcpy(r.to + j * r.to_stride + i * static_cast<std::int64_t>(sizeof(Item)),
                  r.from + i * r.from_stride + j * static_cast<std::int64_t>(sizeof(Item)),
                  sizeof(Item));
}

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

/// Bytes of the buffers in which lines too short for a vector are padded.
constexpr std::int64_t padded_bytes = 4 << 10;
constexpr std::int64_t vector_bytes = 16;

template <class Part>
void copy_in_two(std::byte* to, std::int64_t to_stride, const std::byte* from,
                 std::int64_t from_stride, std::int64_t count, std::int64_t size_bytes) {
  const std::int64_t second = size_bytes - static_cast<std::int64_t>(sizeof(Part));
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to, from, sizeof(Part));
    std::memcpy(to + second, from + second, sizeof(Part));
    to += to_stride;
    from += from_stride;
  }
}

/// Copies `count` lines of 1 to 16 bytes.
void copy_short_lines(std::byte* to, std::int64_t to_stride, const std::byte* from,
                      std::int64_t from_stride, std::int64_t count, std::int64_t size_bytes) {
  const auto copy = size_bytes >= 8   ? copy_in_two<std::uint64_t>
                    : size_bytes >= 4 ? copy_in_two<std::uint32_t>
                    : size_bytes >= 2 ? copy_in_two<std::uint16_t>
                                      : copy_in_two<std::uint8_t>;
  copy(to, to_stride, from, from_stride, count, size_bytes);
}

void transpose_by_vectors(const TileCode& tile, const TileOperand& operand, const Rectangle& r) {
  const bool is_wide = r.num_lines >= wide_step_bytes / operand.itemsize;
  tile.at<TransposeFunction>(is_wide ? operand.wide_transpose : operand.narrow_transpose)(
      r.from, r.from_stride, r.to, r.to_stride, r.num_lines, r.num_items, r.fetch_ahead.bytes,
      r.fetch_ahead.in_order);
}

/// Lines that are shorter than a vector and can be read as if they were not: the last ones, behind
/// which memory may end, can't.
std::int64_t readable_lines(const Rectangle& r, std::int64_t line_bytes) {
  if (r.from_stride < line_bytes) return 0;
  const std::int64_t beyond = vector_bytes - line_bytes;
  return std::max<std::int64_t>(0, r.num_lines - (beyond + r.from_stride - 1) / r.from_stride);
}

/// Lines shorter than a vector: what they are taken to go on with is left behind in a buffer.
void transpose_short_lines(const TileCode& tile, const TileOperand& operand, const Rectangle& r) {
  const std::int64_t itemsize = operand.itemsize;
  const std::int64_t least = vector_bytes / itemsize;
  const std::int64_t most = padded_bytes / vector_bytes;
  const std::int64_t readable = readable_lines(r, r.num_items * itemsize);
  alignas(64) std::array<std::byte, padded_bytes> lines, rows;
  for (std::int64_t line = 0; line < r.num_lines;) {
    const std::byte* from = r.from + line * r.from_stride;
    std::int64_t from_stride = r.from_stride;
    std::int64_t count = std::min(most, readable - line);
    if (count < least) {
      count = std::min(most, r.num_lines - line);
      copy_short_lines(lines.data(), vector_bytes, from, from_stride, count,
                       r.num_items * itemsize);
      from = lines.data();
      from_stride = vector_bytes;
    }
    transpose_by_vectors(
        tile, operand,
        {from, from_stride, rows.data(), most * itemsize, std::max(count, least), least});
    for (std::int64_t item = 0; item < r.num_items; ++item)
      std::memcpy(r.to + item * r.to_stride + line * itemsize, rows.data() + item * most * itemsize,
                  static_cast<std::size_t>(count * itemsize));
    line += count;
  }
}

/// Rows shorter than a vector that can be written as if they were not, one after the other: what
/// is too much of one is overwritten by those that follow.
std::int64_t writable_rows(const Rectangle& r, std::int64_t row_bytes) {
  if (r.to_stride != row_bytes) return 0;
  return std::max<std::int64_t>(0, r.num_items - (vector_bytes - 1) / row_bytes);
}

/// Fewer lines than a vector has items: the rest is padding.
void transpose_few_lines(const TileCode& tile, const TileOperand& operand, const Rectangle& r) {
  const std::int64_t itemsize = operand.itemsize;
  const std::int64_t least = vector_bytes / itemsize;
  const std::int64_t most = padded_bytes / vector_bytes;
  const std::int64_t writable = writable_rows(r, r.num_lines * itemsize);
  alignas(64) std::array<std::byte, padded_bytes> lines, rows;
  for (std::int64_t item = 0; item < r.num_items;) {
    const bool is_direct = writable - item >= least;
    const std::int64_t count = std::min(most, (is_direct ? writable : r.num_items) - item);
    for (std::int64_t line = 0; line < r.num_lines; ++line)
      std::memcpy(lines.data() + line * most * itemsize,
                  r.from + line * r.from_stride + item * itemsize,
                  static_cast<std::size_t>(count * itemsize));
    std::byte* to = r.to + item * r.to_stride;
    transpose_by_vectors(tile, operand,
                         {lines.data(), most * itemsize, is_direct ? to : rows.data(),
                          is_direct ? r.to_stride : vector_bytes, least, std::max(count, least)});
    if (!is_direct)
      copy_short_lines(to, r.to_stride, rows.data(), vector_bytes, count, r.num_lines * itemsize);
    item += count;
  }
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

void transpose(const TileCode& tile, const TileOperand& operand, const Rectangle& r) {
  const int narrow_step = 16 / operand.itemsize;
  const bool is_short = r.num_items < narrow_step;
  const bool is_few = r.num_lines < narrow_step;
  if (is_short && is_few) return transpose_item_by_item(operand.itemsize, r);
  if (is_short) return transpose_short_lines(tile, operand, r);
  if (is_few) return transpose_few_lines(tile, operand, r);
  transpose_by_vectors(tile, operand, r);
}

// Along long lines, which is what is read soon; down short ones, to those of later panels, or if
// they have no gaps, in the order of memory.
FetchAhead fetch_ahead(const TileCode& tile, const TileOperand& operand, const Rectangle& r,
                       const Reach& reach) {
  if (!reach.fetches_ahead) return {};
  constexpr std::int64_t in_order_bytes = 16 << 10, down_bytes = 6 << 10;
  constexpr std::int64_t long_bytes = 8 * line_bytes;
  constexpr std::int64_t few_lines = 256;  // more of bytes do better in order
  const std::int64_t bytes = r.num_items * operand.itemsize;
  const bool copies_along = tile.is_copy && tile.copies_fetch_along && bytes > 2 * long_bytes &&
                            (operand.itemsize > 1 || r.num_lines <= few_lines);
  if (r.from_stride == bytes && !copies_along) return {.bytes = in_order_bytes, .in_order = true};
  if (bytes >= long_bytes) {
    const bool fights =
        !tile.is_copy && (r.from_stride % aliasing_bytes == 0 || operand.itemsize > 4);
    if (fights && !tile.fetches_along) return {};
    return {.bytes = (tile.is_copy || !tile.fetches_along ? 3 : 4) * line_bytes};
  }
  const std::int64_t panel_lines = wide_step_bytes / operand.itemsize;
  const std::int64_t panels = std::max<std::int64_t>(1, down_bytes / (panel_lines * bytes));
  return {.bytes = panels * panel_lines * r.from_stride};
}

void transpose_panels(const TileCode& tile, const TileOperand& operand, const Rectangle& r,
                      const Reach& reach) {
  const std::int64_t lines_a_step = wide_step_bytes / operand.itemsize;
  const std::int64_t panel =
      std::max(lines_a_step, std::min<std::int64_t>(32, tile.panel_bytes / operand.itemsize));
  if (r.num_items < 16 / operand.itemsize) return transpose(tile, operand, r);
  const FetchAhead ahead =
      r.fetch_ahead.bytes != 0 ? r.fetch_ahead : fetch_ahead(tile, operand, r, reach);
  for (std::int64_t line = 0; line < r.num_lines;) {
    const std::int64_t left = r.num_lines - line;
    // A rest too small for the widest step joins the panel before it.
    const std::int64_t count = left < panel + lines_a_step ? left : panel;
    Rectangle part = r;
    part.from += line * r.from_stride;
    part.to += line * operand.itemsize;
    part.num_lines = count;
    part.fetch_ahead = ahead;
    transpose(tile, operand, part);
    line += count;
  }
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

Sides fitting_sides(std::int64_t rows, std::int64_t columns, std::int64_t num_items) {
  while (rows * columns > num_items) (rows >= columns ? rows : columns) /= 2;
  return {rows, columns};
}

void prefetch_lines(const std::byte* at, std::int64_t stride, std::int64_t count,
                    std::int64_t size_bytes) {
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t byte = 0; byte < size_bytes; byte += line_bytes)
      _mm_prefetch(at + i * stride + byte, _MM_HINT_T1);
}

bool lines_fight(const TileCode& tile, const Plane& plane) {
  for (std::size_t i = 0; i < tile.operands.size(); ++i)
    if (tile.operands[i].is_staged && plane.column_stride[i] % aliasing_bytes == 0) return true;
  return false;
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
  const std::int64_t group = operand.group_items;
  if (count % group == 0) return;
  const std::int64_t itemsize = operand.itemsize;
  const std::int64_t pixel_stride = itemsize * operand.ways;
  if (count > group) {  // the last whole group once more
    planes += (count - group) * itemsize;
    pixels += (count - group) * pixel_stride;
    return tile.at<InterleaveFunction>(operand.interleave)(planes, plane_stride, pixels, group);
  }
  if (operand.is_output)
    transpose(tile, operand, {planes, plane_stride, pixels, pixel_stride, operand.ways, count});
  else
    transpose(tile, operand, {pixels, pixel_stride, planes, plane_stride, count, operand.ways});
}

}  // namespace weft::jit::tiles
