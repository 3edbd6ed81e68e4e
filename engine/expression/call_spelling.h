// How functions of expressions are called in PyTorch's spelling where it differs from a row of the
// op table: parameters with names and defaults, words such as rounding_mode='floor', other names of
// one op.
#pragma once

#include <weft/expr.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// An argument as it is written: a value, a word in quotes, or None.
struct CallArgument {
  std::string_view keyword = {};  ///< empty: positional
  std::optional<Expr> value;
  std::optional<std::string_view> word;
};

/// What a call comes down to.
struct OpCall {
  Op op;
  std::vector<Expr> args;
};

/// Whether `name` is spelled here.
bool has_spelling(std::string_view name);
/// All names, for messages.
std::vector<std::string_view> spelled_names();

/// Resolves a call.
///
/// Errors: ArgumentError on a wrong number of arguments, unknown or repeated keywords, words that
///         mean nothing; the message shows the parameters.
OpCall resolve_call(std::string_view name, std::span<const CallArgument> args);

}  // namespace weft
