// Rows that are only copied, by the processor's own loop where that is faster than vectors.
#pragma once

#include "ir/kernel.h"
#include "runtime/cpu_features.h"

#include <algorithm>

namespace weft::jit::row_copy {

/// For which `rep movsb` gains on Zen 5 (docs/decisions/stores.md): what is copied and where to no
/// longer fit the first cache together, and rows are long enough to start it for each.
inline constexpr int least_copied_bytes = 28 << 10;
inline constexpr int least_row_bytes = 4 << 10;

inline bool gains(const CpuFeatures& features) { return features.amd_family >= zen5_family; }

/// Whether rows are loaded and stored as they are.  What bools are is more than their bytes.
inline bool is_all_of(const ir::Kernel& kernel) {
  const auto& body = kernel.body;
  const auto is_dense = [&](const ir::Operand& operand) {
    return operand.strides.back() == 1 && operand.dtype == kernel.operands[0].dtype;
  };
  return kernel.schedule == ir::Schedule::linear && kernel.operands.size() == 2 &&
         std::ranges::all_of(kernel.operands, is_dense) &&
         kernel.operands[0].dtype != DType::boolean && kernel.num_hoisted == 0 &&
         body.size() == 2 && body[0].op == Op::load && body[0].operand == 1 &&
         body[1].op == Op::store && body[1].operand == 0;
}

/// Bytes of such a kernel's rows as elements.
inline int elements_of(int bytes, const ir::Kernel& kernel) {
  return bytes / static_cast<int>(itemsize_bytes(kernel.operands[0].dtype));
}

}  // namespace weft::jit::row_copy
