// Calls with reductions: passes for the folds of an expression, innermost first, and then what is
// elementwise around them.
#pragma once

#include "engine/fold/precompiled.h"
#include "engine/plan/lower.h"
#include "engine/plan/planner.h"

#include <weft/parallel.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// The values of folds: called with all those at once whose arguments have become free of folds.
/// They are different, and keep the dimensions that they reduce.
using ComputeFolds = FunctionRef<std::vector<Tensor>(std::span<const Expr> folds)>;

/// The value of what `fold` reads and what is elementwise around the folds reads as well; undefined
/// where each computes it for itself.
using KeepArgument = FunctionRef<Tensor(const Expr& fold)>;

/// `exprs` with tensors in place of their folds, and of the arguments that are kept.  Folds that
/// differ only in `keepdim` are computed once.
std::vector<Expr> without_folds(std::span<const Expr> exprs, ComputeFolds compute,
                                KeepArgument keep);

/// Whether such an argument takes longer to compute again than to write and read, and a fold of its
/// contiguous value has the same order.
bool is_worth_keeping(const Expr& fold, const PlannerOptions& options);

/// The same for calls that don't run: tensors of `device` without data.  Refuses dtypes as planning
/// the folds does.
std::vector<Expr> without_folds(std::span<const Expr> exprs, Device device);

/// A contiguous tensor without data: the value of a fold, or what it reads, while it is planned.
Tensor contiguous_layout(const Dims& sizes, DType dtype);

/// How such a fold runs.
struct PassText {
  std::string text;                             ///< "outer fold of f32[4,5], sum(a, dims=[0])"
  std::unique_ptr<Lowered> lowered;             ///< null if the loop IR can't say it
  bool is_compiled = false;                     ///< whether code is generated for it
  std::vector<std::string> refusals;            ///< why not: "xbyak: tan f64 is a call"
  std::shared_ptr<const jit::CodeObject> code;  ///< that; null if there is none
  std::vector<PrecompiledLoop> loops;           ///< that run where there is none
  bool reads_in_place = false;                  ///< nothing is computed before them
  bool is_apart = false;                        ///< all that they read is written before
  /// "inner_reduce", "outer_reduce" or "scan"; empty if nothing is read.
  std::string_view schedule;
};
/// `arg_sizes`: those to tell of, which of a block of rows are those of all.
PassText describe_pass(const Expr& fold, const Dims& arg_sizes, const PlannerOptions& options,
                       jit::KernelCache& kernels);
/// The same of a fold's argument that is kept.
PassText describe_kept(const Expr& fold, const Dims& arg_sizes);

/// A fold of the tensor `value` in place of its argument.
Expr with_argument(const Expr& fold, const Tensor& value);

/// Whether the call is a single fold that can run at once: of an elementwise argument, into a new
/// tensor or one that is written as it is.
/// `order` is what the engine's numerics ask of folds.
bool is_single_fold(const CallKey& key, std::span<const Expr> exprs,
                    std::span<const Tensor> outputs, FoldOrder order, std::string_view backend);

/// Whether the operands can be walked in the order that the fold has.  A new output, which is not
/// given, always can.
bool is_walkable(const ExprNode& node, FoldOrder order, const Tensor& output,
                 std::span<const Tensor> inputs);

/// A fold's output as the fold walks through it: the reduced dimensions have size 1.
Tensor with_reduced_dims(const Tensor& output, const FoldNode& fold);
/// Whether a fold asks for the place of the extremum of one element, which is 0 whatever its dtype.
bool compares_nothing(const ExprNode& fold);
/// Refuses a fold whose op does not compute in its dtype.
void check_dtype(const ExprNode& fold);

/// Whether a given output can be written without a look at what else the call reads: it is dense,
/// has no lazy bits, and shares no memory with the inputs.
bool can_be_written(const Tensor& output, const CallKey& key);
/// The same of a layout, whose memory is yet to come.
bool lies_apart(const Tensor& output, const CallKey& key);

/// Outputs that can be written part by part: new ones, and given ones that need no resizing and
/// share nothing with an input.  `rest`: the call's expressions without folds.
std::optional<std::vector<Tensor>> new_or_apart(const CallKey& key, std::span<const Expr> rest,
                                                std::span<const Tensor> given);

/// Plans such a call; `program` is that of the fold's argument.  There is no plan
/// (PlannedCall::plan is null) for a fold that takes a device more than a kernel: fold_on_device()
/// computes it.
PlannedCall plan_fold_call(const CallKey& key, const ExprNode& node, const Program& program,
                           const Tensor& output, const PlannerOptions& options,
                           jit::KernelCache& kernels, const std::function<void()>& check_values);

}  // namespace weft
