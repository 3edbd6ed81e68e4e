// Negated arguments of fused multiply-adds, for which there are instructions.
#pragma once

#include "ir/kernel.h"

#include <cstdint>
#include <optional>

namespace weft::jit::xbyak {

/// What `Inst::operand` of an fma says in such a kernel, or'ed.
namespace signs {
inline constexpr std::uint8_t minus_product = 1, minus_addend = 2;
}

/// The kernel with each fma taking what its arguments are the negatives of, and saying so.  All
/// values keep their ids: a negative that nothing else uses is a constant that nothing uses.  None
/// if there is nothing to change.
std::optional<ir::Kernel> fold_negatives(const ir::Kernel& kernel);

}  // namespace weft::jit::xbyak
