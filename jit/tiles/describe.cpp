// Which functions a tile kernel needs, and the ordinary kernels among them.
#include "jit/tiles/tile.h"

#include <algorithm>

namespace weft::jit::tiles {
namespace {

constexpr int max_ways = 4;

constexpr std::size_t max_fused_inputs = 2;
/// A step has a copy of the body for each row.
constexpr std::size_t max_fused_instructions = 24;
constexpr int most_held_avx2 = 8;  ///< registers; of AVX2's the body needs half

/// row_kernel() past the caches; without loops if every output is staged.
ir::Kernel streaming_row_kernel(const ir::Kernel& kernel) {
  ir::Kernel rows = row_kernel(kernel);
  rows.is_streaming = rows.is_unfenced = true;
  const auto is_dense_output = [](const ir::Operand& operand) {
    return operand.role == ir::Role::output && !is_transposed(operand) &&
           operand.strides.back() == 1;
  };
  if (std::none_of(kernel.operands.begin(), kernel.operands.end(), is_dense_output))
    rows.loops.clear();
  return rows;
}

/// Whether all operands are pixels of as many channels, or the same for every pixel.
bool is_all_pixels(const ir::Kernel& kernel) {
  const ir::StrideClass ways = kernel.operands[0].strides.back();
  const auto fits = [&](const ir::Operand& operand) {
    const ir::StrideClass inner = operand.strides.back();
    return inner == 0 || (inner == ways && operand.strides[operand.strides.size() - 2] == 1);
  };
  return ways >= 2 && ways <= max_ways &&
         std::all_of(kernel.operands.begin(), kernel.operands.end(), fits);
}

/// Whether outputs are dense along the innermost loop, and some input stands still along it.
bool has_still_inputs(const ir::Kernel& kernel) {
  const auto is_dense_output = [](const ir::Operand& operand) {
    return operand.role != ir::Role::output || operand.strides.back() == 1;
  };
  const auto stands_still = [](const ir::Operand& operand) { return operand.strides.back() == 0; };
  return std::ranges::all_of(kernel.operands, is_dense_output) &&
         std::ranges::any_of(kernel.operands, stands_still);
}

/// The kernel for the two innermost loops, every operand linear.
// Nothing is hoisted: what was constant along the innermost loop no longer is.
ir::Kernel dense_kernel(const ir::Kernel& kernel) {
  ir::Kernel rows = kernel;
  rows.schedule = ir::Schedule::linear;
  rows.loops.erase(rows.loops.begin(), rows.loops.end() - 2);
  rows.loops[0].kind = ir::LoopKind::parallel;
  rows.is_streaming = false;
  rows.num_hoisted = 0;
  for (ir::Operand& operand : rows.operands) operand.strides = {ir::stride_any, 1};
  return rows;
}

/// An operand, without its functions.
TileOperand describe(const ir::Operand& operand) {
  const ir::StrideClass inner = operand.strides.back();
  const ir::StrideClass outer = operand.strides[operand.strides.size() - 2];
  TileOperand result;
  result.itemsize = static_cast<int>(itemsize_bytes(operand.dtype));
  result.is_output = operand.role == ir::Role::output;
  result.is_staged = is_transposed(operand);
  result.is_reversed = outer == -1;
  const bool is_pixels = outer == 1 && inner >= 2 && inner <= max_ways && result.itemsize <= 8;
  result.ways = result.is_staged && is_pixels ? inner : 0;
  return result;
}

void add_transposes(int vector_bytes, bool is_copy, Functions& functions, TileOperand& operand) {
  const TransposeShape wide{
      .itemsize = operand.itemsize, .vector_bytes = vector_bytes, .step_bytes = wide_step_bytes};
  operand.wide_transpose = functions.transpose(wide);
  operand.narrow_transpose = functions.transpose({.itemsize = operand.itemsize});
  // Bytes in registers of 32 would leave 16 lines half written at a time, more than there are
  // buffers to gather them in.
  if (!is_copy || (vector_bytes < 64 && operand.itemsize == 1)) return;
  TransposeShape streaming = wide;
  streaming.is_streaming = true;
  operand.streaming_transpose = functions.transpose(streaming);
}

void add_interleaves(const CpuFeatures& features, bool is_copy, Functions& functions,
                     TileOperand& operand) {
  const InterleaveShape shape{
      .itemsize = operand.itemsize, .ways = operand.ways, .to_pixels = operand.is_output};
  operand.group_items = group_items(features, shape);
  operand.interleave = functions.interleave(shape);
  if (!operand.is_output && !is_copy) return;
  InterleaveShape streaming = shape;
  streaming.is_streaming = true;
  operand.streaming_interleave = functions.interleave(streaming);
}

/// Whether fused rows can have the operand.
bool fits_fused(const ir::Operand& operand, const ir::Kernel& kernel) {
  const auto itemsize = static_cast<int>(itemsize_bytes(operand.dtype));
  if (!is_transposed(operand)) return operand.strides.back() == 1;
  return operand.role == ir::Role::input && operand.strides[operand.strides.size() - 2] == 1 &&
         itemsize >= 2 && itemsize <= 8 &&
         itemsize * kernel.loops.back().lanes == kernel.vector_bytes;
}

void add_fused(const ir::Kernel& kernel, const CpuFeatures& features, Functions& functions,
               TileCode& tile) {
  if (!can_fuse(kernel, features)) return;
  tile.fused_rows = functions.fused_rows(RowKind::fused, kernel);
  tile.fused_step_rows = fused_rows_a_step(kernel);
  tile.fused_step_columns = kernel.loops.back().lanes;
  // Measured on Zen 4 and 5 (docs/decisions/tiles.md).
  if (tile.fused_rows == 0 || features.amd_family < zen3_family) return;
  tile.large_fused_rows = functions.fused_rows(RowKind::large_fused, kernel);
  tile.large_fused_streams = fused_rows_stream(kernel);
}

void add_rows(const ir::Kernel& kernel, Functions& functions, TileCode& tile) {
  if (!tile.is_copy) {
    tile.rows = functions.rows(RowKind::plain, row_kernel(kernel));
    if (const ir::Kernel rows = streaming_row_kernel(kernel); !rows.loops.empty())
      tile.streaming_rows = functions.rows(RowKind::streaming, rows);
  }
  if (is_all_pixels(kernel)) {
    ir::Kernel pixels = dense_kernel(kernel);
    tile.pixel_rows = functions.rows(RowKind::pixels, pixels);
    pixels.is_streaming = pixels.is_unfenced = true;
    tile.streaming_pixel_rows = functions.rows(RowKind::streaming_pixels, pixels);
  }
  if (has_still_inputs(kernel))
    tile.gathered_rows = functions.rows(RowKind::gathered, dense_kernel(kernel));
}

}  // namespace

std::string_view name(RowKind kind) {
  switch (kind) {
    case RowKind::plain: return "rows of a tile";
    case RowKind::streaming: return "rows of a tile, stored past the caches";
    case RowKind::pixels: return "rows of pixels";
    case RowKind::streaming_pixels: return "rows of pixels, stored past the caches";
    case RowKind::gathered: return "runs of short rows";
    case RowKind::fused: return "rows with transposed inputs in registers";
    case RowKind::large_fused: return "the same for large calls";
  }
  return {};
}

bool is_transposing_copy(const ir::Kernel& kernel) {
  const auto& body = kernel.body;
  if (kernel.schedule != ir::Schedule::tile || kernel.operands.size() != 2 || body.size() != 2 ||
      body[0].op != Op::load || body[1].op != Op::store || body[0].dtype != body[1].dtype)
    return false;
  const ir::Operand& from = kernel.operands[1];
  const ir::Operand& to = kernel.operands[0];
  return is_transposed(from) != is_transposed(to) &&
         (is_transposed(from) ? to : from).strides.back() == 1;
}

std::vector<std::size_t> transposed_operands(const ir::Kernel& kernel) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i)
    if (is_transposed(kernel.operands[i])) found.push_back(i);
  return found;
}

int fused_rows_a_step(const ir::Kernel& kernel) {
  return lane_bytes * kernel.loops.back().lanes / kernel.vector_bytes;
}

bool can_fuse(const ir::Kernel& kernel, const CpuFeatures& features) {
  const bool has_all_lanes = kernel.vector_bytes == (features.isa == Isa::avx512 ? 64 : 32);
  if (!has_all_lanes || is_transposing_copy(kernel)) return false;
  const std::size_t num_transposed = transposed_operands(kernel).size();
  if (num_transposed == 0 || num_transposed > max_fused_inputs) return false;
  const int num_held = static_cast<int>(num_transposed) * fused_rows_a_step(kernel);
  if (features.isa != Isa::avx512 && num_held > most_held_avx2) return false;
  if (kernel.body.size() > max_fused_instructions) return false;
  for (ir::ValueId id = 0; id < kernel.num_hoisted; ++id)
    if (kernel.body[id].op == Op::load) return false;
  return std::ranges::all_of(
      kernel.operands, [&](const ir::Operand& operand) { return fits_fused(operand, kernel); });
}

bool fused_rows_stream(const ir::Kernel& kernel) {
  const auto fills_lines = [&](const ir::Operand& operand) {
    return operand.role != ir::Role::output ||
           static_cast<int>(itemsize_bytes(operand.dtype)) * kernel.loops.back().lanes ==
               line_bytes;
  };
  return std::ranges::all_of(kernel.operands, fills_lines);
}

std::vector<std::size_t> asked_rows(const ir::Kernel& kernel) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const ir::Operand& operand = kernel.operands[i];
    const int bytes = static_cast<int>(itemsize_bytes(operand.dtype)) * kernel.loops.back().lanes;
    if (operand.role == ir::Role::input && !is_transposed(operand) && bytes >= line_bytes / 2)
      found.push_back(i);
  }
  return found;
}

ir::Kernel row_kernel(const ir::Kernel& kernel) {
  ir::Kernel rows = kernel;
  rows.schedule = ir::Schedule::linear;
  rows.loops.erase(rows.loops.begin(), rows.loops.end() - 2);
  rows.loops[0].kind = ir::LoopKind::parallel;
  rows.is_streaming = false;
  for (ir::Operand& operand : rows.operands) {
    const bool is_staged = is_transposed(operand);
    operand.strides.erase(operand.strides.begin(), operand.strides.end() - 2);
    if (is_staged) operand.strides = {ir::stride_any, 1};
    const ir::StrideClass inner = operand.strides[1];
    if (inner != 1 && (inner != 0 || operand.role == ir::Role::output))
      rows.schedule = ir::Schedule::strided;
  }
  return rows;
}

void describe_tile(const ir::Kernel& kernel, const CpuFeatures& features, Functions& functions,
                   TileCode& tile) {
  tile.num_loops = kernel.loops.size();
  tile.is_copy = is_transposing_copy(kernel);
  add_rows(kernel, functions, tile);
  const auto itemsize = static_cast<int>(itemsize_bytes(kernel.operands[0].dtype));
  if (tile.is_copy && has_short_transpose(features, itemsize)) {
    tile.short_transpose = functions.short_transpose(itemsize);
    tile.least_short_lines = least_short_lines(features, itemsize);
  }
  for (const ir::Operand& described : kernel.operands) {
    TileOperand operand = describe(described);
    if (operand.is_staged) add_transposes(kernel.vector_bytes, tile.is_copy, functions, operand);
    if (operand.ways != 0) add_interleaves(features, tile.is_copy, functions, operand);
    tile.operands.push_back(operand);
  }
  add_fused(kernel, features, functions, tile);
}

}  // namespace weft::jit::tiles
