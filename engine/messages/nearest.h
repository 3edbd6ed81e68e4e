// "Did you mean": known words in the order of their likeness to a wrong one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// At most `limit` of `known`, nearest to `word` first, as "a, b, c"; ends in ", ..." if some are
/// left out.
std::string nearest_first(std::string_view word, std::vector<std::string> known, std::size_t limit);

}  // namespace weft
