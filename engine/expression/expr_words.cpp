#include "engine/expression/expr_words.h"

#include "engine/expression/call_spelling.h"
#include "engine/expression/parse_expr.h"
#include "engine/expression/parse_reduction.h"
#include "engine/messages/nearest.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>

namespace weft {

std::optional<Scalar> named_number(std::string_view name) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (name == "True" || name == "true") return Scalar(true);
  if (name == "False" || name == "false") return Scalar(false);
  if (name == "inf") return Scalar(inf);
  if (name == "nan") return Scalar(nan);
  // As Python writes them, and needs them where it reads them: inf * 1j is nan+infj.
  if (name == "infj") return Scalar(std::complex<double>(0, inf));
  if (name == "nanj") return Scalar(std::complex<double>(0, nan));
  if (name == "pi") return Scalar(std::numbers::pi);
  if (name == "e") return Scalar(std::numbers::e);
  return {};
}

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

std::string unknown_name_message(std::string_view name, const std::vector<std::string>& tensors) {
  const std::string message = "unknown name '" + std::string(name.substr(0, 40)) + "'; ";
  if (find_function(name) || has_spelling(name) || parse_reduction(name) || has_two_results(name))
    return message + "the function of this name is called with arguments in brackets";
  if (tensors.empty()) return message + "no tensors are named";
  return message + "the tensors are " + nearest_first(name, tensors, 8);
}

std::string unknown_function_message(std::string_view name, const Definitions* definitions,
                                     bool are_several) {
  std::vector<std::string> known{"cast", "copy"};
  for (Op op : all_ops()) known.emplace_back(info(op).name);
  for (std::string_view spelled : spelled_names())
    if (!find_function(spelled)) known.emplace_back(spelled);
  for (Reduction reduction : all_reductions()) known.emplace_back(weft::name(reduction));
  if (are_several) known.insert(known.end(), {"aminmax", "frexp", "var_mean"});
  if (definitions)
    for (std::string& own : definitions->names()) known.push_back(std::move(own));
  return "unknown function '" + std::string(name.substr(0, 40)) + "'; the nearest are " +
         nearest_first(name, known, 5) + " (all: weft ops)";
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

}  // namespace weft
