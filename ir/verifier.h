// Checks that a kernel means something.  The numbered rules are listed on top of verifier.cpp.
#pragma once

#include "ir/kernel.h"

#include <string>
#include <vector>

namespace weft::ir {

/// All violations, each starting with its rule's number ("V3: ...") and naming the instruction.
std::vector<std::string> violations(const Kernel& kernel);

/// Errors: InternalError that lists all violations and shows the kernel.
void verify(const Kernel& kernel);

}  // namespace weft::ir
