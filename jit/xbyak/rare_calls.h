// Ops that are a call in a few cases only (sin_beyond, fmod_beyond and such): a test in the
// loop, and the call where the code before does not lead.
#pragma once

#include "jit/xbyak/registers.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weft::jit::xbyak {

/// Whether an op of those that are emitted at all is one for RareCalls.
bool is_rare_call(Op op);
/// Whether RareCalls can emit an instruction: whether the function is there.
bool has_rare_call(const ir::Kernel& kernel, const ir::Inst& inst);

/// The loop pays for the test only: all registers are saved and restored around the call.
class RareCalls {
 public:
  RareCalls(Assembler& code, const ir::Kernel& kernel) : code_(code), kernel_(kernel) {}

  void emit(Registers& registers, ir::ValueId id);
  /// The calls themselves: to be emitted behind the kernel's return.
  void emit_calls();

 private:
  static constexpr std::size_t max_args = 3;
  struct Call {
    const void* function = nullptr;
    bool is_row = false;  ///< of the interpreter, which also chooses; else of the vector library
    bool is_double = false;
    int lanes = 0;
    Xmm out{0}, test{0};
    std::array<Xmm, max_args> args{Xmm(0), Xmm(0), Xmm(0)};
    Opmask is_beyond{0};  ///< with AVX-512; else lanes of `test`
    Assembler::Jump jump;
    const std::uint8_t* back = nullptr;
  };

  void test_size(const Call& call);
  void test_rest(Registers& registers, const Call& call);
  void emit_function(const Call& call);
  void emit_call(const Call& call, const std::uint8_t* function);
  void save(bool restores);
  RegExp argument(std::size_t i, int above_bytes = 0) const;

  Assembler& code_;
  const ir::Kernel& kernel_;
  std::vector<Call> calls_;
  int arguments_slot_ = -1;  ///< vectors: the arguments, of which the first becomes the result
  int addresses_slot_ = -1;
  int saved_slot_ = -1;
};

}  // namespace weft::jit::xbyak
