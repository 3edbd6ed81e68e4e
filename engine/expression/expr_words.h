// The words of expressions: numbers that have names, functions, Python's keywords, and what is said
// about unknown ones.
#pragma once

#include <weft/define.h>
#include <weft/op.h>
#include <weft/scalar.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The numbers that have names: True, inf, pi, ...  A tensor of the same name comes first.
std::optional<Scalar> named_number(std::string_view name);

/// What is said about Python's words that have no meaning between tensors; empty for other words.
std::string_view keyword_hint(std::string_view word);

/// aminmax, frexp, var_mean.
bool has_two_results(std::string_view name);

/// The row of the op table with this name.
std::optional<Op> find_function(std::string_view name);

/// "unknown name 'x'; the tensors are ...", nearest first.
std::string unknown_name_message(std::string_view name, const std::vector<std::string>& tensors);

/// "unknown function 'x'; the nearest are ..."; `definitions` may be null.
std::string unknown_function_message(std::string_view name, const Definitions* definitions,
                                     bool are_several);

/// What expressions take `name` for, "a built-in function"; empty if it is free for users.
std::string_view built_in_meaning(std::string_view name);

}  // namespace weft
