// Messages quote what files and callers hold, which may be anything.
#pragma once

#include <string>
#include <string_view>

namespace weft {

/// The text with every byte that is no printable character of UTF-8, nor a newline, as \x1b.
std::string printable(std::string_view text);

}  // namespace weft
