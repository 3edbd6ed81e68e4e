// The plan cache and its keys, where the engine's calls can't bring them about on purpose.
#include "engine/plan_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace weft {
namespace {

CallKey& fill(CallKey& key) {
  for (const std::uint64_t word : {1u, 2u, 3u}) key.words.push_back(word);
  return key;
}

TEST(plan_cache, keeps_no_plan_made_from_what_was_true_before_clear) {
  PlanCache cache;
  CallKey key;
  const std::uint64_t hash = fill(key).hash();
  const auto plan = std::make_shared<const CallPlan>();
  // One thread reads the number of threads and plans; another sets it meanwhile.
  const std::uint64_t before = cache.generation();
  cache.clear();
  cache.insert(key, hash, plan, before);
  EXPECT_EQ(cache.find(key, hash), nullptr);
  std::thread([&] { EXPECT_EQ(cache.find(key, hash), nullptr); }).join();
  cache.insert(key, hash, plan, cache.generation());
  EXPECT_EQ(cache.find(key, hash), plan.get());
  std::thread([&] { EXPECT_EQ(cache.find(key, hash), plan.get()); }).join();
}

}  // namespace
}  // namespace weft
