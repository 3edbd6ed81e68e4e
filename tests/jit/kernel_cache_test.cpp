// How many kernels are kept, and which.
#include "jit/kernel_cache.h"

#include "ir/builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace weft::jit {
namespace {

/// x + number, as a kernel that no other number has.
Signature added(double number) {
  ir::Kernel kernel;
  kernel.operands = {{DType::f64, ir::Role::output, {1}}, {DType::f64, ir::Role::input, {1}}};
  kernel.loops.resize(1);
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.load(1, DType::f64);
  builder.store(0, builder.apply(Op::add, {x, builder.constant(DType::f64, number)}));
  return {kernel, host_features(), "interp"};
}

TEST(KernelCache, DropsWhatNobodyHasBeyondItsBound) {
  constexpr std::size_t max_kernels = 16;
  KernelCache cache({}, nullptr, max_kernels);
  const std::shared_ptr<TieredKernel> kept = cache.get(added(0.5));
  const std::weak_ptr<TieredKernel> dropped = cache.get(added(1.5));
  for (int i = 0; i < 100; ++i) cache.get(added(i));
  const KernelCacheStats stats = cache.stats();
  EXPECT_EQ(stats.misses, 102u);
  EXPECT_GE(stats.evictions, 102u - max_kernels - 1);
  EXPECT_TRUE(dropped.expired());
  EXPECT_EQ(cache.get(added(0.5)), kept);
  EXPECT_EQ(cache.stats().hits, 1u);
}

TEST(KernelCache, KeepsWhatIsHeldHoweverMuchThatIs) {
  KernelCache cache({}, nullptr, 4);
  std::vector<std::shared_ptr<TieredKernel>> held;
  for (int i = 0; i < 40; ++i) held.push_back(cache.get(added(i)));
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(cache.get(added(i)), held[static_cast<std::size_t>(i)]) << i;
  EXPECT_EQ(cache.stats().evictions, 0u);
}

TEST(KernelCache, DropsWhileOtherThreadsAsk) {
  KernelCache cache({}, nullptr, 8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 200; ++i)
        EXPECT_NE(cache.get(added((i * (t + 1)) % 50))->entry(), nullptr);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(cache.stats().evictions, 0u);
}

}  // namespace
}  // namespace weft::jit
