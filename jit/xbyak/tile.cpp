// The machine code of a tile kernel: an entry that leads to the walk in tile_walk.cpp, the kernel
// for the rows of a tile, and the transpositions of the operands that need one.
#include "jit/xbyak/tile.h"

#include "jit/xbyak/emit.h"
#include "jit/xbyak/short_transpose.h"
#include "jit/xbyak/tile_fused.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>

namespace weft::jit::xbyak {
namespace {

constexpr int max_ways = 4;

template <class T>
Address address_constant(Assembler& code, const T* pointer) {
  std::array<std::byte, sizeof(std::uintptr_t)> bytes;
  std::memcpy(bytes.data(), &pointer, bytes.size());
  return code.constant(bytes);
}

class TileEmitter {
 public:
  TileEmitter(Assembler& code, const ir::Kernel& kernel, TileCode& tile)
      : code_(code), kernel_(kernel), tile_(tile) {}

  void emit();

 private:
  void entry();
  TileOperand describe(std::size_t operand) const;
  void add_fused();
  void add_transposes(TileOperand& operand);
  void add_interleaves(TileOperand& operand);
  FunctionOffset transpose(const TransposeShape& shape);
  FunctionOffset interleave(const InterleaveShape& shape);
  FunctionOffset start_function(std::string_view part);

  Assembler& code_;
  const ir::Kernel& kernel_;
  TileCode& tile_;
  // Operands of one size share their functions.
  std::map<std::tuple<int, int, bool>, FunctionOffset> transposes_;
  std::map<std::tuple<int, int, bool, bool>, FunctionOffset> interleaves_;
};

void TileEmitter::entry() {
  code_.mov(code_.rsi, address_constant(code_, &tile_));
  const auto walk = reinterpret_cast<std::uintptr_t>(&run_tiles);
  code_.jmp(address_constant(code_, reinterpret_cast<const std::byte*>(walk)));
}

FunctionOffset TileEmitter::start_function(std::string_view part) {
  code_.align(32);
  code_.mark(part);
  return static_cast<FunctionOffset>(code_.getSize());
}

FunctionOffset TileEmitter::transpose(const TransposeShape& shape) {
  const auto [found, is_new] = transposes_.try_emplace(
      {shape.itemsize, shape.step_bytes, shape.is_streaming}, FunctionOffset{0});
  if (is_new) {
    found->second =
        start_function(shape.is_streaming ? "transposition past the caches" : "transposition");
    emit_transpose(code_, shape);
  }
  return found->second;
}

FunctionOffset TileEmitter::interleave(const InterleaveShape& shape) {
  const auto [found, is_new] = interleaves_.try_emplace(
      {shape.itemsize, shape.ways, shape.to_pixels, shape.is_streaming}, FunctionOffset{0});
  if (is_new) {
    found->second = start_function(shape.to_pixels ? "planes to pixels" : "pixels to planes");
    emit_interleave(code_, shape);
  }
  return found->second;
}

void TileEmitter::add_transposes(TileOperand& operand) {
  const TransposeShape wide{.itemsize = operand.itemsize,
                            .vector_bytes = kernel_.vector_bytes,
                            .step_bytes = wide_step_bytes};
  operand.wide_transpose = transpose(wide);
  operand.narrow_transpose = transpose({.itemsize = operand.itemsize});
  // Bytes in registers of 32 would leave 16 lines half written at a time, more than there are
  // buffers to gather them in.
  if (!tile_.is_copy || (kernel_.vector_bytes < 64 && operand.itemsize == 1)) return;
  TransposeShape streaming = wide;
  streaming.is_streaming = true;
  operand.streaming_transpose = transpose(streaming);
}

void TileEmitter::add_interleaves(TileOperand& operand) {
  const InterleaveShape shape{
      .itemsize = operand.itemsize, .ways = operand.ways, .to_pixels = operand.is_output};
  operand.group_items = group_items(code_.features(), shape);
  operand.interleave = interleave(shape);
  if (!operand.is_output && !tile_.is_copy) return;
  InterleaveShape streaming = shape;
  streaming.is_streaming = true;
  operand.streaming_interleave = interleave(streaming);
}

void TileEmitter::add_fused() {
  if (!can_fuse(kernel_, code_.features())) return;
  const FunctionOffset rows = start_function("rows with transposed inputs in registers");
  if (!emit_fused_rows(code_, kernel_)) return;
  tile_.fused_rows = rows;
  tile_.fused_step_rows = fused_rows_a_step(kernel_);
  tile_.fused_step_columns = kernel_.loops.back().lanes;
}

TileOperand TileEmitter::describe(std::size_t index) const {
  const ir::Operand& operand = kernel_.operands[index];
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

void TileEmitter::emit() {
  tile_.num_loops = kernel_.loops.size();
  tile_.is_copy = is_transposing_copy(kernel_);
  entry();
  if (!tile_.is_copy) {
    tile_.rows = start_function("rows of a tile");
    emit_kernel(code_, row_kernel(kernel_), true);
  }
  if (const ir::Kernel rows = streaming_row_kernel(kernel_); !rows.loops.empty()) {
    tile_.streaming_rows = start_function("rows of a tile, stored past the caches");
    emit_kernel(code_, rows, true);
  }
  add_fused();
  const auto itemsize = static_cast<int>(itemsize_bytes(kernel_.operands[0].dtype));
  if (tile_.is_copy && has_short_transpose(code_.features(), itemsize)) {
    tile_.short_transpose = start_function("transpositions of few lines each");
    emit_short_transpose(code_, itemsize);
  }
  if (is_all_pixels(kernel_)) {
    ir::Kernel pixels = dense_kernel(kernel_);
    tile_.pixel_rows = start_function("rows of pixels");
    emit_kernel(code_, pixels, true);
    pixels.is_streaming = true;
    tile_.streaming_pixel_rows = start_function("rows of pixels, stored past the caches");
    emit_kernel(code_, pixels, true);
  }
  if (has_still_inputs(kernel_)) {
    tile_.gathered_rows = start_function("runs of short rows");
    emit_kernel(code_, dense_kernel(kernel_), true);
  }
  for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
    TileOperand operand = describe(i);
    if (operand.is_staged) add_transposes(operand);
    if (operand.ways != 0) add_interleaves(operand);
    tile_.operands.push_back(operand);
  }
}

}  // namespace

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

ir::Kernel streaming_row_kernel(const ir::Kernel& kernel) {
  ir::Kernel rows = row_kernel(kernel);
  rows.is_streaming = true;
  if (is_transposing_copy(kernel)) {
    rows.schedule = ir::Schedule::linear;
    rows.loops[1].lanes = kernel.vector_bytes;
    for (ir::Inst& inst : rows.body) inst.dtype = DType::u8;
    for (ir::Operand& operand : rows.operands)
      operand = {DType::u8, operand.role, {ir::stride_any, 1}};
    return rows;
  }
  const auto is_dense_output = [](const ir::Operand& operand) {
    return operand.role == ir::Role::output && !is_transposed(operand) &&
           operand.strides.back() == 1;
  };
  if (std::none_of(kernel.operands.begin(), kernel.operands.end(), is_dense_output))
    rows.loops.clear();
  return rows;
}

bool is_all_pixels(const ir::Kernel& kernel) {
  const ir::StrideClass ways = kernel.operands[0].strides.back();
  const auto fits = [&](const ir::Operand& operand) {
    const ir::StrideClass inner = operand.strides.back();
    return inner == 0 || (inner == ways && operand.strides[operand.strides.size() - 2] == 1);
  };
  return ways >= 2 && ways <= max_ways &&
         std::all_of(kernel.operands.begin(), kernel.operands.end(), fits);
}

bool has_still_inputs(const ir::Kernel& kernel) {
  const auto is_dense_output = [](const ir::Operand& operand) {
    return operand.role != ir::Role::output || operand.strides.back() == 1;
  };
  const auto stands_still = [](const ir::Operand& operand) { return operand.strides.back() == 0; };
  return std::ranges::all_of(kernel.operands, is_dense_output) &&
         std::ranges::any_of(kernel.operands, stands_still);
}

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

void emit_tile(Assembler& code, const ir::Kernel& kernel, TileCode& tile) {
  TileEmitter(code, kernel, tile).emit();
}

}  // namespace weft::jit::xbyak
