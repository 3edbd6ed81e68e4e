// The chapters of the plan: operands, broadcast, promotion, order of the dimensions, coalescing.
#include "engine/explain/story.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>
#include <weft/promote.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace weft {
namespace {

constexpr std::size_t max_promotion_lines = 12;
constexpr std::size_t max_node_text = 48;

template <class Range>
std::string list(const Range& items) {
  std::string text;
  for (const auto& item : items) text += detail::concat(text.empty() ? "" : ", ", item);
  return text;
}

/// "d2, d3".
std::string dims_list(std::span<const int> dims) {
  std::vector<std::string> names;
  for (const int dim : dims) names.push_back(detail::concat("d", dim));
  return list(names);
}

std::string plural(std::int64_t count, std::string_view thing) {
  return detail::concat(count, " ", thing, count == 1 ? "" : "s");
}

/// The dimensions of the result along which an operand stands still.
std::vector<int> repeated_dims(const Story& story, std::size_t operand) {
  std::vector<int> dims;
  for (const Story::Loop& loop : story.merging.front())
    if (loop.stride_bytes[operand] == 0 && loop.extent > 1) dims.push_back(loop.dims[0]);
  std::ranges::sort(dims);
  return dims;
}

std::string node_text(const ExprNode& node) {
  // Only the text is wanted of the handle, which does not own the node.
  std::string result = text(Expr(std::shared_ptr<const ExprNode>(std::shared_ptr<void>(), &node)));
  if (result.size() > max_node_text) result.replace(max_node_text - 3, std::string::npos, "...");
  return result;
}

std::string_view category_text(const ExprNode& node) {
  switch (node.category) {
    case OperandCategory::dimensioned: return "";
    case OperandCategory::zero_dim: return " 0-dim";
    case OperandCategory::number: return " number";
  }
  return "";
}

/// Why an op computes in the dtype that it does; empty where there is nothing to say.
std::string promotion_line(const ExprNode& node) {
  if (node.is_step) return {};
  if (node.kind == ExprNode::Kind::cast)
    return detail::concat(node_text(node), ": converted from ", name(node.args[0]->dtype),
                          " as asked");
  if (node.kind != ExprNode::Kind::op) return {};
  const OpInfo& op = info(node.op);
  std::vector<std::string> given;
  bool is_plain = node.dtype == node.compute_dtype;
  bool has_lower_category = false, are_tensors_mixed = false, is_integral_throughout = true;
  std::optional<DType> of_tensors;
  for (std::size_t i = op.result == ResultRule::select ? 1 : 0; i < node.args.size(); ++i) {
    const ExprNode& arg = *node.args[i];
    given.push_back(detail::concat(name(arg.dtype), category_text(arg)));
    is_plain &= arg.dtype == node.compute_dtype || arg.category == OperandCategory::number;
    if (arg.category != OperandCategory::dimensioned) {
      has_lower_category = true;
    } else {
      are_tensors_mixed |= of_tensors && *of_tensors != arg.dtype;
      of_tensors = of_tensors ? promote_types(*of_tensors, arg.dtype) : arg.dtype;
    }
    is_integral_throughout &= is_integral(arg.dtype);
  }
  if (is_plain) return {};
  const bool tensors_decide = are_tensors_mixed && of_tensors == node.compute_dtype;
  std::string why;
  if (promotes_integers(op.result) && is_integral_throughout)
    why = detail::concat(": ", op.name, " takes integers as floats");
  else if (has_lower_category && of_tensors && !tensors_decide)
    why =
        ": beside a tensor with dimensions, a number or 0-dim tensor counts only if it is of a "
        "higher kind (bool, integer, float, complex)";
  else if (given.size() > 1 && given[0] != given[1])
    why = ": the smallest dtype that both convert to";
  std::string line = detail::concat(node_text(node), ": ", list(given), " -> computes in ",
                                    name(node.compute_dtype), why);
  if (node.dtype != node.compute_dtype) line += detail::concat("; gives ", name(node.dtype));
  return line;
}

/// The lines of all nodes, arguments first; a stack of its own, as expressions may be deep.
std::vector<std::string> promotion_lines(const Expr& expr) {
  std::vector<std::string> lines;
  std::set<const ExprNode*> seen;
  std::vector<std::pair<const ExprNode*, std::size_t>> path{{&expr.node(), 0}};
  while (!path.empty() && lines.size() <= max_promotion_lines) {
    auto& [node, next] = path.back();
    if (next < node->args.size()) {
      const ExprNode* const arg = node->args[next++].get();
      if (seen.insert(arg).second) path.emplace_back(arg, 0);
      continue;
    }
    if (std::string line = promotion_line(*node); !line.empty()) lines.push_back(std::move(line));
    path.pop_back();
  }
  if (lines.size() > max_promotion_lines) lines.back() = "and so on";
  return lines;
}

bool has_equal_sizes(const Story& story, IntSpan sizes) {
  return std::ranges::all_of(story.operands, [&](const Story::Operand& operand) {
    return operand.is_new || std::ranges::equal(operand.sizes, sizes);
  });
}

std::string fast_setup_line(const StoryParts& parts, const Story& story) {
  const auto is_number = [](const Program::Param& param) { return param.is_operand; };
  switch (parts.iterator.fast_setup()) {
    case FastSetup::contiguous:
      return "fast set-up: equal shapes, all contiguous, so memory is walked as one run";
    case FastSetup::channels_last:
      return "fast set-up: equal shapes, all channels_last, so memory is walked as one run";
    case FastSetup::non_overlapping_dense:
      return "fast set-up: equal shapes and strides without gaps, so memory is walked as one run";
    case FastSetup::none: break;
  }
  if (!has_equal_sizes(story, parts.iterator.sizes()))
    return "no fast set-up: the operands differ in shape";
  if (std::ranges::any_of(parts.program.params, is_number))
    return "no fast set-up: a bare number takes part as a 0-dim tensor, as in PyTorch";
  return "no fast set-up: the shapes are equal, but not one dense order of memory";
}

/// Which operand the sort asks first.
std::string deciding_operand(const Story& story) {
  for (const Story::Operand& operand : story.operands)
    if (!operand.is_new) return operand.name;
  return "the first operand";
}

std::string loop_text(const Story::Loop& loop) {
  std::string dims;
  for (const int dim : loop.dims) dims += detail::concat(dims.empty() ? "" : "*", "d", dim);
  return detail::concat(loop.extent, dims.empty() ? "" : " (", dims, dims.empty() ? "" : ")");
}

std::string loops_text(const Story::Loops& loops) {
  std::vector<std::string> parts;
  for (const Story::Loop& loop : loops) parts.push_back(loop_text(loop));
  return detail::concat("[", list(parts), "]");
}

}  // namespace

Story::Chapter operands_chapter(const StoryParts& parts, const Story& story) {
  Story::Chapter chapter{"operands", {}};
  std::size_t width = 0;
  for (const Story::Operand& operand : story.operands) width = std::max(width, operand.name.size());
  for (std::size_t i = 0; i < story.operands.size(); ++i) {
    const Story::Operand& operand = story.operands[i];
    std::string line =
        operand.name + std::string(width - operand.name.size() + 2, ' ') + operand.layout;
    if (i == 0 && parts.folded_bytes >= 0)
      line += parts.ready != nullptr ? ", what is reduced or scanned: it is read where it lies"
              : parts.is_apart       ? ", what is scanned: it is written before"
              : ir::is_reduction(parts.compiled.kernel) || ir::is_scan(parts.compiled.kernel)
                  ? ", what is reduced or scanned: it stays in registers"
                  : ", what is reduced or scanned: it goes through a small buffer";
    else if (operand.is_output)
      line += !operand.is_new         ? ", written, as given"
              : parts.is_output_given ? ", written, resized"
                                      : ", written, new";
    const Tensor& tensor = parts.iterator.tensor(static_cast<int>(i));
    if (tensor.is_conj()) line += ", lazily conjugated";
    if (tensor.is_neg()) line += ", lazily negated";
    if (!operand.is_output &&
        parts.iterator.needs_temporary(static_cast<int>(i) - parts.iterator.noutputs()))
      line += ", copied first: the output overwrites it in the wrong order";
    chapter.lines.push_back(std::move(line));
  }
  for (const std::string& pass : parts.explanation.passes)
    chapter.lines.push_back((parts.has_unrolled_folds ? "within: " : "before: ") + pass);
  return chapter;
}

Story::Chapter broadcast_chapter(const StoryParts& parts, const Story& story) {
  Story::Chapter chapter{"broadcast", {}};
  for (std::size_t i = 0; i < story.operands.size(); ++i) {
    const Story::Operand& operand = story.operands[i];
    const std::vector<int> dims = repeated_dims(story, i);
    if (dims.empty() || std::ranges::equal(operand.sizes, parts.iterator.sizes())) continue;
    chapter.lines.push_back(detail::concat(operand.name, " ", dims_text(operand.sizes),
                                           " is repeated along ", dims_list(dims),
                                           " by a stride of 0, not copied"));
  }
  if (chapter.lines.empty())
    chapter.lines.push_back(
        detail::concat("nothing: every operand has the shape ", dims_text(parts.iterator.sizes())));
  else
    chapter.lines.push_back(detail::concat("all walk through ", dims_text(parts.iterator.sizes()),
                                           ", ", plural(story.numel, "element")));
  return chapter;
}

Story::Chapter promotion_chapter(const StoryParts& parts) {
  Story::Chapter chapter{"promotion", promotion_lines(parts.expr)};
  const DType given = parts.program.result_dtypes[0], stored = parts.program.output_dtypes[0];
  if (chapter.lines.empty())
    chapter.lines.push_back(detail::concat("nothing to do: everything is ", name(given)));
  if (given != stored)
    chapter.lines.push_back(
        detail::concat("the result, ", name(given), ", is stored as ", name(stored)));
  const DType common = parts.explanation.common_dtype;
  if (is_floating(common) && itemsize_bytes(common) < 4)
    chapter.lines.push_back(detail::concat(name(common), " is computed in f32 and rounded ",
                                           parts.planner.numerics == Numerics::strict
                                               ? "after each op (strict)"
                                               : "once, at the end"));
  return chapter;
}

Story::Chapter order_chapter(const StoryParts& parts, const Story& story) {
  Story::Chapter chapter{"order of dimensions", {fast_setup_line(parts, story)}};
  const auto perm = parts.iterator.perm();
  if (perm.size() < 2) return chapter;
  bool is_reversal = true;
  for (std::size_t i = 0; i < perm.size(); ++i)
    is_reversal &= perm[i] == static_cast<int>(perm.size() - 1 - i);
  const bool is_sorted = parts.iterator.fast_setup() == FastSetup::none;
  std::string why;
  if (is_sorted)
    why = detail::concat(", by the strides of ", deciding_operand(story),
                         " first; where those say nothing the next operand is asked");
  chapter.lines.push_back(detail::concat("fastest first: ", dims_list(perm),
                                         is_reversal ? ", the order in which they are written" : "",
                                         why));
  return chapter;
}

Story::Chapter coalescing_chapter(const StoryParts&, const Story& story) {
  Story::Chapter chapter{"coalescing", {}};
  const std::vector<Story::Loops>& steps = story.merging;
  const auto say = [&](const auto&... text) { chapter.lines.push_back(detail::concat(text...)); };
  if (steps.front().empty()) {
    say("a single element: no dimensions");
    return chapter;
  }
  for (std::size_t i = 0; i < steps.size(); ++i)
    chapter.lines.push_back(detail::concat(i == 0 ? "   " : "-> ", loops_text(steps[i])));
  if (steps.size() == 1 && steps.front().size() == 1) say("one dimension: nothing to merge");
  if (steps.size() == 1 && steps.front().size() > 1)
    say("no two neighbours merge: an operand would have to jump");
  for (std::size_t i = 0; i < story.operands.size(); ++i) {
    std::vector<std::int64_t> strides;
    for (const Story::Loop& loop : steps.back()) strides.push_back(loop.stride_bytes[i]);
    chapter.lines.push_back(
        detail::concat(story.operands[i].name, " steps ", dims_text(strides), " bytes"));
  }
  return chapter;
}

}  // namespace weft
