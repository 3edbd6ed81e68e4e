// Rows whose outputs go past the caches: elements up to where the first of them is aligned, whole
// vectors that are stored non-temporally if that aligns all of them, and the rest as in any row.

#include "jit/llvm/kernel_emitter.h"
#include "jit/prefetching.h"
#include "runtime/cache_line.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>

namespace weft::jit {
namespace {

/// Shorter rows that begin within a line of the cache have too much of them before and behind.
constexpr std::int64_t least_row_bytes = 512;
/// Narrower stores past the caches there are none of.
constexpr std::int64_t least_vector_bytes = 16;

constexpr int num_pages = 4;  ///< that loops walk at once
constexpr std::int64_t page_bytes = 4096;
constexpr int most_streamed_vectors = 4;        ///< at a time: more lines are written slower
constexpr int longest_seen_chain = 18;          ///< past which a processor looks
constexpr std::size_t most_instructions = 96;   ///< of all pages together
constexpr std::ptrdiff_t least_prefetched = 3;  ///< operations; shorter bodies gain nothing

}  // namespace

std::int64_t KernelEmitter::vector_bytes_of(std::size_t operand) const {
  return itemsize(operand) * vector_lanes();
}

bool KernelEmitter::is_streamed(std::size_t operand) const {
  return kernel_.is_streaming && !ir::is_reduction(kernel_) &&
         kernel_.operands[operand].role == ir::Role::output && inner_stride(operand) == 1 &&
         vector_bytes_of(operand) >= least_vector_bytes &&
         std::has_single_bit(static_cast<std::uint64_t>(vector_bytes_of(operand)));
}

std::vector<std::size_t> KernelEmitter::streamed_operands() const {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (is_streamed(k)) found.push_back(k);
  return found;
}

/// Where the innermost loop has come to in a dense operand, as a number.
llvm::Value* KernelEmitter::address_number(std::size_t operand, const Position& position) {
  llvm::Value* offset = builder_.CreateMul(position.index, builder_.getInt64(itemsize(operand)));
  return builder_.CreatePtrToInt(builder_.after(position.pointers[operand], offset),
                                 builder_.getInt64Ty());
}

/// Elements before a streamed operand is aligned, as far as there are any; 0 for short rows, which
/// are left as they are.
llvm::Value* KernelEmitter::count_to_alignment(std::size_t operand, const Position& start) {
  llvm::Value* address = address_number(operand, start);
  llvm::Value* bytes = builder_.CreateAnd(builder_.CreateNeg(address),
                                          builder_.getInt64(vector_bytes_of(operand) - 1));
  llvm::Value* count = builder_.CreateLShr(
      bytes, builder_.getInt64(std::countr_zero(static_cast<std::uint64_t>(itemsize(operand)))));
  llvm::Value* row = extents_.back();
  count = builder_.CreateSelect(builder_.CreateICmpULT(count, row), count, row);
  if (num_loops() == 1) return count;
  llvm::Value* is_short =
      builder_.CreateICmpULT(row, builder_.getInt64(least_row_bytes / itemsize(operand)));
  return builder_.CreateSelect(is_short, builder_.getInt64(0), count, "head");
}

/// The elements up to `end`, fewer than a vector has; or a whole vector from the first of them on.
KernelEmitter::Position KernelEmitter::emit_head(const Position& start, llvm::Value* end) {
  const int lanes = vector_lanes();
  const bool is_masked = can_mask_all(lanes);
  if (!is_masked && can_overlap())  // shorter rows have no head: they are all tail
    end = builder_.CreateSelect(builder_.CreateICmpSLT(extents_.back(), builder_.number(lanes)),
                                builder_.getInt64(0), end);
  else if (!is_masked)
    return emit_steps(start, {.lanes = 1, .end = end}, plain_body());
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* head = builder_.new_block("head");
  llvm::BasicBlock* after = builder_.new_block("after");
  builder_.CreateCondBr(builder_.CreateICmpNE(end, builder_.getInt64(0)), head, after);
  builder_.SetInsertPoint(head);
  Tail elements(end);
  emit_body(start, {.lanes = lanes, .tail = is_masked ? &elements : nullptr});
  Position next = start;
  next.index = end;
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (has_own_pointer(k))
      next.pointers[k] = builder_.after(start.pointers[k],
                                        builder_.CreateMul(stride_bytes(num_loops() - 1, k), end));
  llvm::BasicBlock* last = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  return join(start, before, next, last);
}

/// Whether every streamed operand is aligned there, the first of them at a line where `by_lines`.
llvm::Value* KernelEmitter::are_aligned(const std::vector<std::size_t>& operands,
                                        const Position& position, bool by_lines) {
  llvm::Value* beyond = builder_.getInt64(0);
  for (const std::size_t operand : operands) {
    const bool is_at_line = by_lines && operand == operands.front();
    const std::int64_t bytes = is_at_line ? line_bytes : vector_bytes_of(operand);
    beyond = builder_.CreateOr(beyond, builder_.CreateAnd(address_number(operand, position),
                                                          builder_.getInt64(bytes - 1)));
  }
  return builder_.CreateICmpEQ(beyond, builder_.getInt64(0), "aligned");
}

/// Rows share lines with what is written before and after them.  A line of which one part is stored
/// past the caches and another through them is written to memory twice, and read in between.
bool KernelEmitter::streams_by_lines(std::size_t operand) const {
  return num_loops() > 1 && vector_bytes_of(operand) < line_bytes && !moves_lanes() &&
         !calls_functions();
}

/// Whole vectors up to where a line of a streamed operand begins.
KernelEmitter::Position KernelEmitter::emit_vectors_before_line(const Position& start,
                                                                std::size_t operand) {
  llvm::Value* bytes = builder_.CreateAnd(builder_.CreateNeg(address_number(operand, start)),
                                          builder_.getInt64(line_bytes - 1));
  llvm::Value* line = builder_.CreateAdd(
      start.index, builder_.CreateLShr(bytes, builder_.getInt64(std::countr_zero(
                                                  static_cast<std::uint64_t>(itemsize(operand))))));
  llvm::Value* row = extents_.back();
  llvm::Value* end = builder_.CreateSelect(builder_.CreateICmpULT(line, row), line, row);
  return emit_steps(start, {.lanes = vector_lanes(), .end = end}, plain_body());
}

/// Where the last whole line of a row ends that goes on at the start of one.
llvm::Value* KernelEmitter::end_of_lines(std::size_t operand, const Position& start) {
  llvm::Value* left = builder_.CreateSub(extents_.back(), start.index);
  const auto elements = static_cast<std::uint64_t>(line_bytes / itemsize(operand));
  return builder_.CreateAdd(start.index,
                            builder_.CreateAnd(left, builder_.getInt64(~(elements - 1))));
}

/// Values of the body that wait for one another, one after the other; a division is waited for as
/// long as for three others.
int KernelEmitter::longest_chain() const {
  std::vector<int> length(kernel_.body.size());
  for (ir::ValueId id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) {
    const ir::Inst& inst = kernel_.body[id];
    for (const ir::ValueId arg : inst.args)
      if (arg != ir::no_value) length[id] = std::max(length[id], length[arg]);
    length[id] += inst.op == Op::div ? 3 : ir::writes(inst) ? 0 : 1;
  }
  return *std::ranges::max_element(length);
}

/// Memory is waited for all the same: where chains are so short that the processor is at several
/// vectors at once by itself, it leaves memory less often alone by one vector at a time
/// (docs/decisions/llvm.md).
int KernelEmitter::streamed_vectors_at_once() const {
  if (is_waiting() && longest_chain() <= longest_seen_chain) return 1;
  return std::min(vectors_at_once(), most_streamed_vectors);
}

/// The whole vectors of a row that streams; what comes after the last of them.
KernelEmitter::Position KernelEmitter::emit_streaming_vectors(
    const Position& start, const std::vector<std::size_t>& streamed) {
  const int lanes = vector_lanes();
  const bool by_lines = streams_by_lines(streamed.front());
  Position aligned = emit_head(start, count_to_alignment(streamed.front(), start));
  if (by_lines) aligned = emit_vectors_before_line(aligned, streamed.front());
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* past_caches = builder_.new_block("past_caches");
  llvm::BasicBlock* through_caches = builder_.new_block("through_caches");
  builder_.CreateCondBr(are_aligned(streamed, aligned, by_lines), past_caches, through_caches);

  builder_.SetInsertPoint(past_caches);
  Position streaming = emit_pages_in_turn(aligned, streamed.front());
  llvm::Value* end = by_lines ? end_of_lines(streamed.front(), streaming) : nullptr;
  const int unroll = streamed_vectors_at_once();
  if (unroll > 1 && !moves_lanes() && !calls_functions())
    streaming =
        emit_steps(streaming, {.lanes = lanes, .num_vectors = unroll, .end = end, .streams = true},
                   plain_body());
  streaming = emit_steps(streaming, {.lanes = lanes, .end = end, .streams = true}, plain_body());
  llvm::BasicBlock* streamed_end = builder_.GetInsertBlock();
  builder_.CreateBr(through_caches);

  builder_.SetInsertPoint(through_caches);
  return emit_steps(join(aligned, before, streaming, streamed_end), {.lanes = lanes}, plain_body());
}

/// As much of what streams as four pages in turn divide: prefetchers follow each page on its own
/// and start anew in the next, and main memory has banks to keep busy.  Nothing where processors
/// are faster page by page.
KernelEmitter::Position KernelEmitter::emit_pages_in_turn(const Position& start,
                                                          std::size_t streamed) {
  const auto first = kernel_.body.begin() + kernel_.num_hoisted;
  const auto length = static_cast<std::size_t>(kernel_.body.end() - first);
  if (!builder_.features().pages_in_turn || moves_lanes() || calls_functions() ||
      num_pages * length > 2 * most_instructions)
    return start;
  // Where an input has gaps, half a page of the output comes from a whole one or more.
  const bool reads_gaps = std::ranges::any_of(kernel_.operands, [](const ir::Operand& operand) {
    return operand.role == ir::Role::input && operand.strides.back() >= 2;
  });
  int together =
      static_cast<int>(std::max<std::int64_t>(1, line_bytes / vector_bytes_of(streamed)));
  while (together > 1 &&
         static_cast<std::size_t>(together * num_pages) * length > most_instructions)
    together /= 2;
  const int lanes = vector_lanes();
  const auto page_vectors =
      static_cast<int>((reads_gaps ? page_bytes / 2 : page_bytes) / kernel_.vector_bytes);
  const Step in_turn{.lanes = lanes,
                     .num_vectors = together,
                     .streams = true,
                     .num_pages = num_pages,
                     .page_vectors = page_vectors,
                     .is_prefetched = num_operations(kernel_) >= least_prefetched};
  const Step block{.lanes = lanes, .num_vectors = num_pages * page_vectors, .streams = true};
  return emit_steps(start, block, [&](const Position& position, const Step&) {
    Step step = in_turn;
    step.end = builder_.CreateAdd(position.index, builder_.getInt64(page_vectors * lanes));
    emit_steps(position, step, plain_body());
  });
}

/// A line of a dense operand so many bytes ahead of a whole vector that begins one; null for
/// others.
llvm::Value* KernelEmitter::line_ahead(std::size_t operand, const Place& place,
                                       std::int64_t ahead_bytes) {
  const std::int64_t bytes = vector_bytes_of(operand), first = place.first_lane * itemsize(operand);
  if (place.tail != nullptr || builder_.lanes() == 1 || inner_stride(operand) != 1 ||
      2 * bytes < line_bytes || first % line_bytes != 0)
    return nullptr;
  return builder_.after(place.addresses[operand], builder_.getInt64(first + ahead_bytes));
}

/// Asks for a line of an input so many bytes ahead, where whole vectors are read.
void KernelEmitter::prefetch(std::size_t operand, const Place& place, std::int64_t ahead_bytes,
                             CacheLevel level) {
  if (llvm::Value* line = line_ahead(operand, place, ahead_bytes))
    jit::prefetch(builder_, line, level);
}

/// Asks for a line that a row comes to, where whole vectors are written through the caches.
void KernelEmitter::prefetch_output(std::size_t operand, const Place& place) {
  if (!asks_for_outputs_ || place.streams || fused_) return;
  if (llvm::Value* line = line_ahead(operand, place, output_ahead_bytes))
    prefetch_to_write(builder_, line);
}

/// What was written past the caches is visible to who comes after the return.
void KernelEmitter::emit_fence() {
  if (!streamed_operands().empty() && !kernel_.is_unfenced)
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

}  // namespace weft::jit
