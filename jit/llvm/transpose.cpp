// A step reads 16 bytes from each of step_bytes / itemsize lines.  The loads bring lines that are
// items_a_step() apart into the 16-byte lanes of one vector, so that all that is left to do is to
// transpose a small square within each lane: log2(side) rounds in which item `k` of the list of
// vectors is interleaved with item `k + side / 2`.

#include "jit/llvm/builder.h"
#include "jit/llvm/memory.h"
#include "jit/llvm/squares.h"
#include "jit/llvm/tile.h"
#include "runtime/cache_line.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace weft::jit {
namespace {

class TransposeEmitter {
 public:
  TransposeEmitter(const tiles::TransposeShape& shape, const Target& target,
                   llvm::Function* function)
      : shape_(shape),
        side_(shape.items_a_step()),
        num_lanes_(shape.vector_bytes / lane_bytes),
        num_parts_(shape.step_bytes / shape.vector_bytes),
        function_(function),
        builder_(function, target.features) {}

  void emit();

 private:
  using Vectors = std::vector<llvm::Value*>;

  llvm::Value* argument(unsigned index) { return function_->getArg(index); }
  llvm::Value* smaller(llvm::Value* a, llvm::Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  }
  void up_to_last(llvm::Value* last, int step, const std::function<void(llvm::Value*)>& inside);
  void block_of_items(llvm::Value* block, llvm::Value* line);
  void items(llvm::Value* block, llvm::Value* last, llvm::Value* line, int num_steps,
             int num_groups);
  int groups_a_turn() const;
  Vectors lanes_at(llvm::Value* item, llvm::Value* line);
  llvm::Value* rows_at(llvm::Value* item, llvm::Value* line);
  void move_steps(const Vectors& lanes, llvm::Value* rows, int first_step, int num_steps);
  void store(llvm::Value* values, llvm::Value* row, int part);
  /// Whether the vectors that make a line are stored one after the other: processors collect what
  /// is stored past the caches in a few buffers of a line.
  bool completes_lines() const { return shape_.is_streaming && num_parts_ > 1; }
  int steps_at_once() const;
  void fetch_rows(llvm::Value* rows, int num_steps);
  void fetch_lines(llvm::Value* block, llvm::Value* line);
  void fetch_strided_lines(llvm::Value* block, llvm::Value* line, CacheLevel level);

  const tiles::TransposeShape shape_;
  const int side_;
  const int num_lanes_;  ///< of a vector
  const int num_parts_;  ///< vectors that make a step
  llvm::Function* function_;
  Builder builder_;
  llvm::Value* last_line_ = nullptr;  ///< the last positions at which a step may start
  llvm::Value* last_item_ = nullptr;
};

/// Where the lines of each lane are read, from this item on.
TransposeEmitter::Vectors TransposeEmitter::lanes_at(llvm::Value* item, llvm::Value* line) {
  llvm::Value* const stride = argument(1);
  llvm::Value* at = builder_.after(argument(0), builder_.CreateMul(line, stride));
  at = builder_.after(at, builder_.CreateMul(item, builder_.number(shape_.itemsize)));
  Vectors lanes{at};
  while (static_cast<int>(lanes.size()) < num_lanes_ * num_parts_)
    lanes.push_back(
        builder_.after(lanes.back(), builder_.CreateMul(stride, builder_.number(side_))));
  return lanes;
}

llvm::Value* TransposeEmitter::rows_at(llvm::Value* item, llvm::Value* line) {
  llvm::Value* at = builder_.after(argument(2), builder_.CreateMul(item, argument(3)));
  return builder_.after(at, builder_.CreateMul(line, builder_.number(shape_.itemsize)));
}

/// Some steps' rows, from the `first_step`-th on behind where the lanes are.  All that is needed of
/// a line is read at once, so that it need not stay in a cache that lines of such strides fight
/// for.
void TransposeEmitter::move_steps(const Vectors& lanes, llvm::Value* rows, int first_step,
                                  int num_steps) {
  const std::vector<llvm::Value*> to =
      strided_addresses(builder_, rows, argument(3), side_ * num_steps);
  llvm::FixedVectorType* const type = items_type(builder_, shape_.itemsize, shape_.vector_bytes);
  Vectors waiting;
  for (int part = 0; part < num_parts_; ++part) {
    std::vector<Vectors> steps(static_cast<std::size_t>(num_steps),
                               Vectors(static_cast<std::size_t>(side_)));
    for (int lane = 0; lane < num_lanes_; ++lane) {
      const auto index = static_cast<std::size_t>(part * num_lanes_ + lane);
      const std::vector<llvm::Value*> from =
          strided_addresses(builder_, lanes[index], argument(1), side_);
      for (std::size_t line = 0; line < from.size(); ++line)
        for (int step = 0; step < num_steps; ++step) {
          llvm::Value*& values = steps[static_cast<std::size_t>(step)][line];
          llvm::Value* const at =
              builder_.after(from[line], builder_.number((first_step + step) * lane_bytes));
          values = load_lane(builder_, type, values, lane, at);
        }
    }
    for (int step = 0; step < num_steps; ++step) {
      const Vectors values = transpose_lanes(builder_, steps[static_cast<std::size_t>(step)]);
      if (completes_lines()) {
        waiting.insert(waiting.end(), values.begin(), values.end());
        continue;
      }
      for (int k = 0; k < side_; ++k)
        store(values[static_cast<std::size_t>(k)], to[static_cast<std::size_t>(step * side_ + k)],
              part);
    }
  }
  for (int k = 0; k < side_ && completes_lines(); ++k)
    for (int part = 0; part < num_parts_; ++part)
      store(waiting[static_cast<std::size_t>(part * side_ + k)], to[static_cast<std::size_t>(k)],
            part);
}

void TransposeEmitter::store(llvm::Value* values, llvm::Value* row, int part) {
  llvm::Value* const at = builder_.after(row, builder_.number(part * shape_.vector_bytes));
  shape_.is_streaming ? store_past_caches(builder_, values, at)
                      : void(builder_.CreateAlignedStore(values, at, llvm::Align(1)));
}

/// Steps of a block whose values fit half of the registers: the others are for what rounds make.
int TransposeEmitter::steps_at_once() const {
  const int num_registers = builder_.has_avx512() ? 32 : 16;
  return num_parts_ > 1 ? 1 : std::clamp(num_registers / 2 / side_, 1, 4);
}

/// Asks for the lines that the next steps write: stores leave in order, so that each would wait
/// alone for its line.  Bytes take so long to transpose that they gain nothing; nor does Zen 5, on
/// which LLVM puts what asks between the loads.
void TransposeEmitter::fetch_rows(llvm::Value* rows, int num_steps) {
  if (shape_.is_streaming || shape_.step_bytes < line_bytes || shape_.itemsize == 1 ||
      builder_.features().amd_family >= zen5_family)
    return;
  for (llvm::Value* row : strided_addresses(builder_, rows, argument(3), side_ * num_steps))
    prefetch(builder_, row);
}

/// Asks for the lines that later blocks read, where the caller says that they come from memory.
void TransposeEmitter::fetch_lines(llvm::Value* block, llvm::Value* line) {
  if (shape_.step_bytes < line_bytes) return;
  llvm::BasicBlock* const far = builder_.new_block("far");
  llvm::BasicBlock* const near = builder_.new_block("near");
  builder_.CreateCondBr(builder_.CreateIsNull(argument(6)), near, far);
  builder_.SetInsertPoint(far);
  llvm::BasicBlock* const ordered = builder_.new_block("ordered");
  llvm::BasicBlock* const strided = builder_.new_block("strided");
  builder_.CreateCondBr(builder_.CreateIsNull(argument(7)), strided, ordered);
  builder_.SetInsertPoint(ordered);
  // As many lines of memory as those of the block, behind those of the blocks before.
  llvm::Value* const before =
      builder_.CreateMul(block, builder_.number(line_bytes - shape_.itemsize));
  llvm::Value* const first =
      builder_.after(builder_.after(lanes_at(block, line).front(), before), argument(6));
  for (int k = 0; k < shape_.lines_a_step(); ++k)
    prefetch(builder_, builder_.after(first, builder_.number(k * line_bytes)), CacheLevel::second);
  builder_.CreateBr(near);
  builder_.SetInsertPoint(strided);
  const auto ask = [&](CacheLevel level) { fetch_strided_lines(block, line, level); };
  // Copies of few bytes gain by the second cache where lines fight for the first.
  if (shape_.is_streaming && (shape_.itemsize == 2 || shape_.itemsize == 4))
    prefetch_apart(builder_, argument(1), ask);
  else
    ask(CacheLevel::first);
  builder_.CreateBr(near);
  builder_.SetInsertPoint(near);
}

void TransposeEmitter::fetch_strided_lines(llvm::Value* block, llvm::Value* line,
                                           CacheLevel level) {
  for (llvm::Value* const lane : lanes_at(block, line))
    for (llvm::Value* const at :
         strided_addresses(builder_, builder_.after(lane, argument(6)), argument(1), side_))
      prefetch(builder_, at, level);
}

/// `inside` at 0, and on by `step` up to `last`, where the last one is whatever remains.
void TransposeEmitter::up_to_last(llvm::Value* last, int step,
                                  const std::function<void(llvm::Value*)>& inside) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const loop = builder_.new_block("loop");
  llvm::BasicBlock* const done = builder_.new_block("done");
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* const at = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  at->addIncoming(builder_.number(0), before);
  inside(at);
  llvm::Value* const next = smaller(builder_.CreateAdd(at, builder_.number(step)), last);
  at->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpEQ(at, last), done, loop);
  builder_.SetInsertPoint(done);
}

/// How many times a loop over items has its steps, as measured (docs/decisions/tiles.md): short
/// steps are worth less than what leads from one to the next, but for f64, whose lines fight for
/// the cache, and 2-byte items within the caches.
int TransposeEmitter::groups_a_turn() const {
  const int most = line_bytes / lane_bytes / steps_at_once();
  const bool takes_two = side_ == 16 || side_ == 4 || (side_ == 8 && shape_.is_streaming);
  const int wanted = side_ == 1 ? 4 : takes_two ? 2 : 1;
  return std::min(wanted, most);
}

/// Some items of the current lines, from `block` on up to `last`, where the last turn starts: so
/// many groups of so many steps.  A turn that would reach past the end starts earlier instead.
void TransposeEmitter::items(llvm::Value* block, llvm::Value* last, llvm::Value* line,
                             int num_steps, int num_groups) {
  const auto turn = [&](llvm::Value* item) {
    const Vectors lanes = lanes_at(item, line);
    llvm::Value* rows = rows_at(item, line);
    for (int group = 0; group < num_groups; ++group) {
      if (group > 0)
        rows = builder_.after(rows,
                              builder_.CreateMul(argument(3), builder_.number(side_ * num_steps)));
      fetch_rows(rows, num_steps);
      move_steps(lanes, rows, group * num_steps, num_steps);
    }
  };
  // A whole block is one turn at most.
  if (side_ * num_steps * num_groups * shape_.itemsize == line_bytes) return turn(block);
  llvm::Value* const left = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::smax, builder_.CreateSub(last, block), builder_.number(0));
  up_to_last(left, side_ * num_steps * num_groups,
             [&](llvm::Value* offset) { turn(smaller(builder_.CreateAdd(block, offset), last)); });
}

/// A cache line's worth of items of the current lines, or as many as are left: several steps at a
/// time, as long as there are so many.
void TransposeEmitter::block_of_items(llvm::Value* block, llvm::Value* line) {
  const int at_once = steps_at_once();
  const int block_items = line_bytes / shape_.itemsize;
  llvm::Value* const last_step = builder_.CreateAdd(block, builder_.number(block_items - side_));
  const int groups = groups_a_turn();
  if (at_once * groups == 1) {
    fetch_lines(block, line);
    return items(block, smaller(last_step, last_item_), line, 1, 1);
  }
  llvm::BasicBlock* const whole = builder_.new_block("whole");
  llvm::BasicBlock* const partial = builder_.new_block("partial");
  llvm::BasicBlock* const next = builder_.new_block("next");
  builder_.CreateCondBr(builder_.CreateICmpSLE(last_step, last_item_), whole, partial);
  builder_.SetInsertPoint(whole);
  fetch_lines(block, line);
  items(block, builder_.CreateAdd(block, builder_.number(block_items - side_ * at_once * groups)),
        line, at_once, groups);
  builder_.CreateBr(next);
  builder_.SetInsertPoint(partial);
  items(block, last_item_, line, 1, 1);
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
}

// Blocks of items that fill a cache line of each line read; in a block line after line; and there
// item after item.
void TransposeEmitter::emit() {
  const int block_items = line_bytes / shape_.itemsize;
  last_line_ = builder_.CreateSub(argument(4), builder_.number(shape_.lines_a_step()), "last_line");
  last_item_ = builder_.CreateSub(argument(5), builder_.number(side_), "last_item");
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const blocks = builder_.new_block("blocks");
  llvm::BasicBlock* const done = builder_.new_block("done");
  builder_.CreateBr(blocks);
  builder_.SetInsertPoint(blocks);
  llvm::PHINode* const block = builder_.CreatePHI(builder_.getInt64Ty(), 2, "block");
  block->addIncoming(builder_.number(0), before);
  up_to_last(last_line_, shape_.lines_a_step(),
             [&](llvm::Value* line) { block_of_items(block, line); });
  llvm::Value* const following = builder_.CreateAdd(block, builder_.number(block_items));
  block->addIncoming(following, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(following, argument(5)), blocks, done);
  builder_.SetInsertPoint(done);
  builder_.CreateRetVoid();
}

}  // namespace

void emit_transpose(const tiles::TransposeShape& shape, const Target& target, llvm::Module& module,
                    const std::string& symbol) {
  llvm::Type* const pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Type* const number = llvm::Type::getInt64Ty(module.getContext());
  llvm::Function* const function =
      add_function(target.features, module, symbol,
                   {pointer, number, pointer, number, number, number, number, number});
  for (const unsigned apart : {0U, 2U}) function->addParamAttr(apart, llvm::Attribute::NoAlias);
  TransposeEmitter(shape, target, function).emit();
}

}  // namespace weft::jit
