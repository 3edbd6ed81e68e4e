// Scans that are planned: one pass that writes every partial result along a dimension.
#pragma once

#include "engine/fold_plan.h"
#include "engine/precompiled.h"

#include <functional>
#include <vector>

namespace weft {

struct PlannerOptions;

/// The loops of a scan, forwards: the one that scans, and the others, fastest first, one at least.
struct ScanLoops {
  FoldDim scanned;  ///< strides of the output and of the input
  std::vector<FoldDim> rest;
};
ScanLoops scan_loops_of(const ExprNode& node, const Tensor& output, const Tensor& input);

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
