// What whole vectors leave of a row.
#include "jit/llvm/kernel_emitter.h"

#include <algorithm>

namespace weft::jit {

using ir::Inst;

void KernelEmitter::emit_masked_tail(const Position& position, int lanes, const StepBody& body) {
  if (const auto rest = known_rest(position)) {
    if (*rest == 0) return;
    Tail known(builder_.getInt64(*rest));
    body(position, {lanes, 1, &known});
    return;
  }
  llvm::BasicBlock* tail = builder_.new_block("tail");
  llvm::BasicBlock* after = builder_.new_block("after");
  llvm::Value* remaining = builder_.CreateSub(extents_.back(), position.index, "remaining");
  builder_.CreateCondBr(builder_.CreateICmpSGT(remaining, builder_.getInt64(0)), tail, after);
  builder_.SetInsertPoint(tail);
  Tail rest(remaining);
  body(position, {lanes, 1, &rest});
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

/// The last vector of a row once more, from as far back as makes it whole; single elements of a row
/// that is shorter.
void KernelEmitter::emit_overlapping_tail(const Position& position) {
  const int lanes = vector_lanes();
  llvm::BasicBlock* tail = builder_.new_block("tail");
  llvm::BasicBlock* last_vector = builder_.new_block("last_vector");
  llvm::BasicBlock* single = builder_.new_block("single");
  llvm::BasicBlock* after = builder_.new_block("after");
  llvm::Value* row = extents_.back();
  builder_.CreateCondBr(builder_.CreateICmpSLT(position.index, row), tail, after);
  builder_.SetInsertPoint(tail);
  llvm::Value* back = builder_.CreateSub(row, builder_.number(lanes));
  builder_.CreateCondBr(builder_.CreateICmpSLT(back, builder_.getInt64(0)), single, last_vector);
  builder_.SetInsertPoint(last_vector);
  Position last = position;
  last.index = back;
  emit_body(last, {.lanes = lanes});
  builder_.CreateBr(after);
  builder_.SetInsertPoint(single);
  emit_steps(position, {.lanes = 1}, plain_body());
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

/// Whether all operands are neighbours or stay the same, so that a buffer of a vector can stand for
/// each of them.  AVX2 has no masks for items of one or two bytes.
bool KernelEmitter::can_buffer_tail() const {
  return !builder_.has_avx512() && !fused_ && !calls_functions() &&
         least_buffered() < vector_lanes() &&
         std::all_of(kernel_.body.begin() + kernel_.num_hoisted, kernel_.body.end(),
                     [&](const Inst& inst) {
                       if (inst.op != Op::load && !is_stored(inst)) return true;
                       const ir::StrideClass stride = inner_stride(inst.operand);
                       return stride == 1 || (stride == 0 && inst.op == Op::load);
                     });
}

/// So many elements take longer one by one than in a vector by way of a buffer, which waits for
/// what has just been stored (docs/decisions/llvm.md).
int KernelEmitter::least_buffered() const {
  constexpr int buffered_instructions = 260, instructions_of_entry = 5;
  const auto num_entries =
      std::count_if(kernel_.body.begin() + kernel_.num_hoisted, kernel_.body.end(),
                    [](const Inst& inst) { return inst.op == Op::table_entry; });
  const int element = num_values() + (instructions_of_entry - 1) * static_cast<int>(num_entries);
  return std::max(2, buffered_instructions / std::max(1, element) + 1);
}

/// A vector of which the first elements count, if they are enough; others are left.  The lanes
/// behind them are of zeros.
KernelEmitter::Position KernelEmitter::emit_buffered_tail(const Position& position, int lanes,
                                                          const StepBody& body) {
  const std::optional<std::int64_t> known = known_rest(position);
  if (known && *known < least_buffered()) return position;
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const tail = builder_.new_block("tail");
  llvm::BasicBlock* const after = builder_.new_block("after");
  llvm::Value* const row = extents_.back();
  llvm::Value* const remaining = builder_.CreateSub(row, position.index, "remaining");
  builder_.CreateCondBr(builder_.CreateICmpSGE(remaining, builder_.getInt64(least_buffered())),
                        tail, after);
  builder_.SetInsertPoint(tail);
  builder_.set_lanes(lanes);
  const Pointers memory = current_addresses(position);
  Position buffered{builder_.getInt64(0), position.pointers};
  std::vector<std::size_t> inputs, outputs;
  llvm::BasicBlock& entry = before->getParent()->getEntryBlock();
  for (std::size_t k = 0; k < num_operands(); ++k) {
    if (inner_stride(k) != 1) continue;
    const ir::Operand& operand = kernel_.operands[k];
    (operand.role == ir::Role::output ? outputs : inputs).push_back(k);
    llvm::Type* const type = builder_.wide(builder_.memory_type(operand.dtype));
    llvm::AllocaInst* const buffer = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
    buffer->setAlignment(llvm::Align(32));
    buffered.pointers[k] = buffer;
    if (operand.role != ir::Role::output)
      builder_.CreateAlignedStore(llvm::Constant::getNullValue(type), buffer, llvm::Align(1));
  }
  copy_items(inputs, memory, buffered.pointers, remaining);
  body(buffered, {.lanes = lanes});
  copy_items(outputs, buffered.pointers, memory, remaining);
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  Position result = position;
  result.index = join(position.index, before, row, end);
  return result;
}

/// The first `count` items of these operands, one by one.  Requires: there is one.
void KernelEmitter::copy_items(const std::vector<std::size_t>& operands, const Pointers& from,
                               const Pointers& to, llvm::Value* count) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const loop = builder_.new_block("items");
  llvm::BasicBlock* const after = builder_.new_block("after");
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* const index = new_phi(builder_.getInt64(0), before);
  for (const std::size_t k : operands) {
    llvm::Type* const type = builder_.memory_type(kernel_.operands[k].dtype);
    builder_.CreateAlignedStore(
        builder_.CreateAlignedLoad(type, builder_.CreateGEP(type, from[k], index), llvm::Align(1)),
        builder_.CreateGEP(type, to[k], index), llvm::Align(1));
  }
  llvm::Value* const next = builder_.CreateAdd(index, builder_.getInt64(1));
  come_round(index, next, loop);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), loop, after);
  builder_.SetInsertPoint(after);
}

}  // namespace weft::jit
