// Makes a failing case small.
#pragma once

#include "engine/fuzz/check.h"

#include <functional>
#include <optional>

namespace weft::fuzzing {

/// What is wrong with a case, if anything.
using Check = std::function<std::optional<Finding>(const Case&)>;

/// The smallest case found that still fails on the same backend in the same way; `finding` becomes
/// its finding.
Case shrink(const Case& fuzz_case, Finding& finding, const Check& check);

}  // namespace weft::fuzzing
