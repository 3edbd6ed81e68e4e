// A step takes 16 bytes from each line: lane g of the k-th register has those of line g * side + k,
// as in jit/xbyak/transpose.cpp, so that after transposing within lanes a register is a row of what
// is written, from its first item to its last.  Lines that there aren't are read as the last one
// and masked when stored; a step that would reach past a line's end starts earlier instead.
#include "jit/xbyak/short_transpose.h"

#include <array>
#include <vector>

namespace weft::jit::xbyak {
namespace {

using tiles::lane_bytes;
constexpr int most_lanes = 4;

class ShortTransposeEmitter {
 public:
  ShortTransposeEmitter(Assembler& code, int itemsize)
      : code_(code), itemsize_(itemsize), side_(lane_bytes / itemsize) {}

  void emit();

 private:
  void load_arguments();
  void point_at_lines();
  void planes_of(int num_lanes);
  void step(int num_lanes);
  void load(int k, int num_lanes, int width_bytes);
  void move_lines(int num_lanes, int scale);
  Address argument(std::size_t offset) const { return code_.qword[code_.rdi + offset]; }
  Address slot(int index) const { return code_.qword[code_.rsp + 8 * index]; }

  Assembler& code_;
  const int itemsize_;
  const int side_;  ///< items of a lane

  // Where the lines of a lane are read: of all lanes but the last used by the first of them.
  const std::array<Reg64, most_lanes - 1> lanes_{
      Reg64(Xbyak::Operand::R8), Reg64(Xbyak::Operand::R9), Reg64(Xbyak::Operand::R10)};
  const std::array<Reg64, 4> last_lane_{Reg64(Xbyak::Operand::R11), Reg64(Xbyak::Operand::RAX),
                                        Reg64(Xbyak::Operand::RBX), Reg64(Xbyak::Operand::RBP)};
  const Strides from_stride_{Reg64(Xbyak::Operand::RSI), Reg64(Xbyak::Operand::R12)};
  const Reg64 to_{Xbyak::Operand::RDX};
  const Strides to_stride_{Reg64(Xbyak::Operand::RCX), Reg64(Xbyak::Operand::R13)};
  const Reg64 left_{Xbyak::Operand::R14};  ///< items between this step and the last
  const Reg64 scratch_{Xbyak::Operand::R15};
  const Opmask rows_{1};  ///< the lines that there are

  static constexpr int left_slot = 0;  ///< of a plane's first step
  static constexpr int side_slot = 1;
  static constexpr int from_rewind_slot = 2;  ///< from a plane's last step to the next plane
  static constexpr int to_rewind_slot = 3;
  static constexpr int count_slot = 4;
  static constexpr int frame_bytes = 40;
};

void ShortTransposeEmitter::load_arguments() {
  code_.mov(from_stride_.one, argument(offsetof(tiles::ShortPlanes, from_stride_bytes)));
  code_.mov(to_, argument(offsetof(tiles::ShortPlanes, to)));
  code_.mov(to_stride_.one, argument(offsetof(tiles::ShortPlanes, to_stride_bytes)));
  code_.lea(from_stride_.three, code_.ptr[from_stride_.one + from_stride_.one * 2]);
  code_.lea(to_stride_.three, code_.ptr[to_stride_.one + to_stride_.one * 2]);
  const Reg64 distance = last_lane_[0];
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

// Leaves the number of lanes less one in scratch_.
void ShortTransposeEmitter::point_at_lines() {
  const Reg64 last_line = left_, first = lanes_[0];
  code_.mov(last_line, argument(offsetof(tiles::ShortPlanes, num_lines)));
  code_.mov(scratch_.cvt32(), -1);
  code_.bzhi(scratch_.cvt32(), scratch_.cvt32(), last_line.cvt32());
  code_.kmovw(rows_, scratch_.cvt32());
  code_.dec(last_line);
  code_.mov(first, argument(offsetof(tiles::ShortPlanes, from)));
  code_.mov(last_lane_[0], last_line);
  code_.and_(last_lane_[0], -side_);
  for (int k = 1; k < side_; ++k) {
    const Reg64 line = last_lane_[static_cast<std::size_t>(k)];
    code_.lea(line, code_.ptr[last_lane_[0] + k]);
    code_.cmp(line, last_line);
    code_.cmovg(line, last_line);
  }
  for (int k = 0; k < side_; ++k) {
    const Reg64 line = last_lane_[static_cast<std::size_t>(k)];
    code_.imul(line, from_stride_.one);
    code_.add(line, first);
  }
  code_.imul(scratch_, from_stride_.one, side_);
  code_.lea(lanes_[1], code_.ptr[first + scratch_]);
  code_.lea(lanes_[2], code_.ptr[lanes_[1] + scratch_]);
  code_.mov(scratch_, last_line);
  code_.shr(scratch_, side_ == 4 ? 2 : 1);
}

void ShortTransposeEmitter::load(int k, int num_lanes, int width_bytes) {
  for (int lane = 0; lane < num_lanes; ++lane) {
    const bool is_last = lane + 1 == num_lanes;
    const Address at =
        code_.ptr[is_last ? RegExp(last_lane_[static_cast<std::size_t>(k)])
                          : nth(lanes_[static_cast<std::size_t>(lane)], from_stride_, k)];
    code_.load_part(vector_register(k, width_bytes), at, lane);
  }
}

void ShortTransposeEmitter::step(int num_lanes) {
  const int width_bytes = num_lanes == 3 ? 64 : num_lanes * lane_bytes;
  for (int k = 0; k < side_; ++k) load(k, num_lanes, width_bytes);
  transpose_lanes(code_, side_, width_bytes);
  for (int k = 0; k < side_; ++k) {
    const Address at = code_.ptr[nth(to_, to_stride_, k)];
    const Xmm row = vector_register(k, width_bytes);
    itemsize_ == 4 ? code_.vmovups(at | rows_, row) : code_.vmovupd(at | rows_, row);
  }
}

// Moves all pointers to lines by scratch_ * scale bytes.
void ShortTransposeEmitter::move_lines(int num_lanes, int scale) {
  for (int lane = 0; lane + 1 < num_lanes; ++lane) {
    const Reg64 line = lanes_[static_cast<std::size_t>(lane)];
    code_.lea(line, code_.ptr[line + scratch_ * scale]);
  }
  for (int k = 0; k < side_; ++k) {
    const Reg64 line = last_lane_[static_cast<std::size_t>(k)];
    code_.lea(line, code_.ptr[line + scratch_ * scale]);
  }
}

// All planes, for lines that fill `num_lanes` lanes.
void ShortTransposeEmitter::planes_of(int num_lanes) {
  const std::uint8_t* next_plane = code_.here();
  code_.mov(left_, slot(left_slot));
  const std::uint8_t* next_step = code_.here();
  step(num_lanes);
  code_.test(left_, left_);
  const auto is_end = code_.jump_if(Condition::zero);
  code_.mov(scratch_, left_);
  code_.cmp(scratch_, side_);
  code_.cmovg(scratch_, slot(side_slot));
  code_.sub(left_, scratch_);
  move_lines(num_lanes, itemsize_);
  code_.imul(scratch_, to_stride_.one);
  code_.add(to_, scratch_);
  code_.jmp(next_step);
  code_.bind(is_end);
  code_.mov(scratch_, slot(from_rewind_slot));
  move_lines(num_lanes, 1);
  code_.add(to_, slot(to_rewind_slot));
  code_.dec(slot(count_slot));
  code_.jump_back_if(Condition::not_zero, next_plane);
}

void ShortTransposeEmitter::emit() {
  static constexpr std::array saved = {Xbyak::Operand::RBX, Xbyak::Operand::RBP,
                                       Xbyak::Operand::R12, Xbyak::Operand::R13,
                                       Xbyak::Operand::R14, Xbyak::Operand::R15};
  for (const auto reg : saved) code_.push(Reg64(reg));
  code_.sub(code_.rsp, frame_bytes);
  load_arguments();
  point_at_lines();
  std::vector<Assembler::Jump> ends;
  for (int num_lanes = 1; num_lanes < most_lanes; ++num_lanes) {
    code_.cmp(scratch_, num_lanes - 1);
    const auto has_more = code_.jump_if(Condition::not_zero);
    planes_of(num_lanes);
    ends.push_back(code_.jump_always());
    code_.bind(has_more);
  }
  planes_of(most_lanes);
  for (const auto end : ends) code_.bind(end);
  code_.add(code_.rsp, frame_bytes);
  for (auto reg = saved.rbegin(); reg != saved.rend(); ++reg) code_.pop(Reg64(*reg));
  code_.vzeroupper();
  code_.ret();
}

}  // namespace

void emit_short_transpose(Assembler& code, int itemsize) {
  if (!code.has_avx512()) return emit_short_transpose_avx2(code, itemsize);
  ShortTransposeEmitter(code, itemsize).emit();
}

RegExp nth(const Reg64& base, const Strides& stride, int n) {
  switch (n) {
    case 0: return base;
    case 1: return base + stride.one;
    case 2: return base + stride.one * 2;
    default: return base + stride.three;
  }
}

void transpose_lanes(Assembler& code, int side, int width_bytes) {
  const auto vector = [&](int index) { return vector_register(index, width_bytes); };
  if (side == 2) {
    code.vpunpcklqdq(vector(2), vector(0), vector(1));
    code.vpunpckhqdq(vector(1), vector(0), vector(1));
    code.move(vector(0), vector(2));
    return;
  }
  for (int k = 0; k < 2; ++k) {
    code.vpunpckldq(vector(4 + 2 * k), vector(k), vector(k + 2));
    code.vpunpckhdq(vector(5 + 2 * k), vector(k), vector(k + 2));
  }
  for (int k = 0; k < 2; ++k) {
    code.vpunpckldq(vector(2 * k), vector(4 + k), vector(6 + k));
    code.vpunpckhdq(vector(2 * k + 1), vector(4 + k), vector(6 + k));
  }
}

}  // namespace weft::jit::xbyak
