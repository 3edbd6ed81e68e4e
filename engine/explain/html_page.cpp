// The page around the drawings: style, script, and the story's chapters.
#include "engine/explain/html.h"
#include "engine/explain/story.h"

#include <weft/error.h>

namespace weft {
namespace {

constexpr std::string_view style = R"(
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2733; max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h1 { font: 600 1.35em/1.3 ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { font-size: 1.1em; margin: 1.8em 0 .5em; border-bottom: 1px solid #cfd8e3; }
h3 { font-size: .95em; margin: .9em 0 .2em; }
ul { margin: 0; padding-left: 1.2em; } p.note { color: #5b6b7c; margin: .3em 0; }
svg { max-width: 100%; height: auto; } svg text { font: 10px ui-monospace, monospace; fill: #1c2733; }
.operands { display: flex; flex-wrap: wrap; gap: 1.5em; } .operand { break-inside: avoid; }
.loops { display: flex; gap: .4em; align-items: center; margin: .3em 0; flex-wrap: wrap; }
.loop { border: 1.5px solid #3568a8; border-radius: 4px; padding: .15em .6em; background: #eaf1fa; text-align: center; }
.loop small { display: block; color: #5b6b7c; } .loop.merged { background: #fdf0d5; border-color: #c07a12; }
.code { display: flex; gap: 1em; align-items: flex-start; } .code > div { flex: 1 1 0; min-width: 0; }
pre { font: 12px/1.35 ui-monospace, monospace; background: #f6f8fa; border: 1px solid #d6dee7; margin: 0; padding: .6em 0; overflow: auto; max-height: 75vh; }
pre span { display: block; padding: 0 .8em; min-height: 1.35em; } pre span.hot { border-left: 3px solid #c8452f; padding-left: calc(.8em - 3px); }
pre span[data-v] { cursor: pointer; } pre span.on { background: #ffe08a; }
.chapters { columns: 2; column-gap: 2em; } .chapter { break-inside: avoid; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } pre { max-height: none; overflow: visible; white-space: pre-wrap; font-size: 7pt; }
  h2 { break-after: avoid; } svg, .loop { print-color-adjust: exact; -webkit-print-color-adjust: exact; } details { display: none; } }
)";

// Holds neither < nor &, so that the page is well-formed for readers of XML as well.
constexpr std::string_view script = R"(
(function () {
  var pinned = null;
  function light(value) {
    document.querySelectorAll('span.on').forEach(function (line) { line.classList.remove('on'); });
    if (value === null) return;
    document.querySelectorAll('span[data-v]').forEach(function (line) {
      if (line.dataset.v === value) line.classList.add('on');
    });
  }
  document.querySelectorAll('span[data-v]').forEach(function (line) {
    line.addEventListener('mouseenter', function () { light(line.dataset.v); });
    line.addEventListener('mouseleave', function () { light(pinned); });
    line.addEventListener('click', function () {
      pinned = pinned === line.dataset.v ? null : line.dataset.v;
      light(pinned);
    });
  });
  if (location.hash.indexOf('#v') === 0) { pinned = location.hash.slice(2); light(pinned); }
})();
)";

std::string chapter_markup(const Story::Chapter& chapter) {
  std::string markup =
      detail::concat("<div class=\"chapter\"><h3>", html::escaped(chapter.title), "</h3><ul>\n");
  for (const std::string& line : chapter.lines)
    markup += detail::concat("<li>", html::escaped(line), "</li>\n");
  return markup + "</ul></div>\n";
}

std::string section(std::string_view title, std::string_view note, const std::string& content) {
  if (content.empty()) return {};
  return detail::concat("<section>\n<h2>", title, "</h2>\n<p class=\"note\">", note, "</p>\n",
                        content, "</section>\n");
}

}  // namespace

std::string explanation_html(const Explanation& explanation, const MachineSpeed& machine) {
  const Story& story = explanation.story;
  const std::string title = html::escaped(story.expression);
  std::string chapters;
  for (const Story::Chapter& chapter : story.chapters) chapters += chapter_markup(chapter);
  // A device's speed is not this machine's.
  const bool is_here = explanation.backend != "nvrtc";
  if (is_here) chapters += chapter_markup(cost_chapter(story, machine));
  return detail::concat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>weft: ",
      title, "</title>\n<style>", style, "</style>\n</head>\n<body>\n<h1>", title, " &#8594; ",
      html::escaped(story.result), "</h1>\n",
      section("Memory",
              "The number in a cell is its place in memory, in elements; darker is later. A "
              "repeated number is read again.",
              html::layouts(story)),
      section("Dimensions",
              "Fastest first; neighbours through which every operand walks without a jump become "
              "one loop.",
              html::merging(story)),
      section("What happened, and why",
              "One call, in the order in which it is planned and compiled.",
              detail::concat("<div class=\"chapters\">\n", chapters, "</div>\n")),
      section("Code",
              "Lines that belong together light up under the pointer; a click keeps them lit. The "
              "hot loop has a red edge.",
              html::code(explanation)),
      section("Roofline", html::escaped(machine.source),
              is_here ? html::roofline(story, machine) : std::string()),
      "<script>", script, "</script>\n</body>\n</html>\n");
}

}  // namespace weft
