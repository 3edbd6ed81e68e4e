// The planes of kernels that only copy: they need no row kernel, and mostly no buffer.
#include "jit/tiles/lines.h"
#include "jit/tiles/move.h"

#include <algorithm>
#include <numeric>

namespace weft::jit::tiles {
namespace {

/// Lines that a copy reads at once: past the caches as many as there are streams that processors
/// keep track of; within them more, so that few pages are written at a time.
constexpr std::int64_t streaming_panel_lines = 32;
constexpr std::int64_t panel_lines = 128;
constexpr std::int64_t page_bytes = 4 << 10;
/// Of what is put together in the buffer at a time, and of a row of it: more gains nothing.
constexpr std::int64_t joined_bytes = 128 << 10;
constexpr std::int64_t longest_run_bytes = 4 << 10;
/// Of the planes that are put together, one so far behind what is read is asked for.
constexpr std::int64_t fetched_ahead_bytes = 16 << 10;

/// As transpose(), past the caches wherever it is written to: pieces are put together in `stage`,
/// from where whole cache lines leave.
void transpose_by_stage(const TileCode& tile, const TileOperand& operand, const Rectangle& whole,
                        Stage stage, const Reach& reach) {
  const std::int64_t itemsize = operand.itemsize;
  std::int64_t num_items = even_part(whole.num_items, wanted_run_bytes / itemsize);
  const std::int64_t wanted_lines =
      std::clamp(joined_bytes / (num_items * itemsize), 2 * line_bytes / itemsize,
                 longest_run_bytes / itemsize);
  const std::int64_t num_lines = even_part(whole.num_lines, wanted_lines);
  while (RowsByLines::size_bytes(num_items, num_lines * itemsize) > std::ssize(stage))
    num_items = (num_items + 1) / 2;
  const RowsByLines rows(stage.data(), whole.to_stride, num_lines * itemsize);
  // Panels of wide items are done too soon for what is asked for along their lines.
  const bool fetches_down = reach.fetches_ahead && itemsize >= 8 && num_items < whole.num_items;
  const FetchAhead ahead{fetches_down ? 2 * wide_step_bytes / itemsize * whole.from_stride : 0};
  for (std::int64_t item = 0; item < whole.num_items; item += num_items)
    for (std::int64_t line = 0; line < whole.num_lines; line += num_lines) {
      const Rectangle part{whole.from + line * whole.from_stride + item * itemsize,
                           whole.from_stride,
                           rows.pieces(),
                           rows.stride_bytes(),
                           std::min(num_lines, whole.num_lines - line),
                           std::min(num_items, whole.num_items - item),
                           ahead};
      transpose_panels(tile, operand, part, reach);
      rows.write(whole.to + item * whole.to_stride + line * itemsize, part.num_items,
                 part.num_lines * itemsize, line == 0, line + part.num_lines == whole.num_lines);
    }
}

/// A copy's rectangle, panel by panel.
void copy_panels(const TileCode& tile, const TileOperand& operand, const Rectangle& whole,
                 Stage stage, const Reach& reach) {
  const std::int64_t itemsize = operand.itemsize;
  const std::int64_t lines_a_step = wide_step_bytes / itemsize;
  if (whole.num_items < 16 / itemsize) return transpose(tile, operand, whole);
  const bool may_stream =
      reach.streams && operand.streaming_transpose != 0 && starts_lines(whole.to, whole.to_stride);
  const bool fights_itself = tile.stages_aliases && whole.to_stride % page_bytes == 0 &&
                             whole.num_items <= std::ssize(stage) / wanted_run_bytes;
  if (reach.streams && (!may_stream || fights_itself) &&
      whole.num_lines * itemsize >= least_streamed_bytes)
    return transpose_by_stage(tile, operand, whole, stage, reach);
  const std::int64_t moved_bytes = 2 * whole.num_lines * whole.num_items * itemsize;
  const std::int64_t streamed_lines =
      moved_bytes >= tile.least_pairs_bytes ? 2 * lines_a_step : streaming_panel_lines;
  const std::int64_t panel = std::max(lines_a_step, reach.streams ? streamed_lines : panel_lines);
  const FetchAhead ahead = fetch_ahead(tile, operand, whole, reach);
  for (std::int64_t line = 0; line < whole.num_lines;) {
    const std::int64_t left = whole.num_lines - line;
    // A rest too small for the widest step joins the panel before it.
    const std::int64_t count = left < panel + lines_a_step ? left : panel;
    Rectangle part = whole;
    part.from += line * whole.from_stride;
    part.to += line * itemsize;
    part.num_lines = count;
    part.fetch_ahead = ahead;
    if (may_stream && count % lines_a_step == 0)
      tile.at<TransposeFunction>(operand.streaming_transpose)(
          part.from, part.from_stride, part.to, part.to_stride, part.num_lines, part.num_items,
          part.fetch_ahead.bytes, part.fetch_ahead.in_order);
    else
      transpose(tile, operand, part);
    line += count;
  }
}

}  // namespace

PlaneCopy::PlaneCopy(const TileCode& tile, const Plane& plane, Stage stage, const Reach& reach)
    : tile_(tile),
      operand_(tile.operands[tile.operands[0].is_staged ? 0 : 1]),
      stage_(stage),
      reach_(reach),
      is_pixels_(is_pixels(operand_, plane, operand_.is_output ? 0 : 1)) {
  const std::size_t staged = operand_.is_output ? 0 : 1;
  const std::size_t dense = 1 - staged;
  const std::int64_t across_stride = plane.column_stride[staged];
  std::int64_t along_stride = plane.row_stride[dense];
  if (operand_.is_reversed) {  // upside down both ways is the same
    offset_[staged] = (plane.rows - 1) * plane.row_stride[staged];
    offset_[dense] = (plane.rows - 1) * along_stride;
    along_stride = -along_stride;
  }
  shape_ =
      operand_.is_output
          ? Rectangle{nullptr, along_stride, nullptr, across_stride, plane.rows, plane.columns}
          : Rectangle{nullptr, across_stride, nullptr, along_stride, plane.columns, plane.rows};
  is_short_ = tile.short_transpose != 0 && !is_pixels_ && !reach.streams &&
              shape_.num_lines >= tile.least_short_lines &&
              shape_.num_lines <= most_short_lines(operand_.itemsize) &&
              shape_.num_items >= least_short_items(operand_.itemsize);
  const std::int64_t itemsize = operand_.itemsize;
  const std::int64_t narrow_step = 16 / itemsize, wide_step = wide_step_bytes / itemsize;
  const bool is_one_panel = shape_.num_lines < std::max(wide_step, panel_lines) + wide_step;
  if (reach.streams || !is_one_panel || shape_.num_items < narrow_step ||
      shape_.num_lines < narrow_step)
    return;
  whole_ = tile.at<TransposeFunction>(shape_.num_lines >= wide_step ? operand_.wide_transpose
                                                                    : operand_.narrow_transpose);
}

void PlaneCopy::run(std::byte* to, std::byte* from) const {
  if (is_pixels_) {
    const bool to_pixels = operand_.is_output;
    const std::int64_t plane_stride = to_pixels ? shape_.from_stride : shape_.to_stride;
    const std::int64_t count = to_pixels ? shape_.num_items : shape_.num_lines;
    return interleave_pixels(tile_, operand_, to_pixels ? from : to, plane_stride,
                             to_pixels ? to : from, count, reach_.streams);
  }
  Rectangle plane = shape_;
  plane.to = to + offset_[0];
  plane.from = from + offset_[1];
  if (whole_ != nullptr)
    return whole_(plane.from, plane.from_stride, plane.to, plane.to_stride, plane.num_lines,
                  plane.num_items, 0, 0);
  copy_panels(tile_, operand_, plane, stage_, reach_);
}

void PlaneCopy::run_many(std::byte* to, std::byte* from, std::int64_t count,
                         const std::int64_t* stride) const {
  const ShortPlanes planes{from + offset_[1], shape_.from_stride, to + offset_[0], shape_.to_stride,
                           shape_.num_lines,  shape_.num_items,   count,           stride[1],
                           stride[0]};
  tile_.at<ShortTransposeFunction>(tile_.short_transpose)(&planes);
}

std::int64_t planes_at_once(const TileCode& tile, const Plane& plane, const std::int64_t* stride,
                            std::int64_t num_planes, Stage stage) {
  const TileOperand& from = tile.operands[1];
  const std::int64_t row_bytes = plane.columns * from.itemsize;
  if (!tile.is_copy || !from.is_staged || from.is_reversed || is_pixels(from, plane, 1)) return 1;
  if (row_bytes >= wanted_run_bytes || stride[0] != row_bytes) return 1;
  // Whole cache lines, so that the next planes start with one as well.
  const std::int64_t period = 64 / std::gcd<std::int64_t, std::int64_t>(row_bytes, 64);
  const std::int64_t wanted = (wanted_run_bytes + row_bytes - 1) / row_bytes;
  const std::int64_t count = (wanted + period - 1) / period * period;
  return std::min(count + count / 2 >= num_planes ? num_planes : count,
                  std::ssize(stage) / row_bytes);
}

std::int64_t runs_at_once(const TileCode& tile, const Plane& plane, std::int64_t num_planes,
                          const std::int64_t* run_stride, Stage stage) {
  const std::int64_t itemsize = tile.operands[1].itemsize;
  const std::int64_t run_bytes = plane.rows * itemsize;
  if (run_stride[1] != run_bytes) return 1;
  const std::int64_t staged_bytes = num_planes * plane.rows * plane.columns * itemsize;
  return std::max<std::int64_t>(
      1, std::min(wanted_run_bytes / run_bytes, std::ssize(stage) / staged_bytes));
}

// Runs go through the buffer whole; without, a part of the rows at a time.  There the planes'
// pieces of a row join.
void copy_planes(const TileCode& tile, const Plane& plane, const Planes& planes, Stage stage,
                 const Reach& reach) {
  const TileOperand& operand = tile.operands[1];
  const std::int64_t itemsize = operand.itemsize;
  const std::int64_t piece_bytes = plane.columns * itemsize;
  const std::int64_t row_bytes = planes.count * piece_bytes;
  const std::int64_t rows_at_once = even_part(plane.rows, std::ssize(stage) / row_bytes);
  // What is read is too short, and too far apart, for the processor to notice.
  const std::int64_t planes_ahead = std::clamp<std::int64_t>(
      fetched_ahead_bytes / (planes.runs * rows_at_once * piece_bytes), 1, planes.count);
  for (std::int64_t row = 0; row < plane.rows; row += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, plane.rows - row);
    const bool is_last = row + rows == plane.rows;
    for (std::int64_t k = 0; k < planes.count; ++k) {
      const std::byte* from = plane.base[1] + k * planes.stride[1] + row * itemsize;
      const std::int64_t later = k + planes_ahead;
      const bool is_next_part = later >= planes.count && !is_last;
      prefetch_lines(plane.base[1] + later * planes.stride[1] + row * itemsize +
                         (is_next_part ? rows * itemsize - planes.count * planes.stride[1] : 0),
                     plane.column_stride[1], plane.columns, planes.runs * rows * itemsize);
      const Rectangle part{from,      plane.column_stride[1], stage.data() + k * piece_bytes,
                           row_bytes, plane.columns,          planes.runs * rows};
      planes.runs == 1 ? transpose(tile, operand, part)
                       : transpose_panels(tile, operand, part, reach);
    }
    std::byte* to = plane.base[0] + row * plane.row_stride[0];
    for (std::int64_t run = 0; run < planes.runs; ++run)
      stream_rows({to + (run > 0 ? run * planes.run_stride[0] : 0), plane.row_stride[0],
                   stage.data() + run * rows * row_bytes, row_bytes, rows, row_bytes});
  }
}

}  // namespace weft::jit::tiles
