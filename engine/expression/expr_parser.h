// Reads expressions: operator precedence with an explicit stack, so that nesting of any depth costs
// memory and never the call stack.  parse_expr.cpp reads, expr_calls.cpp makes of it what is
// called.
#pragma once

#include "engine/expression/expr_lexer.h"
#include "engine/expression/expr_spelling.h"
#include "engine/expression/parse_expr.h"

#include <weft/error.h>
#include <weft/expr.h>
#include <weft/op.h>
#include <weft/reduce.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

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
    std::size_t num_marks = 0;                        ///< calls: how many marks there were before
  };

  [[noreturn]] void fail(std::size_t position, std::string_view message) const {
    fail_in_expression(lexer_.text(), position, message);
  }
  /// What a part of the expression was refused with, and where; other errors are thrown on.
  [[noreturn]] void fail_as(const Error& error, std::size_t position) const;
  void advance() { token_ = lexer_.next(); }

  void read_operand();
  void read_name(bool is_at_start);
  void read_keyword(const ExprToken& name);
  void read_non_value(std::optional<std::string_view> word);
  static std::string_view parameter_in_order(const Pending& call, std::size_t place);
  bool is_at_argument() const;
  /// Whether the argument of `call` that comes next has a mark.
  bool has_mark(const Pending& call) const {
    return marks_.size() > call.num_marks && marks_.back().value_index == values_.size();
  }
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
  std::vector<std::string> known_tensors() const;
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
  /// Of the arguments of open calls, those of inner calls last.  A keyword and the first argument
  /// of a call behind it have the same index.
  std::vector<Mark> marks_;
};

}  // namespace weft
