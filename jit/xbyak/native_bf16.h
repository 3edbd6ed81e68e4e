// Rounding f32 to bf16 by the instruction of AVX512_BF16, where the processor has it.
#pragma once

#include "jit/bf16.h"
#include "jit/xbyak/registers.h"

#include <vector>

namespace weft::jit::xbyak {

/// The rare vectors go through integer arithmetic behind the kernel's return.
class NativeBf16 {
 public:
  explicit NativeBf16(Assembler& code) : code_(code) {}

  /// Emits instruction `id` of `num_copies` copies of the body, and finishes it in `registers`.
  void emit(Registers& registers, const ir::Kernel& kernel, ir::ValueId id, int num_copies);
  /// What the tests lead to: to be emitted behind the kernel's return.
  void emit_rare();

 private:
  struct Vector {
    Xmm out, x;
  };
  /// Vectors that share a test.
  struct Group {
    std::vector<Vector> vectors;
    Xmm temp;
    Opmask mask;
    Assembler::Jump jump;
    const std::uint8_t* back;
  };

  void round(const Vector& vector, const Xmm& temp, const Opmask& mask);

  Assembler& code_;
  std::vector<Group> groups_;
};

}  // namespace weft::jit::xbyak
