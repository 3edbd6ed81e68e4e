#include "ir/builder.h"

#include "ir/composites.h"

#include <weft/convert.h>
#include <weft/error.h>

#include <cstring>

namespace weft::ir {
namespace {

template <class T>
Bits bits_of(T element) {
  Bits bits;
  std::memcpy(static_cast<void*>(&bits), &element, sizeof element);
  return bits;
}

Bits bits_of_number(DType dtype, double number) {
  return visit_dtype(dtype,
                     [&]<class T>(std::type_identity<T>) { return bits_of(convert<T>(number)); });
}

bool is_rounding(Op op) {
  return op == Op::floor || op == Op::ceil || op == Op::trunc || op == Op::round;
}

}  // namespace

Value Builder::append(const Inst& inst) {
  body_.push_back(inst);
  return {this, static_cast<ValueId>(body_.size() - 1), result_dtype(inst)};
}

Value Builder::constant(DType dtype, Bits bits) {
  return append({.op = Op::constant, .dtype = dtype, .bits = bits});
}

Value Builder::constant(DType dtype, double number) {
  return constant(dtype, bits_of_number(dtype, number));
}

Value Builder::load(std::uint8_t operand, DType dtype) {
  return append({.op = Op::load, .dtype = dtype, .operand = operand});
}

Value Builder::param(std::uint8_t index, DType dtype) {
  return append({.op = Op::param, .dtype = dtype, .operand = index});
}

void Builder::store(std::uint8_t operand, Value value) {
  append({.op = Op::store,
          .dtype = value.dtype,
          .operand = operand,
          .args = {value.id, no_value, no_value, no_value}});
}

Value Builder::cast(Value value, DType dtype) {
  if (value.dtype == dtype) return value;
  return append({.op = Op::cast, .dtype = dtype, .args = {value.id, no_value, no_value, no_value}});
}

Value Builder::bitcast(Value value, DType dtype) {
  if (value.dtype == dtype) return value;
  return append(
      {.op = Op::bitcast, .dtype = dtype, .args = {value.id, no_value, no_value, no_value}});
}

Value Builder::apply(Op op, std::span<const Value> args) {
  WEFT_ASSERT(args.size() == static_cast<std::size_t>(info(op).arity), name(op), " takes ",
              info(op).arity, " arguments, not ", args.size());
  const DType dtype = args.back().dtype;
  if (is_rounding(op) && is_integral(dtype)) return args[0];
  if ((op == Op::conj || op == Op::real) && !is_complex(dtype)) return args[0];
  if (is_boolean(dtype)) return apply_to_bool(op, args);
  Inst inst{.op = op, .dtype = dtype};
  for (std::size_t i = 0; i < args.size(); ++i) inst.args[i] = args[i].id;
  return append(inst);
}

Value Builder::apply_to_bool(Op op, std::span<const Value> args) {
  const auto& x = args[0];
  switch (op) {
    case Op::add:
    case Op::maximum: return x | args[1];
    case Op::mul:
    case Op::minimum: return x & args[1];
    case Op::sub:
    case Op::ne: return x ^ args[1];
    case Op::eq: return ~(x ^ args[1]);
    case Op::lt: return ~x & args[1];
    case Op::le: return ~x | args[1];
    case Op::gt: return x & ~args[1];
    case Op::ge: return x | ~args[1];
    default: {
      Inst inst{.op = op, .dtype = DType::boolean};
      for (std::size_t i = 0; i < args.size(); ++i) inst.args[i] = args[i].id;
      return append(inst);
    }
  }
}

Value Builder::expand(Op op, std::span<const Value> args) {
  const std::size_t first = body_.size();
  return in_order(first, run_expression(op, args));
}

Value Builder::in_order(std::size_t first, Value result) {
  if (result.id < first) return result;
  const std::vector<Inst> appended(body_.begin() + static_cast<std::ptrdiff_t>(first), body_.end());
  body_.resize(first);
  std::vector<ValueId> renamed(appended.size(), no_value);
  std::vector<ValueId> pending{result.id};
  while (!pending.empty()) {
    const std::size_t at = pending.back() - first;
    const std::size_t num_pending = pending.size();
    if (renamed[at] == no_value) {
      for (std::size_t i = max_arity; i-- > 0;) {
        const ValueId arg = appended[at].args[i];
        if (arg != no_value && arg >= first && renamed[arg - first] == no_value)
          pending.push_back(arg);
      }
      if (pending.size() != num_pending) continue;
      Inst inst = appended[at];
      for (ValueId& arg : inst.args)
        if (arg != no_value && arg >= first) arg = renamed[arg - first];
      renamed[at] = append(inst).id;
    }
    pending.pop_back();
  }
  return value(renamed[result.id - first]);
}

Value Builder::run_expression(Op op, std::span<const Value> args) {
  [[maybe_unused]] const Value& x = args[0];
  [[maybe_unused]] const Value& y = args[args.size() > 1 ? 1 : 0];
  [[maybe_unused]] const Value& z = args[args.size() > 2 ? 2 : 0];
  [[maybe_unused]] const Value& w = args[args.size() > 3 ? 3 : 0];
  // T is what the expression column of ops.def calls it.
  [[maybe_unused]] const auto T =  // NOLINT(readability-identifier-naming)
      [&](double constant) { return like(args.back(), constant); };
  switch (op) {
#define WEFT_OP(name, arity, domain, result, form, expression) \
  case Op::name:                                               \
    return expression;
#include <weft/ops.def>
#undef WEFT_OP
    default: break;
  }
  throw InternalError("Structural ops have no expression.");
}

Value to_bits(const Value& x) {
  if (is_integral(x.dtype)) return x;
  return x.builder->bitcast(x, signed_of_size(itemsize_bytes(x.dtype)));
}

Value sign_mask(const Value& x) {
  const std::uint64_t bit = std::uint64_t{1} << (itemsize_bytes(x.dtype) * 8 - 1);
  return x.builder->constant(x.dtype, Bits{bit, 0});
}

}  // namespace weft::ir
