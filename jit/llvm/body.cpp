// What is inside of a kernel's loops: its instructions, for one vector or several side by side.

#include "jit/bf16.h"
#include "jit/live_values.h"
#include "jit/llvm/kernel_emitter.h"
#include "jit/llvm/native_bf16.h"
#include "jit/llvm/operators.h"
#include "jit/llvm/support.h"

#include <algorithm>
#include <numeric>

namespace weft::jit {

using ir::Inst;
using ir::ValueId;

/// The instructions before num_hoisted, as scalars.
void KernelEmitter::emit_hoisted(const Pointers& start, Hoisted which) {
  builder_.set_lanes(1);
  for (ValueId id = 0; id < kernel_.num_hoisted; ++id)
    if (which == Hoisted::all || moves_[id] == (which == Hoisted::moving))
      scalars_[id] = emit_value(id, scalars_, {start, builder_.getInt64(0), 0, 0, nullptr});
}

/// Vectors of those that vector code uses.
void KernelEmitter::splat_hoisted(int lanes) {
  builder_.set_lanes(lanes);
  std::fill(splats_.begin(), splats_.end(), nullptr);
  for (ValueId id = kernel_.num_hoisted; id < kernel_.body.size(); ++id)
    for (ValueId arg : kernel_.body[id].args)
      if (arg < kernel_.num_hoisted && splats_[arg] == nullptr)
        splats_[arg] = builder_.splat(scalars_[arg]);
}

/// Of the innermost loop; 1 if it has no vectors.
int KernelEmitter::vector_lanes() const {
  const ir::Loop& loop = kernel_.loops.back();
  const bool has_vectors = loop.kind == ir::LoopKind::vector || loop.kind == ir::LoopKind::reduce;
  return has_vectors ? loop.lanes : 1;
}

/// Whether all operands move as whole vectors, some lanes of which can be left out.
bool KernelEmitter::can_mask_all(int lanes) {
  builder_.set_lanes(lanes);
  return std::all_of(
      kernel_.body.begin() + kernel_.num_hoisted, kernel_.body.end(), [&](const Inst& inst) {
        if (inst.op != Op::load && !is_stored(inst)) return true;
        return can_mask(builder_, kernel_.operands[inst.operand].dtype, inner_stride(inst.operand),
                        is_stored(inst) ? ir::Role::output : ir::Role::input);
      });
}

/// Whether some operand moves by an instruction or more a lane.
bool KernelEmitter::moves_lanes() const {
  return std::any_of(
      kernel_.body.begin() + kernel_.num_hoisted, kernel_.body.end(), [&](const Inst& inst) {
        if (inst.op != Op::load && inst.op != Op::store) return false;
        const auto id = static_cast<ValueId>(&inst - kernel_.body.data());
        if (inst.op == Op::store && (stores_parts(id) || stores_parts(id - 1))) return false;
        return jit::moves_lanes(builder_, inst.dtype, inner_stride(inst.operand),
                                inst.op == Op::store ? ir::Role::output : ir::Role::input);
      });
}

/// Whether an operand is one part of complex numbers that are neighbours, of which the other is the
/// operand beside it.  With AVX-512 parts are as fast by masks.
bool KernelEmitter::has_both_parts(std::size_t operand, bool is_imaginary) const {
  const bool is_part =
      is_imaginary || (operand + 1 < num_operands() && kernel_.operands[operand + 1].is_imaginary);
  return is_part && inner_stride(operand) == 2 && itemsize(operand) >= 4 && !builder_.has_avx512();
}

/// Whether this and the next instruction store both parts of such numbers.
bool KernelEmitter::stores_parts(ValueId id) const {
  if (id + std::size_t{1} >= kernel_.body.size()) return false;
  const Inst &real = kernel_.body[id], &imaginary = kernel_.body[id + 1];
  return real.op == Op::store && imaginary.op == Op::store &&
         imaginary.operand == real.operand + 1 && has_both_parts(real.operand, false);
}

/// The numbers that the lanes of parts have.  Where all that moves are parts, in whole registers,
/// they may have any order, and take the one that shuffles within 16 bytes make and undo.
std::vector<int> KernelEmitter::order_of_parts() const {
  constexpr int register_bytes = 32, shuffled_bytes = 16;
  const int lanes = builder_.lanes();
  std::vector<int> order(static_cast<std::size_t>(lanes));
  std::iota(order.begin(), order.end(), 0);
  const bool is_free = std::all_of(
      kernel_.body.begin() + kernel_.num_hoisted, kernel_.body.end(), [&](const Inst& inst) {
        if (inst.op != Op::load && inst.op != Op::store) return inst.op != Op::accumulate;
        if (inst.op == Op::load && inner_stride(inst.operand) == 0) return true;
        const auto id = static_cast<ValueId>(&inst - kernel_.body.data());
        return lanes * itemsize(inst.operand) == register_bytes &&
               has_both_parts(inst.operand, kernel_.operands[inst.operand].is_imaginary) &&
               (inst.op == Op::load || stores_parts(id) || stores_parts(id - 1));
      });
  if (!is_free || fused_) return order;
  // Half of such a group of lanes is of the first register of whole numbers, half of the second.
  const int group = lanes * shuffled_bytes / register_bytes, half = group / 2;
  for (int lane = 0; lane < lanes; ++lane)
    order[static_cast<std::size_t>(lane)] =
        (lane % group < half ? 0 : lanes / 2) + lane / group * half + lane % half;
  return order;
}

/// Whether elements may be stored twice: a dense copy leaves the same behind, in place or not.
bool KernelEmitter::can_overlap() const {
  const std::vector<Inst>& body = kernel_.body;
  return kernel_.num_hoisted == 0 && body.size() == 2 && body[0].op == Op::load &&
         body[1].op == Op::store && inner_stride(body[0].operand) == 1 &&
         inner_stride(body[1].operand) == 1;
}

/// Values that the loops compute.
int KernelEmitter::num_values() const {
  return static_cast<int>(kernel_.body.size() - kernel_.num_hoisted);
}

/// Whether the body is so long that its values wait for one another.
bool KernelEmitter::is_waiting() const {
  constexpr int least_waiting = 8;
  return num_values() >= least_waiting;
}

/// Of a body whose values wait for one another: as many as keep the processor busy.  A value that
/// finds no register then costs less than what waits.  Tables need registers all along
/// (docs/decisions/llvm.md).
int KernelEmitter::vectors_at_once() const {
  constexpr int most_instructions = 512;
  const int unroll = kernel_.loops.back().unroll;
  if (!is_waiting()) return unroll;
  const bool looks_up = std::ranges::any_of(
      kernel_.body, [](const Inst& inst) { return inst.op == Op::table_entry; });
  const int wanted = builder_.has_avx512() && !looks_up ? 8 : 4;
  return std::max(unroll, std::min(wanted, most_instructions / num_values()));
}

/// Vectors side by side keep more loads in flight, and of long bodies more instructions that don't
/// wait for each other than the processor's scheduler sees of one.  Calls spill what lives across
/// them; so do loops that hold partial results where there are too few registers.
bool KernelEmitter::goes_side_by_side(int num_vectors) const {
  if (num_vectors == 1 || calls_functions()) return false;
  const bool takes_more = vectors_at_once() > kernel_.loops.back().unroll;
  if (takes_more && accumulations_.empty()) return true;
  const auto any = [](ValueId) { return true; };
  const int free_registers = num_registers() - held_registers();
  return most_live(kernel_, any) * num_vectors <= free_registers * 3 / 4;
}

bool KernelEmitter::calls_functions(const ir::Kernel& kernel) {
  return std::any_of(kernel.body.begin() + kernel.num_hoisted, kernel.body.end(),
                     [](const Inst& inst) {
                       const bool accumulates = inst.op == Op::accumulate;
                       return is_call(accumulates ? inst.combine : inst.op, inst.dtype);
                     });
}

KernelEmitter::StepBody KernelEmitter::plain_body() {
  return [this](const Position& position, const Step& step) { emit_body(position, step); };
}

/// The rest of the body, for neighbouring vectors.
void KernelEmitter::emit_body(const Position& position, const Step& step) {
  builder_.set_lanes(step.lanes);
  const Pointers addresses = current_addresses(position);
  const auto num_vectors = static_cast<std::size_t>(step.num_all_vectors());
  std::vector<std::vector<llvm::Value*>> values(num_vectors, step.lanes == 1 ? scalars_ : splats_);
  const auto emit = [&](std::size_t vector, std::size_t id) {
    values[vector][id] =
        emit_value(static_cast<ValueId>(id), values[vector],
                   {addresses, position.index, step.first_partial + vector,
                    step.first_lane(static_cast<int>(vector)), step.tail, step.streams,
                    step.prefetched_lanes(), vector + 1 < num_vectors});
  };
  if (goes_side_by_side(step.num_all_vectors())) {
    for (std::size_t id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) {
      if (bf16_rounding::is_cast(kernel_, kernel_.body[id])) {
        emit_native_bf16(id, values);
        continue;
      }
      for (std::size_t vector = 0; vector < num_vectors; ++vector) emit(vector, id);
    }
  } else {
    for (std::size_t vector = 0; vector < num_vectors; ++vector)
      for (std::size_t id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) emit(vector, id);
  }
}

void KernelEmitter::emit_native_bf16(std::size_t id,
                                     std::vector<std::vector<llvm::Value*>>& values) {
  set_line(static_cast<unsigned>(id) + 1);
  const ValueId argument = kernel_.body[id].args[0];
  constexpr std::size_t together = bf16_rounding::vectors_a_test;
  for (std::size_t first = 0; first < values.size(); first += together) {
    std::vector<llvm::Value*> vectors;
    for (std::size_t i = first; i < std::min(first + together, values.size()); ++i)
      vectors.push_back(values[i][argument]);
    const std::vector<llvm::Value*> results = emit_bf16(builder_, vectors);
    for (std::size_t i = 0; i < results.size(); ++i) values[first + i][id] = results[i];
  }
  set_line(0);
}

/// Of the operands that the body touches, where the innermost loop has come to.
KernelEmitter::Pointers KernelEmitter::current_addresses(const Position& position) {
  Pointers addresses = position.pointers;
  std::vector<bool> done(num_operands());
  for (std::size_t id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) {
    const Inst& inst = kernel_.body[id];
    if ((inst.op != Op::load && !is_stored(inst)) || done[inst.operand]) continue;
    done[inst.operand] = true;
    const ir::StrideClass stride = inner_stride(inst.operand);
    if (stride == ir::stride_any || stride == 0) continue;
    llvm::Value* item = stride == 1 ? position.index
                                    : builder_.CreateMul(position.index, builder_.getInt64(stride));
    addresses[inst.operand] = builder_.CreateGEP(
        builder_.memory_type(kernel_.operands[inst.operand].dtype), addresses[inst.operand], item);
  }
  return addresses;
}

/// What is emitted from here on belongs to this line of the debug information, if there is any.
void KernelEmitter::set_line(unsigned line) {
  if (scope_ != nullptr)
    builder_.SetCurrentDebugLocation(llvm::DILocation::get(builder_.getContext(), line, 0, scope_));
}

llvm::Value* KernelEmitter::emit_value(ValueId id, const std::vector<llvm::Value*>& values,
                                       const Place& place) {
  set_line(id + 1);
  llvm::Value* value = emit_inst(id, values, place);
  // A masked load would wait for its mask, which comes from memory as well.
  if (place.streams && is_chosen_[id] && kernel_.body[id].op == Op::load)
    value = keep_in_register(builder_, value);
  set_line(0);
  return value;
}

llvm::Value* KernelEmitter::emit_inst(ValueId id, const std::vector<llvm::Value*>& values,
                                      const Place& place) {
  const Inst& inst = kernel_.body[id];
  std::vector<llvm::Value*> args;
  for (ValueId arg : inst.args)
    if (arg != ir::no_value) args.push_back(values[arg]);
  switch (inst.op) {
    case Op::constant: return builder_.splat(constant(inst.dtype, inst.bits.lo));
    case Op::param: return builder_.splat(param(inst));
    case Op::load:
      if (fused_ && fused_->line[inst.operand] != nullptr)
        return fused_->rows[inst.operand][fused_->row];
      if (place.prefetched_lanes != 0)
        prefetch(inst.operand, place, place.prefetched_lanes * itemsize(inst.operand),
                 CacheLevel::first);
      if (const std::int64_t bytes = kernel_.operands[inst.operand].ahead_bytes; bytes != 0)
        prefetch(inst.operand, place, bytes, CacheLevel::second);
      if (const bool is_imaginary = kernel_.operands[inst.operand].is_imaginary;
          place.tail == nullptr && builder_.lanes() > 1 &&
          has_both_parts(inst.operand, is_imaginary))
        return load_part(builder_, access(inst.operand, place), is_imaginary, order_of_parts());
      return load(builder_, access(inst.operand, place), place.tail);
    case Op::store:
      prefetch_output(inst.operand, place);
      if (place.tail == nullptr && builder_.lanes() > 1) {
        if (id > 0 && stores_parts(id - 1)) return nullptr;  // both are stored
        if (stores_parts(id)) {
          store_parts(builder_, access(inst.operand, place), args[0],
                      values[kernel_.body[id + 1].args[0]], order_of_parts());
          return nullptr;
        }
      }
      store(builder_, access(inst.operand, place), args[0], place.tail);
      return nullptr;
    case Op::accumulate:
      if (ir::is_scan(kernel_))
        take_in_scan(inst, args[0], place);
      else
        accumulate(inst, args[0], place);
      return nullptr;
    case Op::cast: {
      const DType from = ir::result_dtype(kernel_.body[inst.args[0]]);
      if (bf16_rounding::is_cast(kernel_, inst)) return emit_bf16(builder_, args)[0];
      return emit_cast(builder_, args[0], from, inst.dtype);
    }
    case Op::div:
      if (!factors_.empty() && factors_[inst.args[1]].high != nullptr &&
          may_take_two_products(id)) {
        return by_two_products(args[0],
                               (builder_.lanes() == 1 ? factors_ : factor_splats_)[inst.args[1]]);
      }
      return emit_operator(builder_, inst.op, inst.dtype, args);
    case Op::bitcast: return builder_.CreateBitCast(args[0], builder_.value_type(inst.dtype));
    default: return emit_operator(builder_, inst.op, inst.dtype, args);
  }
}

llvm::Value* KernelEmitter::constant(DType dtype, std::uint64_t bits) {
  llvm::Type* type = builder_.element_type(dtype);
  if (type->isIntegerTy())
    return llvm::ConstantInt::get(type, is_boolean(dtype) ? bits != 0 : bits);
  const llvm::APInt pattern(type->getScalarSizeInBits(), bits);
  return llvm::ConstantFP::get(type, llvm::APFloat(type->getFltSemantics(), pattern));
}

llvm::Value* KernelEmitter::param(const Inst& inst) {
  llvm::Value* value =
      load_field(params_, inst.operand * sizeof(Bits), builder_.memory_type(inst.dtype),
                 "param" + llvm::Twine(unsigned{inst.operand}));
  return is_boolean(inst.dtype) ? builder_.CreateICmpNE(value, builder_.getInt8(0)) : value;
}

Access KernelEmitter::access(std::size_t operand, const Place& place) {
  llvm::Value* step = stride_bytes(num_loops() - 1, operand);
  llvm::Value* address = place.addresses[operand];
  if (place.first_lane != 0)
    address =
        builder_.after(address, builder_.CreateMul(step, builder_.getInt64(place.first_lane)));
  return {kernel_.operands[operand].dtype,       inner_stride(operand), address, step,
          place.streams && is_streamed(operand), place.is_followed};
}

}  // namespace weft::jit
