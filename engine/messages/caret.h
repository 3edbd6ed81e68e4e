// Messages that point at a place in a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

/// "WHAT, column N: MESSAGE", then the text with a caret under `position`, on two lines of their
/// own. Of a long text only the neighbourhood of the place is shown; columns count characters
/// from 1.
std::string point_at(std::string_view what, std::string_view message, std::string_view text,
                     std::size_t position);

}  // namespace weft
