// What many threads do to one engine at once, and how long work is stopped.
#include "tests/engine/support/mixed_calls.h"
#include "tests/required_backends.h"
#include "tests/temporary_folder.h"

#include <weft/cancel.h>
#include <weft/disk_cache.h>
#include <weft/error.h>
#include <weft/iterator.h>
#include <weft/loops.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

constexpr int num_threads_of_test = 64;

/// Runs `work(index)` on many threads that begin together.
void run_on_threads(int count, const std::function<void(int)>& work) {
  std::atomic<int> num_waiting{count};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      --num_waiting;
      while (num_waiting > 0) std::this_thread::yield();
      work(i);
    });
  for (std::thread& thread : threads) thread.join();
}

/// A folder for the caches of engines that may be gone when what they had begun to compile is
/// stored.
class CacheFolder {
 public:
  ~CacheFolder() {
    // One thread compiles, in the order in which kernels became hot: when this one is done, nothing
    // is left that would write into the folder.
    EngineOptions options;
    options.threshold = 0;
    options.disk_cache = DiskCacheOptions{CacheMode::off, {}, 0};
    Engine last(options);
    last.eval(ops::tan(zeros({8}, {DType::f32, {}, {}})));
    last.wait_optimised();
  }
  std::string path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

EngineOptions with_cache(const std::string& folder, int threshold = 8) {
  EngineOptions options;
  options.threshold = threshold;
  options.disk_cache = DiskCacheOptions{CacheMode::on, folder, 1 << 20};
  return options;
}

TEST(Concurrency, ManyThreadsCallOneEngine) {
  const MixedCalls calls(150);
  const CacheFolder folder;
  Engine engine(with_cache(folder.path()));
  std::atomic<int> num_wrong{0};
  run_on_threads(num_threads_of_test, [&](int thread) {
    for (int i = 0; i < 40; ++i) {
      // Half of the calls are the same for all, and the others new to somebody.
      const int call = i % 2 == 0 ? i % 10 : (thread * 31 + i * 7) % calls.size();
      if (!calls.is_right(engine, call)) ++num_wrong;
      if (thread == 0) engine.set_num_threads(i % 4);
      if (thread == 1) DiskCache(*engine.options().disk_cache).clear();
      if (thread == 2 && engine.stats().plan_hits + engine.stats().plan_misses == 0) ++num_wrong;
      if ((thread == 3 || thread == 4) && !calls.is_defined(engine, i % 20)) ++num_wrong;
      if (thread == 5) engine.wait_optimised();
    }
  });
  engine.wait_optimised();
  EXPECT_EQ(num_wrong, 0);
  EXPECT_TRUE(engine.stats().hot_kernels > 0 || !is_required_backend("llvm"));
  // What is reduced and what is transposed take more than one kernel a call.
  EXPECT_LE(engine.stats().kernel_misses, static_cast<std::uint64_t>(3 * calls.size()));
}

TEST(Concurrency, EnginesComeAndGo) {
  const MixedCalls calls(40);
  const CacheFolder folder;
  Engine common(with_cache(folder.path()));
  std::atomic<int> num_wrong{0};
  run_on_threads(num_threads_of_test, [&](int thread) {
    for (int i = 0; i < 4; ++i) {
      // Most die while something is being compiled for them.
      const auto own = std::make_unique<Engine>(with_cache(folder.path(), 0));
      for (int call = thread % 4; call < calls.size(); call += 8) {
        if (!calls.is_right(*own, call)) ++num_wrong;
        if (!calls.is_right(common, call)) ++num_wrong;
      }
    }
  });
  EXPECT_EQ(num_wrong, 0);
}

/// Counts the exceptions that live.
struct Counted : std::runtime_error {
  explicit Counted(std::shared_ptr<int> token) : std::runtime_error("by the test"), token(token) {}
  std::shared_ptr<int> token;
};

TEST(Concurrency, ExceptionsOfManyLoopsReachTheirCallersOnce) {
  const auto token = std::make_shared<int>(0);
  std::atomic<int> num_caught{0}, num_foreign{0};
  run_on_threads(16, [&](int thread) {
    const auto own = std::make_shared<int>(thread);
    for (int i = 0; i < 50; ++i) {
      try {
        parallel_for(0, 64, 1,
                     [&](std::int64_t begin, std::int64_t) {
                       const auto shared = token;
                       if (begin % 3 == 0) throw Counted(own);
                     },
                     {4});
      } catch (const Counted& error) {
        ++num_caught;
        if (*error.token != thread) ++num_foreign;
      }
    }
    EXPECT_EQ(own.use_count(), 1) << "an exception lives on";
  });
  EXPECT_EQ(num_caught, 16 * 50);
  EXPECT_EQ(num_foreign, 0);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Cancellation, StopsLongCalls) {
  CancellationToken token;
  token.cancel();
  for (const int num_threads : {1, 4}) {
    Engine engine({.num_threads = num_threads});
    const Tensor x = zeros({4096, 4096});
    const Tensor out = empty_like(x);
    const auto stopped = [&](const auto& call) {
      const CancellationScope scope(token);
      EXPECT_THROW(call(), CancelledError) << num_threads;
    };
    stopped([&] { engine.eval(Expr(x) * 2 + 1, out); });
    stopped([&] { engine.reduce(Reduction::sum, zeros({0, 1 << 22}), {.dims = {0}}); });
    stopped([&] { engine.copy(out, x.t()); });
    stopped([&] { engine.reduce(Reduction::sum, x); });
    stopped([&] { engine.reduce(Reduction::cumsum, x, {.dims = {0}}); });
    engine.eval(Expr(x) + 1, out);  // without the scope all is as ever
    EXPECT_EQ(out.select(0, 4095).select(0, 4095).item(), Scalar(1.0));
  }
}

TEST(Cancellation, IsSeenWithinACall) {
  for (const int num_threads : {1, 3}) {
    CancellationToken token;
    std::atomic<std::int64_t> num_done{0};
    const CancellationScope scope(token);
    EXPECT_THROW(parallel_for(0, 1000, 1,
                              [&](std::int64_t begin, std::int64_t end) {
                                num_done += end - begin;
                                if (num_done > 10) token.cancel();
                              },
                              {num_threads}),
                 CancelledError);
    EXPECT_GT(num_done, 10);
    EXPECT_LT(num_done, 100);
  }
}

TEST(Cancellation, ReachesLoopsOverIterators) {
  const Tensor x = zeros({1 << 20});
  CancellationToken token;
  const CancellationScope scope(token);
  std::atomic<std::int64_t> num_done{0};
  const TensorIterator iterator = TensorIterator::unary_op(empty_like(x), x);
  EXPECT_THROW(cpu_kernel(iterator,
                          [&](float value) {
                            if (++num_done == 5) token.cancel();
                            return value;
                          }),
               CancelledError);
  EXPECT_LT(num_done, x.numel());
}

TEST(Cancellation, ScopesNestAndChangeNoResult) {
  CancellationToken cancelled, other;
  cancelled.cancel();
  const Tensor x = arange(1 << 22);
  Engine engine({.num_threads = 2});
  const Tensor expected = engine.reduce(Reduction::sum, engine.to(x, DType::f32));
  const CancellationScope outer(cancelled);
  EXPECT_EQ(CancellationScope::current()->is_cancelled(), true);
  {
    const CancellationScope inner(other);
    EXPECT_EQ(CancellationScope::current()->is_cancelled(), false);
    const Tensor sum = engine.reduce(Reduction::sum, engine.to(x, DType::f32));
    EXPECT_EQ(sum.item(), expected.item());
  }
  EXPECT_THROW(engine.to(x, DType::f64), CancelledError);
}

}  // namespace
}  // namespace weft::testing
