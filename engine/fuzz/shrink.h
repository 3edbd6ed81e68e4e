// Makes a failing case small.
#pragma once

#include "engine/fuzz/check.h"

namespace weft::fuzzing {

/// The smallest case found that still fails on the same backend in the same way; `finding` becomes
/// its finding.
Case shrink(const Case& fuzz_case, Finding& finding, Engines& engines);

}  // namespace weft::fuzzing
