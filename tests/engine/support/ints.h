// Sizes and strides as values, to write down and to compare.
#pragma once

#include <weft/tensor.h>

#include <cstdint>
#include <vector>

namespace weft::testing {

using Ints = std::vector<std::int64_t>;

inline Ints ints(IntSpan span) { return {span.begin(), span.end()}; }

}  // namespace weft::testing
