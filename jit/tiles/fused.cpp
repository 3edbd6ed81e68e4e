// The planes of kernels whose transposed inputs stay in registers (jit/xbyak/tile_fused.cpp).
#include "jit/tiles/move.h"

#include <algorithm>

namespace weft::jit::tiles {
namespace {

/// Columns of a plane that are walked down together: their lines stay in the first cache from one
/// step of rows to the next.
constexpr std::int64_t fused_columns = 256;
/// The same in large calls: no more lines than the processor follows, and of every output whole
/// lines of the cache.
constexpr std::int64_t large_fused_columns = 32;

/// Rows of a plane that all columns are run on before the next ones, where lines fight for the
/// first cache: what the second one holds.
constexpr std::int64_t aliasing_rows = 1024;

constexpr std::int64_t page_bytes = 4096;

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
    if (bytes < cached_bytes) return true;
    if (tile_.stages_fighting_lines && lines_fight(tile_, plane_)) return false;
    return (bytes < 4 * cached_bytes && is_in_one_piece()) ||
           ((bytes < tile_.most_fused_bytes || (tile_.fuses_aliases && has_aliases())) &&
            std::min(plane_.rows, plane_.columns) >= tile_.fused_side);
  }

  /// Whether an input's rows lie where a step's loads of them wait for its stores of the rows
  /// before: processors compare the lower twelve bits of addresses first.
  bool holds_back_loads() const {
    for (std::size_t output = 0; output < num_operands_; ++output)
      for (std::size_t i = 0; i < num_operands_; ++i)
        if (tile_.operands[output].is_output && !tile_.operands[i].is_output &&
            !tile_.operands[i].is_staged && meet_in_page(output, i))
          return true;
    return false;
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

  /// Whether the code for large calls does better; where it writes past the caches, it has to be
  /// whole lines.
  bool pays_large(std::int64_t bytes) const {
    if (tile_.large_fused_rows == 0 || bytes > tile_.most_large_fused_bytes ||
        std::min(plane_.rows, plane_.columns) < tile_.fused_side)
      return false;
    if (lines_fight(tile_, plane_) && !pays_fighting(bytes)) return false;
    for (std::size_t i = 0; i < num_operands_; ++i) {
      const TileOperand& operand = tile_.operands[i];
      if (operand.is_output && tile_.large_fused_streams &&
          !starts_lines(plane_.base[i], plane_.row_stride[i]))
        return false;
    }
    return true;
  }

  void run_large() const {
    std::int64_t together = large_fused_columns;
    for (const TileOperand& operand : tile_.operands)
      if (operand.is_output)
        together = std::max<std::int64_t>(together, line_bytes / operand.itemsize);
    run(together, lines_fight(tile_, plane_) ? aliasing_rows : plane_.rows, tile_.large_fused_rows);
  }

  void run() const { run(fused_columns, plane_.rows, tile_.fused_rows); }

 private:
  /// What is left over at the ends goes through the caches: it begins anywhere.
  void run(std::int64_t columns_together, std::int64_t rows_together, FunctionOffset code) const {
    const std::int64_t rows = plane_.rows - plane_.rows % tile_.fused_step_rows;
    const std::int64_t columns = plane_.columns - plane_.columns % tile_.fused_step_columns;
    for (std::int64_t row = 0; row < rows; row += rows_together)
      for (std::int64_t column = 0; column < columns; column += columns_together)
        run_rows(row, std::min(rows_together, rows - row), column,
                 std::min(columns_together, columns - column), code);
    if (columns < plane_.columns)
      run_rows(0, rows, plane_.columns - tile_.fused_step_columns, tile_.fused_step_columns,
               tile_.fused_rows);
    if (rows == plane_.rows) return;
    const std::int64_t last = plane_.rows - tile_.fused_step_rows;
    run_rows(last, tile_.fused_step_rows, 0, columns, tile_.fused_rows);
    if (columns < plane_.columns)
      run_rows(last, tile_.fused_step_rows, plane_.columns - tile_.fused_step_columns,
               tile_.fused_step_columns, tile_.fused_rows);
  }

  /// Whether what a step reads of one of an input's rows but the first begins, in its page, within
  /// a vector of what it stores of an output's first row; here and, of items of one size, in all
  /// steps that follow.  What begins before that was measured to cost little.
  bool meet_in_page(std::size_t output, std::size_t input) const {
    constexpr std::uintptr_t in_page = page_bytes - 1, vector_bytes = 32;
    const auto stride = static_cast<std::uintptr_t>(plane_.row_stride[input]);
    if (((stride ^ static_cast<std::uintptr_t>(plane_.row_stride[output])) & in_page) != 0)
      return false;
    std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(plane_.base[input]) -
                              reinterpret_cast<std::uintptr_t>(plane_.base[output]);
    for (int row = 1; row < tile_.fused_step_rows; ++row) {
      distance += stride;
      if ((distance & in_page) < vector_bytes) return true;
    }
    return false;
  }

  /// Whether the code for large calls does better than others although lines fight: those fight
  /// over outputs, too, whose rows lie a multiple of a page apart.
  bool pays_fighting(std::int64_t bytes) const {
    for (std::size_t i = 0; i < num_operands_; ++i)
      if (tile_.operands[i].is_output && plane_.row_stride[i] % page_bytes != 0)
        return bytes >= tile_.least_fighting_fused_bytes;
    return tile_.large_fused_streams && tile_.fetches_along;
  }

  /// Whether lines of 4-byte items that are transposed lie a multiple of a page apart, and outputs
  /// are rows of as many bytes.
  bool has_aliases() const {
    for (std::size_t i = 0; i < num_operands_; ++i) {
      const TileOperand& operand = tile_.operands[i];
      if ((operand.is_staged || operand.is_output) && operand.itemsize != 4) return false;
      if (operand.is_staged && plane_.column_stride[i] % page_bytes != 0) return false;
    }
    return true;
  }

  /// Whether all that is not transposed is dense from the first row to the last.
  bool is_in_one_piece() const {
    for (std::size_t i = 0; i < num_operands_; ++i)
      if (!tile_.operands[i].is_staged &&
          plane_.row_stride[i] != plane_.columns * tile_.operands[i].itemsize)
        return false;
    return plane_.columns <= fused_columns;
  }

  void run_rows(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                FunctionOffset code) const {
    std::array<std::byte*, ir::max_launch_operands> base;
    for (std::size_t i = 0; i < num_operands_; ++i)
      base[i] = plane_.base[i] + row * plane_.row_stride[i] + column * plane_.column_stride[i];
    const std::int64_t extents[] = {rows, columns};
    const KernelArgs args{base.data(), extents, strides_.data(), args_.params, nullptr};
    tile_.at<void(const KernelArgs*)>(code)(&args);
  }

  const TileCode& tile_;
  const KernelArgs& args_;
  const Plane& plane_;
  const std::size_t num_operands_;
  std::array<std::int64_t, 2 * ir::max_launch_operands> strides_;
};

}  // namespace

bool run_fused(const TileCode& tile, const KernelArgs& args, const Plane& plane, std::int64_t bytes,
               bool streams) {
  if (tile.fused_rows == 0) return false;
  const FusedPlane fused(tile, args, plane);
  if (!fused.fits() || (tile.stages_fighting_lines && fused.holds_back_loads())) return false;
  if (streams && fused.pays_large(bytes)) {
    fused.run_large();
    return true;
  }
  if (!fused.pays(bytes)) return false;
  fused.run();
  return true;
}

}  // namespace weft::jit::tiles
