#include "runtime/gain_record.h"

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

using Choice = GainRecord::Choice;

/// Calls of `work_ns` until one is timed, or `limit` have been; how many ran alone before it.
int alone_before_timed(GainRecord& record, std::int64_t work_ns, int limit = 10'000) {
  int num_alone = 0;
  for (int i = 0; i < limit; ++i) {
    const Choice choice = record.choose(work_ns);
    if (choice == Choice::timed) return num_alone;
    num_alone += choice == Choice::alone ? 1 : 0;
  }
  ADD_FAILURE() << "no call was timed";
  return num_alone;
}

void lose(GainRecord& record, std::int64_t work_ns) {
  for (int i = 0; i < GainRecord::most_losses; ++i) record.note(work_ns, 300, 200);
}

TEST(GainRecord, CallsThatGainAreNeverAlone) {
  GainRecord record;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(alone_before_timed(record, 1000), 0);
    record.note(1000, 110, 200);
  }
}

TEST(GainRecord, CallsThatLoseDoWithoutUntilOneGains) {
  GainRecord record;
  lose(record, 1000);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(alone_before_timed(record, 1000), static_cast<int>(GainRecord::tries) - 1);
    record.note(1000, 300, 200);
  }
  EXPECT_EQ(alone_before_timed(record, 1000), static_cast<int>(GainRecord::tries) - 1);
  record.note(1000, 110, 200);
  EXPECT_EQ(alone_before_timed(record, 1000), 0);
}

TEST(GainRecord, WhoGotNoHelpIsTimedAgain) {
  GainRecord record;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(record.choose(1000), Choice::timed);
  record.note(1000, 110, 200);
  EXPECT_EQ(record.choose(1000), Choice::together);
}

TEST(GainRecord, ALossNowAndThenIsNoReason) {
  GainRecord record;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(alone_before_timed(record, 1000), 0);
    record.note(1000, i % 3 == 0 ? 900 : 110, 200);
  }
}

TEST(GainRecord, OtherSizesAreOtherCalls) {
  GainRecord record;
  lose(record, 1000);
  for (const std::int64_t other : {30'000, 0}) {
    EXPECT_EQ(record.choose(other), Choice::timed) << other;
    record.note(other, 110, 200);
    EXPECT_EQ(record.choose(other), Choice::together) << other;
  }
  EXPECT_EQ(record.choose(-1), Choice::together);  // with those of no work at all
}

}  // namespace
}  // namespace weft::testing
