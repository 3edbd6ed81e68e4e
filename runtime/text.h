// Short texts that messages and names of files are made of.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// All 16 digits.
std::string hex16(std::uint64_t value);

/// What the system says of an errno.
std::string errno_text(int error);

}  // namespace weft
