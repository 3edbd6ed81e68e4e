#include "engine/expression/call_spelling.h"

#include "engine/expression/expr_node.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace weft {
namespace {

constexpr std::size_t max_parameters = 4;

struct Parameter {
  std::string_view name;
  std::string_view otherwise;  ///< empty: it must be given

  Expr default_value() const {
    std::int64_t integer = 0;
    const char* const end = otherwise.data() + otherwise.size();
    if (std::from_chars(otherwise.data(), end, integer).ptr == end) return integer;
    double real = 0;
    std::from_chars(otherwise.data(), end, real);
    return real;
  }
};

/// The arguments of a call in the order of the parameters.
struct Bound {
  std::vector<Parameter> parameters;
  std::array<const CallArgument*, max_parameters> arguments{};

  bool is_given(std::size_t i) const {
    return arguments[i] != nullptr && (arguments[i]->value || arguments[i]->word);
  }
  /// The value, or the parameter's default.
  Expr operator[](std::size_t i) const {
    return is_given(i) ? *arguments[i]->value : parameters[i].default_value();
  }
  std::string_view word_or(std::size_t i, std::string_view otherwise) const {
    return is_given(i) ? *arguments[i]->word : otherwise;
  }
};

using Resolve = OpCall (*)(const Bound& given);

struct Spelling {
  std::string_view name;
  std::string_view parameters;  ///< as Python writes them: "input, other, alpha=1"
  Resolve resolve;
};

OpCall with_alpha(Op plain, Op scaled, const Bound& given) {
  if (!given.is_given(2)) return {plain, {given[0], given[1]}};
  return {scaled, {given[0], given[1], given[2]}};
}

OpCall divide(const Bound& given) {
  const std::string_view mode = given.word_or(2, "true");
  const Op op = mode == "floor" ? Op::div_floor : mode == "trunc" ? Op::div_trunc : Op::div;
  WEFT_CHECK(!given.is_given(2) || op != Op::div, ArgumentError,
             "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
             mode.substr(0, 40), "'");
  return {op, {given[0], given[1]}};
}

OpCall gelu(const Bound& given) {
  const std::string_view kind = given.word_or(1, "none");
  WEFT_CHECK(kind == "none" || kind == "tanh", ArgumentError,
             "gelu: approximate is 'none' or 'tanh', not '", kind.substr(0, 40), "'");
  return {kind == "tanh" ? Op::gelu_tanh : Op::gelu, {given[0]}};
}

OpCall clamp(const Bound& given) {
  WEFT_CHECK(given.is_given(1) || given.is_given(2), ArgumentError,
             "clamp: At least one of 'min' or 'max' must not be None");
  if (!given.is_given(2)) return {Op::clamp_min, {given[0], given[1]}};
  if (!given.is_given(1)) return {Op::clamp_max, {given[0], given[2]}};
  return {Op::clamp, {given[0], given[1], given[2]}};
}

OpCall softplus(const Bound& given) {
  if (!given.is_given(1) && !given.is_given(2)) return {Op::softplus, {given[0]}};
  return {Op::softplus_beta, {given[0], given[1], given[2]}};
}

/// In f64 or c128, whatever is given.
OpCall float_power(const Bound& given) {
  const bool has_complex = is_complex(given[0].dtype()) || is_complex(given[1].dtype());
  const DType dtype = has_complex ? DType::c128 : DType::f64;
  const bool is_number = given[1].node().kind == ExprNode::Kind::scalar;
  return {Op::pow, {cast(given[0], dtype), is_number ? given[1] : cast(given[1], dtype)}};
}

/// The numbers that take the place of the infinities depend on the dtype; integers have none.
OpCall nan_to_num(const Bound& given) {
  const bool is_float = is_floating(given[0].dtype());
  const double largest = largest_finite(given[0].dtype());
  const auto number = [&](std::size_t i, double otherwise) {
    if (given.is_given(i)) return given[i];
    return is_float ? Expr(otherwise) : Expr(Scalar(false));
  };
  return {Op::nan_to_num, {given[0], number(1, 0), number(2, largest), number(3, -largest)}};
}

/// All parameters, in order.
template <Op op>
OpCall plain(const Bound& given) {
  OpCall call{op, {}};
  for (std::size_t i = 0; i < given.parameters.size(); ++i) call.args.push_back(given[i]);
  return call;
}

constexpr Spelling spellings[] = {
    {"add", "input, other, alpha=1",
     [](const Bound& given) { return with_alpha(Op::add, Op::add_scaled, given); }},
    {"sub", "input, other, alpha=1",
     [](const Bound& given) { return with_alpha(Op::sub, Op::sub_scaled, given); }},
    {"subtract", "input, other, alpha=1",
     [](const Bound& given) { return with_alpha(Op::sub, Op::sub_scaled, given); }},
    {"rsub", "input, other, alpha=1",
     [](const Bound& given) {
       if (!given.is_given(2)) return OpCall{Op::sub, {given[1], given[0]}};
       return OpCall{Op::sub_scaled, {given[1], given[0], given[2]}};
     }},
    {"div", "input, other, rounding_mode=None", divide},
    {"divide", "input, other, rounding_mode=None", divide},
    {"true_divide", "input, other", plain<Op::div>},
    {"floor_divide", "input, other", plain<Op::div_floor>},
    {"float_power", "input, exponent", float_power},
    {"multiply", "input, other", plain<Op::mul>},
    {"negative", "input", plain<Op::neg>},
    {"absolute", "input", plain<Op::abs>},
    {"clamp", "input, min=None, max=None", clamp},
    {"clip", "input, min=None, max=None", clamp},
    {"masked_fill", "input, mask, value",
     [](const Bound& given) {
       return OpCall{Op::masked_fill, {given[1], given[0], given[2]}};
     }},
    {"nan_to_num", "input, nan=None, posinf=None, neginf=None", nan_to_num},
    {"round", "input, decimals=0",
     [](const Bound& given) {
       if (!given.is_given(1)) return OpCall{Op::round, {given[0]}};
       return OpCall{Op::round_decimals, {given[0], given[1]}};
     }},
    {"logit", "input, eps=None",
     [](const Bound& given) {
       if (!given.is_given(1)) return OpCall{Op::logit, {given[0]}};
       return OpCall{Op::logit_eps, {given[0], given[1]}};
     }},
    {"addcmul", "input, tensor1, tensor2, value=1", plain<Op::addcmul>},
    {"addcdiv", "input, tensor1, tensor2, value=1", plain<Op::addcdiv>},
    {"lerp", "input, end, weight", plain<Op::lerp>},
    {"gelu", "input, approximate='none'", gelu},
    {"softplus", "input, beta=1, threshold=20", softplus},
    {"threshold", "input, threshold, value", plain<Op::threshold>},
    {"hardtanh", "input, min_val=-1, max_val=1", plain<Op::hardtanh>},
    {"hardshrink", "input, lambd=0.5", plain<Op::hardshrink>},
    {"softshrink", "input, lambd=0.5", plain<Op::softshrink>},
    {"elu", "input, alpha=1", plain<Op::elu>},
    {"celu", "input, alpha=1", plain<Op::celu>},
    {"leaky_relu", "input, negative_slope=0.01", plain<Op::leaky_relu>},
    {"logsigmoid", "input", plain<Op::log_sigmoid>},
    {"expit", "input", plain<Op::sigmoid>},
    {"fix", "input", plain<Op::trunc>},
    {"arcsin", "input", plain<Op::asin>},
    {"arccos", "input", plain<Op::acos>},
    {"arctan", "input", plain<Op::atan>},
    {"arctan2", "input, other", plain<Op::atan2>},
    {"arcsinh", "input", plain<Op::asinh>},
    {"arccosh", "input", plain<Op::acosh>},
    {"arctanh", "input", plain<Op::atanh>},
    {"greater", "input, other", plain<Op::gt>},
    {"greater_equal", "input, other", plain<Op::ge>},
    {"less", "input, other", plain<Op::lt>},
    {"less_equal", "input, other", plain<Op::le>},
    {"not_equal", "input, other", plain<Op::ne>},
};

const Spelling* find_spelling(std::string_view name) {
  const auto found = std::ranges::find(spellings, name, &Spelling::name);
  return found == std::end(spellings) ? nullptr : found;
}

std::vector<Parameter> parameters_of(const Spelling& spelling) {
  std::vector<Parameter> result;
  for (std::string_view rest = spelling.parameters; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    const std::string_view one = rest.substr(0, end);
    const std::size_t equals = std::min(one.find('='), one.size());
    result.push_back({one.substr(0, equals), one.substr(std::min(equals + 1, one.size()))});
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return result;
}

[[noreturn]] void fail(const Spelling& spelling, std::string_view what) {
  throw ArgumentError(detail::concat(what, ": ", spelling.name, "(", spelling.parameters, ")"));
}

/// Refuses a word where a number is meant, the other way round, and None for what must be there.
void check_kind(const Spelling& spelling, const Parameter& parameter,
                const CallArgument& argument) {
  const bool takes_word =
      parameter.otherwise.starts_with('\'') || parameter.name == "rounding_mode";
  const std::string named = detail::concat(spelling.name, ": ", parameter.name);
  if (argument.word && !takes_word)
    fail(spelling, detail::concat(named, " is a value and no text"));
  if (argument.value && takes_word) fail(spelling, detail::concat(named, " is a text in quotes"));
  if (!argument.value && !argument.word && parameter.otherwise != "None")
    fail(spelling, detail::concat(named, " must not be None"));
}

}  // namespace

bool has_spelling(std::string_view name) { return find_spelling(name) != nullptr; }

std::vector<std::string_view> spelled_names() {
  std::vector<std::string_view> names;
  for (const Spelling& spelling : spellings) names.push_back(spelling.name);
  return names;
}

OpCall resolve_call(std::string_view name, std::span<const CallArgument> args) {
  const Spelling* spelling = find_spelling(name);
  WEFT_ASSERT(spelling != nullptr, "no spelling of ", name);
  Bound given{parameters_of(*spelling)};
  const std::vector<Parameter>& parameters = given.parameters;
  std::size_t position = 0;
  bool has_keyword = false;
  for (const CallArgument& argument : args) {
    std::size_t i = position++;
    has_keyword |= !argument.keyword.empty();
    if (has_keyword && argument.keyword.empty())
      fail(*spelling, detail::concat(name, ": a positional argument follows a keyword"));
    if (has_keyword)
      i = static_cast<std::size_t>(
          std::ranges::find(parameters, argument.keyword, &Parameter::name) - parameters.begin());
    if (i >= parameters.size() && !argument.keyword.empty())
      fail(*spelling,
           detail::concat(name, " has no parameter '", argument.keyword.substr(0, 40), "'"));
    if (i >= parameters.size())
      fail(*spelling,
           detail::concat(name, " takes ", parameters.size(), " arguments, got ", args.size()));
    if (given.arguments[i] != nullptr)
      fail(*spelling, detail::concat(name, ": ", parameters[i].name, " is given twice"));
    check_kind(*spelling, parameters[i], argument);
    given.arguments[i] = &argument;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].otherwise.empty() && given.arguments[i] == nullptr) {
      const auto num_required = static_cast<std::size_t>(std::ranges::count_if(
          parameters, [](const Parameter& each) { return each.otherwise.empty(); }));
      fail(*spelling, detail::concat(name, " takes ", num_required,
                                     num_required == 1 ? " argument" : " arguments",
                                     num_required < parameters.size() ? " or more" : "", ", got ",
                                     args.size(), ", and '", parameters[i].name, "' is missing"));
    }
  return spelling->resolve(given);
}

Expr call_function(Op op, std::span<const Expr> args) {
  if (!has_spelling(name(op))) return apply(op, args);
  std::vector<CallArgument> arguments(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) arguments[i].value = args[i];
  const OpCall resolved = resolve_call(name(op), arguments);
  return apply(resolved.op, std::span<const Expr>(resolved.args));
}

}  // namespace weft
