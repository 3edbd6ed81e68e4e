// One call as a page to look at, to keep and to print.
#pragma once

#include <weft/engine.h>

#include <string>

namespace [[gnu::visibility("default")]] weft {

/// A page of HTML that refers to nothing outside itself: how the operands lie in memory, how
/// dimensions merge, the IR beside the machine code (if `asm` was asked for) with the lines that
/// belong together lit up under the pointer, the roofline of `machine`, and the story.  All names
/// and texts are escaped.  `#v3` behind its address lights up value %3.
std::string explanation_html(const Explanation& explanation, const MachineSpeed& machine);

}  // namespace weft
