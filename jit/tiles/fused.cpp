// The planes of kernels whose transposed inputs stay in registers (jit/xbyak/tile_fused.cpp).
#include "jit/tiles/move.h"

#include <algorithm>

namespace weft::jit::tiles {
namespace {

/// Columns of a plane that are walked down together: their lines stay in the first cache from one
/// step of rows to the next.
constexpr std::int64_t fused_columns = 256;

/// Runs the kernel over a plane whose transposed inputs stay in registers.
class FusedPlane {
 public:
  FusedPlane(const TileCode& tile, const KernelArgs& args, const Plane& plane)
      : tile_(tile), args_(args), plane_(plane), num_operands_(tile.operands.size()) {
    for (std::size_t i = 0; i < num_operands_; ++i) {
      strides_[i] = plane.row_stride[i];
      strides_[num_operands_ + i] = plane.column_stride[i];
    }
  }

  /// Whether a call of so many bytes does better so.  A large one reads and writes too many lines
  /// at a time for most processors to see where each goes on, unless what it writes is next to
  /// them.
  bool pays(std::int64_t bytes) const {
    const std::int64_t cached_bytes = 4 * tile_.large_bytes;
    return bytes < cached_bytes || (bytes < 4 * cached_bytes && is_in_one_piece()) ||
           (bytes < tile_.most_fused_bytes &&
            std::min(plane_.rows, plane_.columns) >= tile_.fused_side);
  }

  /// Whether there are whole steps, and what is left over at the ends can be done again.
  bool fits() const {
    if (plane_.rows < tile_.fused_step_rows || plane_.columns < tile_.fused_step_columns)
      return false;
    if (plane_.rows % tile_.fused_step_rows == 0 && plane_.columns % tile_.fused_step_columns == 0)
      return true;
    for (std::size_t output = 0; output < num_operands_; ++output)
      for (std::size_t i = 0; i < num_operands_; ++i)
        if (tile_.operands[output].is_output && !tile_.operands[i].is_output &&
            plane_.base[i] == plane_.base[output])
          return false;
    return true;
  }

  void run() const {
    const std::int64_t rows = plane_.rows - plane_.rows % tile_.fused_step_rows;
    const std::int64_t columns = plane_.columns - plane_.columns % tile_.fused_step_columns;
    for (std::int64_t column = 0; column < columns; column += fused_columns)
      run_rows(0, rows, column, std::min(fused_columns, columns - column));
    if (columns < plane_.columns)
      run_rows(0, rows, plane_.columns - tile_.fused_step_columns, tile_.fused_step_columns);
    if (rows == plane_.rows) return;
    const std::int64_t last = plane_.rows - tile_.fused_step_rows;
    run_rows(last, tile_.fused_step_rows, 0, columns);
    if (columns < plane_.columns)
      run_rows(last, tile_.fused_step_rows, plane_.columns - tile_.fused_step_columns,
               tile_.fused_step_columns);
  }

 private:
  /// Whether all that is not transposed is dense from the first row to the last.
  bool is_in_one_piece() const {
    for (std::size_t i = 0; i < num_operands_; ++i)
      if (!tile_.operands[i].is_staged &&
          plane_.row_stride[i] != plane_.columns * tile_.operands[i].itemsize)
        return false;
    return plane_.columns <= fused_columns;
  }

  void run_rows(std::int64_t row, std::int64_t rows, std::int64_t column,
                std::int64_t columns) const {
    std::array<std::byte*, ir::max_launch_operands> base;
    for (std::size_t i = 0; i < num_operands_; ++i)
      base[i] = plane_.base[i] + row * plane_.row_stride[i] + column * plane_.column_stride[i];
    const std::int64_t extents[] = {rows, columns};
    const KernelArgs args{base.data(), extents, strides_.data(), args_.params, nullptr};
    tile_.at<void(const KernelArgs*)>(tile_.fused_rows)(&args);
  }

  const TileCode& tile_;
  const KernelArgs& args_;
  const Plane& plane_;
  const std::size_t num_operands_;
  std::array<std::int64_t, 2 * ir::max_launch_operands> strides_;
};

}  // namespace

bool run_fused(const TileCode& tile, const KernelArgs& args, const Plane& plane,
               std::int64_t bytes) {
  if (tile.fused_rows == 0) return false;
  const FusedPlane fused(tile, args, plane);
  if (!fused.fits() || !fused.pays(bytes)) return false;
  fused.run();
  return true;
}

}  // namespace weft::jit::tiles
