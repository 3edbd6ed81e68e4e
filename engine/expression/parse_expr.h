// The parser of expressions, as user operators need it.
#pragma once

#include <weft/define.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// How a text is read.
struct ParseOptions {
  const Definitions* definitions = nullptr;  ///< user operators that may be called
  /// Only names, syntax and numbers of arguments count; the result means nothing.  For definitions,
  /// whose parameters have no dtype yet.
  bool ignores_dtypes = false;
  bool are_several = false;  ///< commas separate expressions, of which some give two results
};

/// Reads an expression over named expressions.
Expr parse_expression(std::string_view text, std::vector<std::pair<std::string, Expr>> names,
                      const ParseOptions& options);

}  // namespace weft
