// Topics are off until asked for, and an event is one line.
#include "runtime/log.h"
#include "tests/matchers.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace weft {
namespace {

class Log : public ::testing::Test {
 protected:
  void TearDown() override { set_log_topics(""); }
};

TEST_F(Log, WritesEnabledTopicsOnly) {
  set_log_topics("cache,tier");
  EXPECT_TRUE(is_logged(LogTopic::cache));
  EXPECT_FALSE(is_logged(LogTopic::compile));
  testing::internal::CaptureStderr();
  log(LogTopic::cache, "hit ", 3);
  log(LogTopic::compile, "not written");
  log(LogTopic::tier, "xbyak: refused");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft cache: hit 3\nweft tier: xbyak: refused\n");
}

TEST_F(Log, AllMeansAll) {
  set_log_topics("all");
  for (LogTopic topic :
       {LogTopic::cache, LogTopic::compile, LogTopic::plan, LogTopic::tier, LogTopic::memory})
    EXPECT_TRUE(is_logged(topic)) << name(topic);
  set_log_topics("");
  EXPECT_FALSE(is_logged(LogTopic::memory));
}

TEST_F(Log, UnknownTopicsAreErrorsAndChangeNothing) {
  set_log_topics("plan");
  try {
    set_log_topics("cache,colour");
    FAIL() << "no error";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), matchers::HasSubstr("Unknown log topic 'colour'"));
    EXPECT_THAT(error.what(), matchers::HasSubstr("cache,compile,plan,tier,memory,tune or all"));
  }
  EXPECT_TRUE(is_logged(LogTopic::plan));
  EXPECT_FALSE(is_logged(LogTopic::cache));
}

/// The threadsafe style starts this program anew, so that its initialisers read the environment.
[[noreturn]] void log_and_exit() {
  log(LogTopic::cache, "from the start");
  std::exit(0);
}

TEST(LogDeathTest, EnvironmentEnablesTopics) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("WEFT_LOG", "cache", 1);
  EXPECT_EXIT(log_and_exit(), testing::ExitedWithCode(0), "weft cache: from the start");
  setenv("WEFT_LOG", "colour", 1);
  EXPECT_EXIT(log_and_exit(), testing::ExitedWithCode(0), "WEFT_LOG is ignored: Unknown log topic");
  unsetenv("WEFT_LOG");
}

}  // namespace
}  // namespace weft
