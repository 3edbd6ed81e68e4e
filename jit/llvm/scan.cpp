// Kernels that scan.  Across columns rows are taken in turn, as vectors, and what has accumulated
// of some thousand columns stays in memory of the stack.  Along a row the body is computed as
// vectors. Ops that every order of combining gives the same bits scan these in registers; the
// others take as many rows as a vector has lanes, transpose them, and go on lane by row.

#include "ir/combine.h"
#include "jit/llvm/kernel_emitter.h"
#include "jit/llvm/operators.h"

#include <algorithm>
#include <utility>

namespace weft::jit {

using ir::Inst;

namespace {

/// Whose partial results stay in the second cache.
constexpr int max_columns = 8192;
/// Rows that are transposed: of more lanes than these, what lives would not fit the registers.
constexpr int max_rows = 8;

/// Whether the order of combining changes no bit.
bool is_exact(const Inst& inst) {
  return !is_floating(inst.dtype) || inst.combine == Op::maximum || inst.combine == Op::minimum;
}

}  // namespace

void KernelEmitter::emit_scan() {
  load_arguments();
  const Inst& inst = *accumulations_[0];
  scan_memory_ = nullptr;
  if (kernel_.loops.back().kind == ir::LoopKind::scan) {
    if (num_loops() == 1)
      scan_rows(bases_, 1);
    else
      emit_loops(0, num_loops() - 2, bases_, [&](const Pointers& start) { scan_all_rows(start); });
  } else {
    auto* type = llvm::ArrayType::get(builder_.memory_type(inst.dtype), max_columns + max_lanes);
    llvm::AllocaInst* memory = builder_.CreateAlloca(type);
    memory->setAlignment(llvm::Align(64));
    scan_memory_ = memory;
    emit_loops(0, num_loops() - 2, bases_, [&](const Pointers& start) { scan_columns(start); });
  }
  builder_.CreateRetVoid();
}

/// Elements of the widest value that fill a register.
int KernelEmitter::scan_lanes() const {
  std::size_t widest = 1;
  for (const Inst& inst : kernel_.body)
    widest = std::max({widest, itemsize_bytes(inst.dtype), itemsize_bytes(ir::result_dtype(inst))});
  return std::clamp(kernel_.vector_bytes / static_cast<int>(widest), 1, max_lanes);
}

llvm::Value* KernelEmitter::identity_splat(const Inst& inst) {
  return builder_.splat(constant(inst.dtype, ir::identity_of(inst.combine, inst.dtype)->lo));
}

/// Some columns after the other.
void KernelEmitter::scan_columns(const Pointers& start) {
  llvm::Value* const extent = extents_.back();
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const body = builder_.new_block("columns");
  llvm::BasicBlock* const done = builder_.new_block("done");
  builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
  llvm::PHINode* const left = new_phi(extent, before);
  Pointers pointers = start;
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (inner_stride(k) != 0) pointers[k] = new_phi(start[k], before);
  extents_.back() =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, builder_.getInt64(max_columns));
  scan_some_columns(pointers);

  llvm::BasicBlock* const last = builder_.GetInsertBlock();
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (inner_stride(k) != 0) {
      llvm::Value* bytes = builder_.CreateMul(stride_bytes(num_loops() - 1, k), extents_.back());
      come_round(pointers[k], builder_.after(pointers[k], bytes), last);
    }
  llvm::Value* const fewer = builder_.CreateSub(left, extents_.back());
  left->addIncoming(fewer, last);
  builder_.CreateCondBr(builder_.CreateICmpNE(fewer, builder_.getInt64(0)), body, done);
  builder_.SetInsertPoint(done);
  extents_.back() = extent;
}

/// Those that scan_memory_ has room for.
void KernelEmitter::scan_some_columns(const Pointers& start) {
  const int lanes = scan_lanes();
  const Inst& inst = *accumulations_[0];
  const StepBody clear = [&](const Position& position, const Step& step) {
    builder_.set_lanes(step.lanes);
    store(builder_, scan_memory_at(inst, position.index), identity_splat(inst), nullptr);
  };
  // Behind the last whole vector there is room for one more.
  clear(emit_steps({builder_.getInt64(0), start}, {.lanes = lanes}, clear), {.lanes = lanes});
  emit_hoisted(start, Hoisted::still);
  emit_loops(num_loops() - 2, num_loops() - 1, start, [&](const Pointers& row) {
    emit_hoisted(row, Hoisted::moving);
    splat_hoisted(lanes);
    const StepBody body = plain_body();
    Position position{builder_.getInt64(0), row};
    if (lanes > 1) {
      for (const int together : {4, 2})
        if (goes_side_by_side(together)) {
          position = emit_steps(position, {lanes, together}, body);
          break;
        }
      position = emit_steps(position, {.lanes = lanes}, body);
      if (can_mask_all(lanes)) return emit_masked_tail(position, lanes, body);
    }
    emit_steps(position, {.lanes = 1}, body);
  });
}

Access KernelEmitter::scan_memory_at(const Inst& inst, llvm::Value* index) {
  llvm::Type* const type = builder_.memory_type(inst.dtype);
  return {inst.dtype, 1, builder_.CreateGEP(type, scan_memory_, index), nullptr};
}

/// The next elements of what is scanned.
void KernelEmitter::take_in_scan(const Inst& inst, llvm::Value* value, const Place& place) {
  const Access to = access(inst.operand, place);
  if (scan_memory_ == nullptr) {  // along rows, together with those of other rows
    scanned_.push_back({value, to});
    return;
  }
  llvm::Value* const index = builder_.CreateAdd(place.index, builder_.number(place.first_lane));
  const Access kept = scan_memory_at(inst, index);
  llvm::Value* const next = combine(inst, load(builder_, kept, nullptr), value);
  store(builder_, kept, next, nullptr);
  store(builder_, to, emit_cast(builder_, next, inst.dtype, to.dtype), place.tail);
}

/// The loop over rows around the one that scans.
void KernelEmitter::scan_all_rows(const Pointers& start) {
  llvm::Value* left = extents_[num_loops() - 2];
  Pointers pointers = start;
  const int together = is_exact(*accumulations_[0]) ? 1 : std::min(scan_lanes(), max_rows);
  if (together > 1) std::tie(pointers, left) = emit_row_groups(pointers, left, together);
  emit_row_groups(pointers, left, 1);
}

/// As many groups of so many rows as there are; returns where the rest begins, and its number.
std::pair<KernelEmitter::Pointers, llvm::Value*> KernelEmitter::emit_row_groups(
    const Pointers& start, llvm::Value* num_rows, int together) {
  const std::size_t loop = num_loops() - 2;
  const auto moves = [&](std::size_t k) { return kernel_.operands[k].strides[loop] != 0; };
  llvm::Value* const group = builder_.number(together);
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const body = builder_.new_block("rows");
  llvm::BasicBlock* const after = builder_.new_block("after");
  builder_.CreateCondBr(builder_.CreateICmpSGE(num_rows, group), body, after);
  builder_.SetInsertPoint(body);
  llvm::PHINode* const left = new_phi(num_rows, before);
  Pointers pointers = start;
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (moves(k)) pointers[k] = new_phi(start[k], before);
  scan_rows(pointers, together);

  llvm::BasicBlock* const last = builder_.GetInsertBlock();
  Pointers next = pointers;
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (moves(k)) {
      next[k] = builder_.after(pointers[k], builder_.CreateMul(stride_bytes(loop, k), group));
      come_round(pointers[k], next[k], last);
    }
  llvm::Value* const fewer = builder_.CreateSub(left, group);
  left->addIncoming(fewer, last);
  builder_.CreateCondBr(builder_.CreateICmpSGE(fewer, group), body, after);
  builder_.SetInsertPoint(after);
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (moves(k)) next[k] = join(start[k], before, next[k], last);
  return {next, join(num_rows, before, fewer, last)};
}

/// Neighbouring rows from their first element to their last.
void KernelEmitter::scan_rows(const Pointers& start, int together) {
  const int lanes = is_exact(*accumulations_[0]) ? scan_lanes() : std::min(scan_lanes(), max_rows);
  struct Row {
    Pointers offsets;  ///< from the first row; null where that is 0
    std::vector<llvm::Value*> scalars, splats;
  };
  std::vector<Row> rows(static_cast<std::size_t>(together));
  emit_hoisted(start, Hoisted::still);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].offsets.resize(num_operands());
    Pointers first = start;
    for (std::size_t k = 0; r > 0 && k < num_operands(); ++k) {
      if (kernel_.operands[k].strides[num_loops() - 2] == 0) continue;
      rows[r].offsets[k] =
          builder_.CreateMul(stride_bytes(num_loops() - 2, k), builder_.getInt64(r));
      first[k] = builder_.after(start[k], rows[r].offsets[k]);
    }
    emit_hoisted(first, Hoisted::moving);
    splat_hoisted(lanes);
    rows[r].scalars = scalars_;
    rows[r].splats = splats_;
  }
  builder_.set_lanes(together);
  partials_ = {identity_splat(*accumulations_[0])};
  const StepBody body = [&](const Position& position, const Step& step) {
    scanned_.clear();
    for (const Row& row : rows) {
      scalars_ = row.scalars;
      splats_ = row.splats;
      Position at = position;
      for (std::size_t k = 0; k < num_operands(); ++k)
        if (row.offsets[k] != nullptr)
          at.pointers[k] = builder_.after(at.pointers[k], row.offsets[k]);
      emit_body(at, step);
    }
    scan_taken(step);
  };
  Position position{builder_.getInt64(0), start};
  bool is_masked = false;
  if (lanes > 1) {
    position = emit_steps(position, {.lanes = lanes}, body);
    is_masked = can_mask_all(lanes);
  }
  if (is_masked)
    emit_masked_tail(position, lanes, body);
  else
    emit_steps(position, {.lanes = 1}, body);
  partials_.clear();
}

/// Combines what the rows' bodies have taken in, and writes it.
void KernelEmitter::scan_taken(const Step& step) {
  const Inst& inst = *accumulations_[0];
  std::vector<llvm::Value*> values;
  for (const auto& [value, to] : scanned_) values.push_back(value);
  set_line(static_cast<unsigned>(&inst - kernel_.body.data()) + 1);
  if (values.size() == 1)
    scan_one_row(inst, values, step.lanes);
  else if (step.lanes == 1)
    scan_elements(inst, values);
  else
    scan_square(inst, values);
  builder_.set_lanes(step.lanes);
  for (std::size_t row = 0; row < scanned_.size(); ++row)
    store(builder_, scanned_[row].second, values[row], step.tail);
  set_line(0);
}

/// One row's elements, in registers where the order of combining changes no bit.
void KernelEmitter::scan_one_row(const Inst& inst, std::vector<llvm::Value*>& values, int lanes) {
  llvm::Value*& kept = partials_[0];
  llvm::Value* value = values[0];
  const DType written = kernel_.operands[inst.operand].dtype;
  if (lanes == 1) {
    builder_.set_lanes(1);
    value = kept = combine(inst, kept, value);
  } else if (is_exact(inst)) {
    builder_.set_lanes(lanes);
    llvm::Value* const identities = identity_splat(inst);
    for (int apart = 1; apart < lanes; apart *= 2) {
      std::vector<int> picks;  // those from so far before, or identities
      for (int lane = 0; lane < lanes; ++lane) picks.push_back(lanes + lane - apart);
      value = combine(inst, builder_.CreateShuffleVector(identities, value, picks), value);
    }
    value = combine(inst, builder_.splat(kept), value);
    kept = builder_.CreateExtractElement(value, static_cast<std::uint64_t>(lanes - 1));
  } else {
    builder_.set_lanes(1);
    llvm::Value* const taken = value;
    value = llvm::PoisonValue::get(taken->getType());
    for (std::uint64_t lane = 0; lane < static_cast<std::uint64_t>(lanes); ++lane) {
      kept = combine(inst, kept, builder_.CreateExtractElement(taken, lane));
      value = builder_.CreateInsertElement(value, kept, lane);
    }
  }
  builder_.set_lanes(lanes);
  values[0] = emit_cast(builder_, value, inst.dtype, written);
}

/// An element of each row.
void KernelEmitter::scan_elements(const Inst& inst, std::vector<llvm::Value*>& values) {
  builder_.set_lanes(static_cast<int>(values.size()));
  llvm::Value* vector = llvm::PoisonValue::get(builder_.value_type(inst.dtype));
  for (std::uint64_t row = 0; row < values.size(); ++row)
    vector = builder_.CreateInsertElement(vector, values[row], row);
  partials_[0] = combine(inst, partials_[0], vector);
  vector = emit_cast(builder_, partials_[0], inst.dtype, kernel_.operands[inst.operand].dtype);
  for (std::uint64_t row = 0; row < values.size(); ++row)
    values[row] = builder_.CreateExtractElement(vector, row);
}

/// As many elements of each row as there are rows.
void KernelEmitter::scan_square(const Inst& inst, std::vector<llvm::Value*>& values) {
  builder_.set_lanes(static_cast<int>(values.size()));
  transpose_square(values);
  for (llvm::Value*& value : values) {
    partials_[0] = combine(inst, partials_[0], value);
    value = emit_cast(builder_, partials_[0], inst.dtype, kernel_.operands[inst.operand].dtype);
  }
  transpose_square(values);
}

/// By halves: lanes whose numbers differ in one bit change places with those of another row.
void KernelEmitter::transpose_square(std::vector<llvm::Value*>& rows) {
  const auto size = static_cast<int>(rows.size());
  for (int bit = 1; bit < size; bit *= 2) {
    std::vector<int> lower, upper;
    for (int lane = 0; lane < size; ++lane) {
      const bool is_set = (lane & bit) != 0;
      lower.push_back(is_set ? size + lane - bit : lane);
      upper.push_back(is_set ? size + lane : lane + bit);
    }
    for (int row = 0; row < size; ++row) {
      if ((row & bit) != 0) continue;
      llvm::Value*& a = rows[static_cast<std::size_t>(row)];
      llvm::Value*& b = rows[static_cast<std::size_t>(row + bit)];
      llvm::Value* const first = builder_.CreateShuffleVector(a, b, lower);
      b = builder_.CreateShuffleVector(a, b, upper);
      a = first;
    }
  }
}

}  // namespace weft::jit
