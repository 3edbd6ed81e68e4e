// Machines compute neither in f16, bf16 and f8 nor arithmetically in bool: compute in f32, and in
// logic. Complex numbers of two f16 compute in c64.
#include "ir/pass.h"
#include "ir/passes/rewrite.h"

namespace weft::ir {
namespace {

/// The dtype that `dtype` computes in.
DType wide_dtype(DType dtype) {
  if (dtype == DType::c32) return DType::c64;
  return is_small_float(dtype) ? DType::f32 : dtype;
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
    return widen(builder, inst, args);
  }

 private:
  /// Computes in the wider dtype and rounds the result.
  Value widen(Builder& builder, const Inst& inst, std::span<const Value> args) {
    std::array<Value, max_arity> wide{};
    for (std::size_t i = 0; i < args.size(); ++i)
      wide[i] = is_boolean(args[i].dtype) ? args[i] : wide_value(builder, args[i]);
    // Which of two zeros these take depends on how they are stored.
    if (inst.op == Op::fmax || inst.op == Op::fmin) std::swap(wide[0], wide[1]);
    const Value result = builder.apply(inst.op, std::span<const Value>(wide.data(), args.size()));
    if (result.dtype == result_dtype(inst)) return result;  // bool
    const Value rounded = builder.cast(result, result_dtype(inst));
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
    if (!rounds_each_op_ && value.id < unrounded_.size() && unrounded_[value.id].id != no_value)
      return unrounded_[value.id];
    return builder.cast(value, wide_dtype(value.dtype));
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
