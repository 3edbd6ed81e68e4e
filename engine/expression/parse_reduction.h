// The arguments of reductions behind the first: `dims=[0, 2], keepdim=true`.
#pragma once

#include "engine/expression/expr_lexer.h"

#include <weft/reduce.h>

namespace weft {

/// Reads from `token` up to the closing bracket, which is left in `token`: arguments by position or
/// by PyTorch's keywords.
///
/// Errors: ArgumentError with a caret.
ReduceOptions read_reduce_arguments(ExprLexer& lexer, ExprToken& token, Reduction reduction);

/// `name` and the parameters that it takes, for messages.
std::string reduction_signature(Reduction reduction);

}  // namespace weft
