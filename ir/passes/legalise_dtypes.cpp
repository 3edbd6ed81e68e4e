// Machines compute neither in f16, bf16 and f8 nor arithmetically in bool: compute in f32, and in
// logic. Complex numbers of two f16 compute in c64.
#include "ir/composites.h"
#include "ir/pass.h"
#include "ir/passes/rewrite.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace weft::ir {
namespace {

/// Whether an op of f16 or bf16 leaves all bits but that of the sign as they are.
bool moves_sign(const Inst& inst) {
  return (inst.dtype == DType::f16 || inst.dtype == DType::bf16) &&
         (inst.op == Op::neg || inst.op == Op::abs || inst.op == Op::copysign);
}

/// In integers of 16 bits, of which a vector holds twice as many as of f32.
Value with_moved_sign(Op op, std::span<const Value> args) {
  const Value& x = args[0];
  if (op == Op::copysign) return with_sign_of(x, args[1]);
  const Value bits = to_bits(x), sign = sign_mask(bits);
  return from_bits(x, op == Op::neg ? bits ^ sign : bits & ~sign);
}

/// Whether an op of bf16 has results that bf16 holds: one of its arguments or their digits before
/// or behind the point, or a small constant.
bool is_exact(const Inst& inst) {
  constexpr Op exact[] = {Op::maximum,    Op::minimum,   Op::fmax,      Op::fmin,
                          Op::clamp,      Op::clamp_min, Op::clamp_max, Op::relu,
                          Op::relu6,      Op::floor,     Op::ceil,      Op::trunc,
                          Op::round,      Op::frac,      Op::sign,      Op::hardtanh,
                          Op::hardshrink, Op::threshold, Op::heaviside, Op::nan_to_num};
  return inst.dtype == DType::bf16 && std::ranges::find(exact, inst.op) != std::end(exact);
}

/// A bf16 of an f32 of which nothing is lost.
Value upper_half(const Value& x) {
  Builder& builder = *x.builder;
  const Value bits = builder.bitcast(x, DType::u32);
  return builder.bitcast(builder.cast(bits >> like(bits, 16), DType::u16), DType::bf16);
}

bool is_structural(Op op) { return info(op).form == Form::structural; }

class Legaliser {
 public:
  explicit Legaliser(const Kernel& kernel) : rounds_each_op_(kernel.numerics == Numerics::strict) {}

  Value replace(Builder& builder, const Inst& inst, std::span<const Value> args) {
    if (casts_as_result(inst)) return convert(builder, inst.dtype, args[0]);
    if (is_structural(inst.op)) return append_with(builder, inst, args);
    // The neighbour of a number depends on how it is stored, so this one is rebuilt before it is
    // widened.
    if (inst.op == Op::nextafter && is_small_float(inst.dtype))
      return widen_body_of(builder, inst, args);
    if (wide_dtype(inst.dtype) == inst.dtype) return builder.apply(inst.op, args);
    if (moves_sign(inst) && are_rounded(args)) return with_moved_sign(inst.op, args);
    return widen(builder, inst, args);
  }

 private:
  /// Whether none of the arguments is known wider than it is.
  bool are_rounded(std::span<const Value> args) const {
    return std::ranges::none_of(args, [&](const Value& arg) { return find_unrounded(arg); });
  }

  /// Computes in the wider dtype and rounds the result.
  Value widen(Builder& builder, const Inst& inst, std::span<const Value> args) {
    std::array<Value, max_arity> wide{};
    for (std::size_t i = 0; i < args.size(); ++i)
      wide[i] = is_boolean(args[i].dtype) ? args[i] : wide_value(builder, args[i]);
    // Which of two zeros these take depends on how they are stored.
    if (inst.op == Op::fmax || inst.op == Op::fmin) std::swap(wide[0], wide[1]);
    const Value result = builder.apply(inst.op, std::span<const Value>(wide.data(), args.size()));
    if (result.dtype == result_dtype(inst)) return result;  // bool
    const Value rounded = is_exact(inst) && are_rounded(args)
                              ? upper_half(result)
                              : builder.cast(result, result_dtype(inst));
    remember(rounded.id, result);
    return rounded;
  }

  /// What an op of several steps converts: as the results of ops are rounded.
  Value convert(Builder& builder, DType dtype, const Value& value) {
    const Value source = rounds_each_op_ ? value : wide_value(builder, value);
    const Value result = builder.cast(source, dtype);
    if (wide_dtype(dtype) != dtype) remember(result.id, builder.cast(source, wide_dtype(dtype)));
    return result;
  }

  /// The wide value that a small one is computed from.  What this pass has just rounded is taken
  /// before the rounding, unless each op must round.  Casts of the expression itself are never
  /// looked through.
  Value wide_value(Builder& builder, const Value& value) {
    if (const Value* const unrounded = find_unrounded(value)) return *unrounded;
    return builder.cast(value, wide_dtype(value.dtype));
  }

  const Value* find_unrounded(const Value& value) const {
    const bool is_known =
        !rounds_each_op_ && value.id < unrounded_.size() && unrounded_[value.id].id != no_value;
    return is_known ? &unrounded_[value.id] : nullptr;
  }

  void remember(ValueId rounded, const Value& unrounded) {
    if (unrounded_.size() <= rounded) unrounded_.resize(rounded + 1);
    unrounded_[rounded] = unrounded;
  }

  Value widen_body_of(Builder& builder, const Inst& inst, std::span<const Value> args) {
    std::vector<Inst> body;
    Builder inner(body);
    std::array<Value, max_arity> inner_args{};
    // Stand-ins for the arguments; they are replaced by the real ones below.
    for (std::size_t i = 0; i < args.size(); ++i)
      inner_args[i] = inner.constant(args[i].dtype, Bits{});
    inner.expand(inst.op, std::span<const Value>(inner_args.data(), args.size()));
    std::vector<Value> renamed;
    for (ValueId id = 0; id < body.size(); ++id) {
      if (id < args.size()) {
        renamed.push_back(args[id]);
        continue;
      }
      std::array<Value, max_arity> step_args{};
      std::size_t num_args = 0;
      for (ValueId arg : body[id].args)
        if (arg != no_value) step_args[num_args++] = renamed[arg];
      renamed.push_back(
          replace(builder, body[id], std::span<const Value>(step_args.data(), num_args)));
    }
    return renamed.back();
  }

  bool rounds_each_op_;
  std::vector<Value> unrounded_;  ///< [value made by a rounding of this pass] what was rounded
};

}  // namespace

bool legalise_dtypes(Kernel& kernel) {
  Legaliser legaliser(kernel);
  return rewrite_body(
      kernel, [&](Builder& builder, ValueId, const Inst& inst, std::span<const Value> args) {
        return legaliser.replace(builder, inst, args);
      });
}

}  // namespace weft::ir
