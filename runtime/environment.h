// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace weft {

/// Empty if it is not set, or must not be looked at: in a program that has more rights than its
/// caller.
inline std::string environment_variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace weft
