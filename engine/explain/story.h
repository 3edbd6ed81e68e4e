// Tells the story of a call that explain() has planned and compiled: one function a chapter.
#pragma once

#include "engine/fold/precompiled.h"
#include "engine/plan/lower.h"
#include "engine/plan/planner.h"
#include "jit/assembly_loops.h"
#include "jit/kernel_cache.h"
#include "jit/throughput.h"

#include <weft/engine.h>

namespace weft {

/// What explain() has found out by the time that the story is told.
struct StoryParts {
  const Explanation& explanation;  ///< everything but its story
  const Expr& given;               ///< the expression that was to be explained
  const Tensor& result;
  const Expr& expr;        ///< that the kernel computes
  const Program& program;  ///< flattened from `expr`
  const TensorIterator& iterator;
  const Lowered& lowered;
  const jit::Signature& signature;
  const jit::CompiledKernel& compiled;
  const PlannerOptions& planner;
  const jit::AssemblyLoops& loops;  ///< of the code, if it could be read
  jit::Throughput throughput = {};  ///< of the hot loop
  std::int64_t folded_bytes = -1;   ///< what is written by a fold of `expr`; -1: it is no fold
  bool is_apart = false;            ///< of that: what it reads is written before
  /// The loop compiled with weft that folds or scans the one operand where it lies: all that runs,
  /// and `loops` and `throughput` are its.  Null: code is compiled for the call.
  const LoopListing* ready = nullptr;
  bool has_ir = true;               ///< of `ready`: false where only such loops do it
  std::int64_t rows_per_block = 0;  ///< that all passes run on before the next ones; 0: on all
  bool has_unrolled_folds = false;  ///< and no passes: the kernel computes what `passes` tells of
  bool is_output_given = false;     ///< by the caller, though perhaps with other sizes
};

Story make_story(const StoryParts& parts);

// The chapters, in order.  story_plan.cpp:
Story::Chapter operands_chapter(const StoryParts& parts, const Story& story);
Story::Chapter broadcast_chapter(const StoryParts& parts, const Story& story);
Story::Chapter promotion_chapter(const StoryParts& parts);
Story::Chapter order_chapter(const StoryParts& parts, const Story& story);
Story::Chapter coalescing_chapter(const StoryParts& parts, const Story& story);
// story_code.cpp:
Story::Chapter signature_chapter(const StoryParts& parts);
Story::Chapter schedule_chapter(const StoryParts& parts, const Story& story);
Story::Chapter tier_chapter(const StoryParts& parts);
Story::Chapter thresholds_chapter(const StoryParts& parts);
Story::Chapter code_chapter(const StoryParts& parts, const Story& story);

// story_text.cpp:
Story::Chapter cost_chapter(const Story& story, const MachineSpeed& machine);

/// Read and written, or the largest number if they are more than that.
std::int64_t moved_bytes(const Story& story);

/// Bytes that one element of each dense output takes, for elements_of(); 0 if the loops of the code
/// can't be measured by what they store.
std::int64_t stored_bytes_per_element(const ir::Kernel& kernel);

/// "1.5 MB", "512 bytes": decimal units.
std::string bytes_text(std::int64_t bytes);

}  // namespace weft
