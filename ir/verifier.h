// Checks that a kernel means something.  The numbered rules are listed on top of verifier.cpp.
#pragma once

#include "ir/kernel.h"

#include <string>
#include <vector>

namespace weft::ir {

/// All violations, each starting with its rule's number ("V3: ...") and naming the instruction.
std::vector<std::string> violations(const Kernel& kernel);

/// Errors: UnsupportedError if the body is longer than rule V14 allows.  Expressions of any length
/// can be written, so that this is nobody's bug.
void check_size(const Kernel& kernel);
/// The same of what the passes make before they share values.
void check_size_between(std::size_t num_instructions);

/// Errors: InternalError that lists all violations and shows the kernel.
void verify(const Kernel& kernel);

}  // namespace weft::ir
