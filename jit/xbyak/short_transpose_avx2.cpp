// A step takes 16 bytes from each line of two groups, each of which fills a register of one lane or
// two, as in short_transpose.cpp.  There are no masks: the second group ends with the last line,
// and where it overlaps the first both write the same.
#include "jit/xbyak/short_transpose.h"

#include <array>

namespace weft::jit::xbyak {
namespace {

using tiles::lane_bytes;

class ShortTransposeEmitter {
 public:
  ShortTransposeEmitter(Assembler& code, int itemsize)
      : code_(code), itemsize_(itemsize), side_(lane_bytes / itemsize) {}

  void emit();

 private:
  struct Group {
    std::array<Reg64, 2> lanes;  ///< where the first line of each is read
    Reg64 to;
  };

  void load_arguments();
  using Lanes = std::array<int, 2>;  ///< of each group's registers

  void planes_of(Lanes num_lanes);
  void point_at_lines(Lanes num_lanes);
  void step(const Group& group, int num_lanes);
  void move_from(const Reg64& distance, int scale, Lanes num_lanes);
  void move_to(const Reg64& distance);
  Address argument(std::size_t offset) const { return code_.qword[code_.rdi + offset]; }
  Address slot(int index) const { return code_.qword[code_.rsp + 8 * index]; }

  Assembler& code_;
  const int itemsize_;
  const int side_;  ///< items of a lane

  const std::array<Group, 2> groups_{
      Group{{Reg64(Xbyak::Operand::RSI), Reg64(Xbyak::Operand::R8)}, Reg64(Xbyak::Operand::RDX)},
      Group{{Reg64(Xbyak::Operand::R9), Reg64(Xbyak::Operand::R10)}, Reg64(Xbyak::Operand::R11)}};
  const Strides from_{Reg64(Xbyak::Operand::RCX), Reg64(Xbyak::Operand::R12)};
  const Strides to_{Reg64(Xbyak::Operand::RAX), Reg64(Xbyak::Operand::R13)};
  const Reg64 left_{Xbyak::Operand::R14};  ///< items between this step and the last
  const Reg64 scratch_{Xbyak::Operand::R15};
  const Reg64 scratch2_{Xbyak::Operand::RBX};

  static constexpr int side_slot = 0;
  static constexpr int from_rewind_slot = 1;  ///< from a plane's last step to the next plane
  static constexpr int to_rewind_slot = 2;
  static constexpr int count_slot = 3;
  static constexpr int frame_bytes = 32;
};

void ShortTransposeEmitter::load_arguments() {
  code_.mov(from_.one, argument(offsetof(tiles::ShortPlanes, from_stride_bytes)));
  code_.mov(to_.one, argument(offsetof(tiles::ShortPlanes, to_stride_bytes)));
  code_.lea(from_.three, code_.ptr[from_.one + from_.one * 2]);
  code_.lea(to_.three, code_.ptr[to_.one + to_.one * 2]);
  code_.mov(slot(side_slot), side_);
  code_.mov(left_, argument(offsetof(tiles::ShortPlanes, num_items)));
  code_.sub(left_, side_);
  code_.lea(scratch2_, code_.ptr[left_ * itemsize_]);
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, from_step_bytes)));
  code_.sub(scratch_, scratch2_);
  code_.mov(slot(from_rewind_slot), scratch_);
  code_.imul(left_, to_.one);
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, to_step_bytes)));
  code_.sub(scratch_, left_);
  code_.mov(slot(to_rewind_slot), scratch_);
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, count)));
  code_.mov(slot(count_slot), scratch_);
}

void ShortTransposeEmitter::point_at_lines(Lanes num_lanes) {
  const auto& [first, second] = groups_;
  code_.mov(first.lanes[0], argument(offsetof(tiles::ShortPlanes, from)));
  code_.mov(first.to, argument(offsetof(tiles::ShortPlanes, to)));
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, num_lines)));
  code_.sub(scratch_, num_lanes[1] * side_);
  code_.lea(second.to, code_.ptr[first.to + scratch_ * itemsize_]);
  code_.imul(scratch_, from_.one);
  code_.lea(second.lanes[0], code_.ptr[first.lanes[0] + scratch_]);
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (num_lanes[i] == 2)
      code_.lea(groups_[i].lanes[1], code_.ptr[groups_[i].lanes[0] + from_.one * side_]);
}

void ShortTransposeEmitter::step(const Group& group, int num_lanes) {
  const int width_bytes = num_lanes * lane_bytes;
  for (int k = 0; k < side_; ++k)
    for (int lane = 0; lane < num_lanes; ++lane) {
      const Reg64& first = group.lanes[static_cast<std::size_t>(lane)];
      code_.load_part(vector_register(k, width_bytes), code_.ptr[nth(first, from_, k)], lane);
    }
  transpose_lanes(code_, side_, width_bytes);
  for (int k = 0; k < side_; ++k)
    code_.vmovups(code_.ptr[nth(group.to, to_, k)], vector_register(k, width_bytes));
}

void ShortTransposeEmitter::move_from(const Reg64& distance, int scale, Lanes num_lanes) {
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (int lane = 0; lane < num_lanes[i]; ++lane) {
      const Reg64& at = groups_[i].lanes[static_cast<std::size_t>(lane)];
      code_.lea(at, code_.ptr[at + distance * scale]);
    }
}

void ShortTransposeEmitter::move_to(const Reg64& distance) {
  for (const Group& group : groups_) code_.add(group.to, distance);
}

// All planes.  If the groups start with the same line, one is enough.
void ShortTransposeEmitter::planes_of(Lanes num_lanes) {
  point_at_lines(num_lanes);
  const std::uint8_t* next_plane = code_.here();
  code_.mov(left_, argument(offsetof(tiles::ShortPlanes, num_items)));
  code_.sub(left_, side_);
  const std::uint8_t* next_step = code_.here();
  step(groups_[0], num_lanes[0]);
  code_.cmp(groups_[0].to, groups_[1].to);
  const auto is_one_group = code_.jump_if(Condition::zero);
  step(groups_[1], num_lanes[1]);
  code_.bind(is_one_group);
  code_.test(left_, left_);
  const auto is_end = code_.jump_if(Condition::zero);
  code_.mov(scratch_, left_);
  code_.cmp(scratch_, side_);
  code_.cmovg(scratch_, slot(side_slot));
  code_.sub(left_, scratch_);
  move_from(scratch_, itemsize_, num_lanes);
  code_.imul(scratch_, to_.one);
  move_to(scratch_);
  code_.jmp(next_step);
  code_.bind(is_end);
  code_.mov(scratch_, slot(from_rewind_slot));
  move_from(scratch_, 1, num_lanes);
  code_.mov(scratch_, slot(to_rewind_slot));
  move_to(scratch_);
  code_.dec(slot(count_slot));
  code_.jump_back_if(Condition::not_zero, next_plane);
}

void ShortTransposeEmitter::emit() {
  static constexpr std::array saved = {Xbyak::Operand::RBX, Xbyak::Operand::R12,
                                       Xbyak::Operand::R13, Xbyak::Operand::R14,
                                       Xbyak::Operand::R15};
  for (const auto reg : saved) code_.push(Reg64(reg));
  code_.sub(code_.rsp, frame_bytes);
  load_arguments();
  const Address num_lines = argument(offsetof(tiles::ShortPlanes, num_lines));
  code_.cmp(num_lines, 2 * side_);
  const auto is_short = code_.jump_if(Condition::below);
  const auto is_even = code_.jump_if(Condition::zero);
  code_.cmp(num_lines, 3 * side_);
  const auto is_long = code_.jump_if(Condition::above);
  planes_of({2, 1});
  const auto is_done = code_.jump_always();
  code_.bind(is_even);
  code_.bind(is_long);
  planes_of({2, 2});
  const auto is_done_too = code_.jump_always();
  code_.bind(is_short);
  planes_of({1, 1});
  code_.bind(is_done);
  code_.bind(is_done_too);
  code_.add(code_.rsp, frame_bytes);
  for (auto reg = saved.rbegin(); reg != saved.rend(); ++reg) code_.pop(Reg64(*reg));
  code_.vzeroupper();
  code_.ret();
}

}  // namespace

void emit_short_transpose_avx2(Assembler& code, int itemsize) {
  ShortTransposeEmitter(code, itemsize).emit();
}

}  // namespace weft::jit::xbyak
