// parallel_for(): every index once, the documented cuts, nesting, exceptions.
#include <weft/parallel.h>

#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace weft {
namespace {

class Parallel : public ::testing::Test {
 protected:
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

using Cuts = std::vector<std::pair<std::int64_t, std::int64_t>>;

Cuts cuts_of(std::int64_t begin, std::int64_t end, std::int64_t grain) {
  std::mutex mutex;
  Cuts cuts;
  parallel_for(begin, end, grain, [&](std::int64_t chunk_begin, std::int64_t chunk_end) {
    const std::lock_guard lock(mutex);
    cuts.emplace_back(chunk_begin, chunk_end);
  });
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

TEST_F(Parallel, CutsAreTheDocumentedOnes) {
  set_num_threads(4);
  EXPECT_EQ(cuts_of(0, 10, 1), (Cuts{{0, 3}, {3, 6}, {6, 9}, {9, 10}}));
  EXPECT_EQ(cuts_of(5, 15, 4), (Cuts{{5, 9}, {9, 13}, {13, 15}}));
  EXPECT_EQ(cuts_of(-2, 2, 1), (Cuts{{-2, -1}, {-1, 0}, {0, 1}, {1, 2}}));
  EXPECT_EQ(cuts_of(0, 10, 10), (Cuts{{0, 10}}));
  EXPECT_EQ(cuts_of(0, 3, 0), (Cuts{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(cuts_of(3, 3, 1), Cuts{});
  EXPECT_EQ(cuts_of(4, 3, 1), Cuts{});
  set_num_threads(1);
  EXPECT_EQ(cuts_of(0, 10, 1), (Cuts{{0, 10}}));
}

TEST_F(Parallel, CoversEveryIndexOnceForManyShapes) {
  for (int threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    for (std::int64_t count : {1, 2, 63, 64, 1000}) {
      for (std::int64_t grain : {1, 10, 64, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        for (const auto& visit : visits)
          ASSERT_EQ(visit, 1) << threads << " " << count << " " << grain;
      }
    }
  }
}

TEST_F(Parallel, RunsOnSeveralThreadsWhenAskedTo) {
  set_num_threads(2);
  std::atomic<int> num_inside = 0;
  std::atomic<bool> have_met = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) {
    if (++num_inside == 2) have_met = true;
    while (!have_met && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  EXPECT_TRUE(have_met);
}

TEST_F(Parallel, SmallWorkStaysInTheCallersThread) {
  set_num_threads(4);
  const auto caller = std::this_thread::get_id();
  parallel_for(0, 100, 100, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(end - begin, 100);
  });
}

TEST_F(Parallel, NestedLoopsRunSerially) {
  set_num_threads(4);
  std::atomic<int> num_inner_calls = 0;
  parallel_for(0, 4, 1, [&](std::int64_t, std::int64_t) {
    const auto thread = std::this_thread::get_id();
    parallel_for(0, 1000, 1, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, 1000);
      ++num_inner_calls;
    });
  });
  EXPECT_EQ(num_inner_calls, 4);
  EXPECT_EQ(cuts_of(0, 4, 1).size(), 4u);  // and afterwards loops are parallel again
}

TEST_F(Parallel, AnExceptionReachesTheCallerOnce) {
  set_num_threads(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    int num_caught = 0;
    try {
      parallel_for(0, 4, 1, [](std::int64_t begin, std::int64_t) {
        throw std::runtime_error("chunk " + std::to_string(begin));
      });
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 6), "chunk ");
      ++num_caught;
    }
    EXPECT_EQ(num_caught, 1);
    EXPECT_EQ(cuts_of(0, 4, 1).size(), 4u);
  }
}

TEST_F(Parallel, ManyThreadsMayCallAtOnce) {
  set_num_threads(2);
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum = 0;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat)
        parallel_for(0, 100, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 50 * 100);
}

// Whether other threads are awake is not known, so either all at once or the documented cuts.
TEST_F(Parallel, ShortWorkWakesNobodyButCoversEveryIndex) {
  set_num_threads(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<std::atomic<int>> visits(10);
    std::atomic<int> num_calls = 0;
    parallel_for(0, 10, 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   ++num_calls;
                   for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
                 },
                 {.work_ns = 100});
    for (const auto& visit : visits) ASSERT_EQ(visit, 1);
    ASSERT_TRUE(num_calls == 1 || num_calls == 4) << num_calls;
    if (repeat % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(Parallel, NumberOfThreadsCanBeGivenToOneLoop) {
  set_num_threads(1);
  std::atomic<int> num_calls = 0;
  parallel_for(0, 9, 1, [&](std::int64_t, std::int64_t) { ++num_calls; }, {.num_threads = 3});
  EXPECT_EQ(num_calls, 3);
  num_calls = 0;
  set_num_threads(8);
  parallel_for(0, 9, 1, [&](std::int64_t, std::int64_t) { ++num_calls; }, {.num_threads = 1});
  EXPECT_EQ(num_calls, 1);
}

// More threads than processors; some sleep when the loop ends, and are not waited for.
TEST_F(Parallel, ManyMoreThreadsThanProcessors) {
  set_num_threads(40);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<std::int64_t> sum = 0;
    parallel_for(0, 400, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    ASSERT_EQ(sum, 400);
  }
}

TEST_F(Parallel, RefusesFewerThanOneThread) {
  EXPECT_GE(num_threads(), 1);
  EXPECT_THROW(set_num_threads(0), ArgumentError);
  EXPECT_THROW(set_num_threads(-3), ArgumentError);
}

TEST(FunctionRef, CallsWhatItRefersTo) {
  int calls = 0;
  auto count = [&](int by) { return calls += by; };
  const FunctionRef<int(int)> reference = count;
  EXPECT_EQ(reference(2), 2);
  EXPECT_EQ(reference(3), 5);
  const auto constant = [](int value) { return value * 2; };
  EXPECT_EQ(FunctionRef<int(int)>(constant)(4), 8);
  static_assert(sizeof(reference) == 2 * sizeof(void*));
}

}  // namespace
}  // namespace weft
