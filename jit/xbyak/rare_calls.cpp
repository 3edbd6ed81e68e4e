#include "jit/xbyak/rare_calls.h"

#include "ir/evaluate.h"
#include "ir/vector_math.h"
#include "jit/xbyak/calls.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::jit::xbyak {
namespace {

// Predicates of vcmpps, quiet.
constexpr std::uint8_t less = 0x11, not_equal = 0x04, not_less = 0x15, greater_or_equal = 0x1d;
constexpr int num_masks = 8;
/// What a function called from behind the kernel has below the kernel's frame: its return address
/// and what keeps the stack aligned.
constexpr int below_frame_bytes = 64;

bool is_row_call(Op op) { return op == Op::fmod_beyond; }

const void* function_of(const ir::Inst& inst, int lanes) {
  if (inst.dtype != DType::f32 && inst.dtype != DType::f64) return nullptr;
  switch (inst.op) {
    case Op::sin_beyond: return ir::sleef_function(Op::library_sin, inst.dtype, lanes);
    case Op::cos_beyond: return ir::sleef_function(Op::library_cos, inst.dtype, lanes);
    case Op::tan_beyond: return ir::sleef_function(Op::library_tan, inst.dtype, lanes);
    case Op::fmod_beyond:
      return reinterpret_cast<const void*>(ir::block_function(inst.op, inst.dtype));
    default: return nullptr;
  }
}

/// Into a mask register, or into the lanes of a vector register.
template <class Out>
void compare(Assembler& code, bool is_double, const Out& out, const Xmm& x, const Xbyak::Operand& y,
             std::uint8_t predicate) {
  is_double ? code.vcmppd(out, x, y, predicate) : code.vcmpps(out, x, y, predicate);
}

}  // namespace

bool is_rare_call(Op op) {
  return op == Op::sin_beyond || op == Op::cos_beyond || op == Op::tan_beyond || is_row_call(op);
}

bool has_rare_call(const ir::Kernel& kernel, const ir::Inst& inst) {
  return function_of(inst, kernel.loops.back().lanes) != nullptr;
}

void RareCalls::emit(Registers& registers, ir::ValueId id) {
  const ir::Inst& inst = kernel_.body[id];
  Call call;
  call.lanes = kernel_.loops.back().lanes;
  call.function = function_of(inst, call.lanes);
  WEFT_CHECK(call.function != nullptr, DeviceError, "the function that ", name(inst.op),
             " calls is no longer found in SLEEF's library");
  call.is_row = is_row_call(inst.op);
  call.is_double = inst.dtype == DType::f64;
  const auto arity = static_cast<std::size_t>(info(inst.op).arity);
  for (std::size_t i = 0; i < arity; ++i) call.args[i] = registers.use(inst.args[i]);
  call.out = registers.define(id);
  call.test = registers.temp(width_bytes(call.out));
  const bool has_masks = code_.has_avx512();
  if (has_masks) call.is_beyond = registers.temp_mask();
  if (call.is_row)
    test_rest(registers, call);
  else
    test_size(call);
  // No register is taken from here on: the code branches.
  code_.move(call.out, call.args[arity - 1]);
  if (has_masks)
    code_.kortestw(call.is_beyond, call.is_beyond);
  else
    call.is_double ? code_.vtestpd(call.test, call.test) : code_.vtestps(call.test, call.test);
  call.jump = code_.jump_if(Condition::not_zero);
  call.back = code_.here();
  calls_.push_back(call);
  if (arguments_slot_ >= 0) return;
  code_.note_written(vector_register(0, 64));  // by the function
  arguments_slot_ = code_.allocate_frame(64 * static_cast<int>(max_args), 64);
  addresses_slot_ = code_.allocate_frame(8 * static_cast<int>(max_args), 8);
  saved_slot_ = code_.allocate_frame(
      64 * code_.num_vectors() + 8 * num_masks + 8 * static_cast<int>(callers_registers.size()),
      64);
}

/// Of sin_beyond, cos_beyond and tan_beyond: where |x| is too large.
void RareCalls::test_size(const Call& call) {
  const int bytes = width_bytes(call.out);
  const double largest = ir::largest_reduced(call.is_double ? DType::f64 : DType::f32);
  const Address limit =
      call.is_double
          ? code_.splat(std::bit_cast<std::uint64_t>(largest), 8, bytes)
          : code_.splat(std::bit_cast<std::uint32_t>(static_cast<float>(largest)), 4, bytes);
  const Address size_bits = call.is_double ? code_.splat(0x7fffffffffffffff, 8, bytes)
                                           : code_.splat(0x7fffffff, 4, bytes);
  code_.bit_and(call.test, call.args[0], size_bits);
  if (code_.has_avx512())
    compare(code_, call.is_double, call.is_beyond, call.test, limit, greater_or_equal);
  else
    compare(code_, call.is_double, call.test, call.test, limit, greater_or_equal);
}

/// Of fmod_beyond: where y is not 0, and z below 0 or not below y.
void RareCalls::test_rest(Registers& registers, const Call& call) {
  const Xmm &y = call.args[1], &z = call.args[2], &test = call.test;
  const int bytes = width_bytes(call.out);
  const Address zero = code_.splat(0, 8, bytes);
  if (code_.has_avx512()) {
    const Opmask second = registers.temp_mask();
    compare(code_, call.is_double, call.is_beyond, z, y, not_less);
    compare(code_, call.is_double, second, z, zero, less);
    code_.korw(call.is_beyond, call.is_beyond, second);
    compare(code_, call.is_double, call.is_beyond | call.is_beyond, y, zero, not_equal);
    return;
  }
  // What follows reads signs, and that of z says whether it is below 0.
  const Xmm second = registers.temp(bytes);
  compare(code_, call.is_double, test, z, y, not_less);
  compare(code_, call.is_double, second, y, zero, not_equal);
  code_.bit_or(test, test, z);
  code_.bit_and(test, test, second);
}

RegExp RareCalls::argument(std::size_t i, int above_bytes) const {
  return code_.frame(above_bytes + arguments_slot_ + 64 * static_cast<int>(i));
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

void RareCalls::emit_function(const Call& call) {
  const int bytes = width_bytes(call.out);
  const Xmm vector = vector_register(0, bytes);
  const RegExp result = argument(0, below_frame_bytes);
  code_.sub(code_.rsp, below_frame_bytes - 8);
  save(false);
  if (call.is_row) {
    const int addresses = below_frame_bytes + addresses_slot_;
    for (std::size_t i = 0; i < max_args; ++i) {
      code_.lea(code_.rax, code_.ptr[argument(i, below_frame_bytes)]);
      code_.mov(code_.qword[code_.frame(addresses + 8 * static_cast<int>(i))], code_.rax);
    }
    code_.lea(code_.rdi, code_.ptr[result]);
    code_.lea(code_.rsi, code_.ptr[code_.frame(addresses)]);
    code_.mov(code_.edx, call.lanes);
    code_.vzeroupper();
  } else {
    code_.load_bytes(vector, result, bytes);
  }
  code_.mov(code_.rax, reinterpret_cast<std::uintptr_t>(call.function));
  code_.call(code_.rax);
  if (!call.is_row) code_.store_bytes(result, vector, bytes);
  save(true);
  code_.add(code_.rsp, below_frame_bytes - 8);
  code_.ret();
}

/// Where the test leads: to `function`, and what is to be taken of its results.
void RareCalls::emit_call(const Call& call, const std::uint8_t* function) {
  const int bytes = width_bytes(call.out);
  code_.bind(call.jump);
  const std::size_t num_args = call.is_row ? max_args : 1;
  for (std::size_t i = 0; i < num_args; ++i) code_.store_bytes(argument(i), call.args[i], bytes);
  code_.call(function);
  const Address result = code_.ptr[argument(0)];
  if (call.is_row)
    code_.load_bytes(call.out, argument(0), bytes);
  else if (code_.has_avx512() && call.is_double)
    code_.vmovapd(call.out | call.is_beyond, result);
  else if (code_.has_avx512())
    code_.vmovaps(call.out | call.is_beyond, result);
  else  // all bits of an f64's test are alike, too
    code_.vblendvps(call.out, call.out, result, call.test);
  code_.jmp(call.back);
}

void RareCalls::emit_calls() {
  std::vector<std::pair<const void*, const std::uint8_t*>> functions;
  for (const Call& call : calls_) {
    const auto is_known = [&](const auto& known) { return known.first == call.function; };
    if (std::ranges::any_of(functions, is_known)) continue;
    code_.mark(call.is_row ? "call of the interpreter" : "call of the vector library");
    functions.emplace_back(call.function, code_.here());
    emit_function(call);
  }
  for (const Call& call : calls_) {
    const auto is_known = [&](const auto& known) { return known.first == call.function; };
    code_.mark(call.is_row ? "large quotients" : "large arguments");
    emit_call(call, std::ranges::find_if(functions, is_known)->second);
  }
}

}  // namespace weft::jit::xbyak
