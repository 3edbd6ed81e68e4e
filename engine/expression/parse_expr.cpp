// Reads expressions: operator precedence with an explicit stack, so that nesting of any depth costs
// memory and never the call stack.
#include "engine/expression/expr_parser.h"

#include "engine/expression/call_spelling.h"
#include "engine/expression/expr_words.h"
#include "engine/expression/parse_reduction.h"
#include "engine/messages/caret.h"
#include "engine/messages/nearest.h"

#include <weft/error.h>
#include <weft/expr.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace weft {
namespace {

std::vector<std::pair<std::string, Expr>> named_tensors(
    std::span<const std::pair<std::string, Tensor>> tensors) {
  std::vector<std::pair<std::string, Expr>> result;
  for (const auto& given : tensors) {
    const auto& name = given.first;
    const bool is_new =
        std::ranges::none_of(result, [&](const auto& known) { return known.first == name; });
    WEFT_CHECK(is_new, ArgumentError, "the name '", name, "' is given twice");
    result.emplace_back(name, Expr::named(name, given.second));
  }
  return result;
}

/// Functions that have one result each of what `name` has.
std::string_view results_of(std::string_view name) {
  if (name == "frexp") return "frexp_mantissa or frexp_exponent";
  return parse_pair_reduction(name) == PairReduction::aminmax ? "amin or amax" : "var or mean";
}

}  // namespace

ExprParser::ExprParser(std::string_view text, std::vector<std::pair<std::string, Expr>> names,
                       const ParseOptions& options)
    : lexer_(text), options_(options), names_(std::move(names)) {}

std::vector<Expr> ExprParser::parse_all() {
  advance();
  if (token_.kind == ExprToken::Kind::end) fail(token_.position, "the expression is empty");
  while (wants_operand_ || token_.kind != ExprToken::Kind::end) {
    if (wants_operand_) {
      read_operand();
    } else {
      read_after_operand();
    }
  }
  reduce(comparison_precedence);
  if (!pending_.empty())
    fail(pending_.back().position, pending_.back().form >= Form::call
                                       ? "the bracket of this function is never closed"
                                       : "this '(' is never closed");
  return values_;
}

void ExprParser::read_operand() {
  const std::size_t position = token_.position;
  const bool was_at_start = std::exchange(is_at_start_, false);
  if (token_.kind == ExprToken::Kind::number) {
    values_.emplace_back(token_.number);
    wants_operand_ = false;
    return advance();
  }
  if (token_.kind == ExprToken::Kind::name) return read_name(was_at_start);
  if (token_.kind == ExprToken::Kind::word) {
    if (!is_at_argument()) fail(position, "a text in quotes is only an argument of a function");
    return read_non_value(token_.text);
  }
  if (token_.is("(")) {
    pending_.push_back({Form::parenthesis, {}, 0, position, values_.size(), {}});
    return advance();
  }
  if (token_.is("-") || token_.is("+") || token_.is("~")) {
    std::optional<Op> op;
    if (token_.is("-")) op = Op::neg;
    if (token_.is("~")) op = Op::bitwise_not;
    pending_.push_back({Form::unary, op, unary_precedence, position, 0, {}});
    return advance();
  }
  // `f()` and a comma before the closing bracket are the places where no operand need follow.
  if (token_.is(")") && !pending_.empty() && pending_.back().form >= Form::call) return close();
  fail(position, "expected a value, found " + token_.described());
}

void ExprParser::read_name(bool is_at_start) {
  const ExprToken name = token_;
  const std::string_view hint = keyword_hint(name.text);
  if (!hint.empty()) fail(name.position, hint);
  if (name.text == "None" && is_at_argument()) return read_non_value({});
  advance();
  if (token_.is("(")) return open_call(name.text, name.position, is_at_start);
  if (token_.is("=") && is_at_argument()) return read_keyword(name);
  const auto known = std::ranges::find(names_, name.text, &std::pair<std::string, Expr>::first);
  if (known != names_.end()) {
    values_.push_back(known->second);
  } else if (const std::optional<Scalar> number = named_number(name.text)) {
    values_.emplace_back(*number);
  } else {
    fail_unknown_name(name.text, name.position);
  }
  wants_operand_ = false;
}

/// PyTorch's name of argument `place` of a function that has no spelling; empty where there is
/// none.
std::string_view ExprParser::parameter_in_order(const Pending& call, std::size_t place) {
  struct Names {
    Op op;
    std::array<std::string_view, max_arity> names;
  };
  constexpr Names special[] = {
      {Op::where, {"condition", "input", "other"}},
      {Op::pow, {"input", "exponent"}},
      {Op::heaviside, {"input", "values"}},
      {Op::clamp_min, {"input", "min"}},
      {Op::clamp_max, {"input", "max"}},
      {Op::complex, {"real", "imag"}},
      {Op::polar, {"abs", "angle"}},
  };
  const bool is_reduction = call.form == Form::reduction || call.form == Form::pair;
  if (is_reduction) return place == 0 ? "input" : "";
  if (!call.op || place >= static_cast<std::size_t>(info(*call.op).arity)) return {};
  const auto* const row = std::ranges::find(special, *call.op, &Names::op);
  if (row != std::end(special)) return row->names[place];
  return place == 0 ? "input" : place == 1 ? "other" : "";
}

/// Whether the next thing is the first of an argument of a call.
bool ExprParser::is_at_argument() const {
  return !pending_.empty() && pending_.back().form >= Form::call;
}

void ExprParser::read_keyword(const ExprToken& name) {
  const Pending& bracket = pending_.back();
  const bool is_spelled = bracket.form == Form::call && has_spelling(bracket.name);
  const std::string_view expected =
      parameter_in_order(bracket, values_.size() - bracket.num_values);
  if (!is_spelled && name.text != expected) {
    if (bracket.form == Form::reduction)
      fail(name.position, "the value comes first, and then what has a name: " +
                              reduction_signature(reduction_of(bracket)));
    if (bracket.form == Form::user_call)
      fail(name.position, "this function takes no keyword argument here");
    fail(name.position, expected.empty() ? detail::concat(bracket.name, " has no argument '",
                                                          name.text.substr(0, 40), "' here")
                                         : detail::concat("the only keyword argument here is '",
                                                          expected, "', in PyTorch's order"));
  }
  if (has_mark(bracket))
    fail(name.position, "expected a value, found '" + std::string(name.text.substr(0, 40)) + "'");
  marks_.push_back({.value_index = values_.size(), .keyword = name.text});
  advance();
}

/// A word or None: the number in its place means nothing.
void ExprParser::read_non_value(std::optional<std::string_view> word) {
  const std::size_t position = token_.position;
  const Pending& bracket = pending_.back();
  if (bracket.form != Form::call || !has_spelling(bracket.name))
    fail(position, "this function takes no text and no None");
  if (!has_mark(bracket)) marks_.push_back({.value_index = values_.size()});
  marks_.back().word = word;
  marks_.back().is_none = !word;
  values_.emplace_back(Scalar(0));
  wants_operand_ = false;
  advance();
  if (!token_.is(",") && !token_.is(")"))
    fail(token_.position, "expected ',' or ')', found " + token_.described());
}

void ExprParser::open_call(std::string_view name, std::size_t position, bool is_at_start) {
  std::optional<Op> op;
  Form form = Form::call;
  if (name == "cast") {
    form = Form::cast;
  } else if (name == "copy") {
    form = Form::copy;
  } else if (parse_reduction(name)) {
    form = Form::reduction;
  } else if (has_two_results(name)) {
    if (!options_.are_several)
      fail(position, std::string(name) + " has two results, and one is read here: write " +
                         std::string(results_of(name)) +
                         "; `weft eval` and parse_exprs() read both");
    if (!is_at_start)
      fail(position, std::string(name) + " has two results: it stands alone, or between commas");
    form = Form::pair;
  } else {
    op = find_function(name);
    const bool is_users =
        !op && !has_spelling(name) && options_.definitions && options_.definitions->contains(name);
    if (is_users) form = Form::user_call;
    if (!op && !is_users && !has_spelling(name)) fail_unknown_function(name, position);
  }
  pending_.push_back({form, op, 0, position, values_.size(), {}, name});
  pending_.back().num_marks = marks_.size();
  advance();
}

void ExprParser::read_after_operand() {
  if (token_.is(")")) return close();
  if (token_.is(",")) return read_comma();
  const auto spelling = std::ranges::find_if(
      binary_spellings, [&](const auto& row) { return token_.is(row.symbol); });
  if (spelling == binary_spellings.end()) fail_after_operand();
  read_binary(*spelling);
}

void ExprParser::read_binary(const BinarySpelling& spelling) {
  const bool is_right_associative = spelling.precedence == power_precedence;
  reduce(spelling.precedence + (is_right_associative ? 1 : 0) +
         (spelling.precedence == comparison_precedence ? 1 : 0));
  const bool follows_comparison = !pending_.empty() && pending_.back().form == Form::binary &&
                                  pending_.back().precedence == comparison_precedence;
  if (spelling.precedence == comparison_precedence && follows_comparison) {
    fail(token_.position, "comparisons do not chain: write (a < b) & (b < c)");
  }
  pending_.push_back({Form::binary, spelling.op, spelling.precedence, token_.position, 0, {}});
  wants_operand_ = true;
  advance();
}

void ExprParser::read_comma() {
  reduce(comparison_precedence);
  if (pending_.empty() && options_.are_several) {
    wants_operand_ = is_at_start_ = true;
    return advance();
  }
  if (pending_.empty() || pending_.back().form == Form::parenthesis) {
    fail(token_.position, pending_.empty()
                              ? "one expression is read here; `weft eval` and parse_exprs() read "
                                "several with ',' between them"
                              : "a ',' is only meaningful between the arguments of a function");
  }
  Pending& bracket = pending_.back();
  if (bracket.form == Form::cast && bracket.dtype) {
    if (advance(); token_.is(")")) return;
    return read_cast_overflow();
  }
  advance();
  if (bracket.form == Form::cast) return read_cast_dtype();
  if (bracket.name == "frexp") fail(token_.position, "frexp takes 1 argument");
  if (bracket.form == Form::reduction || bracket.form == Form::pair) {
    bracket.options = read_reduce_arguments(lexer_, token_, reduction_of(bracket));
    return;
  }
  wants_operand_ = true;
}

void ExprParser::read_cast_dtype() {
  if (token_.kind == ExprToken::Kind::name && token_.text == "dtype") {
    advance();
    if (!token_.is("=")) fail(token_.position, "expected '=' after 'dtype'");
    advance();
  }
  const bool is_name = token_.kind == ExprToken::Kind::name;
  pending_.back().dtype = is_name ? parse_dtype(token_.text) : std::nullopt;
  if (!pending_.back().dtype) {
    std::vector<std::string> known;
    known.reserve(num_dtypes);
    for (const DTypeInfo& row : dtype_table) known.emplace_back(row.name);
    fail(token_.position, "expected a dtype, found " + token_.described() + "; the dtypes are " +
                              nearest_first(token_.text, std::move(known), num_dtypes));
  }
  advance();
  if (!token_.is(",") && !token_.is(")"))
    fail(token_.position, "expected ',' or ')', found " + token_.described());
}

void ExprParser::read_cast_overflow() {
  constexpr std::string_view takes =
      "cast takes a value and a dtype, as in cast(a, bf16), and saturate=true or false";
  if (token_.text != "saturate") fail(token_.position, takes);
  advance();
  if (!token_.is("=")) fail(token_.position, "expected '=' after 'saturate'");
  advance();
  const std::optional<Scalar> given = named_number(token_.text);
  if (token_.kind != ExprToken::Kind::name || !given || !is_boolean(given->dtype()))
    fail(token_.position, "expected true or false, found " + token_.described());
  pending_.back().overflow =
      given->as_double() != 0 ? CastOverflow::saturates : CastOverflow::overflows;
  advance();
  if (!token_.is(")")) fail(token_.position, takes);
}

void ExprParser::close() {
  reduce(comparison_precedence);
  if (pending_.empty()) fail(token_.position, "this ')' closes nothing");
  const Pending bracket = pending_.back();
  pending_.pop_back();
  if (bracket.form != Form::parenthesis) {
    if (has_mark(bracket)) fail(token_.position, "expected a value, found " + token_.described());
    if (bracket.form == Form::pair) return close_pair(bracket);
    const Expr result = call(bracket);
    marks_.resize(bracket.num_marks);
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(bracket.num_values), values_.end());
    values_.push_back(result);
  }
  wants_operand_ = false;
  advance();
}

/// Applies the operators on top of the stack that bind at least as tightly as `precedence`.
void ExprParser::reduce(int precedence) {
  while (!pending_.empty() && pending_.back().precedence >= precedence) reduce_one();
}

void ExprParser::fail_as(const Error& error, std::size_t position) const {
  if (dynamic_cast<const ArithmeticError*>(&error) != nullptr)
    throw ArithmeticError(point_at("expression", error.what(), lexer_.text(), position));
  if (dynamic_cast<const ArgumentError*>(&error) != nullptr) fail(position, error.what());
  throw;
}

void ExprParser::fail_unknown_name(std::string_view name, std::size_t position) const {
  fail(position, unknown_name_message(name, known_tensors()));
}

void ExprParser::fail_unknown_function(std::string_view name, std::size_t position) const {
  if (std::ranges::find(names_, name, &std::pair<std::string, Expr>::first) != names_.end())
    fail(position, "'" + std::string(name.substr(0, 40)) + "' is a tensor, not a function");
  fail(position, unknown_function_message(name, options_.definitions, options_.are_several));
}

std::vector<std::string> ExprParser::known_tensors() const {
  std::vector<std::string> known;
  for (const auto& entry : names_) known.push_back(entry.first);
  return known;
}

void ExprParser::fail_after_operand() const {
  const std::string_view hint =
      token_.kind == ExprToken::Kind::name ? keyword_hint(token_.text) : std::string_view{};
  if (!hint.empty()) fail(token_.position, hint);
  if (token_.is("=")) fail(token_.position, "write == to compare");
  if (token_.is("["))
    fail(token_.position, "indexing is not part of expressions: name a view instead");
  fail(token_.position, "expected an operator, found " + token_.described());
}

Expr parse_expression(std::string_view text, std::vector<std::pair<std::string, Expr>> names,
                      const ParseOptions& options) {
  return ExprParser(text, std::move(names), options).parse();
}

Expr parse_expr(std::string_view text, std::span<const std::pair<std::string, Tensor>> names) {
  return ExprParser(text, named_tensors(names), {}).parse();
}

Expr parse_expr(std::string_view text, std::span<const std::pair<std::string, Tensor>> names,
                const Definitions& definitions) {
  return ExprParser(text, named_tensors(names), {.definitions = &definitions}).parse();
}

std::vector<Expr> parse_exprs(std::string_view text,
                              std::span<const std::pair<std::string, Tensor>> names,
                              const Definitions& definitions) {
  const ParseOptions options{.definitions = &definitions, .are_several = true};
  return ExprParser(text, named_tensors(names), options).parse_all();
}

}  // namespace weft
