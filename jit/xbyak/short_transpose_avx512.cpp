// Lane g of the k-th register has 16 bytes of line g * side + k, as in jit/xbyak/transpose.cpp, so
// that after transposing within lanes a register is a row of what is written, from its first item
// to its last.  Lines that there aren't are read as the last one and masked when stored.
#include "jit/xbyak/short_transpose.h"

#include <array>
#include <vector>

namespace weft::jit::xbyak {
namespace {

constexpr int most_lanes = 4;

class MaskedWalk final : public ShortTransposeWalk {
 public:
  using ShortTransposeWalk::ShortTransposeWalk;

 private:
  void emit_planes() override;
  void step() override;
  void move_lines(int scale) override;
  void move_to(const Xbyak::Operand& distance) override { code_.add(to_, distance); }
  void point_at_lines();
  void load(int k, int width_bytes);

  int num_lanes_ = 1;  ///< that the lines fill
  // Where the lines of a lane are read: of all lanes but the last used by the first of them.
  const std::array<Reg64, most_lanes - 1> lanes_{
      Reg64(Xbyak::Operand::R8), Reg64(Xbyak::Operand::R9), Reg64(Xbyak::Operand::R10)};
  const std::array<Reg64, 4> last_lane_{Reg64(Xbyak::Operand::R11), Reg64(Xbyak::Operand::RAX),
                                        Reg64(Xbyak::Operand::RBX), Reg64(Xbyak::Operand::RBP)};
  const Opmask rows_{1};  ///< the lines that there are
};

// Leaves the number of lanes less one in scratch_.
void MaskedWalk::point_at_lines() {
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

void MaskedWalk::load(int k, int width_bytes) {
  for (int lane = 0; lane < num_lanes_; ++lane) {
    const bool is_last = lane + 1 == num_lanes_;
    const Address at =
        code_.ptr[is_last ? RegExp(last_lane_[static_cast<std::size_t>(k)])
                          : nth(lanes_[static_cast<std::size_t>(lane)], from_stride_, k)];
    code_.load_part(vector_register(k, width_bytes), at, lane);
  }
}

void MaskedWalk::step() {
  const int width_bytes = num_lanes_ == 3 ? 64 : num_lanes_ * tiles::lane_bytes;
  for (int k = 0; k < side_; ++k) load(k, width_bytes);
  transpose_lanes(width_bytes);
  for (int k = 0; k < side_; ++k) {
    const Address at = code_.ptr[nth(to_, to_stride_, k)];
    const Xmm row = vector_register(k, width_bytes);
    itemsize_ == 4 ? code_.vmovups(at | rows_, row) : code_.vmovupd(at | rows_, row);
  }
}

void MaskedWalk::move_lines(int scale) {
  for (int lane = 0; lane + 1 < num_lanes_; ++lane) {
    const Reg64 line = lanes_[static_cast<std::size_t>(lane)];
    code_.lea(line, code_.ptr[line + scratch_ * scale]);
  }
  for (int k = 0; k < side_; ++k) {
    const Reg64 line = last_lane_[static_cast<std::size_t>(k)];
    code_.lea(line, code_.ptr[line + scratch_ * scale]);
  }
}

void MaskedWalk::emit_planes() {
  point_at_lines();
  std::vector<Assembler::Jump> ends;
  for (num_lanes_ = 1; num_lanes_ < most_lanes; ++num_lanes_) {
    code_.cmp(scratch_, num_lanes_ - 1);
    const auto has_more = code_.jump_if(Condition::not_zero);
    planes();
    ends.push_back(code_.jump_always());
    code_.bind(has_more);
  }
  planes();
  for (const auto end : ends) code_.bind(end);
}

}  // namespace

void emit_short_transpose_avx512(Assembler& code, int itemsize) {
  MaskedWalk(code, itemsize).emit();
}

}  // namespace weft::jit::xbyak
