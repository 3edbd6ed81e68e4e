// The planes of kernels that compute: transposed operands go through buffers.
#include "jit/tiles/lines.h"
#include "jit/tiles/move.h"

#include <algorithm>
#include <array>

namespace weft::jit::tiles {
namespace {

/// A part of a plane.
struct Tile {
  std::int64_t row, rows;
  std::int64_t column, columns;
};

/// Items of a tile whose transposed lines fight for the first cache: more fight for the second.
constexpr std::int64_t most_fighting_items = 16384;

/// Runs the row kernel over tiles, with the staged operands' buffers in place of their memory.
class StagedPlane {
 public:
  StagedPlane(const TileCode& tile, const KernelArgs& args, const Plane& plane, Stage stage,
              const Reach& reach)
      : tile_(tile),
        args_(args),
        plane_(plane),
        num_operands_(tile.operands.size()),
        is_large_(std::ssize(stage) > stage_bytes),
        reach_(reach),
        streams_rows_(reach.streams && tile.streaming_rows != 0),
        joins_lines_(streams_rows_ && is_large_ && reach.joins_lines && shares_lines()) {
    choose_tile(std::ssize(stage));
    if (joins_lines_ && !fit_joined_rows(std::ssize(stage))) {
      joins_lines_ = false;
      choose_tile(std::ssize(stage));
    }
    if (streams_rows_ && !writes_whole_lines()) streamed_bytes_ = wanted_run_bytes;
    std::byte* free = stage.data();
    for (std::size_t i = 0; i < num_operands_; ++i) {
      const TileOperand& operand = tile.operands[i];
      const std::int64_t itemsize = operand.itemsize;
      const bool is_joined = joins(operand);
      stage_[i] = free;
      strides_[i] = operand.is_staged ? tile_columns_ * itemsize : plane.row_stride[i];
      strides_[num_operands_ + i] =
          operand.is_staged || is_joined ? itemsize : plane.column_stride[i];
      if (operand.is_staged) free += tile_rows_ * tile_columns_ * itemsize;
      if (!is_joined) continue;
      lines_[i] = RowsByLines(free, plane.row_stride[i], tile_columns_ * itemsize);
      strides_[i] = lines_[i].stride_bytes();
      free += RowsByLines::size_bytes(tile_rows_, tile_columns_ * itemsize);
    }
  }

  void run() {
    for (std::int64_t row = 0; row < plane_.rows; row += tile_rows_)
      for (std::int64_t column = 0; column < plane_.columns; column += tile_columns_)
        run_tile(part(row, column));
  }

 private:
  void choose_tile(std::int64_t total_bytes) {
    std::int64_t staged_bytes = 0;
    std::int64_t widest_bytes = 1, widest_staged_bytes = 1;
    for (const TileOperand& operand : tile_.operands) {
      if (operand.is_staged || joins(operand)) staged_bytes += operand.itemsize;
      std::int64_t& widest = operand.is_staged ? widest_staged_bytes : widest_bytes;
      widest = std::max<std::int64_t>(widest, operand.itemsize);
    }
    // A small call's wide items do better when the first cache keeps much more than the buffers.
    if (total_bytes <= stage_bytes && staged_bytes > 2) total_bytes /= 4;
    std::int64_t num_items = total_bytes / staged_bytes;
    if (is_large_ && tile_.fetches_along && widest_staged_bytes >= 4 && lines_fight(tile_, plane_))
      num_items = std::min(num_items, most_fighting_items);
    const Sides sides = fitting_sides(wanted_run_bytes / widest_staged_bytes,
                                      wanted_run_bytes / widest_bytes, num_items);
    if (plane_.rows <= sides.rows) {
      tile_rows_ = plane_.rows;
      const std::int64_t most = joins_lines_ ? num_items - num_items / 8 : num_items;
      tile_columns_ = even_part(plane_.columns, most / tile_rows_);
    } else {
      tile_columns_ = even_part(plane_.columns, sides.columns);
      tile_rows_ = even_part(plane_.rows, num_items / tile_columns_);
    }
  }

  /// Whether an output's rows leave a buffer.
  bool joins(const TileOperand& operand) const {
    return joins_lines_ && operand.is_output && !operand.is_staged;
  }

  /// Makes room for what is between rows' pieces that leave a buffer; false if there is none, or
  /// pieces are too short.
  bool fit_joined_rows(std::int64_t total_bytes) {
    const auto needed_bytes = [&] {
      std::int64_t bytes = 0;
      for (const TileOperand& operand : tile_.operands) {
        const std::int64_t row_bytes = tile_columns_ * operand.itemsize;
        if (operand.is_staged) bytes += tile_rows_ * row_bytes;
        if (joins(operand)) bytes += RowsByLines::size_bytes(tile_rows_, row_bytes);
      }
      return bytes;
    };
    while (tile_rows_ > 1 && needed_bytes() > total_bytes) tile_rows_ -= (tile_rows_ + 7) / 8;
    for (const TileOperand& operand : tile_.operands)
      if (joins(operand) && tile_columns_ < plane_.columns &&
          tile_columns_ * operand.itemsize < RowsByLines::least_piece_bytes)
        return false;
    return needed_bytes() <= total_bytes;
  }

  /// Whether outputs are long rows of which some begin within a line of the cache.
  bool shares_lines() const {
    bool shares = false;
    for (std::size_t i = 0; i < num_operands_; ++i) {
      const TileOperand& operand = tile_.operands[i];
      if (!operand.is_output || operand.is_staged) continue;
      if (plane_.column_stride[i] != operand.itemsize ||
          plane_.columns * operand.itemsize < wanted_run_bytes)
        return false;
      shares = shares || !starts_lines(plane_.base[i], plane_.row_stride[i]);
    }
    return shares;
  }

  /// Whether the rows of a tile are cache lines from one end to the other.
  bool writes_whole_lines() const {
    for (std::size_t i = 0; i < num_operands_; ++i) {
      const TileOperand& operand = tile_.operands[i];
      if (!operand.is_output || operand.is_staged) continue;
      const std::int64_t piece_bytes =
          tile_columns_ < plane_.columns ? tile_columns_ * operand.itemsize : 0;
      if (!starts_lines(plane_.base[i], plane_.row_stride[i] | piece_bytes)) return false;
    }
    return true;
  }

  Tile part(std::int64_t row, std::int64_t column) const {
    return {row, std::min(tile_rows_, plane_.rows - row), column,
            std::min(tile_columns_, plane_.columns - column)};
  }

  void run_tile(const Tile& part) {
    const auto [row, rows, column, columns] = part;
    for (std::size_t i = 0; i < num_operands_; ++i) {
      std::byte* at =
          plane_.base[i] + row * plane_.row_stride[i] + column * plane_.column_stride[i];
      const TileOperand& operand = tile_.operands[i];
      memory_[i] = at;
      base_[i] = operand.is_staged ? stage_[i] : joins(operand) ? lines_[i].pieces() : at;
      if (operand.is_staged && !operand.is_output) move(i, rows, columns);
    }
    const bool is_one_run = can_flatten(columns);
    const std::int64_t extents[] = {is_one_run ? 1 : rows, is_one_run ? rows * columns : columns};
    const KernelArgs args{base_.data(), extents, strides_.data(), args_.params, nullptr};
    const bool streams = streams_rows_ && !joins_lines_ &&
                         extents[1] * tile_.operands[0].itemsize >=
                             (is_one_run ? least_streamed_bytes : streamed_bytes_);
    tile_.at<void(const KernelArgs*)>(streams ? tile_.streaming_rows : tile_.rows)(&args);
    for (std::size_t i = 0; i < num_operands_; ++i) {
      const TileOperand& operand = tile_.operands[i];
      if (operand.is_staged && operand.is_output) move(i, rows, columns);
      if (joins(operand))
        lines_[i].write(memory_[i], rows, columns * operand.itemsize, column == 0,
                        column + columns == plane_.columns);
    }
  }

  /// Whether the rows follow one another without a gap, for every operand.
  bool can_flatten(std::int64_t columns) const {
    for (std::size_t i = 0; i < num_operands_; ++i)
      if (strides_[i] != columns * strides_[num_operands_ + i]) return false;
    return true;
  }

  /// Between an operand's memory and its buffer.
  void move(std::size_t i, std::int64_t rows, std::int64_t columns) {
    const TileOperand& operand = tile_.operands[i];
    const std::int64_t stage_stride = strides_[i];
    if (is_pixels(operand, plane_, i))
      return interleave_pixels(tile_, operand, stage_[i], stage_stride, memory_[i], columns,
                               reach_.streams);
    std::byte* memory = memory_[i];
    std::byte* stage = stage_[i];
    std::int64_t direction = stage_stride;
    if (operand.is_reversed) {
      memory += (rows - 1) * plane_.row_stride[i];
      stage += (rows - 1) * stage_stride;
      direction = -stage_stride;
    }
    const std::int64_t memory_stride = plane_.column_stride[i];
    if (operand.is_output)
      return transpose(tile_, operand, {stage, direction, memory, memory_stride, rows, columns});
    const Rectangle r{memory, memory_stride, stage, direction, columns, rows};
    is_large_ ? transpose_panels(tile_, operand, r, reach_) : transpose(tile_, operand, r);
  }

  const TileCode& tile_;
  const KernelArgs& args_;
  const Plane& plane_;
  const std::size_t num_operands_;
  const bool is_large_;
  const Reach reach_;
  const bool streams_rows_;
  bool joins_lines_;  ///< rows leave a buffer by whole lines, wherever they begin
  std::int64_t streamed_bytes_ = least_streamed_bytes;  ///< of a row that pays
  std::int64_t tile_rows_ = 0;
  std::int64_t tile_columns_ = 0;
  std::array<std::byte*, ir::max_launch_operands> stage_;
  std::array<std::byte*, ir::max_launch_operands> base_;
  std::array<std::byte*, ir::max_launch_operands> memory_;
  std::array<RowsByLines, ir::max_launch_operands> lines_;
  std::array<std::int64_t, 2 * ir::max_launch_operands> strides_;
};

}  // namespace

void run_staged_plane(const TileCode& tile, const KernelArgs& args, const Plane& plane, Stage stage,
                      const Reach& reach) {
  StagedPlane(tile, args, plane, stage, reach).run();
}

}  // namespace weft::jit::tiles
