// Engines of every backend, for tests that compare them.
#pragma once

#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <vector>

namespace weft::testing {

/// Engines that are not in this build are left out, and those that it must have are missed.
inline std::vector<std::unique_ptr<Engine>> engines(std::initializer_list<const char*> backends,
                                                    EngineOptions options = {}) {
  std::vector<std::unique_ptr<Engine>> result;
  for (const char* backend : backends) {
    options.backend = backend;
    try {
      result.push_back(std::make_unique<Engine>(options));
    } catch (const UnsupportedError& error) {
      EXPECT_FALSE(is_required_backend(backend)) << error.what();
    }
  }
  return result;
}

}  // namespace weft::testing
