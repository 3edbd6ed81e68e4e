// Scans that are planned: one pass that writes every partial result along a dimension.
#pragma once

#include "engine/fold_plan.h"
#include "engine/precompiled.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace weft {

struct PlannerOptions;
struct Program;

/// The loops of a scan, forwards: the one that scans, and the others, fastest first, one at least.
struct ScanLoops {
  FoldDim scanned;  ///< strides of the output and of the inputs, which broadcast to its sizes
  std::vector<FoldDim> rest;
};
ScanLoops scan_loops_of(const ExprNode& node, const Tensor& output, std::span<const Tensor> inputs);

/// A scan as loop IR (docs/ir.md).
struct LoweredScan {
  std::unique_ptr<Lowered> lowered;
  /// [operand] how far behind its address the first element that is scanned lies: not at 0 where a
  /// scan goes backwards.
  std::vector<std::int64_t> first_bytes;
};
/// The scan of what `program` computes from `inputs`, into `output`: parallel loops, and the one
/// that scans innermost, or around one more where neighbours are each scanned.  Operands are the
/// output, the inputs and, for FoldForm::scan_index, one that is not in memory (ir::Role::place).
///
/// Requires: the output has elements.
LoweredScan lower_scan(const ExprNode& node, const Program& program, const Tensor& output,
                       std::span<const Tensor> inputs, Numerics numerics);

/// Plans a scan of a tensor as it lies.  `output` has the sizes of `input`, which has elements.
/// What is returned runs on the addresses of both, output first.
///
/// Mirrors: at::native's scan_dim_handling / cpu_cum_base_kernel: the scanned dimension is taken
///          out, the iterator walks through the others.
std::function<void(std::byte* const* base)> plan_scan(const ExprNode& node, const Tensor& output,
                                                      const Tensor& input, FoldOrder order,
                                                      const PlannerOptions& options);

/// The loops that such a scan runs, the one that does most of the work first.
std::vector<PrecompiledLoop> scan_loops(const ExprNode& node, const Tensor& output,
                                        const Tensor& input, FoldOrder order, Isa isa);

}  // namespace weft
