#include "jit/assembly_loops.h"

#include <weft/error.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace weft::jit {
namespace {

bool is_label(std::string_view line) { return line.starts_with('.') && line.ends_with(':'); }

/// What follows the offset; empty for labels, comments and bytes in hexadecimal.
std::string_view instruction_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start == line.npos || line[start] == ';' || is_label(line)) return {};
  const std::size_t end = line.find("  ", start);
  if (end == line.npos ||
      line.substr(start, end - start).find_first_not_of("0123456789abcdef") != line.npos)
    return {};
  return line.substr(end + 2);
}

/// The offset in front of an instruction.
std::size_t offset_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of("> ");
  std::size_t offset = 0;
  std::from_chars(line.data() + start, line.data() + line.size(), offset, 16);
  return offset;
}

bool is_padding(std::string_view instruction) {
  return instruction.starts_with("nop") || instruction.starts_with("xchg ax, ax");
}

/// The label that a jump within the code goes to, or nothing.
std::string_view jump_target(std::string_view instruction) {
  if (!instruction.starts_with('j')) return {};
  const std::size_t space = instruction.find(' ');
  return space == instruction.npos ? std::string_view() : instruction.substr(space + 1);
}

/// The ways through code: which instructions follow which.
class Flow {
 public:
  explicit Flow(const std::vector<std::string_view>& lines) {
    std::map<std::string_view, std::size_t> labels;
    for (std::size_t at = 0; at < lines.size(); ++at)
      if (is_label(lines[at])) labels[lines[at].substr(0, lines[at].size() - 1)] = at;
    bool falls_through = false, is_labelled = false;
    for (std::size_t at = 0; at < lines.size(); ++at) {
      next_.push_back({});
      is_labelled |= is_label(lines[at]);
      const std::string_view instruction = instruction_of(lines[at]);
      if (instruction.empty()) {
        next_[at].push_back(at + 1);
        continue;
      }
      // Behind a return, and where no jump goes to, another function begins.
      if (!falls_through && !is_labelled && !is_padding(instruction)) entries_.push_back(at);
      is_labelled = false;
      falls_through = !instruction.starts_with("ret") && !instruction.starts_with("jmp");
      if (falls_through) next_[at].push_back(at + 1);
      if (const auto target = labels.find(jump_target(instruction)); target != labels.end())
        next_[at].push_back(target->second);
    }
  }

  /// Whether every way to `line` leads through `through`.
  bool leads_through(std::size_t line, std::size_t through) const {
    std::vector<bool> is_seen(next_.size());
    std::vector<std::size_t> pending = entries_;
    while (!pending.empty()) {
      const std::size_t at = pending.back();
      pending.pop_back();
      if (at >= next_.size() || at == through || is_seen[at]) continue;
      if (at == line) return false;
      is_seen[at] = true;
      pending.insert(pending.end(), next_[at].begin(), next_[at].end());
    }
    return true;
  }

 private:
  std::vector<std::vector<std::size_t>> next_;  ///< [line]
  std::vector<std::size_t> entries_;
};

/// How much lies at an operand in memory other than the stack; 0 if the operand is no such thing.
std::int64_t memory_bytes(std::string_view operand) {
  if (operand.find("[rsp") < operand.find(']')) return 0;
  const std::pair<std::string_view, std::int64_t> widths[] = {
      {"zmmword ptr", 64}, {"ymmword ptr", 32}, {"xmmword ptr", 16}, {"qword ptr", 8},
      {"dword ptr", 4},    {"word ptr", 2},     {"byte ptr", 1}};
  for (const auto& [name, bytes] : widths)
    if (operand.starts_with(name)) return bytes;
  return 0;
}

std::string_view operands_of(std::string_view instruction) {
  const std::size_t space = instruction.find(' ');
  return space == instruction.npos ? std::string_view() : instruction.substr(space + 1);
}

/// Bytes that a vector instruction writes to memory other than the stack.
std::int64_t stored_bytes(std::string_view instruction) {
  if (!instruction.starts_with('v')) return 0;
  const std::int64_t bytes = memory_bytes(operands_of(instruction));
  return bytes < 4 ? 0 : bytes;
}

/// Bytes that an instruction reads from memory other than the stack.
std::int64_t loaded_bytes(std::string_view instruction) {
  if (instruction.starts_with("prefetch") || instruction.starts_with("nop")) return 0;
  const std::string_view operands = operands_of(instruction);
  const std::size_t comma = operands.find(", ");
  const bool writes_first =
      comma != operands.npos && !instruction.starts_with("cmp") && !instruction.starts_with("test");
  std::int64_t bytes = writes_first ? 0 : memory_bytes(operands.substr(0, comma));
  for (std::size_t at = comma; at != operands.npos; at = operands.find(", ", at + 2))
    bytes += memory_bytes(operands.substr(at + 2));
  return bytes;
}

bool holds(const AssemblyLoop& outer, const AssemblyLoop& inner) {
  return &outer != &inner && outer.first_line <= inner.first_line &&
         inner.last_line <= outer.last_line;
}

bool is_innermost(const AssemblyLoops& found, const AssemblyLoop& loop) {
  return std::ranges::none_of(found.loops,
                              [&](const AssemblyLoop& other) { return holds(loop, other); });
}

std::string describe(const AssemblyLoop& loop, bool is_hot, std::int64_t elements) {
  std::string text =
      detail::concat("        ; ", is_hot ? "hot " : "", "loop ", loop.label, " at depth ",
                     loop.depth, ": ", loop.instructions, " instructions");
  if (elements > 0 && is_hot) text += detail::concat(" for ", elements, " elements");
  return text + "\n";
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::int64_t elements_of(const AssemblyLoop& loop, std::int64_t bytes_per_element) {
  const bool is_whole = bytes_per_element > 0 && loop.stored_bytes % bytes_per_element == 0;
  return is_whole ? loop.stored_bytes / bytes_per_element : 0;
}

AssemblyLoops find_loops(std::string_view assembly) {
  const std::vector<std::string_view> lines = lines_of(assembly);
  const Flow flow(lines);
  AssemblyLoops found;
  std::map<std::string_view, std::size_t> labels;  ///< those seen so far, and their lines
  std::size_t last_return = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (is_label(lines[at])) labels[lines[at].substr(0, lines[at].size() - 1)] = at;
    const std::string_view instruction = instruction_of(lines[at]);
    if (instruction.empty()) continue;
    if (!is_padding(instruction)) ++found.instructions;
    if (instruction.starts_with("ret")) last_return = at;
    const auto target = labels.find(jump_target(instruction));
    if (target == labels.end() || target->second < last_return ||
        !flow.leads_through(at, target->second))
      continue;
    const auto known = std::ranges::find(found.loops, target->second, &AssemblyLoop::first_line);
    if (known != found.loops.end())
      known->last_line = at;
    else
      found.loops.push_back(
          {.label = std::string(target->first), .first_line = target->second, .last_line = at});
  }
  std::ranges::sort(found.loops, {}, &AssemblyLoop::first_line);
  for (AssemblyLoop& loop : found.loops) {
    bool is_first = true;
    for (std::size_t at = loop.first_line; at <= loop.last_line; ++at) {
      const std::string_view instruction = instruction_of(lines[at]);
      if (!instruction.empty() && std::exchange(is_first, false))
        loop.first_offset = offset_of(lines[at]);
      loop.calls |= instruction.starts_with("call");
      loop.instructions += !instruction.empty() && !is_padding(instruction);
      loop.stored_bytes += stored_bytes(instruction);
      loop.loaded_bytes += loaded_bytes(instruction);
    }
    for (std::size_t at = loop.last_line + 1; at < lines.size() && loop.end_offset == 0; ++at)
      if (!instruction_of(lines[at]).empty()) loop.end_offset = offset_of(lines[at]);
    for (const AssemblyLoop& other : found.loops) loop.depth += holds(other, loop);
  }
  for (int i = 0; i < std::ssize(found.loops); ++i) {
    const AssemblyLoop& loop = found.loops[static_cast<std::size_t>(i)];
    const auto is_better = [&](const AssemblyLoop& best) {
      return std::pair(loop.stored_bytes, loop.instructions) >
             std::pair(best.stored_bytes, best.instructions);
    };
    if (is_innermost(found, loop) &&
        (found.hot < 0 || is_better(found.loops[static_cast<std::size_t>(found.hot)])))
      found.hot = i;
  }
  return found;
}

int most_loading(const AssemblyLoops& found, std::int64_t most_bytes) {
  int best = -1;
  for (int i = 0; i < std::ssize(found.loops); ++i) {
    const AssemblyLoop& loop = found.loops[static_cast<std::size_t>(i)];
    if (!is_innermost(found, loop) || loop.loaded_bytes == 0 || loop.loaded_bytes > most_bytes)
      continue;
    const auto rank = [](const AssemblyLoop& ranked) {
      return std::pair(ranked.loaded_bytes, -ranked.instructions);
    };
    if (best < 0 || rank(loop) > rank(found.loops[static_cast<std::size_t>(best)])) best = i;
  }
  return best;
}

std::string with_loops(std::string_view assembly, const AssemblyLoops& found,
                       std::int64_t bytes_per_element) {
  const std::int64_t elements =
      found.hot < 0
          ? 0
          : elements_of(found.loops[static_cast<std::size_t>(found.hot)], bytes_per_element);
  return with_loops_of(assembly, found, elements);
}

std::string with_loops_of(std::string_view assembly, const AssemblyLoops& found,
                          std::int64_t elements) {
  if (found.instructions == 0) return std::string(assembly);
  const std::vector<std::string_view> lines = lines_of(assembly);
  const AssemblyLoop* const hot =
      found.hot < 0 ? nullptr : &found.loops[static_cast<std::size_t>(found.hot)];
  std::string text = detail::concat("; ", found.instructions, " instructions\n");
  for (std::size_t at = 0; at < lines.size(); ++at) {
    for (const AssemblyLoop& loop : found.loops)
      if (loop.first_line == at) text += describe(loop, &loop == hot, elements);
    const bool is_hot = hot != nullptr && at >= hot->first_line && at <= hot->last_line;
    if (is_hot && lines[at].starts_with(' '))
      text.append(">").append(lines[at].substr(1));
    else
      text += lines[at];
    text += '\n';
  }
  return text;
}

}  // namespace weft::jit
