// The parts of the page that explanation_html() puts together; each is markup that is complete in
// itself.
#pragma once

#include <weft/explain_html.h>

#include <string>
#include <string_view>

namespace weft::html {

/// With `&lt;` and the like, for text and for attributes in double quotes.
std::string escaped(std::string_view text);

/// A drawing of each operand: the last two dimensions as a grid, the others as grids side by side.
/// Cells hold their place in memory, in elements, and get darker from the first to the last.
std::string layouts(const Story& story);
/// The loops in a row of boxes, one row for each merge.
std::string merging(const Story& story);
/// The IR that is compiled and the assembly, with `data-v` on the lines of one value.
std::string code(const Explanation& explanation);
/// Operations a second against operations a byte: the machine's roofs, and the call under them.
std::string roofline(const Story& story, const MachineSpeed& machine);

}  // namespace weft::html
