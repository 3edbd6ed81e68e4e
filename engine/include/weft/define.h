// Operators that users add: names for expressions.
#pragma once

#include <weft/expr.h>

#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

/// Makes the expression of a call from its arguments.
using ExprBuilder = std::function<Expr(std::span<const Expr>)>;

/// User operators by name.  A call is replaced by the operator's expression over the arguments, so
/// that promotion, fusion, every backend and the kernel cache treat it as if it were written out.
///
/// A name means one thing for good: defining it again with the same text is allowed and does
/// nothing, with another text it is an error.
///
/// Threads: all functions may be called by many threads at once; builders then run concurrently.
class Definitions {
 public:
  /// `signature` names the operator and its parameters, "swish(x, beta)", or the operator alone:
  /// its parameters are then those of x, y, z, w up to the last that the expression reads, which
  /// reads all of them.
  ///
  /// Errors: ArgumentError on a name that is no identifier or means something already, on an
  ///         expression that does not parse, reads unknown names or y without x, or calls the
  ///         operator itself.
  void define(std::string_view signature, std::string_view expression);
  /// `builder` runs at each call.  It may call other user operators, but not, by any way, itself.
  ///
  /// Errors: ArgumentError on a bad name, a name in use, and a number of parameters outside 1..32.
  void define(std::string_view name, int num_parameters, ExprBuilder builder);

  /// The operator's expression over `args`.
  ///
  /// Errors: ArgumentError on unknown names, a wrong number of arguments, dtypes that the
  ///         expression does not take, operators that call themselves, and expansions of more than
  ///         10,000 calls or 100 levels.
  Expr call(std::string_view name, std::span<const Expr> args) const;
  Expr call(std::string_view name, std::initializer_list<Expr> args) const {
    return call(name, std::span(args.begin(), args.size()));
  }

  /// Whether a call with so many arguments is possible.  Errors: as call() has them for that.
  void check_call(std::string_view name, std::span<const Expr> args) const;
  bool contains(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  struct Definition;
  void insert(std::string name, std::shared_ptr<const Definition> definition);
  std::shared_ptr<const Definition> find(std::string_view name) const;
  std::shared_ptr<const Definition> find_for(std::string_view name,
                                             std::span<const Expr> args) const;

  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const Definition>, std::less<>> definitions_;
};

/// As parse_expr() without definitions, which see; user operators are called like built-in ones.
Expr parse_expr(std::string_view text, std::span<const std::pair<std::string, Tensor>> names,
                const Definitions& definitions);

/// Reads one expression, or several with commas between them, for Engine::eval() of several:
/// `sum(a), sum(a * a)`.  `aminmax(a)`, `var_mean(a)` and `frexp(a)` alone between commas are two.
std::vector<Expr> parse_exprs(std::string_view text,
                              std::span<const std::pair<std::string, Tensor>> names,
                              const Definitions& definitions = {});

}  // namespace weft
