// Made-up data for fuzzing and for `weft run-ir`.
#pragma once

#include <weft/dtype.h>
#include <weft/scalar.h>

#include <cstdint>

namespace weft {

/// A random number of 64 bits that depends on the arguments only.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position);

/// Element number `position` of the endless random tensor `seed`: small numbers, ordinary ones,
/// limits, zeros of both signs, infinities, NaN, subnormals, and any bits at all.
Bits random_element(DType dtype, std::uint64_t seed, std::uint64_t position);

}  // namespace weft
