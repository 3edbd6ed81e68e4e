// The text form of a kernel: print() and parse() are exact inverses.  The grammar is in docs/ir.md.
#pragma once

#include "ir/kernel.h"

#include <string>
#include <string_view>

namespace weft::ir {

/// The kernel as text.  Holds no pointer, time or hash, so that texts can be compared.
std::string print(const Kernel& kernel);
/// One instruction, as print() writes it, without the line end.
std::string print(const Kernel& kernel, ValueId id);

/// Reads what print() wrote.  `;` starts a comment.  Does not verify.
///
/// Errors: ArgumentError with line, column and what was expected there.
Kernel parse(std::string_view text);

}  // namespace weft::ir
