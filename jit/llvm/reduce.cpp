// Leaves of a reduction.  Along a row that is reduced (fold_row) the main loop goes through all
// lanes of the tree at once, a register for each vector of them; what is left of the row goes to
// the lanes in memory, and so does all of it where there are more lanes than registers, or calls
// would spill them.  Across rows (fold_columns) a strip of columns stays in registers while the
// rows go by.

#include "ir/combine.h"
#include "jit/llvm/kernel_emitter.h"
#include "jit/llvm/operators.h"
#include "jit/llvm/support.h"

#include <algorithm>
#include <utility>

namespace weft::jit {

using ir::Inst;

namespace {

/// Columns in more registers gain nothing: the additions of one row wait for those of the last.
constexpr int max_column_vectors = 4;
/// Instructions of a main loop: longer bodies have enough that don't wait for each other.
constexpr int max_main_instructions = 512;
/// Of what is left of a row, where that has a copy of the body for each vector.
constexpr int max_rest_instructions = 128;

}  // namespace

void KernelEmitter::emit_leaf() {
  load_arguments();
  if (is_inner())
    emit_loops(0, num_loops() - 1, bases_, [&](const Pointers& start) { fold_row(start); });
  else
    emit_loops(0, num_loops() - 2, bases_, [&](const Pointers& start) { fold_columns(start); });
  builder_.CreateRetVoid();
}

/// The partial results of a row begin with identities, and become one result.
void KernelEmitter::emit_rows() {
  load_arguments();
  Pointers partials(num_operands());
  for (const Inst* inst : accumulations_) {
    auto* type = llvm::ArrayType::get(builder_.getInt8Ty(), ir::max_partial_bytes);
    llvm::AllocaInst* memory = builder_.CreateAlloca(type);
    memory->setAlignment(llvm::Align(32));
    partials[inst->operand] = memory;
  }
  emit_loops(0, num_loops() - 1, bases_, [&](const Pointers& start) { emit_row(start, partials); });
  builder_.CreateRetVoid();
}

void KernelEmitter::emit_row(const Pointers& start, const Pointers& partials) {
  Pointers row = start;
  for (const Inst* inst : accumulations_) row[inst->operand] = partials[inst->operand];
  const bool holds_all = holds_whole_tree();
  const Step lanes = holds_all ? main_step() : Step{kernel_.tree.lanes, 1};
  builder_.set_lanes(lanes.lanes);
  for (const Inst* inst : accumulations_) {
    const std::uint64_t identity = ir::identity_of(inst->combine, inst->dtype)->lo;
    partials_.insert(partials_.end(), static_cast<std::size_t>(lanes.num_vectors),
                     builder_.splat(constant(inst->dtype, identity)));
  }
  if (holds_all) {
    fold_row_in_registers(row);
  } else {
    store_partials(row, builder_.getInt64(0), lanes);
    fold_row(row);
    load_partials(row, builder_.getInt64(0), lanes);
  }
  combine_lanes(start, lanes.lanes);
  partials_.clear();
}

void KernelEmitter::fold_row_in_registers(const Pointers& row) {
  const Position position = emit_steps(start_row(row), main_step(), plain_body());
  if (keeps_rest_in_registers())
    fold_rest_in_registers(position);
  else
    fold_rest_through_memory(position, row);
}

/// Whether what the main loop leaves of a row has a copy of the body for each vector.
bool KernelEmitter::keeps_rest_in_registers() {
  const int body = static_cast<int>(kernel_.body.size() - kernel_.num_hoisted);
  return main_step().num_vectors * body <= max_rest_instructions && can_mask_all(vector_lanes());
}

/// The tail and the vectors before it are all masked.
void KernelEmitter::fold_rest_in_registers(const Position& position) {
  const Step step = main_step();
  llvm::Value* const lanes = builder_.number(step.lanes);
  llvm::BasicBlock* const after = builder_.new_block("after");
  Position at = position;
  std::vector<std::pair<llvm::BasicBlock*, std::vector<llvm::Value*>>> exits;
  for (std::size_t vector = 0; vector < static_cast<std::size_t>(step.num_vectors); ++vector) {
    llvm::BasicBlock* const rest = builder_.new_block("rest");
    llvm::Value* remaining = builder_.CreateSub(extents_.back(), at.index, "remaining");
    builder_.CreateCondBr(builder_.CreateICmpSGT(remaining, builder_.getInt64(0)), rest, after);
    exits.emplace_back(builder_.GetInsertBlock(), partials_);
    builder_.SetInsertPoint(rest);
    Tail tail(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, remaining, lanes));
    emit_body(at, {step.lanes, 1, &tail, vector});
    at.index = builder_.CreateAdd(at.index, lanes);
  }
  exits.emplace_back(builder_.GetInsertBlock(), partials_);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  for (std::size_t i = 0; i < partials_.size(); ++i) {
    llvm::PHINode* phi = new_phi(exits[0].second[i], exits[0].first);
    for (std::size_t exit = 1; exit < exits.size(); ++exit)
      phi->addIncoming(exits[exit].second[i], exits[exit].first);
    partials_[i] = phi;
  }
}

/// Where there is something left.
void KernelEmitter::fold_rest_through_memory(const Position& position, const Pointers& row) {
  const Step step = main_step();
  llvm::Value* const first = builder_.getInt64(0);
  const std::vector<llvm::Value*> held = partials_;
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const rest = builder_.new_block("rest");
  llvm::BasicBlock* const after = builder_.new_block("after");
  builder_.CreateCondBr(builder_.CreateICmpSLT(position.index, extents_.back()), rest, after);
  builder_.SetInsertPoint(rest);
  store_partials(row, first, step);
  fold_rest(position);
  load_partials(row, first, step);
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  for (std::size_t i = 0; i < held.size(); ++i)
    partials_[i] = join(held[i], before, partials_[i], end);
}

/// What is in registers, vectors of so many lanes: by halves, down to one lane, which is stored.
void KernelEmitter::combine_lanes(const Pointers& to, int vector_lanes) {
  std::size_t num_vectors = partials_.size() / accumulations_.size();
  for (std::size_t i = 0; i < accumulations_.size(); ++i) {
    const Inst& inst = *accumulations_[i];
    llvm::Value** const vectors = partials_.data() + i * num_vectors;
    builder_.set_lanes(vector_lanes);
    for (std::size_t half = num_vectors / 2; half > 0; half /= 2)
      for (std::size_t k = 0; k < half; ++k)
        vectors[k] = combine(inst, vectors[k], vectors[k + half]);
    llvm::Value* value = vectors[0];
    for (int half = vector_lanes / 2; half > 0; half /= 2) {
      builder_.set_lanes(half);
      llvm::Value* lower = lanes_of(value, 0, half);
      value = combine(inst, lower, lanes_of(value, half, half));
    }
    store(builder_, {inst.dtype, 1, to[inst.operand], nullptr}, value, nullptr);
  }
}

/// Some of a vector's lanes.
llvm::Value* KernelEmitter::lanes_of(llvm::Value* vector, int first, int count) {
  if (count == 1) return builder_.CreateExtractElement(vector, static_cast<std::uint64_t>(first));
  std::vector<int> picks;
  for (int lane = first; lane < first + count; ++lane) picks.push_back(lane);
  return builder_.CreateShuffleVector(vector, picks);
}

llvm::Value* KernelEmitter::combine(const Inst& inst, llvm::Value* partial, llvm::Value* value) {
  llvm::Value* const args[] = {partial, value};
  return emit_operator(builder_, inst.combine, inst.dtype, args);
}

/// Lanes that a row's tail has no elements for keep what they have.  Behind columns there is room:
/// what is computed there is no result.
void KernelEmitter::accumulate(const Inst& inst, llvm::Value* value, const Place& place) {
  const auto combined_with = [&](llvm::Value* partial) {
    llvm::Value* combined = combine(inst, partial, value);
    if (place.tail == nullptr || !is_inner()) return combined;
    return builder_.CreateSelect(place.tail->mask(builder_, 1, 0), combined, partial);
  };
  if (!partials_.empty()) {
    const auto accumulation =
        static_cast<std::size_t>(std::ranges::find(accumulations_, &inst) - accumulations_.begin());
    const std::size_t num_vectors = partials_.size() / accumulations_.size();
    llvm::Value*& partial = partials_[accumulation * num_vectors + place.partial];
    partial = combined_with(partial);
    return;
  }
  llvm::Value* element = builder_.CreateAdd(place.index, builder_.number(place.first_lane));
  llvm::Value* lane = builder_.CreateAnd(element, builder_.number(kernel_.tree.lanes - 1));
  const Access at = partials_at(inst, place.addresses, lane);
  store(builder_, at, combined_with(load(builder_, at, nullptr)), nullptr);
}

/// Where partial results lie, from `index` on.
Access KernelEmitter::partials_at(const Inst& inst, const Pointers& base, llvm::Value* index) {
  llvm::Value* address =
      builder_.CreateGEP(builder_.memory_type(inst.dtype), base[inst.operand], index);
  return {inst.dtype, 1, address, nullptr};
}

/// As many vectors of each output as a step has, from `index` on.
void KernelEmitter::load_partials(const Pointers& base, llvm::Value* index, const Step& step) {
  builder_.set_lanes(step.lanes);
  for (const Inst* inst : accumulations_)
    for (int vector = 0; vector < step.num_vectors; ++vector) {
      llvm::Value* at = builder_.CreateAdd(index, builder_.number(vector * step.lanes));
      partials_.push_back(load(builder_, partials_at(*inst, base, at), nullptr));
    }
}

/// From then on they are in memory.
void KernelEmitter::store_partials(const Pointers& base, llvm::Value* index, const Step& step) {
  builder_.set_lanes(step.lanes);
  std::size_t next = 0;
  for (const Inst* inst : accumulations_)
    for (int vector = 0; vector < step.num_vectors; ++vector) {
      llvm::Value* at = builder_.CreateAdd(index, builder_.number(vector * step.lanes));
      store(builder_, partials_at(*inst, base, at), partials_[next++], nullptr);
    }
  partials_.clear();
}

/// Registers that hold the partial results which are in registers now.
int KernelEmitter::held_registers() const {
  return partials_.empty() ? 0
                           : registers_for(static_cast<int>(partials_.size()) /
                                           static_cast<int>(accumulations_.size()));
}

/// Registers that so many vectors of each output's partial results take.
int KernelEmitter::registers_for(int num_vectors) const {
  const int register_bytes = builder_.has_avx512() ? 64 : 32;
  int registers = 0;
  for (const Inst* inst : accumulations_) {
    const int bytes = static_cast<int>(itemsize_bytes(inst->dtype)) * vector_lanes();
    registers += num_vectors * std::max(1, bytes / register_bytes);
  }
  return registers;
}

/// Whether the main loop holds the partial results of all lanes in registers.
bool KernelEmitter::holds_whole_tree() const {
  const int num_vectors = kernel_.loops.back().unroll;
  const int body = static_cast<int>(kernel_.body.size() - kernel_.num_hoisted);
  return vector_lanes() > 1 && !calls_functions() &&
         num_vectors * vector_lanes() == kernel_.tree.lanes &&
         registers_for(num_vectors) <= num_registers() / 2 &&
         num_vectors * body <= max_main_instructions;
}

/// How many vectors go side by side where partial results are in memory.
int KernelEmitter::vectors_through_memory() const {
  const int most = std::min(4, kernel_.tree.lanes / vector_lanes());
  for (int num_vectors = most; num_vectors > 1; num_vectors /= 2)
    if (goes_side_by_side(num_vectors)) return num_vectors;
  return 1;
}

/// The lanes once.
KernelEmitter::Step KernelEmitter::main_step() const {
  return {vector_lanes(), kernel_.loops.back().unroll};
}

KernelEmitter::Position KernelEmitter::start_row(const Pointers& start) {
  emit_hoisted(start);
  splat_hoisted(vector_lanes());
  return {builder_.getInt64(0), start};
}

void KernelEmitter::fold_row(const Pointers& start) {
  Position position = start_row(start);
  if (holds_whole_tree()) position = emit_steps(position, main_step(), plain_body(), true);
  fold_rest(position);
}

/// What the main loop leaves, which is all where there is none, into partial results in memory.
void KernelEmitter::fold_rest(const Position& start) {
  const int lanes = vector_lanes();
  const StepBody body = plain_body();
  Position position = start;
  if (lanes > 1) {
    if (!holds_whole_tree())
      if (const int together = vectors_through_memory(); together > 1)
        position = emit_steps(position, {lanes, together}, body);
    position = emit_steps(position, {lanes, 1}, body);
    if (can_mask_all(lanes)) return emit_masked_tail(position, lanes, body);
  }
  emit_steps(position, {1, 1}, body);
}

/// The innermost loop but one is the rows', inside of each strip of columns.
void KernelEmitter::fold_columns(const Pointers& start) {
  const int lanes = vector_lanes();
  emit_hoisted(start, Hoisted::still);
  const StepBody strip = [this](const Position& position, const Step& step) {
    fold_strip(position, step);
  };
  Position position{builder_.getInt64(0), start};
  if (lanes > 1) {
    const bool is_masked = can_mask_all(lanes);
    const int together = std::min(kernel_.loops.back().unroll, max_column_vectors);
    if (together > 1 && is_masked && !calls_functions())
      position = emit_steps(position, {lanes, together}, strip);
    position = emit_steps(position, {lanes, 1}, strip);
    if (is_masked) return emit_masked_tail(position, lanes, strip);
  }
  emit_steps(position, {1, 1}, strip);
}

void KernelEmitter::fold_strip(const Position& position, const Step& step) {
  load_partials(position.pointers, position.index, step);
  emit_loops(num_loops() - 2, num_loops() - 1, position.pointers, [&](const Pointers& row) {
    emit_hoisted(row, Hoisted::moving);
    if (step.lanes > 1) splat_hoisted(step.lanes);
    emit_body({position.index, row}, step);
  });
  store_partials(position.pointers, position.index, step);
}

}  // namespace weft::jit
