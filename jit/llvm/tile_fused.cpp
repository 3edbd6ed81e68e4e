// Rows of a tile of which some inputs lie along the columns, without a buffer: as many lines of
// such an input as there are lanes are read 16 bytes at a time and transposed in registers, which
// gives the vectors of as many rows as 16 bytes have items.  The body then stands once for each
// row.  The order is that of jit/xbyak/tile_fused.cpp: blocks of rows, in them columns, in them
// steps of rows.

#include "jit/llvm/kernel_emitter.h"
#include "jit/llvm/squares.h"
#include "jit/tiles/tile.h"

#include <algorithm>

namespace weft::jit {

void KernelEmitter::emit_fused(std::span<const std::size_t> transposed, bool is_large,
                               std::vector<std::size_t> asked) {
  load_arguments();
  emit_hoisted(bases_);
  splat_hoisted(vector_lanes());
  fused_.emplace();
  fused_->is_large = is_large;
  fused_->asked = std::move(asked);
  start_fused(transposed);
  const auto side = static_cast<std::uint64_t>(tiles::fused_rows_a_step(kernel_));
  llvm::Value* const num_steps = builder_.CreateExactUDiv(extents_[0], builder_.getInt64(side));
  emit_until_none(bases_, num_steps, [&](Pointers& block, llvm::Value* left) {
    llvm::Value* const steps = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, left, builder_.getInt64(tiles::fused_steps_a_block));
    fused_columns(block, steps);
    for (std::size_t k = 0; k < num_operands(); ++k)
      block[k] = builder_.after(block[k], builder_.CreateMul(steps, fused_->step[k]));
    return steps;
  });
  emit_fence();
  builder_.CreateRetVoid();
}

/// The distances that do not change.
void KernelEmitter::start_fused(std::span<const std::size_t> transposed) {
  llvm::Value* const strides = load_field(function_->getArg(0), offsetof(KernelArgs, stride_bytes),
                                          builder_.getPtrTy(), "strides");
  const auto side = static_cast<std::uint64_t>(tiles::fused_rows_a_step(kernel_));
  const auto lanes = static_cast<std::uint64_t>(vector_lanes());
  fused_->rows.resize(num_operands());
  for (std::size_t k = 0; k < num_operands(); ++k) {
    // The kernel says of transposed operands, too, that they are dense along the rows.
    const bool is_held = std::ranges::find(transposed, k) != transposed.end();
    llvm::Value* const line = is_held
                                  ? load_field(strides, (num_operands() + k) * sizeof(std::int64_t),
                                               builder_.getInt64Ty(), "line" + llvm::Twine(k))
                                  : nullptr;
    fused_->line.push_back(line);
    fused_->step.push_back(is_held
                               ? static_cast<llvm::Value*>(builder_.getInt64(lane_bytes))
                               : builder_.CreateMul(stride_bytes(0, k), builder_.getInt64(side)));
    fused_->column.push_back(
        builder_.CreateMul(is_held ? line : stride_bytes(1, k), builder_.getInt64(lanes)));
  }
}

/// Iterations until `count`, which is not 0, is used up: `inside` returns what one of them uses,
/// and leaves the pointers where the next one starts.
void KernelEmitter::emit_until_none(
    const Pointers& start, llvm::Value* count,
    const std::function<llvm::Value*(Pointers&, llvm::Value* left)>& inside) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const loop = builder_.new_block("loop");
  llvm::BasicBlock* const done = builder_.new_block("done");
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  Pointers at;
  for (llvm::Value* pointer : start) at.push_back(new_phi(pointer, before));
  const Pointers phis = at;
  llvm::PHINode* const left = new_phi(count, before);
  llvm::Value* const used = inside(at, left);
  llvm::Value* const fewer = builder_.CreateSub(left, used);
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  for (std::size_t k = 0; k < phis.size(); ++k) come_round(phis[k], at[k], end);
  left->addIncoming(fewer, end);
  builder_.CreateCondBr(builder_.CreateIsNotNull(fewer), loop, done);
  builder_.SetInsertPoint(done);
}

/// All columns of a block of rows.
void KernelEmitter::fused_columns(const Pointers& block, llvm::Value* steps) {
  emit_until_none(block, extents_[1], [&](Pointers& column, llvm::Value*) {
    const bool in_steps = !fused_->asked.empty();
    if (fused_->is_large && !in_steps)
      fetch_fused_lines(column, builder_.getInt64(0), vector_lanes());
    emit_until_none(column, steps, [&](Pointers& at, llvm::Value* left) {
      if (in_steps) {
        const int count = vector_lanes() / tiles::fused_steps_a_block;
        llvm::Value* const done = builder_.CreateSub(steps, left);
        fetch_fused_lines(column, builder_.CreateMul(done, builder_.number(count)), count);
      }
      fused_step(at);
      return builder_.getInt64(1);
    });
    for (std::size_t k = 0; k < num_operands(); ++k)
      column[k] = builder_.after(column[k], fused_->column[k]);
    return builder_.number(vector_lanes());
  });
}

/// Asks for `count` lines that lie `stride` bytes apart.
void KernelEmitter::fetch_apart(llvm::Value* first, llvm::Value* stride, int count) {
  prefetch_apart(builder_, stride, [&](CacheLevel level) {
    for (llvm::Value* line : strided_addresses(builder_, first, stride, count))
      jit::prefetch(builder_, line, level);
  });
}

/// Asks for `count` of the lines that the next blocks read, from line `first` of the columns on.
void KernelEmitter::fetch_fused_lines(const Pointers& column, llvm::Value* first, int count) {
  for (std::size_t k = 0; k < num_operands(); ++k) {
    if (fused_->line[k] == nullptr) continue;
    llvm::Value* const line = builder_.after(column[k], builder_.CreateMul(first, fused_->line[k]));
    fetch_apart(builder_.after(line, builder_.getInt64(tiles::fused_bytes_ahead)), fused_->line[k],
                count);
  }
}

/// Asks for the rows that later steps read.
void KernelEmitter::fetch_fused_rows(const Pointers& at) {
  for (const std::size_t k : fused_->asked) {
    llvm::Value* const ahead =
        builder_.CreateMul(stride_bytes(0, k), builder_.getInt64(tiles::fused_rows_ahead));
    fetch_apart(builder_.after(at[k], ahead), stride_bytes(0, k),
                tiles::fused_rows_a_step(kernel_));
  }
}

/// Some lines of the columns become rows; leaves the pointers at the next ones.
void KernelEmitter::fused_step(Pointers& at) {
  for (std::size_t k = 0; k < num_operands(); ++k) {
    if (fused_->line[k] == nullptr) continue;
    fused_->rows[k] = lines_to_rows(k, at[k]);
    at[k] = builder_.after(at[k], fused_->step[k]);
  }
  fetch_fused_rows(at);
  const auto side = static_cast<std::size_t>(tiles::fused_rows_a_step(kernel_));
  for (fused_->row = 0; fused_->row < side; ++fused_->row) {
    emit_body({builder_.getInt64(0), at},
              {.lanes = vector_lanes(), .streams = kernel_.is_streaming});
    for (std::size_t k = 0; k < num_operands(); ++k)
      if (fused_->line[k] == nullptr) at[k] = builder_.after(at[k], stride_bytes(0, k));
  }
}

/// Of a transposed operand, the vectors of a step's rows.
std::vector<llvm::Value*> KernelEmitter::lines_to_rows(std::size_t operand, llvm::Value* at) {
  const auto side = static_cast<std::size_t>(tiles::fused_rows_a_step(kernel_));
  llvm::FixedVectorType* const type =
      items_type(builder_, static_cast<int>(itemsize(operand)), kernel_.vector_bytes);
  const std::vector<llvm::Value*> lines =
      strided_addresses(builder_, at, fused_->line[operand], vector_lanes());
  std::vector<llvm::Value*> rows(side);
  for (std::size_t line = 0; line < lines.size(); ++line)
    rows[line % side] =
        load_lane(builder_, type, rows[line % side], static_cast<int>(line / side), lines[line]);
  rows = transpose_lanes(builder_, std::move(rows));
  for (llvm::Value*& row : rows)
    row = builder_.CreateBitCast(row, builder_.value_type(kernel_.operands[operand].dtype));
  return rows;
}

}  // namespace weft::jit
