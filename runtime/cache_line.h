// The line of the caches of all processors that weft knows.  Nothing is included here: code that is
// compiled for several instruction sets reads this (jit/fold/loops.h).
#pragma once

namespace weft {

inline constexpr int line_bytes = 64;

}  // namespace weft
