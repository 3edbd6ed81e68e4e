#include "runtime/thread_counter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weft {
namespace {

TEST(ThreadCounter, CountsEveryThread) {
  ThreadCounter counter, other;
  for (int round = 0; round < 3; ++round) {  // numbers of threads that ended are used again
    std::vector<std::thread> threads;
    for (int i = 0; i < 40; ++i)  // more than have a line of their own
      threads.emplace_back([&] {
        for (int j = 0; j < 1000; ++j) counter.add();
        other.add();
      });
    for (std::thread& thread : threads) thread.join();
  }
  counter.add();
  EXPECT_EQ(counter.value(), 120001u);
  EXPECT_EQ(other.value(), 120u);
}

struct CountsAtTheEnd {
  ThreadCounter* counter = nullptr;
  ~CountsAtTheEnd() { counter->add(); }
};

TEST(ThreadCounter, CountsWhileAThreadEnds) {
  ThreadCounter counter;
  std::thread([&] {
    static thread_local CountsAtTheEnd last;
    last.counter = &counter;
    counter.add();  // its number is given back before `last` is destroyed
  }).join();
  EXPECT_EQ(counter.value(), 2u);
}

}  // namespace
}  // namespace weft
