// The plan cache and its keys, where the engine's calls can't bring them about on purpose.
#include "engine/plan/plan_cache.h"
#include "engine/plan/call_match.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

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

// As many layouts of one kernel as no cache keeps the plans of (docs/caching.md).
TEST(plan_cache, engines_count_what_they_find_and_drop) {
  constexpr std::int64_t most_plans = 32 * 1024, num_layouts = most_plans + 1000;
  Engine engine({.backend = "interp", .num_threads = 1});
  const Tensor memory = zeros(std::vector<std::int64_t>{num_layouts + 2});
  const Tensor out = zeros(std::vector<std::int64_t>{2});
  const std::int64_t two[] = {2};
  const auto call = [&](std::int64_t stride) {
    engine.unary(Op::neg, memory.as_strided(two, IntSpan(&stride, 1)), out);
  };
  call(10);
  call(11);
  EXPECT_EQ(engine.stats().kernel_misses, 1u);
  EXPECT_EQ(engine.stats().kernel_hits, 1u);
  EXPECT_EQ(engine.stats().plan_evictions, 0u);
  for (std::int64_t stride = 12; stride < num_layouts; ++stride) call(stride);
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.kernel_misses, 1u);
  EXPECT_EQ(stats.kernel_hits, static_cast<std::uint64_t>(num_layouts - 11));
  EXPECT_GT(stats.plan_evictions, 0u);
  EXPECT_LT(stats.plan_evictions, static_cast<std::uint64_t>(num_layouts));
}

/// A call of `add`, and its key's words: exactly so many, so that tools which watch memory see
/// reads past them.
struct AddCall {
  AddCall(Tensor a, Tensor b, Tensor given)
      : operands{std::move(a), std::move(b)}, output(std::move(given)) {
    const std::array<const Tensor*, 2> inputs{&operands[0], &operands[1]};
    CallKey key;
    make_key(key, EagerCall{Op::add, inputs, output});
    words.assign(key.words.begin(), key.words.end());
  }
  bool is_plain_call_of(const AddCall& known, std::byte** address) const {
    const std::array<const Tensor*, 2> inputs{&operands[0], &operands[1]};
    return is_plain_key_of(EagerCall{Op::add, inputs, output}, known.words, address);
  }

  std::array<Tensor, 2> operands;
  Tensor output;
  std::vector<std::uint64_t> words;
};

TEST(plan_cache, plain_calls_are_told_from_all_others) {
  const auto tensor = [](std::initializer_list<std::int64_t> sizes, DType dtype = DType::f32) {
    return empty(IntSpan(sizes.begin(), sizes.size()), {dtype, {}, MemoryFormat::contiguous});
  };
  const Tensor a = tensor({3, 4}), b = tensor({3, 4}), out = tensor({3, 4}), other = tensor({3, 4});
  const Tensor wide = tensor({4, 4}), row = tensor({4}), whole = tensor({7, 4});
  const Tensor upper = whole.narrow(0, 0, 3), lower = whole.narrow(0, 4, 3);
  const std::vector<AddCall> calls = {{a, b, out},
                                      {b, a, Tensor()},
                                      {a, row, out},
                                      {row, a, out},
                                      {a.t(), b.t(), Tensor()},
                                      {wide, wide, wide},
                                      {a, b.neg_view(), out},
                                      {a, tensor({3, 4}, DType::f64), out},
                                      {upper, lower, out},
                                      {a, a, out},
                                      {a, b, a},
                                      {upper, b, lower},
                                      {tensor({}), row, Tensor()}};
  // The others have a view twice, or an output that shares memory.
  const auto is_plain = [&](std::size_t i) { return i != 5 && (i < 9 || i == 12); };
  std::array<std::byte*, 3> address{};
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (std::size_t j = 0; j < calls.size(); ++j) {
      // Sharing memory is no part of a plain key; 8 has the layouts of 0.
      const bool is_equal = i == j || (i == 0 && j == 8) || (i == 8 && j == 0);
      EXPECT_EQ(calls[i].is_plain_call_of(calls[j], address.data()), is_equal && is_plain(i))
          << i << " " << j;
    }
  ASSERT_TRUE(AddCall(b, lower, other).is_plain_call_of(calls[0], address.data()));
  EXPECT_EQ(address, (std::array{other.data(), b.data(), lower.data()}));
}

TEST(plan_cache, what_has_no_bytes_shares_none) {
  const std::array<std::int64_t, 2> sizes{3, 4}, strides{4, 1};
  const auto layout = [&] { return unbacked(sizes, strides, DType::f32); };
  const auto tensor = [] { return empty({3, 4}, DType::f32); };
  const std::size_t num_words = AddCall(tensor(), tensor(), tensor()).words.size();
  EXPECT_EQ(AddCall(layout(), layout(), layout()).words.size(), num_words);
  EXPECT_EQ(AddCall(layout(), layout(), tensor()).words.size(), num_words);
  const Tensor same = layout();
  EXPECT_GT(AddCall(same, layout(), same.t().t()).words.size(), num_words);
}

}  // namespace
}  // namespace weft
