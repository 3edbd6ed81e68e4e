// Code for the shapes of hot plans, as a caller sees it: nothing changes its bits, no other shape
// runs it, and there is so much of it and no more.
#include "tests/engine/support/elements.h"
#include "tests/in_child.h"
#include "tests/required_backends.h"
#include "tests/temporary_folder.h"

#include <weft/cancel.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/info.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

/// Shapes are hot at once, and compiled in the call.
EngineOptions eager(int max_shapes = 64) {
  EngineOptions options;
  options.shape_threshold = 0;
  options.max_shapes = max_shapes;
  options.background = false;
  options.disk_cache = DiskCacheOptions{CacheMode::off, {}, 0};
  return options;
}

/// Calls after which a trial is over, also where some of them are disturbed.
constexpr int trial_calls = 1500;

std::uint64_t compiles(const Engine& engine, const std::string& backend) {
  const auto counted = engine.stats().compiles_by_backend;
  const auto found = counted.find(backend);
  return found == counted.end() ? 0 : found->second;
}

std::uint64_t num_decided(const Engine& engine) {
  const EngineStats stats = engine.stats();
  return stats.promoted_shapes + stats.demoted_shapes;
}

class EngineShapes : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const EngineInfo::Backend& backend : engine_info().backends)
      for (const char* needed : {"llvm", "xbyak"})
        if (backend.name == needed && !backend.unavailable_reason.empty())
          leave_out_without(needed, backend.unavailable_reason);
  }

  Tensor random_tensor(const Sizes& sizes, DType dtype = DType::f32) {
    const Tensor result = new_tensor(sizes, dtype);
    randomise(result, random_);
    return result;
  }

  /// Whose sums and products have one result, bit for bit.
  static Tensor numbers(const Sizes& sizes) {
    const Tensor result = new_tensor(sizes, DType::f32);
    for (std::int64_t i = 0; i < result.numel(); ++i)
      put<float>(result, i, static_cast<float>(i % 1000) / 8);
    return result;
  }

  Random random_{77};
};

TEST_F(EngineShapes, AreCompiledWhenTheyAreHotAndKeptIfTheyAreFaster) {
  EngineOptions options = eager();
  options.shape_threshold = 100;
  Engine engine(options);
  const Tensor a = random_tensor({20, 12}), b = random_tensor({12});
  const Tensor first = engine.binary(Op::add, a, b);
  for (int i = 1; i < 99; ++i) engine.binary(Op::add, a, b);
  EXPECT_EQ(engine.stats().hot_shapes, 0u);
  engine.binary(Op::add, a, b);
  EXPECT_EQ(engine.stats().hot_shapes, 1u);
  EXPECT_EQ(compiles(engine, "llvm"), 1u);
  for (int i = 0; i < trial_calls; ++i)
    ASSERT_TRUE(same_tensor(engine.binary(Op::add, a, b), first));
  EXPECT_EQ(num_decided(engine), 1u);
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.kernel_misses, 1u);  // it is the plan's, not a kernel
  EXPECT_EQ(stats.hot_kernels, 0u);
  EXPECT_EQ(stats.failed_shapes, 0u);
}

/// Of one layout, so that all of them share a kernel: before, in and after the trials.
TEST_F(EngineShapes, NoOtherShapeRunsTheirCode) {
  Engine engine(eager()), interpreter({"interp", Numerics::standard, 1});
  for (int round = 0; round < 3; ++round)
    for (const std::int64_t rows : {3, 4, 9})
      for (const std::int64_t columns : {9, 12, 16, 31, 33, 100, 130}) {
        // Gaps between the rows are strides that differ where sizes don't.
        for (const std::int64_t gap : {0, 1, 5}) {
          const Tensor a = numbers({rows, columns + gap}).slice(1, 0, columns);
          const Tensor b = numbers({columns});
          const Expr expr = Expr(a) * Expr(b) + 1.5;
          const Tensor expected = interpreter.eval(expr);
          for (int i = 0; i < (round == 1 ? trial_calls : 2); ++i)
            ASSERT_TRUE(same_tensor(engine.eval(expr), expected));
        }
      }
  EXPECT_EQ(engine.stats().hot_shapes, 3u * 6u * 3u);  // 130 is too long
  EXPECT_EQ(num_decided(engine), 3u * 6u * 3u);
}

TEST_F(EngineShapes, OfManyLayoutsDTypesAndOps) {
  Engine engine(eager(1000)), interpreter({"interp", Numerics::standard, 1});
  const auto check = [&](const Expr& expr) {
    const Tensor expected = interpreter.eval(expr);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(same_tensor(engine.eval(expr), expected));
  };
  for (int i = 0; i < 150; ++i) {
    const Sizes sizes{1 + static_cast<std::int64_t>(ir::pick(random_, 4)),
                      1 + static_cast<std::int64_t>(ir::pick(random_, 4)),
                      1 + static_cast<std::int64_t>(ir::pick(random_, 40))};
    constexpr DType dtypes[] = {DType::f32, DType::f64, DType::u8, DType::i64, DType::f16};
    const DType dtype = dtypes[ir::pick(random_, std::size(dtypes))];
    const Tensor a = random_tensor(sizes, dtype);
    const Tensor b = random_tensor({sizes[1], ir::pick(random_, 2) == 0 ? 1 : sizes[2]}, dtype);
    const Tensor c = random_tensor({sizes[2], sizes[0], sizes[1]}).permute({1, 2, 0});
    const Tensor d = random_tensor({sizes[0], sizes[1], 5 * sizes[2]}).slice(2, 0, {}, 5);
    check(Expr(a) * Expr(b));
    check(ops::where(Expr(c) < Expr(d), Expr(a), Expr(b)));
    check(ops::exp(Expr(d)) - Expr(c));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(engine.stats().hot_shapes, 100u);
  EXPECT_EQ(engine.stats().failed_shapes, 0u);
}

TEST_F(EngineShapes, InPlaceAndPrepared) {
  Engine engine(eager());
  const Tensor a = random_tensor({8, 15}), one = new_tensor({15}, DType::f32);
  for (std::int64_t i = 0; i < 8 * 15; ++i) put<float>(a, i, static_cast<float>(i));
  for (std::int64_t i = 0; i < 15; ++i) put<float>(one, i, 1.0F);
  for (int i = 0; i < trial_calls; ++i) engine.binary(Op::add, a, one, a);
  for (std::int64_t i = 0; i < 8 * 15; ++i)
    ASSERT_EQ(get<float>(a, i), static_cast<float>(i + trial_calls));
  EXPECT_EQ(num_decided(engine), 1u);

  auto owner = std::make_unique<Engine>(eager());
  const PreparedPlan plan = owner->prepare(Expr(a) + Expr(one));
  EXPECT_EQ(owner->stats().hot_shapes, 0u);  // by its runs only
  plan.run();
  EXPECT_EQ(owner->stats().hot_shapes, 1u);
  owner.reset();
  for (int i = 0; i < trial_calls; ++i) plan.run();
  EXPECT_EQ(get<float>(plan.outputs()[0], 17), 17.0F + trial_calls + 1);
}

TEST_F(EngineShapes, NumbersAreNoPartOfThem) {
  Engine engine(eager());
  const Tensor a = random_tensor({10, 20}), b = random_tensor({20});
  for (int i = 0; i < 50; ++i) {
    const Tensor result = engine.eval(Expr(a) + Expr(b) * (i * 0.25));
    Engine interpreter({"interp", Numerics::standard, 1});
    ASSERT_TRUE(same_tensor(result, interpreter.eval(Expr(a) + Expr(b) * (i * 0.25))));
  }
  EXPECT_EQ(engine.stats().hot_shapes, 1u);
  EXPECT_EQ(compiles(engine, "llvm"), 1u);
}

/// Rows go to threads, and to pieces that a token may stop, in numbers that the code must not know.
TEST_F(EngineShapes, OfCallsThatAreCut) {
  Engine interpreter({"interp", Numerics::standard, 1});
  const std::int64_t rows = 30000;
  const Tensor a = numbers({rows, 20}), b = numbers({20});
  const Tensor wide = numbers({rows, 23}).slice(1, 0, 20);
  const Tensor expected = interpreter.eval(Expr(a) + Expr(b) * Expr(wide));
  for (const int threads : {1, 2, 5}) {
    EngineOptions options = eager();
    options.num_threads = threads;
    Engine engine(options);
    const CancellationToken token;
    const CancellationScope scope(token);
    for (int i = 0; i < 300; ++i) {
      const Tensor result = engine.eval(Expr(a) + Expr(b) * Expr(wide));
      ASSERT_TRUE(same_tensor(result, expected));
    }
    EXPECT_EQ(engine.stats().hot_shapes, 1u);
    EXPECT_EQ(num_decided(engine), 1u);
  }
}

/// The launches of a fold differ in how many rows they have.
TEST_F(EngineShapes, OfFoldsOfShortRows) {
  Engine interpreter({"interp", Numerics::standard, 1});
  for (const int threads : {1, 2, 5}) {
    EngineOptions options = eager();
    options.num_threads = threads;
    Engine engine(options);
    std::uint64_t num_shapes = 0;
    const auto check = [&](const Expr& fold, int calls) {
      const Tensor expected = interpreter.eval(fold);
      for (int i = 0; i < calls; ++i) ASSERT_TRUE(same_tensor(engine.eval(fold), expected));
      EXPECT_EQ(engine.stats().hot_shapes, ++num_shapes);
    };
    for (const std::int64_t columns : {16, 17, 20, 31, 33, 64, 100, 128}) {
      const Tensor a = random_tensor({7, 5, columns + 3}).slice(2, 0, columns);
      const Tensor b = random_tensor({columns}), c = random_tensor({7, 5, columns}, DType::f64);
      check(ops::sum(Expr(a) * Expr(b), {.dims = {2}}), columns == 20 ? trial_calls : 20);
      check(ops::amax(Expr(a) - Expr(b), {.dims = {2}}), 20);
      check(ops::mean(Expr(c) * Expr(c), {.dims = {2}}), columns == 33 ? trial_calls : 20);
      if (HasFatalFailure()) return;
    }
    const Tensor many = random_tensor({20000, 19});
    check(ops::sum(Expr(many) * Expr(many), {.dims = {1}}), 300);
    EXPECT_EQ(engine.stats().failed_shapes, 0u);
    EXPECT_GE(num_decided(engine), 2u);
  }
}

TEST_F(EngineShapes, OfFoldsThatShareAPass) {
  Engine engine(eager()), interpreter({"interp", Numerics::standard, 1});
  const Tensor a = random_tensor({3000, 24}), b = random_tensor({24});
  const std::vector<Expr> folds{ops::sum(Expr(a) * Expr(b), {.dims = {1}}),
                                ops::amax(Expr(a) * Expr(b), {.dims = {1}})};
  const std::vector<Tensor> expected = interpreter.eval(folds);
  for (int i = 0; i < 300; ++i) {
    for (std::size_t k = 0; k < folds.size(); ++k)
      ASSERT_TRUE(same_tensor(engine.eval(folds[k]), expected[k]));
    const std::vector<Tensor> together = engine.eval(folds);
    for (std::size_t k = 0; k < folds.size(); ++k)
      ASSERT_TRUE(same_tensor(together[k], expected[k]));
  }
}

TEST_F(EngineShapes, AreSoManyAtMost) {
  Engine engine(eager(5)), none(eager(0));
  for (std::int64_t columns = 9; columns < 60; ++columns) {
    const Tensor a = random_tensor({3, columns}), b = random_tensor({columns});
    for (int i = 0; i < 3; ++i) {
      engine.binary(Op::mul, a, b);
      none.binary(Op::mul, a, b);
    }
  }
  EXPECT_EQ(engine.stats().hot_shapes, 5u);
  EXPECT_EQ(compiles(engine, "llvm"), 5u);
  EXPECT_EQ(none.stats().hot_shapes, 0u);
  EXPECT_EQ(compiles(none, "llvm"), 0u);
}

TEST_F(EngineShapes, OnlyWhereTheyAreAskedForAndGain) {
  const Tensor a = random_tensor({10});
  for (const char* tiers : {"xbyak", ""}) {
    EngineOptions options = eager();
    options.tiers = tiers;
    Engine engine(options);
    for (int i = 0; i < 10; ++i) engine.binary(Op::add, a, a);
    EXPECT_EQ(engine.stats().hot_shapes, 0u) << tiers;
  }
  for (const char* backend : {"xbyak", "llvm", "interp"}) {
    EngineOptions options = eager();
    options.backend = backend;
    Engine engine(options);
    for (int i = 0; i < 10; ++i) engine.binary(Op::add, a, a);
    EXPECT_EQ(engine.stats().hot_shapes, 0u) << backend;
  }
  Engine engine(eager());
  const Tensor longer = random_tensor({1000}), complex = random_tensor({10}, DType::c64);
  const Tensor pairs = random_tensor({100, 2}), pair = random_tensor({2});
  for (int i = 0; i < 10; ++i) {
    engine.binary(Op::add, longer, longer);
    engine.binary(Op::add, complex, complex);
    engine.binary(Op::add, pairs, pair);
  }
  EXPECT_EQ(engine.stats().hot_shapes, 0u);

  EngineOptions options = eager();
  options.shape_threshold = -1;
  EXPECT_THROW(Engine{options}, ArgumentError);
  options.shape_threshold = 0;
  options.max_shapes = -1;
  EXPECT_THROW(Engine{options}, ArgumentError);
}

TEST_F(EngineShapes, AreFoundOnDisk) {
  const TemporaryFolder folder;
  EngineOptions options = eager();
  options.disk_cache = DiskCacheOptions{CacheMode::on, folder.path(), std::uint64_t{1} << 20};
  const Tensor a = random_tensor({7, 19}), b = random_tensor({19});
  const auto call = [&](Engine& engine) { return engine.binary(Op::sub, a, b); };
  Engine first(options);
  const Tensor expected = call(first);
  EXPECT_EQ(compiles(first, "llvm"), 1u);
  EXPECT_EQ(first.stats().disk.stores, 1u);

  Engine second(options);
  call(second);
  EXPECT_EQ(second.stats().hot_shapes, 1u);
  EXPECT_EQ(second.stats().disk_loads, 1u);
  EXPECT_EQ(compiles(second, "llvm"), 0u);
  for (int i = 0; i < trial_calls; ++i) ASSERT_TRUE(same_tensor(call(second), expected));

  DiskCache(*options.disk_cache).clear();  // what runs goes on, what comes is compiled
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(same_tensor(call(second), expected));
  Engine third(options);
  ASSERT_TRUE(same_tensor(call(third), expected));
  EXPECT_EQ(compiles(third, "llvm"), 1u);
}

TEST_F(EngineShapes, InTheBackgroundAreWaitedFor) {
  EngineOptions options = eager();
  options.background = true;
  Engine engine(options);
  std::vector<Tensor> inputs, expected;
  for (std::int64_t columns = 9; columns < 19; ++columns) {
    inputs.push_back(numbers({4, columns}));
    expected.push_back(engine.binary(Op::add, inputs.back(), inputs.back().select(0, 0)));
  }
  EXPECT_EQ(engine.stats().hot_shapes, 10u);
  engine.wait_optimised();
  EXPECT_EQ(compiles(engine, "llvm"), 10u);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 5 * trial_calls; ++i) {
        const auto which = static_cast<std::size_t>(i) % 10;
        const Tensor result = engine.binary(Op::add, inputs[which], inputs[which].select(0, 0));
        if (!same_tensor(result, expected[which])) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(num_decided(engine), 10u);
}

TEST_F(EngineShapes, EnginesAndProcessesMayGoWhileTheyAreCompiled) {
  EngineOptions options = eager();
  options.background = true;
  const auto call_some = [&](Engine& engine) {
    for (std::int64_t columns = 9; columns < 19; ++columns) {
      const Tensor a = new_tensor({4, columns}, DType::f32);
      engine.binary(Op::add, a, a.select(0, 0));
    }
  };
  for (int round = 0; round < 10; ++round) {
    Engine engine(options);
    call_some(engine);
    EXPECT_EQ(engine.stats().hot_shapes, 10u);
  }
#if !defined(__SANITIZE_THREAD__)  // which allows no threads after a fork
  Engine engine(options);
  call_some(engine);
  const auto works = [&] {
    engine.wait_optimised();
    call_some(engine);
    return compiles(engine, "llvm") == 10 ? 0 : 1;
  };
  EXPECT_EQ(in_child([&]() -> int { std::exit(works()); }), 0);
  EXPECT_EQ(in_child([]() -> int { std::exit(5); }), 5);
  EXPECT_EQ(works(), 0);
#endif
}

TEST(EngineShapesStats, AreJson) {
  Engine engine(eager());
  for (const char* part : {"\"hot_shapes\": 0", "\"promoted_shapes\": 0", "\"demoted_shapes\": 0",
                           "\"failed_shapes\": 0"})
    EXPECT_NE(engine.stats().json().find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace weft::testing
