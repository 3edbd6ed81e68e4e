// Which backends a build has, as ctest tells its tests.
#pragma once

#include <gtest/gtest.h>

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

/// Ends a test that can't use `backend`, for `reason`: it fails if the build must be able to, and
/// is left out elsewhere.  Ends SetUp's test too; a test's own body has to return after it.
inline void leave_out_without(std::string_view backend, const std::string& reason) {
  if (is_required_backend(backend))
    FAIL() << backend << " is in WEFT_REQUIRED_BACKENDS, but " << reason;
  GTEST_SKIP() << backend << ": " << reason;
}

}  // namespace weft
