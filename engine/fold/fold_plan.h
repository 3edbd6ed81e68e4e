// A fold that is planned: one reduction pass over memory, ready to run on addresses.
//
// What is reduced is an elementwise program of some tensors, or one tensor as it lies.  Its shape
// falls into three parts: the dimension along which vectors run, the other dimensions that are
// reduced, and the other dimensions that are kept.  Either vectors run along a reduced dimension
// (inner: their lanes are combined at the end), or along one that is kept (outer: a lane an
// output).
//
// The order of a fold, which depends on shape and layout and never on threads or machine: elements
// are folded in order within blocks, and blocks b, b + 1 ... are combined as a binary tree whose
// left part is the largest power of two of blocks that leaves the right part one or more.
#pragma once

#include "engine/expression/expr_node.h"
#include "engine/plan/lower.h"
#include "engine/plan/planner.h"
#include "ir/combine.h"
#include "jit/fold/exact.h"
#include "jit/fold/fold.h"
#include "jit/kernel_cache.h"

#include <weft/iterator.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// Work on folds and scans that is worth handing to another thread.
inline constexpr std::int64_t fold_worth_a_thread_ns = 2000;
/// How many parts some work is worth.
inline std::int64_t num_fold_parts(std::int64_t work_ns) {
  return std::max<std::int64_t>(work_ns / fold_worth_a_thread_ns, 1);
}

/// One loop, and how far each operand moves along it: the output, the tensors that are read, and
/// for FoldForm::index a last one whose "elements" are row-major places.
struct FoldDim {
  std::int64_t extent = 1;
  std::vector<std::int64_t> stride_bytes;
};

/// As many as a kernel may accumulate into outputs.
inline constexpr std::size_t max_folds_of_loop = ir::max_reduced_outputs;

/// What one fold combines by, and what its results are divided by.
struct FoldResult {
  jit::Fold fold;
  double divisor = 0;  ///< of f32 and f64: each result is divided by it; 0: by nothing
};

/// What runs a fold that is one row or few rows or columns (engine/fold/few_rows.h): parts and
/// turns would take longer than these.
enum class FoldShortcut : std::uint8_t { none, short_row, few_rows, few_columns };

/// Along shorter dimensions vectors are mostly empty.
inline constexpr std::int64_t min_vector_extent = 16;
/// Columns side by side that are one vector with AVX2.
inline constexpr std::int64_t min_columns_bytes = 32;

/// Immutable.
struct FoldPlan {
  FoldForm form = FoldForm::value;
  FoldOrder order = FoldOrder::by_layout;
  bool is_fill = false;  ///< nothing is read: outputs get the identity, or place 0
  jit::Fold fold;
  jit::ExtremumLoops extrema;  ///< FoldForm::index
  jit::ExactLoops exact;       ///< FoldOrder::exact
  double divisor = 0;          ///< as FoldResult::divisor
  /// Results of other folds that the loops of `reduction` accumulate as well, of items of the same
  /// size; their outputs lie as the first one's.
  std::vector<FoldResult> also;
  std::int64_t num_folded = 1;  ///< elements that become one
  bool is_inner = true;
  FoldDim vector;
  std::vector<FoldDim> reduced;  ///< fastest first, never empty
  std::vector<FoldDim> kept;     ///< fastest first, never empty
  std::size_t num_operands = 0;  ///< as in FoldDim::stride_bytes
  /// Computes what is folded, from rows of the tensors to rows of a dense buffer: the loops are
  /// rows and elements.  Null if the one tensor is folded as it lies.
  std::shared_ptr<jit::TieredKernel> map;
  /// Code that folds parts of blocks and computes what it folds, in one loop:
  /// jit::CodeObject::leaf.  Null if there is never any, and the loops compiled ahead fold what
  /// `map` computed, or a tensor; they also do until there is some, where `map` is not null.
  std::shared_ptr<jit::TieredKernel> reduction;
  /// What folds rows where `reduction` has settled, or in time code for their shape alone.  Null if
  /// that can't gain, or rows are no outputs.
  std::shared_ptr<jit::EntryPoint> rows;
  std::vector<std::string> refusals;  ///< why there is none at first, where one was asked for

  std::int64_t num_rows = 1;  ///< product of `reduced`
  std::int64_t num_kept = 1;  ///< product of `kept`
  /// Of one output (inner) or one strip of outputs (outer).
  std::int64_t num_blocks = 1;
  std::int64_t rows_per_block = 1;
  std::int64_t segments_per_row = 1;       ///< inner: a long row is several blocks
  std::int64_t strip_extent = 1;           ///< outer: columns that are folded together
  std::int64_t computed_strip_extent = 1;  ///< the same of what `map` computed
  /// Where folds share a pass, one goes so far before it is the next one's turn: that many slices
  /// of rows_per_block / slices_per_block rows, or rows that each become one output.
  std::int64_t slices_per_turn = std::numeric_limits<std::int64_t>::max();
  std::int64_t slices_per_block = 1;  ///< outer: a power of two up to rows_per_block
  /// Inner: a row that is reduced lies between one of the unit before and one of the next, as in
  /// sums over all images and pixels of a channel, and is read best in between.
  bool units_are_neighbours = false;
  int max_threads = 0;
  std::int64_t work_ns = 0;
  FoldShortcut shortcut = FoldShortcut::none;
  /// Strides of code for few rows: of its operands along the rows, then along the elements.
  std::vector<std::int64_t> row_stride_bytes;
};

/// The operand with the most elements, of those behind the output: what is read decides how to
/// walk.
std::size_t largest_input(std::span<const FoldDim> dims, std::size_t num_inputs);

/// Whether a fold's loop IR has a loop over rows that are reduced.
inline bool fold_has_rows(const FoldPlan& plan) { return !plan.is_inner || plan.num_rows > 1; }

/// Whether each row is a leaf of its own, and one output.
inline bool is_row_each(const FoldPlan& plan) {
  return plan.is_inner && plan.num_blocks == 1 && plan.num_rows == 1;
}

/// Whether both walk through as many rows and elements, kept and reduced ones alike.
bool have_equal_loops(const FoldPlan& a, const FoldPlan& b);

/// Whether the loops that fold read the operand itself: nothing is computed before them.
inline bool folds_in_place(const FoldPlan& plan) {
  return plan.map == nullptr && plan.reduction == nullptr;
}

/// The fold as loop IR (docs/ir.md), but for the division of a mean: a loop over outputs, one over
/// rows that are reduced, if there are several, and the vectors'.  Where more dimensions are kept
/// or reduced, strides are those of the fastest.  Null if the IR can't say it: sums without
/// rounding; and for places of extrema, of which the CPU's loops are compiled ahead.
std::unique_ptr<Lowered> lower_fold(const FoldPlan& plan, const Program& program,
                                    std::span<const Tensor> inputs, Numerics numerics);
/// The same as calls run it: past the caches it asks ahead where that pays.
std::unique_ptr<Lowered> lower_fold_to_run(const FoldPlan& plan, const Program& program,
                                           std::span<const Tensor> inputs,
                                           const PlannerOptions& options);
/// lower_fold() with a loop a dimension, for what walks through all of them itself, of places too.
/// These have one more operand, the last one, which is not in memory (ir::Role::place).
std::unique_ptr<Lowered> lower_whole_fold(const FoldPlan& plan, const Program& program,
                                          std::span<const Tensor> inputs, Numerics numerics);

/// Whether all that a program does is to load a tensor in the dtype in which it is stored.
bool is_plain_load(const Program& program);

/// A kernel of two loops that computes elements of `dtype`, from `inputs` to a dense buffer;
/// `inner` says how far these lie apart along the inner loop, in stride_bytes[1] and on.
std::shared_ptr<jit::TieredKernel> make_map(DType dtype, const FoldDim& inner,
                                            const Program& program, std::span<const Tensor> inputs,
                                            const PlannerOptions& options,
                                            jit::KernelCache& kernels);

/// Elements of a block along the vectors, and rows of one across.
std::int64_t fold_block_elements(const jit::Fold& fold);
/// Whether rows are long enough for FoldLoops::tree_of_blocks().
inline bool folds_blocks_together(const FoldPlan& plan) {
  return plan.is_inner && folds_in_place(plan) && plan.segments_per_row > 1 &&
         plan.vector.extent >= jit::FoldLoops::blocks_together * fold_block_elements(plan.fold);
}
/// Whether rows of one fold are columns side by side, which are folded where they lie.
bool are_plain_columns(const FoldPlan& plan);
/// Whether the loops fold several groups of such rows side by side: few columns are latency's.
bool reads_narrow_columns(const FoldPlan& plan);
/// Whether units are short columns side by side, which take less time than a part, and are folded
/// several at a time.
bool has_short_columns(const FoldPlan& plan);
inline constexpr std::int64_t fold_block_rows = 128;
/// Bytes of values that are computed before they are folded.
inline constexpr std::int64_t fold_buffer_bytes = 16 << 10;

/// The part of plan_fold() that decides the order: shape and layout, without blocks and code.
std::shared_ptr<FoldPlan> lay_out_fold(const ExprNode& node, const Tensor& output,
                                       std::span<const Tensor> inputs,
                                       const PlannerOptions& options);

/// Plans a fold.  `program` computes its argument from `inputs`; `output` has the sizes of the
/// result with the reduced dimensions kept, and the argument and the output have elements.
std::shared_ptr<const FoldPlan> plan_fold(const ExprNode& node, const Program& program,
                                          const Tensor& output, std::span<const Tensor> inputs,
                                          const PlannerOptions& options, jit::KernelCache& kernels);

/// The order of a fold, where the engine asks for `engine`: by_layout, which is the fastest, where
/// every order gives the same bits.
///
/// Errors: ArgumentError if FoldOrder::exact is asked for and the fold rounds but is no sum.
FoldOrder order_of(const ExprNode& node, FoldOrder engine);

/// The loops of FoldOrder::by_shape, which depend on the sizes of the argument alone: dimensions
/// that are neighbours and both folded, or both kept, are one.  Fastest first.  None if one of the
/// operands, which broadcast to the argument, can't be walked so.
std::optional<std::vector<FoldDim>> dims_by_shape(const FoldNode& fold,
                                                  std::span<const Tensor> operands);

/// Plans one loop that computes several folds of the same dimensions, each as if it were alone:
/// `program` computes their arguments, and `inputs` is what all of them read.  `layout` is what
/// lay_out_fold() makes of the first one and these; the outputs of the others lie as its output.
/// Null if no backend has code for it.
///
/// Requires: FoldForm::value, items of one size, and none is a fill or exact.
std::shared_ptr<const FoldPlan> plan_folds(const FoldPlan& layout,
                                           std::span<const ExprNode* const> nodes,
                                           const Program& program, std::span<const Tensor> inputs,
                                           const PlannerOptions& options,
                                           jit::KernelCache& kernels);

/// Plans to write what is known without reading: the identity, or 0 for FoldForm::index.
std::shared_ptr<const FoldPlan> plan_fill(const ExprNode& node, const Tensor& output);

/// `base`: the output, then the inputs; `params` as the program has them.
///
/// Requires: the plan of one fold.
void run_fold(const FoldPlan& plan, std::byte* const* base, const Bits* params);
/// The same for FoldOrder::exact.
void run_exact_fold(const FoldPlan& plan, std::byte* const* base, const Bits* params);

}  // namespace weft
