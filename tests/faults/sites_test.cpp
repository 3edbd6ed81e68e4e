// Every place in weft that calls what can fail has failed in one of the tests before, but for those
// that are listed with the reason.
#include "tests/faults/sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::faults {
namespace {

/// A site that no test reaches.
struct Unreached {
  std::string_view function;  ///< the beginning of its name
  std::string_view place, why;
};
constexpr Unreached unreached[] = {
    {"aligned_alloc", "run_staged", "no scenario's tiles are staged in the large buffer"},
    {"dlopen", "sleef_function", "no scenario's code calls a function of whole vectors"},
    {"dlsym", "sleef_function", "the same, further on"},
    {"std::filesystem::canonical(", "own_folder",
     "only where weft is a shared library, and this program has the static one"},
    {"munmap", "map_large", "only where the system places a mapping off a page of 2 MiB"},
    {"munmap", "ThreadCache", "no scenario's thread ends when the pool is full of large blocks"},
    {"munmap", "InputFile::map",
     "only where memory has run out just before, another kind of fault"},
};

bool is_unreached(const Site& site) {
  return std::ranges::any_of(unreached, [&](const Unreached& known) {
    return site.function.starts_with(known.function) &&
           site.place.find(known.place) != site.place.npos;
  });
}

/// Whether all tests were to run, and this one comes last.
bool all_ran_before() {
  const auto& all = *testing::UnitTest::GetInstance();
  return all.test_to_run_count() == all.total_test_count() - all.disabled_test_count() &&
         !GTEST_FLAG_GET(shuffle) &&
         all.GetTestSuite(all.total_test_suite_count() - 1) == all.current_test_suite();
}

TEST(Sites, EachHasFailed) {
  if (const std::string reason = sites_unknown_reason(); !reason.empty()) GTEST_SKIP() << reason;
  if (!all_ran_before()) GTEST_SKIP() << "not all tests have run before this one";
  const std::vector<Site> sites = all_sites();
  std::size_t num_failed = 0;
  for (const Site& site : sites) {
    num_failed += site.has_failed ? 1 : 0;
    EXPECT_TRUE(site.has_failed || is_unreached(site))
        << site.function << " has never " << (site.is_called ? "failed" : "been called") << " in "
        << site.place;
  }
  std::cout << num_failed << " of " << sites.size() << " sites have failed\n";
}

}  // namespace
}  // namespace weft::faults
