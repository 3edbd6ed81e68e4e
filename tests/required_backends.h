// Which backends a build has, as ctest tells its tests.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace weft {

/// Whether `name` is in WEFT_REQUIRED_BACKENDS ("interp,xbyak,llvm"): a backend that this build has
/// must be usable, and a test that needs it may not be skipped.
inline bool is_required_backend(std::string_view name) {
  const char* const list = std::getenv("WEFT_REQUIRED_BACKENDS");
  const std::string required = std::string(",") + (list == nullptr ? "" : list) + ",";
  return required.find("," + std::string(name) + ",") != required.npos;
}

}  // namespace weft
