#include "runtime/text.h"

#include <array>
#include <cstdio>
#include <system_error>

namespace weft {

std::string hex16(std::uint64_t value) {
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(value));
  return digits.data();
}

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace weft
