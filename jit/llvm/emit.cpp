// The functions of a kernel: the outer loops, then three loops over the innermost dimension
// (several vectors, one vector, the rest).  Vectors are explicit, so no optimiser has to find them.

#include "jit/llvm/emit.h"

#include "jit/code_object.h"
#include "jit/llvm/kernel_emitter.h"
#include "jit/llvm/object.h"
#include "jit/llvm/tile.h"
#include "jit/llvm/tile_symbols.h"
#include "jit/prefetching.h"
#include "jit/row_copy.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>

#include <cstddef>
#include <string>
#include <vector>

namespace weft::jit {
namespace {

/// In a row: of more a loop is no slower, and takes less time to compile.
constexpr std::int64_t max_known_instructions = 128;

/// Debug information that has lines and nothing else.
llvm::DICompileUnit* add_debug_unit(llvm::Module& module) {
  constexpr unsigned dwarf_version = 4;
  module.addModuleFlag(llvm::Module::Max, "Dwarf Version", dwarf_version);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder debug(module);
  llvm::DICompileUnit* unit =
      debug.createCompileUnit(llvm::dwarf::DW_LANG_C, debug.createFile("kernel", "weft"), "weft",
                              false, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  debug.finalize();
  return unit;
}

llvm::DISubprogram* add_debug_scope(llvm::Function& function, llvm::DICompileUnit* unit) {
  llvm::DIBuilder debug(*function.getParent(), false, unit);
  llvm::DISubprogram* scope =
      debug.createFunction(unit->getFile(), function.getName(), function.getName(), unit->getFile(),
                           0, debug.createSubroutineType(debug.getOrCreateTypeArray({})), 0,
                           llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  function.setSubprogram(scope);
  debug.finalizeSubprogram(scope);
  return scope;
}

}  // namespace

KernelEmitter::KernelEmitter(const ir::Kernel& kernel, const Target& target, llvm::Module& module,
                             const char* symbol, llvm::DICompileUnit* debug_unit)
    : kernel_(kernel),
      shape_(target.shape),
      function_(add_function(target.features, module, symbol,
                             {llvm::PointerType::getUnqual(module.getContext())})),
      builder_(function_, target.features),
      scalars_(kernel.body.size()),
      splats_(kernel.body.size()),
      is_chosen_(kernel.body.size()),
      moves_(kernel.body.size()),
      asks_for_outputs_(jit::asks_for_outputs(kernel, builder_.features())) {
  function_->getArg(0)->setName("args");
  if (debug_unit != nullptr) scope_ = add_debug_scope(*function_, debug_unit);
  set_line(0);
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    const ir::Inst& inst = kernel.body[id];
    moves_[id] = inst.op == Op::load;
    for (const ir::ValueId arg : inst.args)
      if (arg != ir::no_value && moves_[arg]) moves_[id] = true;
    if (inst.op == Op::accumulate) accumulations_.push_back(&inst);
    if (inst.op == Op::where) is_chosen_[inst.args[1]] = is_chosen_[inst.args[2]] = true;
  }
}

void KernelEmitter::emit_elements() {
  load_arguments();
  emit_loops(0, num_loops() - 1, bases_, [&](const Pointers& start) { emit_innermost(start); });
  emit_fence();
  builder_.CreateRetVoid();
}

llvm::Value* KernelEmitter::load_field(llvm::Value* structure, std::size_t offset, llvm::Type* type,
                                       const llvm::Twine& name) {
  return builder_.CreateAlignedLoad(
      type, builder_.CreateConstGEP1_64(builder_.getInt8Ty(), structure, offset), llvm::Align(8),
      name);
}

void KernelEmitter::load_arguments() {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* args = function_->getArg(0);
  llvm::Value* base = load_field(args, offsetof(KernelArgs, base), pointer, "base");
  llvm::Value* extents = load_field(args, offsetof(KernelArgs, extents), pointer, "extents");
  llvm::Value* strides = load_field(args, offsetof(KernelArgs, stride_bytes), pointer, "strides");
  params_ = load_field(args, offsetof(KernelArgs, params), pointer, "params");
  for (std::size_t k = 0; k < num_operands(); ++k)
    bases_.push_back(load_field(base, k * sizeof(void*), pointer, "base" + llvm::Twine(k)));
  for (std::size_t l = 0; l < num_loops(); ++l) {
    extents_.push_back(extent(extents, l));
    for (std::size_t k = 0; k < num_operands(); ++k) stride_bytes_.push_back(stride(strides, l, k));
  }
}

/// A constant where it is known.
llvm::Value* KernelEmitter::extent(llvm::Value* extents, std::size_t loop) {
  if (!shape_.empty() && shape_.extents[loop] != 0) return builder_.getInt64(shape_.extents[loop]);
  return load_field(extents, loop * sizeof(std::int64_t), builder_.getInt64Ty(),
                    "extent" + llvm::Twine(loop));
}

/// A constant where the class is one, or the launch is known.
llvm::Value* KernelEmitter::stride(llvm::Value* strides, std::size_t loop, std::size_t operand) {
  const ir::StrideClass known = kernel_.operands[operand].strides[loop];
  if (known != ir::stride_any) return builder_.getInt64(known * itemsize(operand));
  if (!shape_.empty())
    return builder_.getInt64(shape_.stride_bytes[loop * num_operands() + operand]);
  return load_field(strides, (loop * num_operands() + operand) * sizeof(std::int64_t),
                    builder_.getInt64Ty(),
                    "stride" + llvm::Twine(loop) + "." + llvm::Twine(operand));
}

llvm::PHINode* KernelEmitter::new_phi(llvm::Value* start, llvm::BasicBlock* from) {
  llvm::PHINode* phi = builder_.CreatePHI(start->getType(), 2);
  phi->addIncoming(start, from);
  return phi;
}

/// What a phi is when the loop comes back from `from`.
void KernelEmitter::come_round(llvm::Value* phi, llvm::Value* value, llvm::BasicBlock* from) {
  llvm::cast<llvm::PHINode>(phi)->addIncoming(value, from);
}

llvm::Value* KernelEmitter::join(llvm::Value* skipped, llvm::BasicBlock* before,
                                 llvm::Value* looped, llvm::BasicBlock* end) {
  llvm::PHINode* phi = new_phi(skipped, before);
  phi->addIncoming(looped, end);
  return phi;
}

/// The loops [begin, end) around what `inside` emits.  Extents are at least 1, so the test stands
/// at the end.
void KernelEmitter::emit_loops(std::size_t begin, std::size_t end, const Pointers& start,
                               const std::function<void(const Pointers&)>& inside) {
  if (begin == end) return inside(start);
  if (const auto* extent = llvm::dyn_cast<llvm::ConstantInt>(extents_[begin]);
      extent != nullptr && extent->isOne())
    return emit_loops(begin + 1, end, start, inside);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* body = builder_.new_block("loop");
  llvm::BasicBlock* done = builder_.new_block("done");
  builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
  llvm::PHINode* left = new_phi(extents_[begin], before);
  Pointers pointers = start;
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (kernel_.operands[k].strides[begin] != 0) pointers[k] = new_phi(start[k], before);
  for (llvm::Value*& partial : partials_) partial = new_phi(partial, before);
  const std::vector<llvm::Value*> phis = partials_;
  emit_loops(begin + 1, end, pointers, inside);

  llvm::BasicBlock* last = builder_.GetInsertBlock();
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (kernel_.operands[k].strides[begin] != 0)
      come_round(pointers[k], builder_.after(pointers[k], stride_bytes(begin, k)), last);
  for (std::size_t i = 0; i < phis.size(); ++i) come_round(phis[i], partials_[i], last);
  llvm::Value* fewer = builder_.CreateSub(left, builder_.getInt64(1));
  left->addIncoming(fewer, last);
  builder_.CreateCondBr(builder_.CreateICmpNE(fewer, builder_.getInt64(0)), body, done);
  builder_.SetInsertPoint(done);
}

void KernelEmitter::emit_innermost(const Pointers& start) {
  const bool may_be_copied = row_copy::gains(builder_.features()) && row_copy::is_all_of(kernel_) &&
                             streamed_operands().empty();
  if (!may_be_copied) return emit_row(start);
  llvm::BasicBlock* copied = builder_.new_block("copied");
  llvm::BasicBlock* moved = builder_.new_block("moved");
  llvm::BasicBlock* done = builder_.new_block("copied_or_moved");
  builder_.CreateCondBr(is_copied(extents_.back()), copied, moved);
  builder_.SetInsertPoint(copied);
  emit_copied_row(start);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(moved);
  emit_row(start);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

/// Whether the processor's own loop copies rows of so many elements: of several rows shorter ones
/// too, if all of them have enough.
llvm::Value* KernelEmitter::is_copied(llvm::Value* row) {
  const auto elements = [&](int bytes) {
    return builder_.number(row_copy::elements_of(bytes, kernel_));
  };
  llvm::Value* is_long = builder_.CreateICmpUGE(row, elements(row_copy::least_copied_bytes));
  if (num_loops() == 1) return is_long;
  llvm::Value* all = extents_[0];
  for (std::size_t loop = 1; loop < num_loops(); ++loop)
    all = builder_.CreateMul(all, extents_[loop]);
  llvm::Value* are_enough = builder_.CreateICmpUGE(all, elements(row_copy::least_copied_bytes));
  llvm::Value* is_worth_it = builder_.CreateICmpUGE(row, elements(row_copy::least_row_bytes));
  return builder_.CreateOr(is_long, builder_.CreateAnd(are_enough, is_worth_it));
}

void KernelEmitter::emit_copied_row(const Pointers& start) {
  auto* const pointer = builder_.getPtrTy();
  llvm::FunctionCallee copy = builder_.GetInsertBlock()->getModule()->getOrInsertFunction(
      copy_row_symbol, builder_.getVoidTy(), pointer, pointer, builder_.getInt64Ty());
  builder_.CreateCall(copy, {start[0], start[1],
                             builder_.CreateMul(extents_.back(), builder_.number(itemsize(0)))});
}

void KernelEmitter::emit_row(const Pointers& start) {
  emit_hoisted(start);
  splat_hoisted(vector_lanes());
  const std::vector<ir::ValueId> quotients = quotients_of_integers();
  quotients.empty() ? emit_vectors_of_row(start) : emit_row_of_quotients(start, quotients);
}

void KernelEmitter::emit_vectors_of_row(const Pointers& start) {
  const int lanes = vector_lanes();
  const StepBody body = plain_body();
  Position position{builder_.getInt64(0), start};
  if (lanes > 1) {
    // Neither calls nor moves of single elements gain from more vectors at once, and both are long.
    const int unroll = vectors_at_once();
    const bool is_masked = can_mask_all(lanes);
    if (const std::vector<std::size_t> streamed = streamed_operands(); !streamed.empty()) {
      position = emit_streaming_vectors(position, streamed);
    } else {
      if (unroll > 1 && !moves_lanes() && !calls_functions()) {
        position = emit_steps(position, {lanes, unroll}, body);
        // Short rows spend their time in what eight vectors leave.
        if (unroll / 2 > 2) position = emit_steps(position, {lanes, unroll / 2}, body);
      }
      position = emit_steps(position, {lanes, 1}, body);
    }
    if (is_masked) return emit_masked_tail(position, lanes, body);
    if (can_overlap()) return emit_overlapping_tail(position);
    if (can_buffer_tail()) position = emit_buffered_tail(position, lanes, body);
  }
  emit_steps(position, {1, 1}, body);
}

/// What pointers advance by in a step of so many elements; null for those that stay.
KernelEmitter::Pointers KernelEmitter::bytes_of_step(std::int64_t elements) {
  Pointers bytes(num_operands());
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (has_own_pointer(k))
      bytes[k] = builder_.CreateMul(stride_bytes(num_loops() - 1, k), builder_.getInt64(elements));
  return bytes;
}

/// The position of the next step, which goes round the loop.
KernelEmitter::Position KernelEmitter::come_round(const Position& position, std::int64_t elements,
                                                  const Pointers& bytes_of_step) {
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  Position next{builder_.CreateAdd(position.index, builder_.getInt64(elements), "", true, true),
                position.pointers};
  come_round(position.index, next.index, end);
  for (std::size_t k = 0; k < num_operands(); ++k) {
    if (bytes_of_step[k] == nullptr) continue;
    next.pointers[k] = builder_.after(position.pointers[k], bytes_of_step[k]);
    come_round(position.pointers[k], next.pointers[k], end);
  }
  return next;
}

/// As many steps as fit.  Partial results that are in registers go from step to step, and stay
/// there. `holds_partials`: they come from memory, and go back there.
KernelEmitter::Position KernelEmitter::emit_steps(const Position& start, const Step& step,
                                                  const StepBody& body, bool holds_partials) {
  const std::int64_t elements = std::int64_t{step.lanes} * step.num_vectors;
  const std::optional<std::int64_t> rest = step.end == nullptr ? known_rest(start) : std::nullopt;
  const std::int64_t known_steps = rest ? *rest / elements : 0;
  if (rest && !holds_partials && known_steps * num_instructions(step) <= max_known_instructions)
    return emit_known_steps(start, known_steps, step, body);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* enter = holds_partials ? builder_.new_block("enter") : before;
  llvm::BasicBlock* loop = builder_.new_block(step.lanes == 1         ? "scalar"
                                              : step.num_vectors == 1 ? "vector"
                                                                      : "vectors");
  llvm::BasicBlock* leave = holds_partials ? builder_.new_block("leave") : nullptr;
  llvm::BasicBlock* after = builder_.new_block("after");
  const Pointers strides = bytes_of_step(elements);
  llvm::Value* end_of_steps = step.end != nullptr ? step.end : extents_.back();
  llvm::Value* limit = builder_.CreateSub(end_of_steps, builder_.getInt64(elements), "limit");
  builder_.CreateCondBr(builder_.CreateICmpSLE(start.index, limit), holds_partials ? enter : loop,
                        after);
  if (holds_partials) {
    builder_.SetInsertPoint(enter);
    load_partials(start.pointers, builder_.getInt64(0), step);
    builder_.CreateBr(loop);
  }

  builder_.SetInsertPoint(loop);
  Position position{new_phi(start.index, enter), start.pointers};
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (strides[k] != nullptr) position.pointers[k] = new_phi(start.pointers[k], enter);
  const std::vector<llvm::Value*> held = partials_;
  for (llvm::Value*& partial : partials_) partial = new_phi(partial, enter);
  const std::vector<llvm::Value*> phis = partials_;
  body(position, step);
  const Position next = come_round(position, elements, strides);
  llvm::BasicBlock* end = builder_.GetInsertBlock();
  for (std::size_t i = 0; i < phis.size(); ++i) come_round(phis[i], partials_[i], end);
  builder_.CreateCondBr(builder_.CreateICmpSLE(next.index, limit), loop,
                        holds_partials ? leave : after);
  if (holds_partials) {
    builder_.SetInsertPoint(leave);
    store_partials(start.pointers, builder_.getInt64(0), step);
    builder_.CreateBr(after);
    end = leave;
  }

  builder_.SetInsertPoint(after);
  Position result = join(start, before, next, end);
  // What follows knows then how much is left.
  if (rest)
    result.index = builder_.CreateAdd(start.index, builder_.getInt64(known_steps * elements));
  for (std::size_t i = 0; i < partials_.size(); ++i)
    partials_[i] = join(held[i], before, partials_[i], end);
  return result;
}

KernelEmitter::Position KernelEmitter::join(const Position& one, llvm::BasicBlock* one_end,
                                            const Position& other, llvm::BasicBlock* other_end) {
  Position result = one;
  result.index = join(one.index, one_end, other.index, other_end);
  for (std::size_t k = 0; k < num_operands(); ++k)
    if (has_own_pointer(k))
      result.pointers[k] = join(one.pointers[k], one_end, other.pointers[k], other_end);
  return result;
}

/// Elements from there on, if the launch is known and the loops so far were.
std::optional<std::int64_t> KernelEmitter::known_rest(const Position& position) const {
  const auto* extent = llvm::dyn_cast<llvm::ConstantInt>(extents_.back());
  const auto* index = llvm::dyn_cast<llvm::ConstantInt>(position.index);
  if (extent == nullptr || index == nullptr) return std::nullopt;
  return extent->getSExtValue() - index->getSExtValue();
}

/// About how many a step becomes; an item that is moved alone counts as one.
std::int64_t KernelEmitter::num_instructions(const Step& step) const {
  std::int64_t count = 0;
  for (std::size_t id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) {
    const ir::Inst& inst = kernel_.body[id];
    const bool moves = inst.op == Op::load || inst.op == Op::store;
    const bool moves_items = moves && inner_stride(inst.operand) == ir::stride_any;
    count += moves_items ? step.lanes : 1;
  }
  return count * step.num_vectors;
}

/// One after the other, without a loop.
KernelEmitter::Position KernelEmitter::emit_known_steps(Position position, std::int64_t count,
                                                        const Step& step, const StepBody& body) {
  const std::int64_t elements = std::int64_t{step.lanes} * step.num_vectors;
  for (std::int64_t i = 0; i < count; ++i) {
    body(position, step);
    position.index = builder_.CreateAdd(position.index, builder_.getInt64(elements));
    for (std::size_t k = 0; k < num_operands(); ++k)
      if (has_own_pointer(k))
        position.pointers[k] = builder_.after(
            position.pointers[k],
            builder_.CreateMul(stride_bytes(num_loops() - 1, k), builder_.getInt64(elements)));
  }
  return position;
}

void emit_kernel(const ir::Kernel& kernel, const Target& target, llvm::Module& module,
                 Lines lines) {
  llvm::DICompileUnit* const unit = lines == Lines::none ? nullptr : add_debug_unit(module);
  if (walks_in_tiles(kernel)) return emit_tile(kernel, target, module, unit);
  KernelEmitter emitter(kernel, target, module, kernel_symbol, unit);
  if (ir::is_scan(kernel)) return emitter.emit_scan();
  if (!ir::is_reduction(kernel)) return emitter.emit_elements();
  emitter.emit_leaf();
  if (ir::reduces_rows(kernel))
    KernelEmitter(kernel, target, module, rows_symbol, unit).emit_rows();
}

}  // namespace weft::jit
