#include <weft/define.h>

#include "engine/engine_state.h"
#include "engine/expression/expr_lexer.h"
#include "engine/expression/expr_words.h"
#include "engine/expression/parse_expr.h"
#include "engine/messages/nearest.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>

namespace weft {

struct Definitions::Definition {
  std::string name;
  std::vector<std::string> parameters;  ///< builders have none with names
  std::size_t num_parameters = 0;
  std::string expression;
  ExprBuilder builder;  ///< empty: the expression counts
};

namespace {

constexpr std::size_t max_parameters = 32;
constexpr std::size_t max_levels = 100;
constexpr std::size_t max_calls = 10000;

/// The calls that this thread is expanding, outermost first.
struct Expansion {
  std::array<std::pair<const Definitions*, std::string_view>, max_levels> calls;
  std::size_t num_active = 0, num_calls = 0;

  auto active() const { return std::span(calls).first(num_active); }
};
// Without a destructor: those of other objects of the thread may call operators.
constinit thread_local Expansion expansion = {};

/// One call in progress.
class ActiveCall {
 public:
  ActiveCall(const Definitions& definitions, std::string_view name) {
    const std::pair<const Definitions*, std::string_view> own{&definitions, name};
    const auto active = expansion.active();
    const auto first = std::ranges::find(active, own);
    if (first != active.end()) {
      std::string cycle;
      for (auto it = first; it != active.end(); ++it) cycle += std::string(it->second) + " -> ";
      throw ArgumentError(detail::concat("'", name, "' calls itself: ", cycle, name));
    }
    WEFT_CHECK(active.size() < max_levels, ArgumentError, "'", name,
               "': user operators call each other over more than ", max_levels, " levels");
    if (active.empty()) expansion.num_calls = 0;
    WEFT_CHECK(++expansion.num_calls <= max_calls, ArgumentError, "'", name,
               "': the call expands to more than ", max_calls, " calls of user operators");
    expansion.calls[expansion.num_active++] = own;
  }
  ~ActiveCall() { --expansion.num_active; }
  ActiveCall(const ActiveCall&) = delete;
  ActiveCall& operator=(const ActiveCall&) = delete;
};

void check_name(std::string_view name) {
  const std::string_view shown = name.substr(0, 40);
  WEFT_CHECK(is_name(name), ArgumentError, "'", shown,
             "' is no name for an operator: a letter or _ comes first, then letters, digits and _");
  const std::string_view meaning = built_in_meaning(name);
  WEFT_CHECK(meaning.empty(), ArgumentError, "'", shown, "' is ", meaning,
             " and cannot be defined");
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// "f(x, y)" -> {"f", {"x", "y"}}; no parameters without brackets.
std::pair<std::string, std::vector<std::string>> read_signature(std::string_view signature) {
  const std::size_t open = signature.find('(');
  const std::string name(trimmed(signature.substr(0, open)));
  check_name(name);
  std::vector<std::string> parameters;
  if (open == signature.npos) return {name, parameters};
  std::string_view rest = trimmed(signature.substr(open + 1));
  WEFT_CHECK(rest.ends_with(')'), ArgumentError, "expected NAME(PARAMETER, ...), got '",
             signature.substr(0, 80), "'");
  rest.remove_suffix(1);
  while (true) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string parameter(trimmed(rest.substr(0, end)));
    WEFT_CHECK(is_name(parameter), ArgumentError, "'", parameter.substr(0, 40),
               "' is no name for a parameter of ", name);
    WEFT_CHECK(std::ranges::find(parameters, parameter) == parameters.end(), ArgumentError,
               "the parameter '", parameter, "' of ", name, " is named twice");
    parameters.push_back(parameter);
    if (end == rest.size()) return {name, parameters};
    rest.remove_prefix(end + 1);
  }
}

/// Of x, y, z, w those up to the last that the expression reads.
std::vector<std::string> usual_parameters(std::string_view name, std::string_view expression) {
  constexpr std::array<std::string_view, max_arity> usual{"x", "y", "z", "w"};
  std::array<bool, max_arity> is_read{};
  ExprLexer lexer(expression);
  for (ExprToken token = lexer.next(); token.kind != ExprToken::Kind::end; token = lexer.next())
    for (std::size_t i = 0; i < usual.size(); ++i)
      if (token.kind == ExprToken::Kind::name && token.text == usual[i]) is_read[i] = true;
  std::size_t count = usual.size();
  while (count > 0 && !is_read[count - 1]) --count;
  WEFT_CHECK(count > 0, ArgumentError, name,
             " reads none of its parameters x, y, z, w; others "
             "are named as in \"",
             name, "(a, b)\"");
  for (std::size_t i = 0; i < count; ++i)
    WEFT_CHECK(is_read[i], ArgumentError, name, " reads ", usual[count - 1], " but not ", usual[i],
               "; parameters that are not read have to be named, as in \"", name, "(x, y)\"");
  return {usual.begin(), usual.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

void Definitions::define(std::string_view signature, std::string_view expression) {
  auto definition = std::make_shared<Definition>();
  auto [name, parameters] = read_signature(signature);
  if (signature.find('(') == signature.npos) parameters = usual_parameters(name, expression);
  WEFT_CHECK(parameters.size() <= max_parameters, ArgumentError, name, " has ", parameters.size(),
             " parameters; at most ", max_parameters, " are possible");
  definition->name = name;
  definition->parameters = std::move(parameters);
  definition->num_parameters = definition->parameters.size();
  definition->expression = expression;
  // The operator's own name is unknown as yet, and for good what it calls is known before it: no
  // text can call itself in a circle.
  std::vector<std::pair<std::string, Expr>> names;
  for (const std::string& parameter : definition->parameters)
    names.emplace_back(parameter, Expr(unbacked(IntSpan{}, IntSpan{}, DType::f32)));
  if (!contains(name)) {
    try {
      parse_expression(expression, std::move(names), {this, true});
    } catch (const ArgumentError& error) {
      throw ArgumentError(name + ": " + error.what());
    }
  }
  insert(std::move(name), std::move(definition));
}

void Definitions::define(std::string_view name, int num_parameters, ExprBuilder builder) {
  check_name(name);
  WEFT_CHECK(num_parameters >= 1 && num_parameters <= static_cast<int>(max_parameters),
             ArgumentError, name, ": the number of parameters is 1 to ", max_parameters, ", not ",
             num_parameters);
  WEFT_CHECK(builder, ArgumentError, name, ": the builder is empty");
  auto definition = std::make_shared<Definition>();
  definition->name = name;
  definition->num_parameters = static_cast<std::size_t>(num_parameters);
  definition->builder = std::move(builder);
  insert(std::string(name), std::move(definition));
}

void Definitions::insert(std::string name, std::shared_ptr<const Definition> definition) {
  const std::unique_lock lock(mutex_);
  const auto [place, is_new] = definitions_.try_emplace(std::move(name), definition);
  const Definition& known = *place->second;
  const bool is_same = !known.builder && !definition->builder &&
                       known.parameters == definition->parameters &&
                       known.expression == definition->expression;
  WEFT_CHECK(is_new || is_same, ArgumentError, "'", known.name, "' is defined already",
             known.builder ? "" : ", as " + known.expression.substr(0, 80));
}

std::shared_ptr<const Definitions::Definition> Definitions::find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? nullptr : found->second;
}

bool Definitions::contains(std::string_view name) const { return find(name) != nullptr; }

std::vector<std::string> Definitions::names() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> result;
  for (const auto& [name, definition] : definitions_) result.push_back(name);
  return result;
}

std::shared_ptr<const Definitions::Definition> Definitions::find_for(
    std::string_view name, std::span<const Expr> args) const {
  std::shared_ptr<const Definition> definition = find(name);
  WEFT_CHECK(definition, ArgumentError, "unknown user operator '", name.substr(0, 40),
             "'; defined are ", nearest_first(name, names(), 8));
  WEFT_CHECK(args.size() == definition->num_parameters, ArgumentError, definition->name, " takes ",
             definition->num_parameters,
             definition->num_parameters == 1 ? " argument" : " arguments", ", got ", args.size());
  return definition;
}

void Definitions::check_call(std::string_view name, std::span<const Expr> args) const {
  find_for(name, args);
}

Expr Definitions::call(std::string_view name, std::span<const Expr> args) const {
  const std::shared_ptr<const Definition> definition = find_for(name, args);
  const ActiveCall active(*this, definition->name);
  if (definition->builder) return definition->builder(args);
  std::vector<std::pair<std::string, Expr>> values;
  for (std::size_t i = 0; i < args.size(); ++i)
    values.emplace_back(definition->parameters[i], args[i]);
  return parse_expression(definition->expression, std::move(values), {this, false});
}

void Engine::define(std::string_view signature, std::string_view expression) {
  state_->definitions.define(signature, expression);
}

void Engine::define(std::string_view name, int num_parameters, ExprBuilder builder) {
  state_->definitions.define(name, num_parameters, std::move(builder));
}

Expr Engine::call(std::string_view name, std::span<const Expr> args) const {
  return state_->definitions.call(name, args);
}

const Definitions& Engine::definitions() const { return state_->definitions; }

}  // namespace weft
