// Every place in weft that calls what can fail has failed in one of the tests before.
#include "tests/faults/sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace weft::faults {
namespace {

/// Whether all tests were to run, and this one comes last.
bool all_ran_before() {
  const auto& all = *testing::UnitTest::GetInstance();
  return all.test_to_run_count() == all.total_test_count() - all.disabled_test_count() &&
         !GTEST_FLAG_GET(shuffle) &&
         all.GetTestSuite(all.total_test_suite_count() - 1) == all.current_test_suite();
}

TEST(Sites, EachHasFailed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "beside a sanitizer's checks the compiler makes several calls of one";
#endif
  if (const std::string reason = sites_unknown_reason(); !reason.empty()) GTEST_SKIP() << reason;
  if (!all_ran_before()) GTEST_SKIP() << "not all tests have run before this one";
  const std::vector<Site> sites = all_sites();
  std::size_t num_failed = 0;
  for (const Site& site : sites) {
    num_failed += site.has_failed ? 1 : 0;
    EXPECT_TRUE(site.has_failed) << site.function << " has never "
                                 << (site.is_called ? "failed" : "been called") << " in "
                                 << site.place;
  }
  std::cout << num_failed << " of " << sites.size() << " sites have failed\n";
}

}  // namespace
}  // namespace weft::faults
