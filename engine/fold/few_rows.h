// Folds of so few rows or columns that parts and turns (fold_run.h) would take longer than the
// rows.
#pragma once

#include "engine/fold/fold_walk.h"

namespace weft {

/// Finds FoldPlan::shortcut, and what it needs.  Sums without rounding have none.
void plan_shortcut(FoldPlan& plan);

/// FoldShortcut::short_row, where it lies: folds_in_place().
///
/// Errors: CancelledError, as of all that follow.
void fold_short_row(const FoldPlan& plan, std::byte* const* base);
/// The same by code that computes what it folds.
void fold_short_row_by_code(const FoldPlan& plan, const jit::CodeObject& code,
                            std::byte* const* base, const Bits* params);

/// FoldShortcut::few_rows, where they lie: folds_in_place().
void fold_few_rows(const FoldPlan& plan, std::byte* const* base);
/// The same by code that computes what it folds.
void fold_few_rows_by_code(const FoldPlan& plan, const FoldCode& code, std::byte* const* base,
                           const Bits* params);

/// FoldShortcut::few_columns.
void fold_few_columns(const FoldPlan& plan, std::byte* const* base);

/// What of the code folds rows.
FoldCode code_of_rows(const FoldPlan& plan, const jit::CodeObject& code);

}  // namespace weft
