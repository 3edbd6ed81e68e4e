// Of rows along memory, which lines are asked for before they are read or written, on every
// backend.
#pragma once

#include "ir/kernel.h"
#include "runtime/cache_line.h"
#include "runtime/cpu_features.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace weft::jit {

/// What the body does besides loading and storing.
inline std::ptrdiff_t num_operations(const ir::Kernel& kernel) {
  return std::count_if(
      kernel.body.begin() + static_cast<std::ptrdiff_t>(kernel.num_hoisted), kernel.body.end(),
      [](const ir::Inst& inst) { return inst.op != Op::load && !ir::writes(inst); });
}

/// How far ahead of where a row is written its lines are asked for.
inline constexpr int output_ahead_bytes = 256;

/// Whether they are.  Where most of what a loop moves is written, and it computes between its
/// stores, too few lines of the output are on their way from the last cache.  Measured on Zen 4
/// and 5 (docs/decisions/xbyak.md).
inline bool asks_for_outputs(const ir::Kernel& kernel, const CpuFeatures& features) {
  constexpr std::ptrdiff_t least_operations = 4;
  if (features.amd_family < zen3_family || ir::is_reduction(kernel)) return false;
  std::int64_t read_bytes = 0, written_bytes = 0;
  for (const ir::Operand& operand : kernel.operands) {
    const ir::StrideClass stride = operand.strides.back();
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(operand.dtype));
    (operand.role == ir::Role::output ? written_bytes : read_bytes) +=
        stride == ir::stride_any ? line_bytes : std::abs(stride) * itemsize;
  }
  return read_bytes > 0 && written_bytes > read_bytes && num_operations(kernel) >= least_operations;
}

}  // namespace weft::jit
