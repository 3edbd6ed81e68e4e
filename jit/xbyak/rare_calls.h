// Ops that are a call of the vector library in a few cases only (sin_beyond, cos_beyond): a test in
// the loop, and the call where the code before does not lead.
#pragma once

#include "jit/xbyak/registers.h"

#include <cstdint>
#include <vector>

namespace weft::jit::xbyak {

/// Whether RareCalls can emit an instruction.
bool has_rare_call(const ir::Kernel& kernel, const ir::Inst& inst);

/// The loop pays for the test only: all registers are saved and restored around the call.
class RareCalls {
 public:
  RareCalls(Assembler& code, const ir::Kernel& kernel) : code_(code), kernel_(kernel) {}

  void emit(Registers& registers, ir::ValueId id);
  /// The calls themselves: to be emitted behind the kernel's return.
  void emit_calls();

 private:
  struct Call {
    const void* function;
    Xmm out, x, test;
    Opmask is_beyond;  ///< with AVX-512; else lanes of `test`
    Assembler::Jump jump;
    const std::uint8_t* back;
    bool is_double;
  };

  void emit_function(const void* function, int bytes);
  void save(bool restores);

  Assembler& code_;
  const ir::Kernel& kernel_;
  std::vector<Call> calls_;
  int argument_slot_ = -1;  ///< a vector: the argument, then the result
  int saved_slot_ = -1;
};

}  // namespace weft::jit::xbyak
