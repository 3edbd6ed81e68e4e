// A cached call takes nothing from the heap and no lock.  A program of its own, because it replaces
// operator new and pthread_mutex_lock.
#include "tests/engine/support/counted_new.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>

#include <thread>
#include <vector>

namespace {

thread_local int num_locks = 0;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto real = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  ++num_locks;
  return real(mutex);
}
extern "C" int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  static const auto real = next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  ++num_locks;
  return real(lock);
}

namespace weft {
namespace {

Tensor tensor(const std::vector<std::int64_t>& sizes,
              MemoryFormat format = MemoryFormat::contiguous) {
  return empty(IntSpan(sizes), {DType::f32, {}, format});
}

struct Cost {
  int allocations = 0;
  int locks = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// What the hundred calls after the first hundred cost together.
template <class Call>
Cost cost_of(const Call& call) {
  for (int i = 0; i < 100; ++i) call();
  const int allocations = num_allocations, locks = num_locks;
  for (int i = 0; i < 100; ++i) call();
  return {num_allocations - allocations, num_locks - locks};
}

class CallAllocations : public testing::Test {
 protected:
  // What is compiled anew is so within the first hundred calls, and not whenever a thread gets to
  // it.
  Engine engine{{.background = false}};
  const Tensor a = tensor({8}), b = tensor({8}), out = tensor({8});
  static constexpr Cost nothing{};
};

TEST_F(CallAllocations, NoneWithAGivenOutput) {
  EXPECT_EQ(cost_of([&] { engine.binary(Op::add, a, b, out); }), nothing);
  EXPECT_EQ(cost_of([&] { engine.unary(Op::neg, a, out); }), nothing);
  EXPECT_EQ(cost_of([&] { engine.ternary(Op::lerp, a, b, a, out); }), nothing);
  EXPECT_EQ(cost_of([&] { engine.copy(out, a); }), nothing);
  const Tensor image = tensor({2, 3, 4, 5}, MemoryFormat::channels_last);
  const Tensor channels = tensor({3, 1, 1}).expand({2, 3, 4, 5}), result = tensor({2, 3, 4, 5});
  EXPECT_EQ(cost_of([&] { engine.binary(Op::add, image, channels, result); }), nothing);
}

TEST_F(CallAllocations, NoneOfAnExpressionOrPlan) {
  const Expr expr = (Expr(a) * Expr(b) + 0.5) / Expr(b);
  EXPECT_EQ(cost_of([&] { engine.eval(expr, out); }), nothing);
  const PreparedPlan plan = engine.prepare(expr, out);
  EXPECT_EQ(cost_of([&] { plan.run(); }), nothing);
}

TEST_F(CallAllocations, ManyThreadsTakeNoLock) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const Tensor mine = tensor({8});
      EXPECT_EQ(cost_of([&] { engine.binary(Op::add, a, b, mine); }), nothing);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CallAllocations, AreCounted) {
  const Cost cost = cost_of([&] { Engine().binary(Op::add, a, b, out); });
  EXPECT_GT(cost.allocations, 0);
  EXPECT_GT(cost.locks, 0);
}

}  // namespace
}  // namespace weft
