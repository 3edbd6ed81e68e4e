// Random fuzz cases.
#pragma once

#include "engine/fuzz/case.h"

#include <cstdint>

namespace weft::fuzzing {

/// Case number `index` of `seed`: the same on every machine.
Case generate_case(std::uint64_t seed, std::uint64_t index);

}  // namespace weft::fuzzing
