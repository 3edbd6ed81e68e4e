// The figures of a story, and its chapters in order.
#include "engine/explain/story.h"

#include "engine/expression/walk.h"
#include "engine/plan/streaming.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/pass.h"
#include "ir/text.h"

#include <weft/error.h>

#include <algorithm>
#include <cstdio>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft {
namespace {

/// Of the tensors that the passes of an expression with reductions read, each once; -1: it has no
/// reductions, and its operands are those of the one call.
std::int64_t bytes_read_by_passes(const Expr& given) {
  std::unordered_set<const TensorImpl*> seen;
  TouchedBytes bytes;
  bool has_fold = false;
  for_each_node({&given.node()}, [&](const ExprNode& node) {
    has_fold |= node.kind == ExprNode::Kind::fold;
    if (node.kind != ExprNode::Kind::tensor || !seen.insert(node.tensor.impl().get()).second)
      return true;
    const TensorImpl& tensor = *node.tensor.impl();
    const std::int64_t touched =
        touched_bytes(itemsize_bytes(tensor.dtype), {tensor.sizes.data(), tensor.sizes.size()},
                      {tensor.strides.data(), tensor.strides.size()});
    bytes.add(node.tensor, touched);
    return true;
  });
  return has_fold ? bytes.sum() : -1;
}

void add_operands(const StoryParts& parts, Story& story) {
  const TensorIterator& iterator = parts.iterator;
  TouchedBytes read, written;
  for (int i = 0; i < iterator.ntensors(); ++i) {
    const Tensor& tensor = iterator.tensor(i);
    Story::Operand operand;
    operand.name = parts.explanation.operands[static_cast<std::size_t>(i)].name;
    operand.is_output = i < iterator.noutputs();
    operand.is_new = operand.is_output && (iterator.was_resized(i) || !parts.is_output_given);
    operand.layout = layout_text(tensor);
    operand.dtype = tensor.dtype();
    operand.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
    operand.strides.assign(tensor.strides().begin(), tensor.strides().end());
    operand.offset = tensor.storage_offset();
    operand.touched_bytes = touched_bytes(iterator, i);
    (operand.is_output ? written : read).add(tensor, operand.touched_bytes);
    story.operands.push_back(std::move(operand));
  }
  story.read_bytes = read.sum();
  story.written_bytes = written.sum();
  if (parts.folded_bytes >= 0) story.written_bytes = parts.folded_bytes;
  if (const std::int64_t bytes = bytes_read_by_passes(parts.given); bytes >= 0)
    story.read_bytes = bytes;
  if (parts.is_apart) {  // what is scanned is written, and read again
    story.read_bytes += written.sum();
    story.written_bytes += written.sum();
  }
}

/// Every dimension a loop, in the iterator's order.
Story::Loops ordered_loops(const TensorIterator& iterator) {
  Story::Loops loops;
  for (const int dim : iterator.perm()) {
    Story::Loop loop;
    loop.dims = {dim};
    loop.extent = iterator.sizes()[static_cast<std::size_t>(dim)];
    for (int i = 0; i < iterator.ntensors(); ++i) {
      const Tensor& tensor = iterator.tensor(i);
      const auto own = dim - (static_cast<int>(iterator.sizes().size()) - tensor.dim());
      const bool is_broadcast = own < 0 || (tensor.size(own) == 1 && loop.extent != 1);
      const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
      loop.stride_bytes.push_back(
          is_broadcast ? 0 : stride_in_bytes(tensor.stride(own), tensor.size(own), itemsize));
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

/// Whether a loop and the one around it are one loop, by the rule of coalesce_dimensions().
bool are_one(const Story::Loop& inner, const Story::Loop& outer) {
  if (inner.extent == 1 || outer.extent == 1) return true;
  for (std::size_t i = 0; i < inner.stride_bytes.size(); ++i)
    if (wrapping_product(inner.extent, inner.stride_bytes[i]) != outer.stride_bytes[i])
      return false;
  return true;
}

Story::Loop merged(const Story::Loop& inner, const Story::Loop& outer) {
  Story::Loop loop = inner;
  loop.dims.insert(loop.dims.end(), outer.dims.begin(), outer.dims.end());
  loop.extent = wrapping_product(inner.extent, outer.extent);
  if (inner.extent == 1) loop.stride_bytes = outer.stride_bytes;
  return loop;
}

void add_merging(const TensorIterator& iterator, Story& story) {
  Story::Loops loops = ordered_loops(iterator);
  story.merging.push_back(loops);
  if (iterator.fast_setup() != FastSetup::none && loops.size() > 1) {
    // Dense in one order, whatever the strides of dimensions of one or no element say.
    while (loops.size() > 1) {
      loops[0] = merged(loops[0], loops[1]);
      loops.erase(loops.begin() + 1);
    }
    story.merging.push_back(loops);
  }
  for (std::size_t at = 0; at + 1 < loops.size();) {
    if (!are_one(loops[at], loops[at + 1])) {
      ++at;
      continue;
    }
    loops[at] = merged(loops[at], loops[at + 1]);
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    story.merging.push_back(loops);
  }
  if (!std::ranges::equal(loops, iterator.shape(), {}, &Story::Loop::extent)) {
    // A plan for meta tensors keeps its dimensions, and new outputs without elements have had other
    // strides when dimensions were merged: the steps are not known then, only the end.
    story.merging.resize(1);
    if (!std::ranges::equal(story.merging[0], iterator.shape(), {}, &Story::Loop::extent)) {
      loops.clear();
      for (const std::int64_t extent : iterator.shape()) {
        Story::Loop& loop = loops.emplace_back();
        loop.extent = extent;
        loop.stride_bytes.resize(static_cast<std::size_t>(iterator.ntensors()));
      }
      story.merging.push_back(loops);
    }
    loops = story.merging.back();
  }
  for (std::size_t at = 0; at < loops.size(); ++at)
    for (int i = 0; i < iterator.ntensors(); ++i)
      story.merging.back()[at].stride_bytes[static_cast<std::size_t>(i)] =
          iterator.stride_bytes(i)[at];
}

void add_ir_steps(const StoryParts& parts, Story& story) {
  if (!parts.has_ir) return;
  ir::Kernel kernel = parts.signature.kernel;
  kernel.vector_bytes = parts.compiled.kernel.vector_bytes;
  story.ir_steps.push_back({"as lowered", ir::print(kernel)});
  ir::run_pipeline(kernel, [&](std::string_view pass, bool is_changed, const ir::Kernel& now) {
    if (is_changed) story.ir_steps.push_back({std::string(pass), ir::print(now)});
  });
}

void add_code(const StoryParts& parts, Story& story) {
  const ir::Kernel& kernel = parts.compiled.kernel;
  for (std::size_t i = kernel.num_hoisted; i < kernel.body.size(); ++i)
    story.operations += info(kernel.body[i].op).form != Form::structural;
  story.vector_lanes = std::max(1, kernel.loops.back().lanes);
  story.code_instructions = parts.loops.instructions;
  if (parts.loops.hot < 0) return;
  const jit::AssemblyLoop& hot = parts.loops.loops[static_cast<std::size_t>(parts.loops.hot)];
  const std::int64_t elements = parts.ready != nullptr
                                    ? parts.ready->elements
                                    : jit::elements_of(hot, stored_bytes_per_element(kernel));
  story.hot_loop = {hot.instructions, elements, parts.throughput.cycles,
                    parts.throughput.processor};
}

}  // namespace

std::int64_t moved_bytes(const Story& story) {
  return saturating_sum(story.read_bytes, story.written_bytes);
}

std::int64_t stored_bytes_per_element(const ir::Kernel& kernel) {
  if (kernel.schedule == ir::Schedule::tile) return 0;  // stores to its buffers as well
  std::int64_t bytes = 0;
  for (const ir::Operand& operand : kernel.operands) {
    if (operand.role != ir::Role::output) continue;
    if (operand.strides.back() != 1) return 0;
    bytes += static_cast<std::int64_t>(itemsize_bytes(operand.dtype));
  }
  return bytes;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10'000) return detail::concat(bytes, bytes == 1 ? " byte" : " bytes");
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

Story make_story(const StoryParts& parts) {
  Story story;
  story.expression = text(parts.given);
  story.result = layout_text(parts.result);
  story.numel = parts.iterator.numel();
  add_operands(parts, story);
  add_merging(parts.iterator, story);
  add_ir_steps(parts, story);
  add_code(parts, story);
  story.chapters = {operands_chapter(parts, story), broadcast_chapter(parts, story),
                    promotion_chapter(parts), order_chapter(parts, story),
                    coalescing_chapter(parts, story)};
  // What follows is of code for CPUs, and of IR.
  const auto add = [&](Story::Chapter chapter) { story.chapters.push_back(std::move(chapter)); };
  if (parts.compiled.code->backend != "nvrtc") {
    if (parts.has_ir) add(signature_chapter(parts));
    if (parts.has_ir) add(schedule_chapter(parts, story));
    add(tier_chapter(parts));
    add(code_chapter(parts, story));
    add(thresholds_chapter(parts));
  }
  std::erase_if(story.chapters,
                [](const Story::Chapter& chapter) { return chapter.lines.empty(); });
  return story;
}

}  // namespace weft
