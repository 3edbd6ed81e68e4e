#include "jit/xbyak/short_transpose.h"

#include <array>

namespace weft::jit::xbyak {

void emit_short_transpose(Assembler& code, int itemsize) {
  code.has_avx512() ? emit_short_transpose_avx512(code, itemsize)
                    : emit_short_transpose_avx2(code, itemsize);
}

RegExp ShortTransposeWalk::nth(const Reg64& base, const Strides& stride, int n) {
  switch (n) {
    case 0: return base;
    case 1: return base + stride.one;
    case 2: return base + stride.one * 2;
    default: return base + stride.three;
  }
}

void ShortTransposeWalk::load_arguments() {
  code_.mov(from_stride_.one, argument(offsetof(tiles::ShortPlanes, from_stride_bytes)));
  code_.mov(to_, argument(offsetof(tiles::ShortPlanes, to)));
  code_.mov(to_stride_.one, argument(offsetof(tiles::ShortPlanes, to_stride_bytes)));
  code_.lea(from_stride_.three, code_.ptr[from_stride_.one + from_stride_.one * 2]);
  code_.lea(to_stride_.three, code_.ptr[to_stride_.one + to_stride_.one * 2]);
  const Reg64 distance(Xbyak::Operand::R11);
  code_.mov(left_, argument(offsetof(tiles::ShortPlanes, num_items)));
  code_.sub(left_, side_);
  code_.mov(slot(left_slot), left_);
  code_.mov(slot(side_slot), side_);
  code_.lea(distance, code_.ptr[left_ * itemsize_]);
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, from_step_bytes)));
  code_.sub(scratch_, distance);
  code_.mov(slot(from_rewind_slot), scratch_);
  code_.mov(distance, left_);
  code_.imul(distance, to_stride_.one);
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, to_step_bytes)));
  code_.sub(scratch_, distance);
  code_.mov(slot(to_rewind_slot), scratch_);
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, count)));
  code_.mov(slot(count_slot), scratch_);
}

void ShortTransposeWalk::transpose_lanes(int width_bytes) {
  const auto vector = [&](int index) { return vector_register(index, width_bytes); };
  if (side_ == 2) {
    code_.vpunpcklqdq(vector(2), vector(0), vector(1));
    code_.vpunpckhqdq(vector(1), vector(0), vector(1));
    code_.move(vector(0), vector(2));
    return;
  }
  for (int k = 0; k < 2; ++k) {
    code_.vpunpckldq(vector(4 + 2 * k), vector(k), vector(k + 2));
    code_.vpunpckhdq(vector(5 + 2 * k), vector(k), vector(k + 2));
  }
  for (int k = 0; k < 2; ++k) {
    code_.vpunpckldq(vector(2 * k), vector(4 + k), vector(6 + k));
    code_.vpunpckhdq(vector(2 * k + 1), vector(4 + k), vector(6 + k));
  }
}

void ShortTransposeWalk::planes() {
  const std::uint8_t* next_plane = code_.here();
  code_.mov(left_, slot(left_slot));
  const std::uint8_t* next_step = code_.here();
  step();
  code_.test(left_, left_);
  const auto is_end = code_.jump_if(Condition::zero);
  code_.mov(scratch_, left_);
  code_.cmp(scratch_, side_);
  code_.cmovg(scratch_, slot(side_slot));
  code_.sub(left_, scratch_);
  move_lines(itemsize_);
  code_.imul(scratch_, to_stride_.one);
  move_to(scratch_);
  code_.jmp(next_step);
  code_.bind(is_end);
  code_.mov(scratch_, slot(from_rewind_slot));
  move_lines(1);
  move_to(slot(to_rewind_slot));
  code_.dec(slot(count_slot));
  code_.jump_back_if(Condition::not_zero, next_plane);
}

void ShortTransposeWalk::emit() {
  static constexpr std::array saved = {Xbyak::Operand::RBX, Xbyak::Operand::RBP,
                                       Xbyak::Operand::R12, Xbyak::Operand::R13,
                                       Xbyak::Operand::R14, Xbyak::Operand::R15};
  for (const auto reg : saved) code_.push(Reg64(reg));
  code_.sub(code_.rsp, frame_bytes);
  load_arguments();
  emit_planes();
  code_.add(code_.rsp, frame_bytes);
  for (auto reg = saved.rbegin(); reg != saved.rend(); ++reg) code_.pop(Reg64(*reg));
  code_.vzeroupper();
  code_.ret();
}

}  // namespace weft::jit::xbyak
