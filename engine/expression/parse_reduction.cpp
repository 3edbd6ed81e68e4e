#include "engine/expression/parse_reduction.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

namespace weft {
namespace {

bool is_truth(const ExprToken& token) {
  constexpr std::string_view words[] = {"true", "True", "false", "False"};
  return token.kind == ExprToken::Kind::name &&
         std::ranges::find(words, token.text) != std::end(words);
}

using Reader = void (*)(class ArgumentReader& reader, ReduceOptions& options);

/// Literals: what reductions are told besides what to reduce.
class ArgumentReader {
 public:
  ArgumentReader(ExprLexer& lexer, ExprToken& token, Reduction reduction)
      : lexer_(lexer), token_(token), reduction_(reduction) {}

  [[noreturn]] void fail(std::size_t position, std::string_view message) const {
    fail_in_expression(lexer_.text(), position, message);
  }
  void advance() { token_ = lexer_.next(); }
  const ExprToken& token() const { return token_; }

  bool skip(std::string_view symbol) {
    if (!token_.is(symbol)) return false;
    advance();
    return true;
  }
  bool skip_none() {
    if (token_.kind != ExprToken::Kind::name || token_.text != "None") return false;
    advance();
    return true;
  }

  /// 2, -0.5, inf, 'inf', true.
  Scalar number() {
    const std::size_t position = token_.position;
    const bool is_negative = skip("-");
    const Scalar result = unsigned_number();
    if (!is_negative) return result;
    if (result.kind() == Scalar::Kind::floating) return Scalar(-result.as_double());
    if (result.kind() == Scalar::Kind::complex) return Scalar(-result.as_complex());
    const auto magnitude = static_cast<std::uint64_t>(result.as_integer());
    if (magnitude > std::uint64_t{1} << 63) fail(position, "this integer does not fit 64 bits");
    return Scalar(static_cast<std::int64_t>(0 - magnitude));
  }

  double real() {
    const std::size_t position = token_.position;
    const Scalar value = number();
    if (value.kind() == Scalar::Kind::complex) fail(position, "expected a real number");
    return value.as_double();
  }
  std::int64_t integer() {
    const std::size_t position = token_.position;
    const Scalar value = number();
    if (value.kind() != Scalar::Kind::integer) fail(position, "expected an integer");
    // What only fits without a sign.
    if ((value.as_integer() < 0) != (value.as_double() < 0))
      fail(position, "this integer does not fit 64 bits");
    return value.as_integer();
  }
  bool truth() {
    if (!is_truth(token_))
      fail(token_.position, "expected true or false, found " + token_.described());
    const bool is_true = token_.text == "true" || token_.text == "True";
    advance();
    return is_true;
  }
  DType dtype() {
    const bool is_name = token_.kind == ExprToken::Kind::name;
    const auto found = is_name ? parse_dtype(token_.text) : std::nullopt;
    if (!found) fail(token_.position, "expected a dtype, found " + token_.described());
    advance();
    return *found;
  }
  /// exact, 'exact'.
  Numerics numerics() {
    const bool is_word =
        token_.kind == ExprToken::Kind::name || token_.kind == ExprToken::Kind::word;
    const auto found = is_word ? parse_numerics(token_.text) : std::nullopt;
    if (!found)
      fail(token_.position, "expected layout_invariant or exact, found " + token_.described());
    advance();
    return *found;
  }
  /// 1, [0, 2], (0, 2), [].
  std::vector<std::int64_t> integers() {
    if (!token_.is("[") && !token_.is("(")) return {integer()};
    const std::string_view end = token_.is("[") ? "]" : ")";
    advance();
    std::vector<std::int64_t> result;
    while (!skip(end)) {
      result.push_back(integer());
      if (!skip(",") && !token_.is(end))
        fail(token_.position,
             detail::concat("expected ',' or '", end, "', found ", token_.described()));
    }
    return result;
  }

  void read(ReduceOptions& options);

 private:
  Scalar unsigned_number() {
    const bool is_infinity = token_.text == "inf" || token_.text == "-inf";
    if (is_infinity && token_.kind != ExprToken::Kind::symbol) {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      const double value = token_.text == "inf" ? infinity : -infinity;
      advance();
      return value;
    }
    if (token_.kind != ExprToken::Kind::number)
      fail(token_.position, "expected a number, found " + token_.described());
    const Scalar value = token_.number;
    advance();
    return value;
  }

  ExprLexer& lexer_;
  ExprToken& token_;
  Reduction reduction_;
};

struct Parameter {
  std::array<std::string_view, 3> names;  ///< the first one is weft's
  std::string_view otherwise;
  Reader read;
};

constexpr Parameter dims{
    {"dims", "dim", "axis"}, "None", [](ArgumentReader& reader, ReduceOptions& options) {
      if (!reader.skip_none()) options.dims = reader.integers();
    }};
constexpr Parameter one_dim{{"dim", "dims", "axis"}, "", dims.read};
constexpr Parameter keepdim{
    {"keepdim", "keepdims"}, "false", [](ArgumentReader& reader, ReduceOptions& options) {
      options.keepdim = reader.truth();
    }};
constexpr Parameter dtype{{"dtype"}, "None", [](ArgumentReader& reader, ReduceOptions& options) {
                            if (!reader.skip_none()) options.dtype = reader.dtype();
                          }};
constexpr Parameter power{{"p", "ord"}, "2", [](ArgumentReader& reader, ReduceOptions& options) {
                            options.p = reader.real();
                          }};
constexpr Parameter correction{
    {"correction"}, "1", [](ArgumentReader& reader, ReduceOptions& options) {
      options.correction = reader.real();
    }};
constexpr Parameter unbiased{
    {"unbiased"}, "true", [](ArgumentReader& reader, ReduceOptions& options) {
      options.correction = reader.truth() ? 1 : 0;
    }};
constexpr Parameter reverse{
    {"reverse"}, "false", [](ArgumentReader& reader, ReduceOptions& options) {
      options.reverse = reader.truth();
    }};

constexpr Parameter numerics{
    {"numerics"}, "None", [](ArgumentReader& reader, ReduceOptions& options) {
      if (!reader.skip_none()) options.numerics = reader.numerics();
    }};

/// In the order of the positions.
std::vector<const Parameter*> parameters_of(Reduction reduction) {
  if (info(reduction).shape == ReductionShape::scan) return {&one_dim, &dtype, &reverse, &numerics};
  if (info(reduction).result == ReductionResult::index) return {&dims, &keepdim, &numerics};
  switch (reduction) {
    case Reduction::norm: return {&power, &dims, &keepdim, &dtype, &numerics};
    case Reduction::var:
    case Reduction::std: return {&dims, &unbiased, &keepdim, &correction, &dtype, &numerics};
    default: return {&dims, &keepdim, &dtype, &numerics};
  }
}

bool takes_truth(const Parameter* parameter) {
  return parameter == &keepdim || parameter == &unbiased;
}

void ArgumentReader::read(ReduceOptions& options) {
  const std::vector<const Parameter*> parameters = parameters_of(reduction_);
  std::vector<const Parameter*> given;
  bool has_keyword = false;
  while (!token_.is(")")) {
    const ExprToken first = token_;
    const Parameter* parameter = nullptr;
    const auto by_name = [&](const Parameter* each) {
      return std::ranges::find(each->names, first.text) != each->names.end();
    };
    const auto named = std::ranges::find_if(parameters, by_name);
    if (first.kind == ExprToken::Kind::name && named != parameters.end()) {
      parameter = *named;
      has_keyword = true;
      advance();
      if (!skip("="))
        fail(token_.position, detail::concat("expected '=' after '", first.text, "'"));
    } else if (!has_keyword && given.size() < parameters.size() &&
               (first.kind != ExprToken::Kind::name || first.text == "None" ||
                first.text == "inf" || takes_truth(parameters[given.size()]) ||
                (given.empty() && is_truth(first)))) {
      // torch.var(a, False) is not about dimensions.
      const bool is_unbiased =
          given.empty() && parameters.size() > 1 && parameters[1] == &unbiased && is_truth(first);
      parameter = parameters[is_unbiased ? 1 : given.size()];
    } else {
      const bool is_extremum = reduction_ == Reduction::max || reduction_ == Reduction::min;
      const std::string_view of_two = reduction_ == Reduction::max ? "maximum" : "minimum";
      fail(first.position,
           detail::concat(
               "this is no argument of ", reduction_signature(reduction_),
               is_extremum ? detail::concat("; of two values: ", of_two, "(input, other)") : ""));
    }
    if (std::ranges::find(given, parameter) != given.end())
      fail(first.position,
           detail::concat(name(reduction_), ": ", parameter->names[0], " is given twice"));
    const Parameter* const same = parameter == &correction ? &unbiased
                                  : parameter == &unbiased ? &correction
                                                           : nullptr;
    if (same != nullptr && std::ranges::find(given, same) != given.end())
      fail(first.position,
           detail::concat(name(reduction_), ": unbiased is a correction of 1 or 0, and ",
                          same->names[0], " is given already"));
    given.push_back(parameter);
    parameter->read(*this, options);
    if (!skip(",") && !token_.is(")"))
      fail(token_.position, "expected ',' or ')', found " + token_.described());
  }
}

}  // namespace

ReduceOptions read_reduce_arguments(ExprLexer& lexer, ExprToken& token, Reduction reduction) {
  ReduceOptions options;
  ArgumentReader(lexer, token, reduction).read(options);
  return options;
}

std::string reduction_signature(Reduction reduction) {
  std::string result(name(reduction));
  result += "(input";
  for (const Parameter* parameter : parameters_of(reduction)) {
    result.append(", ").append(parameter->names[0]);
    if (!parameter->otherwise.empty()) result.append("=").append(parameter->otherwise);
  }
  return result + ")";
}

}  // namespace weft
