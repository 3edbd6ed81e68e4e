#include "jit/xbyak/rare_calls.h"

#include "ir/vector_math.h"
#include "jit/xbyak/calls.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::jit::xbyak {
namespace {

constexpr std::uint8_t greater_or_equal = 0x1d;  // of vcmpps: ordered, quiet
constexpr int num_masks = 8;
/// What a function called from behind the kernel has below the kernel's frame: its return address
/// and what keeps the stack aligned.
constexpr int below_frame_bytes = 64;

const void* function_of(const ir::Inst& inst, int lanes) {
  if (inst.dtype != DType::f32 && inst.dtype != DType::f64) return nullptr;
  switch (inst.op) {
    case Op::sin_beyond: return ir::sleef_function(Op::library_sin, inst.dtype, lanes);
    case Op::cos_beyond: return ir::sleef_function(Op::library_cos, inst.dtype, lanes);
    default: return nullptr;
  }
}

}  // namespace

bool has_rare_call(const ir::Kernel& kernel, const ir::Inst& inst) {
  return (inst.op == Op::sin_beyond || inst.op == Op::cos_beyond) &&
         function_of(inst, kernel.loops.back().lanes) != nullptr;
}

void RareCalls::emit(Registers& registers, ir::ValueId id) {
  const ir::Inst& inst = kernel_.body[id];
  const Xmm x = registers.use(inst.args[0]);
  const Xmm y = registers.use(inst.args[1]);
  const Xmm out = registers.define(id);
  const int bytes = width_bytes(out);
  const Xmm test = registers.temp(bytes);
  const Opmask is_beyond = code_.has_avx512() ? registers.temp_mask() : Opmask(0);
  const bool is_double = inst.dtype == DType::f64;
  const double largest = ir::largest_reduced(inst.dtype);
  const Address limit =
      is_double ? code_.splat(std::bit_cast<std::uint64_t>(largest), 8, bytes)
                : code_.splat(std::bit_cast<std::uint32_t>(static_cast<float>(largest)), 4, bytes);
  const Address size_bits =
      is_double ? code_.splat(0x7fffffffffffffff, 8, bytes) : code_.splat(0x7fffffff, 4, bytes);
  // No register is taken from here on: the code branches.
  code_.bit_and(test, x, size_bits);
  code_.move(out, y);
  if (code_.has_avx512()) {
    is_double ? code_.vcmppd(is_beyond, test, limit, greater_or_equal)
              : code_.vcmpps(is_beyond, test, limit, greater_or_equal);
    code_.kortestw(is_beyond, is_beyond);
  } else if (is_double) {
    code_.vcmppd(test, test, limit, greater_or_equal);
    code_.vtestpd(test, test);
  } else {
    code_.vcmpps(test, test, limit, greater_or_equal);
    code_.vtestps(test, test);
  }
  const Assembler::Jump jump = code_.jump_if(Condition::not_zero);
  const int lanes = kernel_.loops.back().lanes;
  calls_.push_back(
      {function_of(inst, lanes), out, x, test, is_beyond, jump, code_.here(), is_double});
  if (argument_slot_ >= 0) return;
  code_.note_written(vector_register(0, 64));  // by the function
  argument_slot_ = code_.allocate_frame(64, 64);
  saved_slot_ = code_.allocate_frame(
      64 * code_.num_vectors() + 8 * num_masks + 8 * static_cast<int>(callers_registers.size()),
      64);
}

void RareCalls::save(bool restores) {
  int slot = below_frame_bytes + saved_slot_;
  const int bytes = code_.has_avx512() ? 64 : 32;
  for (int i = 0; i < code_.num_vectors(); ++i, slot += 64) {
    const Xmm vector = vector_register(i, bytes);
    restores ? code_.load_bytes(vector, code_.frame(slot), bytes)
             : code_.store_bytes(code_.frame(slot), vector, bytes);
  }
  for (int i = 0; code_.has_avx512() && i < num_masks; ++i, slot += 8)
    restores ? code_.kmovq(Opmask(i), code_.ptr[code_.frame(slot)])
             : code_.kmovq(code_.ptr[code_.frame(slot)], Opmask(i));
  for (const auto reg : callers_registers) {
    restores ? code_.mov(Reg64(reg), code_.qword[code_.frame(slot)])
             : code_.mov(code_.qword[code_.frame(slot)], Reg64(reg));
    slot += 8;
  }
}

void RareCalls::emit_function(const void* function, int bytes) {
  const Xmm vector = vector_register(0, bytes);
  const RegExp argument = code_.frame(below_frame_bytes + argument_slot_);
  code_.sub(code_.rsp, below_frame_bytes - 8);
  save(false);
  code_.load_bytes(vector, argument, bytes);
  code_.mov(code_.rax, reinterpret_cast<std::uintptr_t>(function));
  code_.call(code_.rax);
  code_.store_bytes(argument, vector, bytes);
  save(true);
  code_.add(code_.rsp, below_frame_bytes - 8);
  code_.ret();
}

void RareCalls::emit_calls() {
  std::vector<std::pair<const void*, const std::uint8_t*>> functions;
  for (const Call& call : calls_) {
    const auto is_known = [&](const auto& known) { return known.first == call.function; };
    if (std::ranges::any_of(functions, is_known)) continue;
    code_.mark("call of the vector library");
    functions.emplace_back(call.function, code_.here());
    emit_function(call.function, width_bytes(call.x));
  }
  for (const Call& call : calls_) {
    const auto is_known = [&](const auto& known) { return known.first == call.function; };
    const RegExp argument = code_.frame(argument_slot_);
    code_.mark("large arguments");
    code_.bind(call.jump);
    code_.store_bytes(argument, call.x, width_bytes(call.x));
    code_.call(std::ranges::find_if(functions, is_known)->second);
    if (code_.has_avx512() && call.is_double)
      code_.vmovapd(call.out | call.is_beyond, code_.ptr[argument]);
    else if (code_.has_avx512())
      code_.vmovaps(call.out | call.is_beyond, code_.ptr[argument]);
    else  // all bits of an f64's test are alike, too
      code_.vblendvps(call.out, call.out, code_.ptr[argument], call.test);
    code_.jmp(call.back);
  }
}

}  // namespace weft::jit::xbyak
