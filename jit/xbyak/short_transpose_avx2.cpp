// Each of two groups of lines fills a register of one lane or two.  There are no masks: the second
// group ends with the last line, and where it overlaps the first both write the same.
#include "jit/xbyak/short_transpose.h"

#include <array>

namespace weft::jit::xbyak {
namespace {

class OverlappingWalk final : public ShortTransposeWalk {
 public:
  using ShortTransposeWalk::ShortTransposeWalk;

 private:
  struct Group {
    int num_lanes;               ///< of its registers
    std::array<Reg64, 2> lanes;  ///< where the first line of each is read
    Reg64 to;
  };

  void emit_planes() override;
  void step() override;
  void move_lines(int scale) override;
  void move_to(const Xbyak::Operand& distance) override {
    for (const Group& group : groups_) code_.add(group.to, distance);
  }
  void planes_of(int num_lanes, int num_more_lanes);
  void point_at_lines();
  void step(const Group& group);

  std::array<Group, 2> groups_{
      Group{1, {Reg64(Xbyak::Operand::R8), Reg64(Xbyak::Operand::R9)}, to_},
      Group{
          1, {Reg64(Xbyak::Operand::R10), Reg64(Xbyak::Operand::R11)}, Reg64(Xbyak::Operand::RAX)}};
};

void OverlappingWalk::point_at_lines() {
  const auto& [first, second] = groups_;
  code_.mov(first.lanes[0], argument(offsetof(tiles::ShortPlanes, from)));
  code_.mov(scratch_, argument(offsetof(tiles::ShortPlanes, num_lines)));
  code_.sub(scratch_, second.num_lanes * side_);
  code_.lea(second.to, code_.ptr[first.to + scratch_ * itemsize_]);
  code_.imul(scratch_, from_stride_.one);
  code_.lea(second.lanes[0], code_.ptr[first.lanes[0] + scratch_]);
  for (const Group& group : groups_)
    if (group.num_lanes == 2)
      code_.lea(group.lanes[1], code_.ptr[group.lanes[0] + from_stride_.one * side_]);
}

void OverlappingWalk::step(const Group& group) {
  const int width_bytes = group.num_lanes * tiles::lane_bytes;
  for (int k = 0; k < side_; ++k)
    for (int lane = 0; lane < group.num_lanes; ++lane) {
      const Reg64& first = group.lanes[static_cast<std::size_t>(lane)];
      code_.load_part(vector_register(k, width_bytes), code_.ptr[nth(first, from_stride_, k)],
                      lane);
    }
  transpose_lanes(width_bytes);
  for (int k = 0; k < side_; ++k)
    code_.vmovups(code_.ptr[nth(group.to, to_stride_, k)], vector_register(k, width_bytes));
}

// If the groups start with the same line, one is enough.
void OverlappingWalk::step() {
  step(groups_[0]);
  code_.cmp(groups_[0].to, groups_[1].to);
  const auto is_one_group = code_.jump_if(Condition::zero);
  step(groups_[1]);
  code_.bind(is_one_group);
}

void OverlappingWalk::move_lines(int scale) {
  for (const Group& group : groups_)
    for (int lane = 0; lane < group.num_lanes; ++lane) {
      const Reg64& at = group.lanes[static_cast<std::size_t>(lane)];
      code_.lea(at, code_.ptr[at + scratch_ * scale]);
    }
}

void OverlappingWalk::planes_of(int num_lanes, int num_more_lanes) {
  groups_[0].num_lanes = num_lanes;
  groups_[1].num_lanes = num_more_lanes;
  point_at_lines();
  planes();
}

void OverlappingWalk::emit_planes() {
  const Address num_lines = argument(offsetof(tiles::ShortPlanes, num_lines));
  code_.cmp(num_lines, 2 * side_);
  const auto is_short = code_.jump_if(Condition::below);
  const auto is_even = code_.jump_if(Condition::zero);
  code_.cmp(num_lines, 3 * side_);
  const auto is_long = code_.jump_if(Condition::above);
  planes_of(2, 1);
  const auto is_done = code_.jump_always();
  code_.bind(is_even);
  code_.bind(is_long);
  planes_of(2, 2);
  const auto is_done_too = code_.jump_always();
  code_.bind(is_short);
  planes_of(1, 1);
  code_.bind(is_done);
  code_.bind(is_done_too);
}

}  // namespace

void emit_short_transpose_avx2(Assembler& code, int itemsize) {
  OverlappingWalk(code, itemsize).emit();
}

}  // namespace weft::jit::xbyak
