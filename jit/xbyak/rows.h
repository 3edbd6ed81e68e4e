// What the backend can compute: a table (op, dtype) -> instructions, and the same for casts.
#pragma once

#include "ir/tables.h"
#include "jit/xbyak/registers.h"

namespace weft::jit::xbyak {

/// Emits out = op(x, y, z) for all lanes.  `out` is none of the arguments.
using EmitFunction = void (*)(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x,
                              const Xmm& y, const Xmm& z);

struct Row {
  Op op;
  DType dtype;
  Isa isa;  ///< the least it needs; of two rows the one that needs more is taken where it can be
  EmitFunction emit;
};

/// The row of an op on numbers, or null.
const Row* find_row(Op op, DType dtype, Isa isa);

/// Whether a row of any kind computes an op, cast or bitcast; fma and bitcast, which compute in
/// place, are KernelEmitter's.
bool has_row(const ir::Kernel& kernel, const ir::Inst& inst, Isa isa);

/// out = x / y towards zero, 0 where y is 0.  `dtype` is an integer.
void emit_quotient(Registers& registers, Assembler& code, DType dtype, const Xmm& out, const Xmm& x,
                   const Xmm& y);

/// By the meaning of weft/float_parts.def: of f32 or f64, the others of f32.
void emit_scale_by_power(Registers& registers, Assembler& code, DType dtype, const Xmm& out,
                         const Xmm& x, const Xmm& power);
void emit_exponent(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x);
void emit_mantissa(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x);
void emit_table_entry(Registers& registers, Assembler& code, const ir::TableEntries& table,
                      const Xmm& out, const Xmm& x);

/// Whether `inst` shifts items of 32 or 64 bits by a constant, which the instruction holds itself.
bool is_constant_shift(const ir::Kernel& kernel, const ir::Inst& inst);
void emit_constant_shift(Registers& registers, Assembler& code, const ir::Kernel& kernel,
                         const ir::Inst& inst, const Xmm& out, const Xmm& x);

/// Whether an instruction is the maximum or minimum of a constant that is no NaN and of something:
/// what the machine's instruction gives.
bool is_machine_extremum(const ir::Kernel& kernel, const ir::Inst& inst);
void emit_machine_extremum(Assembler& code, const ir::Inst& inst, const Xmm& out, const Xmm& x,
                           const Xmm& y);

/// Whether numbers of dtype `from` can be cast to `to`; neither is bool.
bool has_cast(DType from, DType to, Isa isa);
void emit_cast(Registers& registers, Assembler& code, DType from, DType to, const Xmm& out,
               const Xmm& x);

/// What an instruction changes signs by: the bits of an item that it turns over, or that it keeps.
struct SignBits {
  std::uint64_t item;
  int itemsize;
};
/// Of neg and abs of floats.
std::optional<SignBits> sign_bits_of(const ir::Inst& inst);

/// `lanes` items of `from` bytes become items of `to` bytes, truncated or extended.  With AVX2
/// those that are truncated may be taken from a later byte on.
void narrow_items(Registers& registers, Assembler& code, const Xmm& out, const Xmm& x, int from,
                  int to, int lanes, int first_byte = 0);
void widen_items(Assembler& code, const Xmm& out, const Xmm& x, int from, int to, bool with_sign,
                 int lanes);

/// Whether an instruction that takes or makes bools has a row (comparisons, logic, where, casts).
bool has_mask_row(const ir::Kernel& kernel, const ir::Inst& inst);
/// Emits it.
void emit_mask_row(Registers& registers, Assembler& code, const ir::Kernel& kernel, ir::ValueId id);
/// Whether emit_mask_row is responsible: a bool is among the arguments or is the result.
bool involves_masks(const ir::Kernel& kernel, const ir::Inst& inst);

/// Bytes that are zero or not -> a bool value, and a bool value -> bytes 0 and 1.
void mask_from_bytes(Registers& registers, Assembler& code, ir::ValueId id, const Xmm& bytes);
Xmm bytes_from_mask(Registers& registers, Assembler& code, ir::ValueId id);

}  // namespace weft::jit::xbyak
