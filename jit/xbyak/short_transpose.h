// Machine code that transposes planes of few lines, many of them in one call.
#pragma once

#include "jit/tiles/functions.h"
#include "jit/xbyak/assembler.h"

namespace weft::jit::xbyak {

/// Emits a ShortTransposeFunction at the end of `code`.
void emit_short_transpose(Assembler& code, int itemsize);

/// The walk through planes, step by step; instruction sets differ in what a step reads and writes.
/// A step takes 16 bytes from each line.  One that would reach past a line's end starts earlier.
class ShortTransposeWalk {
 public:
  ShortTransposeWalk(Assembler& code, int itemsize)
      : code_(code), itemsize_(itemsize), side_(tiles::lane_bytes / itemsize) {}
  virtual ~ShortTransposeWalk() = default;
  ShortTransposeWalk(const ShortTransposeWalk&) = delete;
  ShortTransposeWalk& operator=(const ShortTransposeWalk&) = delete;

  void emit();

 protected:
  /// Registers that hold a stride and three times as much.
  struct Strides {
    Reg64 one, three;
  };

  /// Points at the lines of the first plane, and emits planes() for every number of them.  `left_`
  /// and `scratch_` are free.
  virtual void emit_planes() = 0;
  /// Reads from where lines are, and writes to `to_` and behind it.
  virtual void step() = 0;
  /// Moves all pointers to lines by scratch_ * scale bytes.
  virtual void move_lines(int scale) = 0;
  virtual void move_to(const Xbyak::Operand& distance) = 0;

  /// All planes, by the steps that there are now.
  void planes();
  /// The address `n` strides after `base`; n in [0, 3].
  static RegExp nth(const Reg64& base, const Strides& stride, int n);
  /// Transposes each lane of registers 0 to side_ - 1 into themselves; uses registers up to 7.
  void transpose_lanes(int width_bytes);
  Address argument(std::size_t offset) const { return code_.qword[code_.rdi + offset]; }

  Assembler& code_;
  const int itemsize_;
  const int side_;  ///< items of a lane
  const Strides from_stride_{Reg64(Xbyak::Operand::RSI), Reg64(Xbyak::Operand::R12)};
  const Strides to_stride_{Reg64(Xbyak::Operand::RCX), Reg64(Xbyak::Operand::R13)};
  const Reg64 to_{Xbyak::Operand::RDX};
  const Reg64 left_{Xbyak::Operand::R14};  ///< items between this step and the last
  const Reg64 scratch_{Xbyak::Operand::R15};

 private:
  void load_arguments();
  Address slot(int index) const { return code_.qword[code_.rsp + 8 * index]; }

  static constexpr int left_slot = 0;  ///< of a plane's first step
  static constexpr int side_slot = 1;
  static constexpr int from_rewind_slot = 2;  ///< from a plane's last step to the next plane
  static constexpr int to_rewind_slot = 3;
  static constexpr int count_slot = 4;
  static constexpr int frame_bytes = 40;
};

void emit_short_transpose_avx2(Assembler& code, int itemsize);
void emit_short_transpose_avx512(Assembler& code, int itemsize);

}  // namespace weft::jit::xbyak
