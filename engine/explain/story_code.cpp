// The chapters of the code: signature, schedule, tier, and what the code looks like.
#include "engine/explain/story.h"
#include "jit/shaped_kernel.h"
#include "jit/tiles/tile.h"
#include "runtime/text.h"

#include <weft/error.h>
#include <weft/tuning.h>

#include <algorithm>
#include <cstdio>

namespace weft {
namespace {

std::string operand_name(const StoryParts& parts, std::size_t operand) {
  const auto& operands = parts.explanation.operands;
  return operand < operands.size() ? operands[operand].name : "which place an element has";
}

std::string stride_text(ir::StrideClass stride) {
  return stride == ir::stride_any ? "*" : std::to_string(stride);
}

std::string operand_line(const StoryParts& parts, std::size_t index) {
  const ir::Operand& operand = parts.signature.kernel.operands[index];
  std::string strides;
  for (const ir::StrideClass stride : operand.strides)
    strides.append(strides.empty() ? "" : " ").append(stride_text(stride));
  const ir::StrideClass inner = operand.strides.back();
  std::string meaning;
  if (inner == 0)
    meaning = "the same element all along the innermost loop";
  else if (inner == 1)
    meaning = "neighbours along the innermost loop";
  else if (inner == -1)
    meaning = "neighbours along the innermost loop, backwards";
  else if (inner == ir::stride_any)
    meaning = "along the innermost loop a stride that is passed at the call";
  else
    meaning = detail::concat("steps of ", int{inner}, " items along the innermost loop");
  return detail::concat("$", index, " ", ir::name(operand.role), " ", name(operand.dtype), " [",
                        strides, "]: ", operand_name(parts, index), ", ", meaning);
}

/// The operands that keep the innermost loop from whole vectors.
std::string linear_refusal(const StoryParts& parts) {
  const ir::Kernel& kernel = parts.compiled.kernel;
  std::string text;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const ir::Operand& operand = kernel.operands[i];
    const ir::StrideClass inner = operand.strides.back();
    if (inner == 1 || (inner == 0 && operand.role == ir::Role::input)) continue;
    const std::size_t at = (parts.lowered.extents.size() - 1) * kernel.operands.size() + i;
    const std::int64_t bytes =
        at < parts.lowered.stride_bytes.size() ? parts.lowered.stride_bytes[at] : 0;
    text += detail::concat(text.empty() ? "" : "; ", operand_name(parts, i), " steps ", bytes,
                           " bytes along the innermost loop, and its items have ",
                           itemsize_bytes(operand.dtype));
  }
  return text;
}

std::string loop_line(const StoryParts& parts, std::size_t loop) {
  const ir::Loop& found = parts.compiled.kernel.loops[loop];
  std::string line =
      detail::concat("loop of ", parts.lowered.extents[loop], ": ", name(found.kind));
  if (found.kind == ir::LoopKind::vector || found.lanes > 1) {
    line += detail::concat(" of ", found.lanes, " lanes");
    if (found.unroll > 1) line += detail::concat(", ", found.unroll, " vectors at once");
  }
  return line;
}

std::string streaming_line(const StoryParts& parts, const Story& story) {
  const std::string moved = bytes_text(moved_bytes(story));
  const std::string least = bytes_text(parts.planner.streaming_bytes);
  if (parts.lowered.is_tiled)
    return detail::concat(
        "stores: past the caches where a thread moves enough and the output is aligned, decided at "
        "the call");
  if (parts.lowered.kernel.is_streaming)
    return detail::concat("stores: past the caches, since the call moves ", moved, " and ", least,
                          " are enough");
  if (moved_bytes(story) < parts.planner.streaming_bytes)
    return detail::concat("stores: through the caches; the call moves ", moved,
                          ", and past them is for ", least, " and more");
  return "stores: through the caches; the output is short in its rows, read as well, or little of "
         "what moves";
}

}  // namespace

Story::Chapter signature_chapter(const StoryParts& parts) {
  const jit::Signature& signature = parts.signature;
  Story::Chapter chapter{"signature", {}};
  chapter.lines.push_back(detail::concat(hex16(parts.explanation.signature_hash),
                                         ": what code depends on; sizes, other strides, addresses "
                                         "and numbers are passed at the call"));
  chapter.lines.push_back(detail::concat(signature.features.text(), ": the instructions to use"));
  chapter.lines.push_back(detail::concat(signature.backend, ": the backend asked for"));
  chapter.lines.push_back(detail::concat(name(signature.kernel.numerics), ": the numerics"));
  for (std::size_t i = 0; i < signature.kernel.operands.size(); ++i)
    chapter.lines.push_back(operand_line(parts, i));
  for (std::size_t i = 0; i < signature.kernel.params.size(); ++i)
    chapter.lines.push_back(detail::concat("#", i, " ", name(signature.kernel.params[i]),
                                           ": a number, passed at the call"));
  chapter.lines.push_back(detail::concat(
      "a nest of ", signature.kernel.loops.size(), " and a body of ", signature.kernel.body.size(),
      signature.kernel.is_streaming ? " instructions, streaming" : " instructions"));
  return chapter;
}

Story::Chapter schedule_chapter(const StoryParts& parts, const Story& story) {
  const ir::Kernel& kernel = parts.compiled.kernel;
  Story::Chapter chapter{"schedule", {}};
  const auto say = [&](const auto&... text) { chapter.lines.push_back(detail::concat(text...)); };
  switch (kernel.schedule) {
    case ir::Schedule::linear:
      say("linear, the fastest: along the innermost loop every operand stands still or steps from "
          "item to item");
      break;
    case ir::Schedule::tile:
      say("tile: the operands disagree about the fastest dimension, so they are walked through in "
          "blocks that stay in the caches");
      break;
    case ir::Schedule::strided: say("strided: vectors are gathered or put together"); break;
    case ir::Schedule::inner_reduce:
      say("inner_reduce: vectors run along what is reduced, and their lanes are combined at the "
          "end");
      break;
    case ir::Schedule::outer_reduce:
      say("outer_reduce: vectors run along what is kept, a lane an output");
      break;
    case ir::Schedule::scalar:
    case ir::Schedule::unscheduled:
      if (!ir::is_scan(kernel))
        say("scalar: one element at a time");
      else if (kernel.loops.back().kind == ir::LoopKind::scan)
        say("a scan along rows: vectors of what is scanned, which are then scanned in order");
      else
        say("a scan across columns: vectors run along them, and rows are taken in turn");
      break;
  }
  if (kernel.vector_bytes == 0)
    say("not linear, tile or strided: the target has no vector registers that weft uses");
  else if (kernel.schedule != ir::Schedule::linear && !ir::is_reduction(kernel) &&
           !ir::is_scan(kernel))
    say("not linear: ", linear_refusal(parts));
  if (kernel.schedule == ir::Schedule::strided)
    say("not tile: ", why_not_tiled(parts.iterator, parts.program,
                                    parts.compiled.code->backend == "nvrtc" ? DeviceType::cuda
                                                                            : DeviceType::cpu));
  for (std::size_t loop = 0; loop < std::min(kernel.loops.size(), parts.lowered.extents.size());
       ++loop)
    chapter.lines.push_back(loop_line(parts, loop));
  if (parts.lowered.block_extent != 0)
    say("in blocks of ", parts.lowered.block_extent,
        " so that the rows share what the caches hold");
  if (ir::is_reduction(kernel))
    say("a tree of ", kernel.tree.lanes, " lanes, and blocks of ", kernel.tree.block,
        kernel.loops.back().kind == ir::LoopKind::reduce ? " elements" : " rows");
  else
    chapter.lines.push_back(streaming_line(parts, story));
  if (parts.rows_per_block != 0)
    say("all passes run on ", parts.rows_per_block,
        " rows before they go on to the next: what one has read, others find in the caches");
  if (parts.lowered.follows_reads)
    say("rows in the order in which they are read: past the caches go whole lines, in any order");
  return chapter;
}

namespace {

bool may_get_code_for_shape(const StoryParts& parts) {
  const auto is_llvm = [](const jit::Backend* backend) { return backend->name == "llvm"; };
  return parts.planner.backend == "auto" && std::ranges::any_of(jit::backends(), is_llvm) &&
         jit::gains_from_shape(parts.compiled.kernel, parts.lowered.extents);
}

}  // namespace

Story::Chapter tier_chapter(const StoryParts& parts) {
  Story::Chapter chapter{"tier", {}};
  for (const std::string& refusal : parts.explanation.refusals) {
    const std::size_t colon = refusal.find(": ");
    chapter.lines.push_back(colon == refusal.npos ? refusal
                                                  : refusal.substr(0, colon) +
                                                        " refuses: " + refusal.substr(colon + 2));
  }
  for (const Explanation::PrecompiledLoop& loop : parts.explanation.precompiled)
    chapter.lines.push_back(detail::concat(loop.name, ": compiled with weft (",
                                           loop.instruction_set, "), ", loop.purpose));
  if (parts.ready != nullptr) return chapter;
  const jit::CodeObject& code = *parts.compiled.code;
  char time[32];
  std::snprintf(time, sizeof time, code.compile_us < 100 ? "%.3g" : "%.0f", code.compile_us);
  std::string line = detail::concat(
      code.backend, code.backend == "interp" ? " runs it" : " compiles it", " in ", time, " us");
  if (code.code_bytes != 0) line += detail::concat(", ", code.code_bytes, " bytes with constants");
  chapter.lines.push_back(std::move(line));
  if (may_get_code_for_shape(parts))
    chapter.lines.push_back(
        "rows are short: where this call is very hot, LLVM compiles code for its shape alone, with "
        "extents and strides as constants");
  return chapter;
}

/// Of transposing kernels.
std::string tile_streaming_text(const Tuning& tuning, const CpuFeatures& features) {
  const auto [bytes, copy_bytes] = jit::tiles::streaming_thresholds(features, tuning);
  return bytes == copy_bytes
             ? bytes_text(bytes)
             : detail::concat(bytes_text(bytes), " and copies from ", bytes_text(copy_bytes));
}

Story::Chapter thresholds_chapter(const StoryParts& parts) {
  Story::Chapter chapter{"thresholds", {}};
  const auto say = [&](const auto&... text) { chapter.lines.push_back(detail::concat(text...)); };
  const StoredTuning& stored = machine_tuning();
  const Tuning standard;
  const bool is_here = parts.planner.features == host_features();
  const Tuning& tuning = is_here ? current_tuning() : standard;
  if (is_here && tuning == stored.tuning && stored.is_stored)
    say("measured on this machine: ", stored.file);
  else if (tuning == standard)
    say("weft's defaults; weft tune measures this machine's");
  else
    say("those of a measurement");
  if (!stored.fault.empty()) say(stored.file, " is ignored: it ", stored.fault);
  say("past the caches from ", bytes_text(parts.planner.streaming_bytes), " moved, tiles from ",
      tile_streaming_text(tuning, parts.planner.features), "; large tiles from ",
      bytes_text(tuning.tile_large_bytes));
  say("a thread for ", tuning.thread_work_ns, " ns of work, at ",
      bytes_text(tuning.near_bytes_per_us * 1'000'000), " a second in a core's caches and ",
      bytes_text(tuning.far_bytes_per_us * 1'000'000), " beyond");
  return chapter;
}

Story::Chapter code_chapter(const StoryParts& parts, const Story& story) {
  Story::Chapter chapter{"code", {}};
  const bool is_fold = parts.ready == nullptr && ir::is_reduction(parts.compiled.kernel);
  const bool is_compiled = is_fold || ir::is_scan(parts.compiled.kernel);
  if (is_fold)
    chapter.lines.push_back(
        "what folds one block of the tree; the tree over blocks is walked by weft "
        "(engine/fold/fold_run.cpp)");
  if (parts.ready != nullptr)
    chapter.lines.push_back(
        "nothing is compiled for the call; what is told here is of the first of the "
        "loops compiled with weft");
  else if (parts.folded_bytes >= 0 && !is_compiled)
    chapter.lines.push_back(
        "what is told here is of the kernel that computes what the loops compiled "
        "with weft read");
  if (story.code_instructions == 0) return chapter;
  chapter.lines.push_back(detail::concat(story.code_instructions, " instructions, ",
                                         parts.loops.loops.size(),
                                         parts.loops.loops.size() == 1 ? " loop" : " loops"));
  const Story::HotLoop& hot = story.hot_loop;
  if (hot.instructions == 0) return chapter;
  const auto each = [&](double an_iteration) {
    if (hot.elements == 0) return std::string();
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", an_iteration / static_cast<double>(hot.elements));
    return detail::concat(", ", text, " an element");
  };
  std::string line = detail::concat("hot loop: ", hot.instructions, " instructions");
  if (hot.elements != 0) line += detail::concat(" for ", hot.elements, " elements");
  chapter.lines.push_back(line + each(static_cast<double>(hot.instructions)));
  if (hot.cycles > 0) {
    char cycles[32];
    std::snprintf(cycles, sizeof cycles, "%.3g", hot.cycles);
    chapter.lines.push_back(detail::concat("LLVM's model of ", hot.modelled_processor, ": ", cycles,
                                           " cycles an iteration", each(hot.cycles),
                                           ", if nothing waits for memory"));
  } else {
    chapter.lines.push_back("no cycles by LLVM's models: " + parts.throughput.reason);
  }
  return chapter;
}

}  // namespace weft
