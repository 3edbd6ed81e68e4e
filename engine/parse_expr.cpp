// Reads expressions: operator precedence with an explicit stack, so that nesting of any depth costs
// memory and never the call stack.
#include "engine/parse_expr.h"

#include "engine/call_spelling.h"
#include "engine/caret.h"
#include "engine/expr_lexer.h"
#include "engine/expr_node.h"
#include "engine/expr_spelling.h"
#include "engine/nearest.h"
#include "engine/number_arithmetic.h"
#include "engine/parse_reduction.h"

#include <weft/error.h>
#include <weft/expr.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

namespace weft {
namespace {

/// The numbers that have names.  A tensor of the same name comes first.
std::optional<Scalar> named_number(std::string_view name) {
  if (name == "True" || name == "true") return Scalar(true);
  if (name == "False" || name == "false") return Scalar(false);
  if (name == "inf") return Scalar(std::numeric_limits<double>::infinity());
  if (name == "nan") return Scalar(std::numeric_limits<double>::quiet_NaN());
  if (name == "pi") return Scalar(std::numbers::pi);
  if (name == "e") return Scalar(std::numbers::e);
  return {};
}

/// What is said about Python's words that have no meaning between tensors.
std::string_view keyword_hint(std::string_view word) {
  if (word == "and") return "'and' has no meaning between tensors: write & between bool values";
  if (word == "or") return "'or' has no meaning between tensors: write | between bool values";
  if (word == "not") return "'not' has no meaning on tensors: write ~";
  if (word == "if" || word == "else") {
    return "conditional expressions are not elementwise: write where(condition, x, y)";
  }
  return {};
}

bool has_two_results(std::string_view name) {
  return name == "frexp" || parse_pair_reduction(name).has_value();
}

std::optional<Op> find_function(std::string_view name) {
  const auto ops = all_ops();
  const auto found = std::ranges::find(ops, name, [](Op op) { return info(op).name; });
  return found == ops.end() ? std::nullopt : std::optional(*found);
}

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

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

class ExprParser {
 public:
  ExprParser(std::string_view text, std::vector<std::pair<std::string, Expr>> names,
             const ParseOptions& options);
  Expr parse() { return parse_all()[0]; }
  std::vector<Expr> parse_all();

 private:
  enum class Form { binary, unary, parenthesis, call, user_call, reduction, pair, cast, copy };

  /// What is special about an argument of a call: its keyword, or that it is no value.
  struct Mark {
    std::size_t value_index;
    std::string_view keyword = {};
    std::optional<std::string_view> word = {};
    bool is_none = false;
  };

  /// An operator that waits for its right operand, or a bracket that waits for its end.
  struct Pending {
    Form form;
    std::optional<Op> op;        ///< empty: unary plus
    int precedence;              ///< of operators; brackets have 0, so that nothing reduces them
    std::size_t position;        ///< for messages
    std::size_t num_values;      ///< brackets: how many values there were before
    std::optional<DType> dtype;  ///< cast: what to convert to, once read
    std::string_view name = {};  ///< user_call, reduction
    ReduceOptions options = {};  ///< reduction: the arguments behind the first
    CastOverflow overflow = CastOverflow::overflows;  ///< cast
  };

  [[noreturn]] void fail(std::size_t position, std::string_view message) const {
    fail_in_expression(lexer_.text(), position, message);
  }
  void advance() { token_ = lexer_.next(); }

  void read_operand();
  void read_name(bool is_at_start);
  void read_keyword(const ExprToken& name);
  void read_non_value(std::optional<std::string_view> word);
  bool is_at_argument() const;
  void read_after_operand();
  void read_binary(const BinarySpelling& spelling);
  void open_call(std::string_view name, std::size_t position, bool is_at_start);
  void read_comma();
  void read_cast_dtype();
  void read_cast_overflow();
  void close();
  void reduce(int down_to_precedence);
  void reduce_one();
  Expr call(const Pending& pending);
  Expr call_spelled(const Pending& pending, std::size_t num_args) const;
  Expr call_user_operator(const Pending& pending, std::span<const Expr> args) const;
  void close_pair(const Pending& pending);
  static Reduction reduction_of(const Pending& pending);
  Expr call_reduction(const Pending& pending, std::span<const Expr> args) const;
  Expr apply_at(std::size_t position, Op op, std::span<const Expr> args) const;
  [[noreturn]] void fail_unknown_name(std::string_view name, std::size_t position) const;
  [[noreturn]] void fail_unknown_function(std::string_view name, std::size_t position) const;
  [[noreturn]] void fail_after_operand() const;

  ExprLexer lexer_;
  ParseOptions options_;
  ExprToken token_;
  bool wants_operand_ = true;
  bool is_at_start_ = true;  ///< nothing of the expression has been read
  std::vector<std::pair<std::string, Expr>> names_;
  std::vector<Expr> values_;
  std::vector<Pending> pending_;
  std::vector<Mark> marks_;  ///< of the arguments of open calls, in the order of the values
};

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
  if (!pending_.empty()) fail(pending_.back().position, "this '(' is never closed");
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

/// Whether the next thing is the first of an argument of a call.
bool ExprParser::is_at_argument() const {
  return !pending_.empty() && pending_.back().form >= Form::call;
}

void ExprParser::read_keyword(const ExprToken& name) {
  const Pending& bracket = pending_.back();
  if (bracket.form != Form::call || !has_spelling(bracket.name))
    fail(name.position, "this function takes no keyword arguments");
  if (!marks_.empty() && marks_.back().value_index == values_.size())
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
  if (marks_.empty() || marks_.back().value_index != values_.size())
    marks_.push_back({.value_index = values_.size()});
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
    if (!options_.are_several || !is_at_start)
      fail(position, std::string(name) +
                         " has two results: it stands alone, or between commas, "
                         "where several expressions are read");
    form = Form::pair;
  } else {
    op = find_function(name);
    const bool is_users =
        !op && !has_spelling(name) && options_.definitions && options_.definitions->contains(name);
    if (is_users) form = Form::user_call;
    if (!op && !is_users && !has_spelling(name)) fail_unknown_function(name, position);
  }
  pending_.push_back({form, op, 0, position, values_.size(), {}, name});
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
    fail(token_.position, "a ',' is only meaningful between the arguments of a function");
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
    if (!marks_.empty() && marks_.back().value_index == values_.size())
      fail(token_.position, "expected a value, found " + token_.described());
    if (bracket.form == Form::pair) return close_pair(bracket);
    const Expr result = call(bracket);
    while (!marks_.empty() && marks_.back().value_index >= bracket.num_values) marks_.pop_back();
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(bracket.num_values), values_.end());
    values_.push_back(result);
  }
  wants_operand_ = false;
  advance();
}

/// What takes the place of a result where dtypes are ignored: no number, for with those the parser
/// calculates.
Expr stand_in(std::span<const Expr> args) {
  for (const Expr& arg : args)
    if (arg.node().kind != ExprNode::Kind::scalar) return arg;
  return Expr(unbacked({}, {}, DType::f32));
}

/// Applies the operators on top of the stack that bind at least as tightly as `precedence`.
void ExprParser::reduce(int precedence) {
  while (!pending_.empty() && pending_.back().precedence >= precedence) reduce_one();
}

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
    } catch (const ArgumentError& error) {
      fail(pending.position, error.what());
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
    } catch (const ArgumentError& error) {
      fail(pending.position, error.what());
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
  for (auto mark = marks_.rbegin();
       mark != marks_.rend() && mark->value_index >= pending.num_values; ++mark) {
    CallArgument& argument = args[mark->value_index - pending.num_values];
    argument.keyword = mark->keyword;
    argument.word = mark->word;
    if (mark->word || mark->is_none) argument.value.reset();
  }
  OpCall resolved{};
  try {
    resolved = resolve_call(pending.name, args);
  } catch (const ArgumentError& error) {
    fail(pending.position, error.what());
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
  } catch (const ArgumentError& error) {
    fail(pending.position, error.what());
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
    const std::string reason = reduction ? "" : unsupported_reason(values_.back().node());
    if (!reason.empty()) fail(pending.position, reason);
  } catch (const ArgumentError& error) {
    fail(pending.position, error.what());
  }
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
  } catch (const ArgumentError& error) {
    fail(pending.position, error.what());
  }
}

Expr ExprParser::apply_at(std::size_t position, Op op, std::span<const Expr> args) const {
  if (options_.ignores_dtypes) return stand_in(args);
  std::optional<Expr> result;
  try {
    result = apply(op, args);
  } catch (const ArgumentError& error) {
    fail(position, error.what());
  }
  const std::string reason = unsupported_reason(result->node());
  if (!reason.empty()) fail(position, reason);
  return *std::move(result);
}

void ExprParser::fail_unknown_name(std::string_view name, std::size_t position) const {
  std::vector<std::string> known;
  for (const auto& entry : names_) known.push_back(entry.first);
  const std::string message = "unknown name '" + std::string(name.substr(0, 40)) + "'; ";
  if (find_function(name)) {
    fail(position, message + "the function of this name is called with arguments in brackets");
  }
  fail(position, message + (known.empty() ? "no tensors are named"
                                          : "the tensors are " + nearest_first(name, known, 8)));
}

void ExprParser::fail_unknown_function(std::string_view name, std::size_t position) const {
  const std::string quoted = "'" + std::string(name.substr(0, 40)) + "'";
  const bool is_tensor =
      std::ranges::find(names_, name, &std::pair<std::string, Expr>::first) != names_.end();
  if (is_tensor) fail(position, quoted + " is a tensor, not a function");
  std::vector<std::string> known{"cast", "copy"};
  for (Op op : all_ops()) known.emplace_back(info(op).name);
  for (std::string_view spelled : spelled_names())
    if (!find_function(spelled)) known.emplace_back(spelled);
  for (Reduction reduction : all_reductions()) known.emplace_back(weft::name(reduction));
  if (options_.are_several) known.insert(known.end(), {"aminmax", "frexp", "var_mean"});
  if (options_.definitions)
    for (std::string& own : options_.definitions->names()) known.push_back(std::move(own));
  fail(position, "unknown function " + quoted + "; the nearest are " +
                     nearest_first(name, known, 5) + " (all: weft ops)");
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

}  // namespace

Expr parse_expression(std::string_view text, std::vector<std::pair<std::string, Expr>> names,
                      const ParseOptions& options) {
  return ExprParser(text, std::move(names), options).parse();
}

std::string_view built_in_meaning(std::string_view name) {
  if (find_function(name) || has_spelling(name) || name == "cast" || name == "copy")
    return "a built-in function";
  if (parse_reduction(name) || parse_pair_reduction(name)) return "a reduction or scan";
  if (has_two_results(name)) return "a built-in function";
  if (named_number(name)) return "a number";
  if (!keyword_hint(name).empty() || name == "None") return "a word of Python";
  return {};
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
