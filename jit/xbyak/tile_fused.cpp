// Rows of a tile of which some inputs lie along the columns, without a buffer: as many lines of
// such an input as there are lanes are read 16 bytes at a time, transposed in registers that are
// reserved for it, and give the vectors of as many rows as 16 bytes have items.  The body is then
// emitted once a row.
#include "jit/xbyak/tile_fused.h"

#include "jit/tiles/tile.h"
#include "jit/xbyak/kernel_emitter.h"
#include "jit/xbyak/signs.h"

#include <bit>

namespace weft::jit::xbyak {
namespace {

using tiles::lane_bytes;

bool has_calls(const ir::Kernel& kernel, const CpuFeatures& features) {
  return !calls_of(kernel, features.isa).empty() ||
         std::ranges::any_of(kernel.body,
                             [&](const ir::Inst& inst) { return is_rare_call(inst.op); });
}

void prefetch(Assembler& code, const RegExp& place, bool into_second) {
  into_second ? code.prefetcht1(code.ptr[place]) : code.prefetcht0(code.ptr[place]);
}

}  // namespace

bool emit_fused_rows(Assembler& code, const ir::Kernel& kernel, bool is_large) {
  if (has_calls(kernel, code.features())) return false;
  const std::vector<std::size_t> transposed = tiles::transposed_operands(kernel);
  ir::Kernel rows = tiles::row_kernel(kernel);
  rows.is_streaming = rows.is_unfenced = is_large && tiles::fused_rows_stream(kernel);
  std::uint64_t held = 0;
  for (const std::size_t operand : transposed) held |= std::uint64_t{1} << operand;
  const int num_reserved =
      static_cast<int>(transposed.size()) * tiles::fused_rows_a_step(kernel) + 1;
  // The rows' kernel no longer knows which of its operands were transposed.
  const std::vector<std::size_t> asked =
      is_large ? tiles::asked_rows(kernel) : std::vector<std::size_t>();
  std::optional<ir::Kernel> folded;
  return KernelEmitter(code, fold_negatives(rows, folded), true, held, num_reserved)
      .emit_fused(transposed, is_large, asked);
}

bool KernelEmitter::emit_fused(std::span<const std::size_t> transposed, bool is_large,
                               std::span<const std::size_t> asked) {
  if (!operands_.has_all_registers()) return false;
  fused_asks_ahead_ = is_large;
  fused_asks_in_steps_ = !asked.empty();
  fused_slots_.assign(kernel_.operands.size(), {});
  for (const std::size_t operand : transposed) fused_slots_[operand].is_held = true;
  for (const std::size_t operand : asked) fused_slots_[operand].is_asked = true;
  take_fused_registers();
  prologue();
  hoisted(true);
  start_fused();
  fused_rows();
  epilogue();
  return true;
}

// What the innermost loop changes or adds stays in registers as long as there are any.  Large calls
// lose by it (docs/decisions/tiles.md).
void KernelEmitter::take_fused_registers() {
  if (fused_asks_ahead_) return;
  steps_left_ = operands_.take_spare_register();
  for (FusedSlots& slots : fused_slots_)
    if (!slots.is_held) slots.step_register = operands_.take_spare_register();
}

// The registers of each transposed input, and the distances that do not change.
void KernelEmitter::start_fused() {
  code_.mov(code_.rcx, code_.qword[gpr::arguments + offsetof(KernelArgs, base)]);
  operands_.start_rows(code_.rcx);
  code_.mov(code_.rcx, code_.qword[gpr::arguments + offsetof(KernelArgs, stride_bytes)]);
  const std::size_t num_operands = kernel_.operands.size();
  int next_register = code_.num_vectors() - 1;
  spare_ = next_register--;
  for (std::size_t i = 0; i < num_operands; ++i) {
    FusedSlots& slots = fused_slots_[i];
    slots.step = code_.allocate_frame(8, 8);
    slots.block = code_.allocate_frame(8, 8);
    if (slots.is_held) {
      const Operands::Held held = operands_.held(i);
      code_.mov(held.stride, code_.qword[code_.rcx + static_cast<int>(8 * (num_operands + i))]);
      code_.lea(held.stride3, code_.ptr[held.stride + held.stride * 2]);
      code_.imul(code_.rax, held.stride, lanes_);
      for (int row = 0; row < tiles::fused_rows_a_step(kernel_); ++row)
        operands_.hold(i, row, next_register--);
    } else {
      code_.mov(code_.rax, code_.qword[code_.rcx + static_cast<int>(8 * i)]);
    }
    code_.mov(code_.qword[code_.frame(slots.step)], code_.rax);
    if (slots.step_register) code_.mov(*slots.step_register, code_.rax);
    if (!fused_asks_ahead_) continue;
    slots.not_aliasing = code_.allocate_frame(8, 8);
    code_.mov(code_.rcx, slots.is_held ? operands_.held(i).stride : code_.rax);
    code_.and_(code_.ecx, tiles::aliasing_bytes - 1);
    code_.mov(code_.qword[code_.frame(slots.not_aliasing)], code_.rcx);
    code_.mov(code_.rcx, code_.qword[gpr::arguments + offsetof(KernelArgs, stride_bytes)]);
    slots.ahead = code_.allocate_frame(8, 8);
    if (!slots.is_asked) continue;
    code_.imul(code_.rax, code_.rax, tiles::fused_rows_ahead);
    code_.mov(code_.qword[code_.frame(slots.ahead)], code_.rax);
  }
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(code_.rax, code_.qword[code_.rax]);
  code_.shr(code_.rax, std::countr_zero(static_cast<unsigned>(tiles::fused_rows_a_step(kernel_))));
  code_.mov(code_.qword[code_.frame(counters_slot_)], code_.rax);
  steps_slot_ = code_.allocate_frame(8, 8);
  steps_left_slot_ = code_.allocate_frame(8, 8);
}

// As many steps as read a line of the cache to its end, or are left; and how far they lead.
void KernelEmitter::start_block() {
  code_.mov(code_.ecx, tiles::fused_steps_a_block);
  code_.cmp(code_.rcx, code_.qword[code_.frame(counters_slot_)]);
  code_.cmova(code_.rcx, code_.qword[code_.frame(counters_slot_)]);
  code_.mov(code_.qword[code_.frame(steps_slot_)], code_.rcx);
  code_.sub(code_.qword[code_.frame(counters_slot_)], code_.rcx);
  for (std::size_t i = 0; i < fused_slots_.size(); ++i) {
    const FusedSlots& slots = fused_slots_[i];
    code_.mov(code_.rax, code_.rcx);
    if (slots.is_held) {  // from behind the last step to the next columns
      code_.imul(code_.rax, code_.rax, -lane_bytes);
      code_.add(code_.rax, code_.qword[code_.frame(slots.step)]);
      code_.mov(operands_.held(i).at, code_.qword[code_.frame(operands_.held(i).row_slot)]);
    } else {
      code_.imul(code_.rax, code_.rax, tiles::fused_rows_a_step(kernel_));
      code_.imul(code_.rax, code_.qword[code_.frame(slots.step)]);
    }
    code_.mov(code_.qword[code_.frame(slots.block)], code_.rax);
  }
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(gpr::remaining, code_.qword[code_.rax + 8]);
  code_.xor_(gpr::index.cvt32(), gpr::index.cvt32());
}

// Lines that fight for the first cache are asked into the second, which holds more that are as far
// apart.
void KernelEmitter::fetch_ahead(std::size_t operand,
                                const std::function<void(bool into_second)>& fetch_all) {
  code_.cmp(code_.qword[code_.frame(fused_slots_[operand].not_aliasing)], 0);
  const auto is_aliasing = code_.jump_if(Condition::zero);
  fetch_all(false);
  const auto is_done = code_.jump_always();
  code_.bind(is_aliasing);
  fetch_all(true);
  code_.bind(is_done);
}

void KernelEmitter::start_fetching_lines() {
  for (std::size_t i = 0; i < fused_slots_.size() && fused_asks_ahead_; ++i) {
    if (!fused_slots_[i].is_held) continue;
    code_.lea(code_.rax, code_.ptr[operands_.held(i).at + tiles::fused_bytes_ahead]);
    code_.mov(code_.qword[code_.frame(fused_slots_[i].ahead)], code_.rax);
  }
  if (fused_asks_ahead_ && !fused_asks_in_steps_) fetch_lines_ahead(lanes_);
}

// The next `count` of a block's lines that the next blocks read.
void KernelEmitter::fetch_lines_ahead(int count) {
  for (std::size_t i = 0; i < fused_slots_.size(); ++i) {
    if (!fused_slots_[i].is_held) continue;
    const auto [at, stride, stride3, row_slot] = operands_.held(i);
    const auto next_line = code_.qword[code_.frame(fused_slots_[i].ahead)];
    code_.mov(code_.rax, next_line);
    fetch_ahead(i, [&](bool into_second) {
      for (int line = 0; line < count; ++line) {
        if (line > 0 && line % 4 == 0) code_.lea(code_.rax, code_.ptr[code_.rax + stride * 4]);
        const RegExp place = line % 4 == 0   ? RegExp(code_.rax)
                             : line % 4 == 1 ? code_.rax + stride
                             : line % 4 == 2 ? code_.rax + stride * 2
                                             : RegExp(code_.rax) + stride3;
        prefetch(code_, place, into_second);
      }
    });
    if (count == lanes_) continue;
    code_.lea(code_.rax, code_.ptr[code_.rax + stride * std::min(count, 4)]);
    code_.mov(next_line, code_.rax);
  }
}

void KernelEmitter::fetch_rows_ahead() {
  for (std::size_t i = 0; i < fused_slots_.size(); ++i) {
    const FusedSlots& slots = fused_slots_[i];
    if (!slots.is_asked) continue;
    const auto itemsize = static_cast<int>(itemsize_bytes(kernel_.operands[i].dtype));
    code_.mov(code_.rax, code_.qword[code_.frame(slots.ahead)]);
    code_.add(code_.rax, operands_.pointer(i));
    fetch_ahead(i, [&](bool into_second) {
      for (int row = 0; row < tiles::fused_rows_a_step(kernel_); ++row) {
        if (row > 0) code_.add(code_.rax, code_.qword[code_.frame(slots.step)]);
        prefetch(code_, code_.rax + gpr::index * itemsize, into_second);
      }
    });
  }
}

void KernelEmitter::fused_step() {
  if (fused_asks_in_steps_) fetch_lines_ahead(lanes_ / tiles::fused_steps_a_block);
  for (std::size_t i = 0; i < fused_slots_.size(); ++i) {
    if (!fused_slots_[i].is_held) continue;
    transpose_lines(i);
    code_.add(operands_.held(i).at, lane_bytes);
  }
  fetch_rows_ahead();
  for (int row = 0; row < tiles::fused_rows_a_step(kernel_); ++row) {
    body({.streams = kernel_.is_streaming, .row = row});
    for (std::size_t i = 0; i < fused_slots_.size(); ++i)
      if (!fused_slots_[i].is_held) next_fused_row(i);
  }
}

void KernelEmitter::next_fused_row(std::size_t operand) {
  const FusedSlots& slots = fused_slots_[operand];
  if (slots.step_register)
    code_.add(operands_.pointer(operand), *slots.step_register);
  else
    code_.add(operands_.pointer(operand), code_.qword[code_.frame(slots.step)]);
}

void KernelEmitter::fused_rows() {
  const auto slot = [&](int offset) { return code_.qword[code_.frame(offset)]; };
  const std::uint8_t* next_block = code_.here();
  start_block();
  const std::uint8_t* next_columns = code_.here();
  start_fetching_lines();
  if (!steps_left_) code_.mov(code_.rax, slot(steps_slot_));
  steps_left_ ? code_.mov(*steps_left_, slot(steps_slot_))
              : code_.mov(slot(steps_left_slot_), code_.rax);
  code_.align(32);
  const std::uint8_t* next_step = code_.here();
  fused_step();
  steps_left_ ? code_.dec(*steps_left_) : code_.dec(slot(steps_left_slot_));
  code_.jump_back_if(Condition::not_zero, next_step);
  for (std::size_t i = 0; i < fused_slots_.size(); ++i)
    fused_slots_[i].is_held ? code_.add(operands_.held(i).at, slot(fused_slots_[i].block))
                            : code_.sub(operands_.pointer(i), slot(fused_slots_[i].block));
  code_.add(gpr::index, lanes_);
  code_.sub(gpr::remaining, lanes_);
  code_.jump_back_if(Condition::not_zero, next_columns);
  code_.mov(code_.rcx, slot(steps_slot_));
  code_.imul(code_.rcx, code_.rcx, lane_bytes);
  for (std::size_t i = 0; i < fused_slots_.size(); ++i)
    fused_slots_[i].is_held ? code_.add(slot(operands_.held(i).row_slot), code_.rcx)
                            : code_.add(operands_.pointer(i), slot(fused_slots_[i].block));
  code_.cmp(slot(counters_slot_), 0);
  code_.jump_back_if(Condition::not_zero, next_block);
}

void KernelEmitter::interleave_items(int itemsize, bool upper, int out, int x, int y) {
  const auto whole = [&](int index) { return vector_register(index, kernel_.vector_bytes); };
  const Xmm to = whole(out), from = whole(x), other = whole(y);
  switch (itemsize) {
    case 2: return upper ? code_.vpunpckhwd(to, from, other) : code_.vpunpcklwd(to, from, other);
    case 4: return upper ? code_.vpunpckhdq(to, from, other) : code_.vpunpckldq(to, from, other);
    default: return upper ? code_.vpunpckhqdq(to, from, other) : code_.vpunpcklqdq(to, from, other);
  }
}

// As in transpose.cpp, in place but for one register.
void KernelEmitter::transpose_lines(std::size_t operand) {
  const auto [at, stride, stride3, row_slot] = operands_.held(operand);
  const int side = tiles::fused_rows_a_step(kernel_);
  code_.mark("lines to columns");
  std::vector<int> values;
  for (int row = 0; row < side; ++row) values.push_back(operands_.held_register(operand, row));
  std::ranges::sort(values);
  // Four lines on is where the next ones start: in one of two registers, in turn.
  Reg64 base = at;
  for (int line = 0; line < lanes_; ++line) {
    const int k = line % 4;
    if (line > 0 && k == 0) {
      const Reg64 next = base.getIdx() == code_.rax.getIdx() ? code_.rcx : code_.rax;
      code_.lea(next, code_.ptr[base + stride * 4]);
      base = next;
    }
    const RegExp place = k == 0   ? RegExp(base)
                         : k == 1 ? base + stride
                         : k == 2 ? base + stride * 2
                                  : RegExp(base) + stride3;
    const int index = values[static_cast<std::size_t>(line % side)];
    code_.load_part(vector_register(index, kernel_.vector_bytes), code_.ptr[place], line / side);
  }
  const auto itemsize = static_cast<int>(itemsize_bytes(kernel_.operands[operand].dtype));
  for (int width = 1; width < side; width *= 2) {
    std::vector<int> next;
    for (int k = 0; k < side / 2; ++k) {
      const int x = values[static_cast<std::size_t>(k)];
      const int y = values[static_cast<std::size_t>(k + side / 2)];
      interleave_items(itemsize, false, spare_, x, y);
      interleave_items(itemsize, true, y, x, y);
      next.insert(next.end(), {spare_, y});
      spare_ = x;
    }
    values = next;
  }
  for (int row = 0; row < side; ++row)
    operands_.hold(operand, row, values[static_cast<std::size_t>(row)]);
}

}  // namespace weft::jit::xbyak
