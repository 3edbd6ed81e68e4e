// A call leaves nothing in vector and mask registers: what lives goes to the stack frame before it,
// and so do the kernel's addresses and counters that the callee may change.
#include "jit/xbyak/calls.h"

#include "ir/evaluate.h"
#include "ir/vector_math.h"
#include "jit/xbyak/rows.h"

#include <algorithm>
#include <array>

namespace weft::jit::xbyak {
namespace {

constexpr std::size_t max_item_bytes = 8;
constexpr std::size_t max_args = 4;
constexpr int vector_slot_bytes = 64;

/// The frame of a call: slots for the arguments and the result, their addresses, general registers.
constexpr int result_slot = static_cast<int>(max_args) * vector_slot_bytes;
constexpr int addresses_slot = result_slot + vector_slot_bytes;
constexpr int saved_slot = addresses_slot + 8 * static_cast<int>(max_args);

static_assert(saved_slot + 8 * static_cast<int>(callers_registers.size()) <=
              Assembler::call_frame_bytes);

std::size_t num_args(const ir::Inst& inst) { return static_cast<std::size_t>(info(inst.op).arity); }

DType arg_dtype(const ir::Kernel& kernel, const ir::Inst& inst, std::size_t i) {
  return result_dtype(kernel.body[inst.args[i]]);
}

/// The interpreter's function for an instruction, or null.
ir::BlockFunction interpreted(const ir::Kernel& kernel, const ir::Inst& inst) {
  if (inst.op == Op::cast) return ir::cast_function(inst.dtype, arg_dtype(kernel, inst, 0));
  return info(inst.op).form == Form::structural ? nullptr : ir::block_function(inst.op, inst.dtype);
}

/// As many bytes as are moved for `lanes` items, which may be fewer than a register has.
int slot_bytes(DType dtype, int lanes) {
  return std::max(16, static_cast<int>(itemsize_bytes(dtype)) * lanes);
}

void call_address(Assembler& code, const void* function) {
  code.mov(code.rax, reinterpret_cast<std::uintptr_t>(function));
  code.call(code.rax);
}

void call_vector_function(Registers& registers, Assembler& code, const ir::Inst& inst,
                          const void* function, int frame) {
  const int bytes = slot_bytes(inst.dtype, registers.lanes());
  for (std::size_t i = 0; i < num_args(inst); ++i)
    code.load_bytes(vector_register(static_cast<int>(i), bytes),
                    code.frame(frame + vector_slot_bytes * static_cast<int>(i)), bytes);
  call_address(code, function);
  code.store_bytes(code.frame(frame + result_slot), vector_register(0, bytes), bytes);
}

void call_block_function(Registers& registers, Assembler& code, const ir::Inst& inst,
                         const void* function, int frame) {
  for (int i = 0; i < static_cast<int>(num_args(inst)); ++i) {
    code.lea(code.rax, code.ptr[code.frame(frame + vector_slot_bytes * i)]);
    code.mov(code.qword[code.frame(frame + addresses_slot + 8 * i)], code.rax);
  }
  code.lea(code.rdi, code.ptr[code.frame(frame + result_slot)]);
  code.lea(code.rsi, code.ptr[code.frame(frame + addresses_slot)]);
  code.mov(code.edx, registers.lanes());
  code.vzeroupper();
  call_address(code, function);
}

}  // namespace

bool has_call(const ir::Kernel& kernel, const ir::Inst& inst) {
  if (num_args(inst) > max_args || inst.op == Op::bitcast) return false;
  const bool is_small = is_small_float(inst.dtype) || inst.dtype == DType::c32;
  if (inst.op != Op::cast && is_small) return false;
  for (std::size_t i = 0; i < num_args(inst); ++i) {
    const DType dtype = arg_dtype(kernel, inst, i);
    if (is_boolean(dtype) || itemsize_bytes(dtype) > max_item_bytes) return false;
  }
  return itemsize_bytes(result_dtype(inst)) <= max_item_bytes &&
         interpreted(kernel, inst) != nullptr;
}

void emit_call(Registers& registers, Assembler& code, const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  const int lanes = registers.lanes();
  const int frame = code.call_frame();
  for (std::size_t i = 0; i < num_args(inst); ++i) {
    const Xmm arg = registers.use(inst.args[i]);
    const int bytes = slot_bytes(arg_dtype(kernel, inst, i), lanes);
    code.store_bytes(code.frame(frame + vector_slot_bytes * static_cast<int>(i)), arg, bytes);
  }
  registers.save_for_call(id);
  const auto saved = [&](std::size_t i) {
    return code.qword[code.frame(frame + saved_slot + 8 * static_cast<int>(i))];
  };
  for (std::size_t i = 0; i < callers_registers.size(); ++i)
    code.mov(saved(i), Reg64(callers_registers[i]));

  const void* vector_function = ir::sleef_function(inst.op, inst.dtype, lanes);
  if (vector_function != nullptr)
    call_vector_function(registers, code, inst, vector_function, frame);
  else
    call_block_function(registers, code, inst,
                        reinterpret_cast<const void*>(interpreted(kernel, inst)), frame);

  for (std::size_t i = 0; i < callers_registers.size(); ++i)
    code.mov(Reg64(callers_registers[i]), saved(i));
  registers.restore_after_call();
  const DType result = result_dtype(inst);
  const int bytes = slot_bytes(result, lanes);
  const Xmm out = is_boolean(result) ? registers.temp(bytes) : registers.define(id);
  code.load_bytes(resized(out, bytes), code.frame(frame + result_slot), bytes);
  if (is_boolean(result)) mask_from_bytes(registers, code, id, resized(out, lanes));
}

}  // namespace weft::jit::xbyak
