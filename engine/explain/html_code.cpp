// The IR and the assembly side by side, line by line, with what ties the lines together.
#include "engine/explain/html.h"

#include "jit/assembly_loops.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <vector>

namespace weft::html {
namespace {

/// "%3 = add f32 %1, %2" as it stands in both texts, without indentation.
std::string_view instruction_text(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" >;");
  if (start == line.npos) return {};
  line.remove_prefix(start);
  return line.starts_with('%') || line.starts_with("store ") ? line : std::string_view();
}

/// A block of its own: the style breaks the lines.
std::string span(std::string_view line, std::string_view value, bool is_hot) {
  const std::string classes = is_hot ? " class=\"hot\"" : "";
  const std::string data = value.empty() ? "" : detail::concat(" data-v=\"", value, "\"");
  return detail::concat("<span", classes, data, ">", escaped(line), "</span>");
}

/// The IR's lines; fills in which value each stands for.
std::string ir_lines(std::string_view ir, std::map<std::string_view, std::string>& values) {
  std::string markup;
  for (const std::string_view line : jit::lines_of(ir)) {
    const std::string_view instruction = instruction_text(line);
    // Stores define nothing: they are counted among themselves.
    if (!instruction.empty() && !values.contains(instruction))
      values[instruction] = instruction.starts_with('%')
                                ? std::string(instruction.substr(1, instruction.find(' ') - 1))
                                : detail::concat("s", values.size());
    markup += span(line, instruction.empty() ? "" : values[instruction], false);
  }
  return markup;
}

std::string assembly_lines(std::string_view assembly,
                           const std::map<std::string_view, std::string>& values) {
  std::string markup, value;
  for (const std::string_view line : jit::lines_of(assembly)) {
    const bool is_hot = line.starts_with('>');
    const std::size_t start = line.find_first_not_of(" >");
    const bool is_comment = start != line.npos && line[start] == ';';
    if (is_comment) {  // what follows comes from that line of the IR, or from no one
      const auto found = values.find(instruction_text(line));
      value = found == values.end() ? std::string() : found->second;
    }
    markup += span(is_hot ? detail::concat(" ", line.substr(1)) : std::string(line),
                   line.starts_with('.') ? "" : value, is_hot);
  }
  return markup;
}

std::string earlier_steps(const Story& story) {
  std::string markup;
  for (std::size_t i = 0; i + 1 < story.ir_steps.size(); ++i)
    markup += detail::concat("<details><summary>IR ", i == 0 ? "" : "after ",
                             escaped(story.ir_steps[i].name), "</summary><pre>",
                             escaped(story.ir_steps[i].ir), "</pre></details>\n");
  return markup;
}

}  // namespace

std::string code(const Explanation& explanation) {
  const Story& story = explanation.story;
  std::map<std::string_view, std::string> values;
  std::string markup = "<div class=\"code\">\n";
  if (!story.ir_steps.empty())
    markup += detail::concat("<div><h3>IR</h3><pre id=\"ir\">",
                             ir_lines(story.ir_steps.back().ir, values), "</pre></div>\n");
  if (const auto assembly = explanation.texts.find("asm"); assembly != explanation.texts.end())
    markup += detail::concat("<div><h3>", escaped(explanation.backend), "</h3><pre id=\"asm\">",
                             assembly_lines(assembly->second, values), "</pre></div>\n");
  return detail::concat(markup, "</div>\n", earlier_steps(story));
}

}  // namespace weft::html
