// Scans that are planned: one pass that writes every partial result along a dimension.
#pragma once

#include "engine/fold/fold_plan.h"
#include "engine/fold/precompiled.h"
#include "jit/fold/block_scan.h"
#include "jit/fold/scan.h"

#include <cstdint>
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

/// A scan that is planned: one pass that writes every partial result, ready to run on addresses.
/// Immutable.
struct ScanPlan {
  jit::Scan scan;
  jit::PlaceScan places = nullptr;  ///< FoldForm::scan_index
  jit::BlockScan blocks;            ///< of long rows; without loops otherwise
  bool is_reverse = false;
  FoldDim scanned;            ///< strides of the output and of what is read, forwards
  std::vector<FoldDim> rest;  ///< fastest first, never empty
  std::int64_t num_rest = 1;  ///< of the dimensions behind rest[0]
  /// Neighbours too few to be rest[0]: some rows of that are scanned for one of them, then for the
  /// next.
  FoldDim beside;
  std::int64_t itemsize = 1;  ///< of what is scanned
  int max_threads = 0;

  /// Computes what is scanned into a buffer, which is dense along the inner one of two loops.  Null
  /// if the one tensor is scanned as it lies.
  std::shared_ptr<jit::TieredKernel> map;
  /// Whether that loop is rest[0], whose elements are neighbours in the output too; else it is the
  /// one that scans.
  bool maps_columns = false;
  /// Code that computes what is scanned and scans it, in one loop.  Null if there is never any;
  /// until there is some, the loops compiled ahead scan what `map` computes.
  std::shared_ptr<jit::TieredKernel> kernel;
  std::vector<std::int64_t> kernel_strides;  ///< in bytes, as in jit::KernelArgs
  std::vector<std::int64_t> first_bytes;     ///< as in LoweredScan

  FoldDim block;  ///< from a block of a long row to the next
  /// Whether blocks make no difference to the results, so that only threads that share a row take
  /// them.
  bool scans_long_rows_in_order() const { return map == nullptr && is_integral(scan.dtype); }

  /// Rows of rest[0], and elements of each of them, that are computed at once.
  std::int64_t rows_at_once = 1, elements_at_once = 1;
};

/// Whether the argument of a scan, if it is no tensor, is better written to one before: too few of
/// the inputs' elements lie side by side as those of the output do.
bool is_scanned_apart(const ExprNode& node, const Tensor& output,
                      std::span<const Tensor* const> inputs);

/// Plans a scan of what `program` computes from `inputs`, or of the one tensor as it lies. `output`
/// has the sizes of the argument, which has elements.  How threads, caches and the layouts of
/// inputs divide the work changes no bit.
///
/// Mirrors: at::native's scan_dim_handling / cpu_cum_base_kernel: the scanned dimension is taken
///          out, the iterator walks through the others.
std::shared_ptr<const ScanPlan> plan_scan(const ExprNode& node, const Program& program,
                                          const Tensor& output, std::span<const Tensor> inputs,
                                          const PlannerOptions& options, jit::KernelCache& kernels);

/// `base`: the output, then the inputs; `params` as the program has them.
void run_scan(const ScanPlan& plan, std::byte* const* base, const Bits* params);

/// The loops that such a scan runs, the one that does most of the work first.
std::vector<PrecompiledLoop> scan_loops(const ScanPlan& plan);

}  // namespace weft
