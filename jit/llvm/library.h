// The functions outside of it that emitted code calls.
#pragma once

#include <string_view>

namespace weft::jit {

/// Where the function lies; null if no emitted code may call it, or it is not on this machine.
const void* find_library_function(std::string_view symbol);

}  // namespace weft::jit
