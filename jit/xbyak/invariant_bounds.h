// Bounds that stay the same along the innermost loop: maximum(bound, x) and minimum(bound, x) of
// floats.
#pragma once

#include "jit/xbyak/registers.h"

#include <vector>

namespace weft::jit::xbyak {

/// The machine's instruction gives x where an operand is NaN, which is wrong if only the bound is.
/// That is found out before the loop: the loop chooses by a mask, in half the cycles that looking
/// at each bound takes.
class InvariantBounds {
 public:
  /// Masks stay in registers if these suffice and no `calls` overwrite them.
  InvariantBounds(Assembler& code, Registers& registers, const ir::Kernel& kernel, bool calls);

  /// To be called for every hoisted instruction, when its value has been defined and not yet been
  /// finished.
  void prepare(ir::ValueId id);
  /// Whether emit() can emit this instruction.
  bool can_emit(ir::ValueId id) const { return mask_of(id) != nullptr; }
  void emit(ir::ValueId id, const Xmm& out, const Xmm& bound, const Xmm& x);

 private:
  struct Mask {
    ir::ValueId bound;
    int index;  ///< of the register: all ones if the bound is NaN, else zero
  };

  const Mask* mask_of(ir::ValueId id) const;
  Xmm kept(const Mask& mask) const;

  Assembler& code_;
  Registers& registers_;
  const ir::Kernel& kernel_;
  std::vector<Mask> masks_;
};

}  // namespace weft::jit::xbyak
