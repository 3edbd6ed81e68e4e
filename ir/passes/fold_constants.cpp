// Evaluates what is known before any data is: ops on constants, and identities that hold for every
// value.
#include "ir/evaluate.h"
#include "ir/pass.h"
#include "ir/passes/rewrite.h"

namespace weft::ir {
namespace {

bool is_foldable(Op op) {
  return op != Op::constant && op != Op::param && op != Op::load && op != Op::store &&
         op != Op::accumulate && op != Op::accumulate_place;
}

bool is_zero(const Inst& inst) { return inst.op == Op::constant && inst.bits == Bits{}; }

/// Whether a second argument of zero returns the first.
bool is_unchanged_by_zero(const Inst& inst) {
  if (!is_integral(inst.dtype)) return false;
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::bitwise_left_shift:
    case Op::bitwise_right_shift: return true;
    default: return false;
  }
}

/// Integers equal themselves, a choice that is made or between equals is none.  Nothing about
/// floats: NaN and the sign of zero break what looks like an identity.
const Value* same_as(const std::vector<Inst>& body, const Inst& inst, std::span<const Value> args) {
  if (inst.op == Op::where) {
    const Inst& mask = body[args[0].id];
    if (mask.op == Op::constant) return mask.bits.lo != 0 ? &args[1] : &args[2];
    if (args[1].id == args[2].id) return &args[1];
  }
  if (inst.op == Op::cast && inst.dtype == args[0].dtype) return &args[0];
  if (is_unchanged_by_zero(inst) && is_zero(body[args[1].id])) return &args[0];
  const bool is_lattice = inst.op == Op::bitwise_and || inst.op == Op::bitwise_or ||
                          inst.op == Op::maximum || inst.op == Op::minimum;
  if (is_lattice && args[0].id == args[1].id) return &args[0];
  return nullptr;
}

/// The constant result of comparing an integer with itself, and of x ^ x; -1 if it is neither.
int result_on_itself(const Inst& inst, std::span<const Value> args) {
  if (args.size() != 2 || args[0].id != args[1].id || !is_integral(inst.dtype)) return -1;
  switch (inst.op) {
    case Op::eq:
    case Op::le:
    case Op::ge: return 1;
    case Op::ne:
    case Op::lt:
    case Op::gt:
    case Op::bitwise_xor: return 0;
    default: return -1;
  }
}

}  // namespace

bool fold_constants(Kernel& kernel) {
  return rewrite_body(
      kernel, [&](Builder& builder, ValueId, const Inst& inst, std::span<const Value> args) {
        const auto& body = builder.body();
        if (!is_foldable(inst.op)) return append_with(builder, inst, args);
        if (const Value* same = same_as(body, inst, args)) return *same;
        if (const int result = result_on_itself(inst, args); result >= 0)
          return builder.constant(result_dtype(inst), Bits{static_cast<std::uint64_t>(result), 0});
        std::array<Bits, max_arity> bits{};
        for (std::size_t i = 0; i < args.size(); ++i) {
          if (body[args[i].id].op != Op::constant) return append_with(builder, inst, args);
          bits[i] = body[args[i].id].bits;
        }
        const Bits result =
            evaluate(inst, std::span<const Bits>(bits.data(), args.size()), args[0].dtype);
        return builder.constant(result_dtype(inst), result);
      });
}

}  // namespace weft::ir
