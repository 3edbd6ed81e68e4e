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
/// values keep their ids: a negative that nothing else uses is a constant that nothing uses.  It is
/// in `folded`, or the same kernel if there is nothing to change.
const ir::Kernel& fold_negatives(const ir::Kernel& kernel, std::optional<ir::Kernel>& folded);

}  // namespace weft::jit::xbyak
