// Runs kernels through the LLVM tier and through the interpreter.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"
#include "tests/jit/calls.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::jit::test {

/// Compiles with both tiers, runs both, and expects the same bytes everywhere: the same elements,
/// and nothing changed between them.  NaNs count as equal, since which of two is passed on is not
/// defined; `compares_nans` is for casts, which define it.
void expect_same(const ir::Kernel& kernel, const Target& target,
                 const std::vector<std::vector<std::int64_t>>& extents, bool compares_nans = false);

/// The same of code for one shape: of each of these, compiled for all of its extents and for the
/// innermost alone.
void expect_same_shapes(const ir::Kernel& kernel, Target target,
                        const std::vector<std::vector<std::int64_t>>& extents);

/// The ISAs of this machine that the tier compiles for.
std::vector<Isa> isas();
/// For SetUp: fails the test, or leaves it out, where the tier can't be used.
void need_llvm();
Target target_for(Isa isa);

/// `op` on loads with inner strides of 1, stored; before the passes.
ir::Kernel kernel_of(Op op, DType dtype, Isa isa);
ir::Kernel cast_kernel(DType from, DType to, Isa isa);

}  // namespace weft::jit::test
