// What becomes of an operator or a call whose arguments have been read.
#include "engine/expression/call_spelling.h"
#include "engine/expression/expr_node.h"
#include "engine/expression/expr_parser.h"
#include "engine/expression/number_arithmetic.h"
#include "engine/expression/parse_reduction.h"

#include <algorithm>

namespace weft {
namespace {

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// What takes the place of a result where dtypes are ignored: no number, for with those the parser
/// calculates.
Expr stand_in(std::span<const Expr> args) {
  for (const Expr& arg : args)
    if (arg.node().kind != ExprNode::Kind::scalar) return arg;
  return Expr(unbacked({}, {}, DType::f32));
}

}  // namespace

void ExprParser::reduce_one() {
  const Pending pending = pending_.back();
  pending_.pop_back();
  if (!pending.op) return;  // unary plus
  const std::size_t arity = pending.form == Form::unary ? 1 : 2;
  const std::span<const Expr> args(values_.end() - static_cast<std::ptrdiff_t>(arity),
                                   values_.end());
  const bool are_numbers = std::ranges::all_of(
      args, [](const Expr& arg) { return arg.node().kind == ExprNode::Kind::scalar; });
  std::optional<Scalar> number;
  if (are_numbers) {
    try {
      const Scalar& x = args[0].node().scalar;
      number = arity == 1 ? combine_numbers(*pending.op, x)
                          : combine_numbers(*pending.op, x, args[1].node().scalar);
    } catch (const Error& error) {
      fail_as(error, pending.position);
    }
  }
  Expr result = number ? Expr(*number) : apply_at(pending.position, *pending.op, args);
  values_.erase(values_.end() - static_cast<std::ptrdiff_t>(arity), values_.end());
  values_.push_back(std::move(result));
}

Expr ExprParser::call(const Pending& pending) {
  const std::span<const Expr> args = std::span(values_).subspan(pending.num_values);
  if (pending.form == Form::cast) {
    if (args.size() != 1 || !pending.dtype) {
      fail(pending.position, "cast takes a value and a dtype, as in cast(a, bf16)");
    }
    try {
      return cast(args[0], *pending.dtype, pending.overflow);
    } catch (const Error& error) {
      fail_as(error, pending.position);
    }
  }
  if (pending.form == Form::copy) {
    if (args.size() != 1) {
      fail(pending.position, "copy takes 1 argument, got " + std::to_string(args.size()));
    }
    return args[0];  // the store into the result is the copy
  }
  if (pending.form == Form::reduction) return call_reduction(pending, args);
  if (pending.form == Form::user_call) return call_user_operator(pending, args);
  if (has_spelling(pending.name)) return call_spelled(pending, args.size());
  const OpInfo& row = info(*pending.op);
  const auto arity = static_cast<std::size_t>(row.arity);
  if (args.size() != arity) {
    fail(pending.position, std::string(row.name) + " takes " + counted(arity, "argument") + " (" +
                               std::string(describe(row.domain)) + "), got " +
                               std::to_string(args.size()));
  }
  return apply_at(pending.position, *pending.op, args);
}

Expr ExprParser::call_spelled(const Pending& pending, std::size_t num_args) const {
  std::vector<CallArgument> args(num_args);
  for (std::size_t i = 0; i < num_args; ++i) args[i].value = values_[pending.num_values + i];
  for (const Mark& mark : std::span(marks_).subspan(pending.num_marks)) {
    CallArgument& argument = args[mark.value_index - pending.num_values];
    argument.keyword = mark.keyword;
    argument.word = mark.word;
    if (mark.word || mark.is_none) argument.value.reset();
  }
  OpCall resolved{};
  try {
    resolved = resolve_call(pending.name, args);
  } catch (const Error& error) {
    fail_as(error, pending.position);
  }
  return apply_at(pending.position, resolved.op, resolved.args);
}

Expr ExprParser::call_user_operator(const Pending& pending, std::span<const Expr> args) const {
  try {
    if (options_.ignores_dtypes) {
      options_.definitions->check_call(pending.name, args);
      return stand_in(args);
    }
    return options_.definitions->call(pending.name, args);
  } catch (const Error& error) {
    fail_as(error, pending.position);
  }
}

/// The reduction whose arguments a call takes.
Reduction ExprParser::reduction_of(const Pending& pending) {
  if (pending.form == Form::reduction) return *parse_reduction(pending.name);
  return *parse_pair_reduction(pending.name) == PairReduction::aminmax ? Reduction::amin
                                                                       : Reduction::var;
}

/// Leaves both results, and nothing that could be done with them.
void ExprParser::close_pair(const Pending& pending) {
  const std::optional<PairReduction> reduction = parse_pair_reduction(pending.name);
  if (values_.size() != pending.num_values + 1)
    fail(pending.position,
         reduction ? "expected a value to reduce: " + std::string(pending.name) + "(input, ...)"
                   : "frexp takes 1 argument");
  const Expr value = values_.back();
  values_.pop_back();
  try {
    for (const Expr& result :
         reduction ? reduce_pair(*reduction, value, pending.options) : ops::frexp(value))
      values_.push_back(result);
  } catch (const Error& error) {
    fail_as(error, pending.position);
  }
  const std::string reason = reduction ? "" : unsupported_reason(values_.back().node());
  if (!reason.empty()) fail(pending.position, reason);
  advance();
  if (!token_.is(",") && token_.kind != ExprToken::Kind::end)
    fail(token_.position, std::string(pending.name) + " has two results, which nothing combines");
  wants_operand_ = false;
}

Expr ExprParser::call_reduction(const Pending& pending, std::span<const Expr> args) const {
  const Reduction reduction = *parse_reduction(pending.name);
  if (args.size() != 1)
    fail(pending.position, "expected a value to reduce: " + reduction_signature(reduction));
  if (options_.ignores_dtypes) return stand_in(args);
  try {
    return weft::reduce(reduction, args[0], pending.options);
  } catch (const Error& error) {
    fail_as(error, pending.position);
  }
}

Expr ExprParser::apply_at(std::size_t position, Op op, std::span<const Expr> args) const {
  if (options_.ignores_dtypes) return stand_in(args);
  std::optional<Expr> result;
  try {
    result = apply(op, args);
  } catch (const Error& error) {
    fail_as(error, position);
  }
  const std::string reason = unsupported_reason(result->node());
  if (!reason.empty()) fail(position, reason);
  return *std::move(result);
}

}  // namespace weft
