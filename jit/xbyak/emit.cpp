// The loop nest: outer loops over rows, and along a row an unrolled loop, a loop over single
// vectors and a tail.
#include "jit/xbyak/kernel_emitter.h"
#include "jit/xbyak/signs.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace weft::jit::xbyak {
namespace {

// More instructions than this in an iteration gain nothing: the processor overlaps iterations
// anyway.
constexpr std::size_t max_unrolled_instructions = 160;
/// Of longer bodies another copy for single vectors takes longer to emit than it saves.
constexpr std::size_t longest_for_single_vectors = 14;
constexpr int most_copies = 4;  ///< in turn, of what does not stream

}  // namespace

void KernelEmitter::prologue() {
  code_.mark("entry");
  for (const Reg64& reg : operands_.saved_registers()) code_.push(reg);
  if (!with_frame_) return;
  const auto num_counters = static_cast<int>(num_outer());
  const auto num_operands = static_cast<int>(kernel_.operands.size());
  stack_slot_ = code_.allocate_frame(8, 8);
  counters_slot_ = code_.allocate_frame(8 * num_counters, 8);
  pointers_slot_ = code_.allocate_frame(8 * std::max(0, num_counters - 1) * num_operands, 8);
  code_.mov(code_.rax, code_.rsp);
  code_.db(0x48);  // sub rsp, imm32: the size is known at the end
  code_.db(0x81);
  code_.db(0xec);
  code_.dd(0);
  frame_size_at_ = code_.getSize() - 4;
  code_.and_(code_.rsp, -64);
  code_.mov(code_.qword[code_.frame(stack_slot_)], code_.rax);
}

void KernelEmitter::epilogue() {
  code_.mark("return");
  if (operands_.streams() && !kernel_.is_unfenced) code_.sfence();
  if (code_.needs_zeroupper()) code_.vzeroupper();
  if (with_frame_) code_.mov(code_.rsp, code_.qword[code_.frame(stack_slot_)]);
  const auto& saved = operands_.saved_registers();
  for (auto reg = saved.rbegin(); reg != saved.rend(); ++reg) code_.pop(*reg);
  code_.ret();
  emit_copied_row();
  divisions_.emit_divisions();
  rare_calls_.emit_calls();
  native_bf16_.emit_rare();
  if (with_frame_)
    code_.rewrite(frame_size_at_, static_cast<std::uint64_t>(code_.frame_bytes()), 4);
}

void KernelEmitter::emit() {
  if (num_outer() > 0 && kernel_.schedule != ir::Schedule::outer_reduce)
    rows_left_ = operands_.take_spare_register();
  prologue();
  operands_.load_constants();
  keep_sign_bits();
  hoisted(true);
  choose_copied_rows();
  if (kernel_.schedule == ir::Schedule::outer_reduce)
    fold_columns();
  else
    outer_loops();
  epilogue();
}

// From memory they were a load a vector: a fifth of the time in the first cache.
void KernelEmitter::keep_sign_bits() {
  if (has_calls()) return;
  for (ir::ValueId id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) {
    const std::optional<SignBits> bits = sign_bits_of(kernel_.body[id]);
    if (!bits) continue;
    const int bytes = std::max(16, bits->itemsize * lanes_);
    if (registers_.kept_splat(bits->item, bits->itemsize, bytes)) continue;
    if (!registers_.keep_splat(bits->item, bits->itemsize, bytes)) return;
  }
}

void KernelEmitter::enter_loop(std::size_t loop) {
  code_.mark("enter a loop");
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(code_.rax, code_.qword[code_.rax + 8 * loop]);
  const bool is_last = loop + 1 == num_outer();
  is_last&& rows_left_ ? code_.mov(*rows_left_, code_.rax) : code_.mov(counter(loop), code_.rax);
  if (is_last) return;
  for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
    if (loop == 0) {
      code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, base)]);
      code_.mov(code_.rax, code_.qword[code_.rax + 8 * i]);
    } else {
      code_.mov(code_.rax, code_.qword[saved_pointer(loop - 1, i)]);
    }
    code_.mov(code_.qword[saved_pointer(loop, i)], code_.rax);
  }
}

void KernelEmitter::leave_loop(std::size_t loop) {
  code_.mark("next iteration");
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, stride_bytes)]);
  if (loop + 1 == num_outer()) {
    operands_.next_row(loop);
  } else {
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      if (kernel_.operands[i].strides[loop] == 0) continue;
      code_.mov(code_.rcx, code_.qword[code_.rax + 8 * (loop * kernel_.operands.size() + i)]);
      code_.add(code_.qword[saved_pointer(loop, i)], code_.rcx);
    }
  }
  loop + 1 == num_outer() && rows_left_ ? code_.dec(*rows_left_) : code_.dec(counter(loop));
  code_.jump_back_if(Condition::not_zero, loop_heads_[loop]);
}

void KernelEmitter::outer_loops() {
  for (std::size_t loop = 0; loop < num_outer(); ++loop) {
    enter_loop(loop);
    if (loop + 1 == num_outer() && loop > 0) operands_.start_rows(saved_pointer(loop - 1, 0));
    if (loop + 1 == num_outer() && loop == 0) {
      code_.mov(code_.rcx, code_.qword[gpr::arguments + offsetof(KernelArgs, base)]);
      operands_.start_rows(code_.rcx);
    }
    loop_heads_.push_back(code_.here());
  }
  if (num_outer() == 0) {
    code_.mov(code_.rcx, code_.qword[gpr::arguments + offsetof(KernelArgs, base)]);
    operands_.start_rows(code_.rcx);
  }
  if (kernel_.schedule != ir::Schedule::inner_reduce)
    inner_loop();
  else if (folds_whole_rows_)
    fold_whole_row();
  else
    fold_row();
  for (std::size_t loop = num_outer(); loop-- > 0;) leave_loop(loop);
}

std::vector<ir::ValueId> calls_of(const ir::Kernel& kernel, Isa isa) {
  std::vector<ir::ValueId> calls;
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id)
    if (is_computed(kernel.body[id]) && !has_row(kernel, kernel.body[id], isa)) calls.push_back(id);
  return calls;
}

// Copies in turn give the scheduler, which sees one copy of a longer body, as many instructions
// that don't wait for one another; and loads of all copies before the stores of any don't wait for
// stores where operands lie a little more than a multiple of 4096 bytes apart, which the processor
// takes for the same addresses.
// No more than are emitted anyway: four times the code takes as long to emit as thousands of
// elements to compute, and what runs often is compiled by LLVM.
int copies_wanted(const ir::Kernel& kernel, const CpuFeatures& features) {
  const std::size_t length = kernel.body.size() - kernel.num_hoisted;
  if (kernel.schedule != ir::Schedule::linear || divides_by_invariants(kernel, features)) return 1;
  const auto is_strided = [](const ir::Operand& operand) {
    return operand.strides.back() != 0 && operand.strides.back() != 1;
  };
  if (std::ranges::any_of(kernel.operands, is_strided)) return 1;
  if (kernel.is_streaming && features.pages_in_turn) return num_streamed_pages;
  const bool is_unrolled = length <= longest_for_single_vectors || features.isa == Isa::avx512;
  return is_unrolled ? std::min(most_copies, kernel.loops.back().unroll) : 1;
}

int KernelEmitter::copies_in_turn() const {
  return operands_.has_lane_access() || has_calls() ? 1 : registers_.max_copies();
}

int KernelEmitter::unroll() const {
  if (operands_.has_lane_access() || has_calls()) return 1;
  int unroll = std::max(1, kernel_.loops.back().unroll);
  const std::size_t length = kernel_.body.size() - kernel_.num_hoisted;
  if (length > longest_for_single_vectors && !operands_.is_simple()) return 1;
  while (unroll > 1 && static_cast<std::size_t>(unroll) * length > max_unrolled_instructions)
    unroll /= 2;
  return unroll;
}

bool KernelEmitter::tail_takes_vectors() const {
  return unroll() > 1 && kernel_.body.size() - kernel_.num_hoisted > longest_for_single_vectors;
}

void KernelEmitter::inner_loop() {
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(gpr::remaining, code_.qword[code_.rax + 8 * num_outer()]);
  code_.mark("start of the innermost loop");
  operands_.start_row();
  code_.xor_(gpr::index.cvt32(), gpr::index.cvt32());
  hoisted(false);
  if (operands_.streams()) {
    streaming_row();
    code_.test(gpr::remaining, gpr::remaining);
  } else {
    leave_copied_row();
    vectors(unroll(), false);
  }
  const auto none = code_.jump_if(Condition::zero);
  tail();
  code_.bind(none);
}

/// Until fewer elements are left than an iteration takes.
void KernelEmitter::main_loop(int unrolled, const Step& step) {
  // Past the caches loops that compare the index are up to 6 % faster on Zen 5 than those that
  // count down, in the last cache 3 % slower (docs/decisions/stores.md).
  const bool compares = step.streams;
  if (compares) code_.add(gpr::remaining, gpr::index);
  code_.align(32);
  const std::uint8_t* head = code_.here();
  std::vector<Step> steps(static_cast<std::size_t>(unrolled), step);
  for (int copy = 0; copy < unrolled; ++copy) steps[static_cast<std::size_t>(copy)].copy = copy;
  in_turn(steps);
  code_.add(gpr::index, unrolled * lanes_);
  operands_.advance(unrolled);
  if (compares) {
    code_.cmp(gpr::index, gpr::remaining);
    code_.jump_back_if(Condition::below_equal, head);
    code_.sub(gpr::remaining, gpr::index);
  } else {
    code_.sub(gpr::remaining, unrolled * lanes_);
    code_.jump_back_if(Condition::not_below, head);
  }
}

// `remaining` counts down below zero by what a loop needs to be left, so that one subtraction both
// counts and decides.  Ends with the flags of what remains.
void KernelEmitter::vectors(int unrolled, bool streams) {
  code_.mark(streams ? "vectors, stored past the caches" : "vectors");
  const int full = operands_.full_elements();
  const int full_unrolled = full + (unrolled - 1) * lanes_;
  const bool is_main = unrolled == unroll();
  code_.sub(gpr::remaining, full_unrolled);
  const auto few = code_.jump_if(Condition::below);
  // The loop over single vectors divides.
  const auto outside =
      is_main && has_loop_that_divides() ? divisions_.jump_if_outside() : std::nullopt;
  if (unrolled > 1) {
    Step step{.streams = streams, .is_main = is_main, .in_two_products = is_main};
    const auto inexact =
        is_main && has_loop_that_divides() ? divisions_.jump_if_inexact() : std::nullopt;
    main_loop(unrolled, step);
    if (inexact) {
      const auto done = code_.jump_always();
      code_.bind(*inexact);
      step.in_two_products = false;
      main_loop(unrolled, step);
      code_.bind(done);
    }
    code_.bind(few);
    if (outside) code_.bind(*outside);
    const bool is_last = tail_takes_vectors();
    code_.add(gpr::remaining, is_last ? full_unrolled : full_unrolled - full);
    if (is_last) return;
  }
  const auto fewer = unrolled > 1 ? code_.jump_if(Condition::sign) : few;
  code_.align(32);
  const std::uint8_t* head = code_.here();
  body({.streams = streams, .is_main = is_main && unrolled == 1});
  code_.add(gpr::index, lanes_);
  operands_.advance(1);
  code_.sub(gpr::remaining, lanes_);
  code_.jump_back_if(Condition::not_below, head);
  code_.bind(fewer);
  code_.add(gpr::remaining, full);
}

void KernelEmitter::tail() {
  code_.mark("tail");
  const std::uint8_t* head = code_.here();
  if (operands_.is_simple()) {
    tail_mask();
    body({.is_tail = true});
    if (!tail_takes_vectors()) return;
    code_.add(gpr::index, lanes_);
    operands_.advance(1);
    code_.sub(gpr::remaining, lanes_);
    return code_.jump_back_if(Condition::above, head);
  }
  code_.mov(gpr::count.cvt32(), lanes_);
  code_.cmp(gpr::remaining, gpr::count);
  code_.cmovb(gpr::count, gpr::remaining);
  if (code_.has_avx512()) tail_mask();
  body({.is_tail = true});
  if (operands_.full_elements() == lanes_) return;
  code_.add(gpr::index, lanes_);
  operands_.advance(1);
  code_.sub(gpr::remaining, lanes_);
  code_.jump_back_if(Condition::above, head);
}

// No more bits than lanes: registers of small items may have room for more.
void KernelEmitter::tail_mask() {
  const Opmask mask(Registers::tail_mask_index);
  Reg64 count = operands_.tail_count();
  if (tail_takes_vectors()) {
    count = code_.rcx;
    code_.mov(count.cvt32(), lanes_);
    code_.cmp(gpr::remaining, count);
    code_.cmovb(count, gpr::remaining);
  }
  if (lanes_ <= 32) {
    code_.mov(code_.eax, -1);
    code_.bzhi(code_.eax, code_.eax, count.cvt32());
    code_.kmovd(mask, code_.eax);
  } else {
    code_.mov(code_.rax, -1);
    code_.bzhi(code_.rax, code_.rax, count);
    code_.kmovq(mask, code_.rax);
  }
}

/// The body for several vectors, each instruction for all of them before the next one.
void KernelEmitter::bodies(std::span<const Step> steps) {
  const int num_copies = static_cast<int>(steps.size());
  registers_.start(Registers::Section::body, num_copies);
  for (ir::ValueId id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) {
    code_.mark(id);
    if (bf16_rounding::is_cast(kernel_, kernel_.body[id])) {
      native_bf16_.emit(registers_, kernel_, id, num_copies);
      continue;
    }
    for (int copy = 0; copy < num_copies; ++copy) {
      registers_.select_copy(copy);
      instruction(id, steps[static_cast<std::size_t>(copy)]);
    }
  }
  code_.mark("addresses");
  operands_.advance_copy();
}

/// The body for each step, as many in turn as there are registers for.
void KernelEmitter::in_turn(std::span<const Step> steps) {
  const auto most = static_cast<std::size_t>(copies_in_turn());
  const std::size_t groups = (steps.size() + most - 1) / most;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * steps.size() / groups;
    const std::size_t last = (group + 1) * steps.size() / groups;
    bodies(steps.subspan(first, last - first));
  }
}

void KernelEmitter::hoisted(bool global) {
  if (kernel_.num_hoisted == 0) return;
  registers_.start(Registers::Section::hoisted);
  for (ir::ValueId id = 0; id < kernel_.num_hoisted; ++id) {
    if (registers_.is_global(id) != global) continue;
    code_.mark(id);
    instruction(id, {});
  }
}

void KernelEmitter::instruction(ir::ValueId id, Step step) {
  const ir::Inst& inst = kernel_.body[id];
  if (bf16_rounding::is_cast(kernel_, inst)) return native_bf16_.emit(registers_, kernel_, id, 1);
  switch (inst.op) {
    case Op::load: operands_.load(id, step); break;
    case Op::store: operands_.store(id, step); break;
    case Op::accumulate: accumulate(id, step); break;
    case Op::constant:
      if (registers_.is_lazy(id)) break;
      registers_.is_mask(id) ? void(registers_.use_mask(id)) : void(registers_.use(id));
      break;
    case Op::param: parameter(id); break;
    default: arithmetic(id, step); break;
  }
  if (id < kernel_.num_hoisted) {
    divisions_.prepare(id, main_loop_elements());
    bounds_.prepare(id);
  }
  registers_.finish(id);
}

void KernelEmitter::parameter(ir::ValueId id) {
  const ir::Inst& inst = kernel_.body[id];
  const bool is_bool = inst.dtype == DType::boolean;
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, params)]);
  const Address from = code_.ptr[code_.rax + static_cast<int>(sizeof(Bits)) * inst.operand];
  const Xmm out = is_bool ? registers_.temp(lanes_) : registers_.define(id);
  switch (itemsize_bytes(inst.dtype)) {
    case 1: code_.vpbroadcastb(out, from); break;
    case 2: code_.vpbroadcastw(out, from); break;
    case 4: code_.vpbroadcastd(out, from); break;
    default: code_.vpbroadcastq(out, from); break;
  }
  if (is_bool) mask_from_bytes(registers_, code_, id, out);
}

void KernelEmitter::arithmetic(ir::ValueId id, Step step) {
  const ir::Inst& inst = kernel_.body[id];
  if (step.is_main && divisions_.can_divide(id))
    return divisions_.divide(id, !has_loop_that_divides(), step.in_two_products);
  if (is_call(id)) return emit_call(registers_, code_, kernel_, id);
  if (is_rare_call(inst.op)) return rare_calls_.emit(registers_, id);
  if (involves_masks(kernel_, inst)) return emit_mask_row(registers_, code_, kernel_, id);
  if (inst.op == Op::fma) return multiply_add(id);
  if (inst.op == Op::bitcast || is_high_half(id)) return bitcast(id);
  if (inst.op == Op::cast && is_high_half(inst.args[0])) return high_halves(id);
  if (inst.op == Op::table_entry) return table_entry(id);
  const int arity = info(inst.op).arity;
  const Xmm x = registers_.use(inst.args[0]);
  if (is_constant_shift(kernel_, inst))
    return emit_constant_shift(registers_, code_, kernel_, inst, registers_.define(id), x);
  const Xmm y = arity > 1 ? registers_.use(inst.args[1]) : x;
  const Xmm z = arity > 2 ? registers_.use(inst.args[2]) : x;
  const Xmm out = registers_.define(id);
  if (bounds_.can_emit(id)) return bounds_.emit(id, out, x, y);
  if (is_machine_extremum(kernel_, inst)) return emit_machine_extremum(code_, inst, out, x, y);
  if (inst.op == Op::cast)
    return emit_cast(registers_, code_, result_dtype(kernel_.body[inst.args[0]]), inst.dtype, out,
                     x);
  find_row(inst.op, inst.dtype, code_.features().isa)->emit(registers_, code_, out, x, y, z);
}

void KernelEmitter::table_entry(ir::ValueId id) {
  const ir::Inst& inst = kernel_.body[id];
  const auto number = static_cast<std::uint32_t>(kernel_.body[inst.args[1]].bits.lo);
  const Xmm place = registers_.use(inst.args[0]);
  emit_table_entry(registers_, code_, ir::table_of(std::bit_cast<float>(number)),
                   registers_.define(id), place);
}

bool needs_frame(const ir::Kernel& kernel, const CpuFeatures& features) {
  if (kernel.loops.size() > 1 || kernel.schedule != ir::Schedule::linear || kernel.is_streaming)
    return true;
  if (divides_by_invariants(kernel, features)) return true;
  // AVX2 has no masks for items of one or two bytes: tails go through the frame.
  const auto is_small = [](const ir::Operand& operand) {
    return itemsize_bytes(operand.dtype) < 4 && operand.strides.back() != 0;
  };
  return features.isa != Isa::avx512 &&
         std::any_of(kernel.operands.begin(), kernel.operands.end(), is_small);
}

void emit_kernel(Assembler& code, const ir::Kernel& kernel, bool with_frame) {
  std::optional<ir::Kernel> folded;
  KernelEmitter(code, fold_negatives(kernel, folded), with_frame).emit();
}

void emit_rows(Assembler& code, const ir::Kernel& kernel) {
  std::optional<ir::Kernel> folded;
  KernelEmitter emitter(code, fold_negatives(kernel, folded), true);
  emitter.fold_whole_rows();
  emitter.emit();
}

}  // namespace weft::jit::xbyak
