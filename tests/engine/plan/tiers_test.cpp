// The tiers as a caller sees them: nothing waits, nothing changes its bits, and the engine may go
// at any time.
#include "tests/engine/support/elements.h"
#include "tests/in_child.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/info.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

namespace weft::testing {
namespace {

/// Without xbyak, so that the first tier is the interpreter.
EngineOptions tiered(int threshold, bool background = true) {
  EngineOptions options;
  options.tiers = "llvm";
  options.threshold = threshold;
  options.background = background;
  options.disk_cache = DiskCacheOptions{CacheMode::off, {}, 0};
  return options;
}

std::uint64_t compiles(const Engine& engine, const std::string& backend) {
  const auto counted = engine.stats().compiles_by_backend;
  const auto found = counted.find(backend);
  return found == counted.end() ? 0 : found->second;
}

Tensor ramp(std::int64_t count) {
  const Tensor result = new_tensor({count}, DType::f32);
  for (std::int64_t i = 0; i < count; ++i) put<float>(result, i, static_cast<float>(i) / 16 - 2);
  return result;
}

/// An expression that xbyak has to call functions for; every number makes another kernel.
Expr beyond_xbyak(const Tensor& a, int number = 0) {
  Expr expr = ops::tan(Expr(a));
  for (int bit = 0; bit < 8; ++bit)
    expr = (number >> bit & 1) != 0 ? ops::atan(expr) : expr * Expr(a);
  return expr;
}

/// Whether some of the kernels have not settled yet.  One that can't be compiled again stays as it
/// is.
bool is_on_trial(const Engine& engine, std::uint64_t num_kernels) {
  const EngineStats stats = engine.stats();
  return stats.promoted_kernels + stats.demoted_kernels + stats.failed_kernels < num_kernels;
}

class EngineTiers : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const EngineInfo::Backend& backend : engine_info().backends)
      if (backend.name == "llvm" && !backend.unavailable_reason.empty())
        leave_out_without("llvm", backend.unavailable_reason);
  }
};

TEST_F(EngineTiers, AFirstCallDoesNotWaitForLlvm) {
  Engine engine(tiered(10));
  const Tensor a = ramp(100);
  const Tensor first = engine.eval(beyond_xbyak(a));
  EXPECT_EQ(compiles(engine, "interp"), 1u);
  EXPECT_EQ(compiles(engine, "llvm"), 0u);
  EXPECT_EQ(engine.stats().hot_kernels, 0u);
  for (int i = 0; i < 10; ++i) engine.eval(beyond_xbyak(a));
  EXPECT_EQ(engine.stats().hot_kernels, 1u);
  engine.wait_optimised();
  EXPECT_EQ(compiles(engine, "llvm"), 1u);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(elements<float>(engine.eval(beyond_xbyak(a))), elements<float>(first));
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.promoted_kernels + stats.demoted_kernels, 1u);
  EXPECT_EQ(stats.failed_kernels, 0u);
  EXPECT_EQ(stats.kernel_misses, 1u);
}

TEST_F(EngineTiers, OptionsSayWhoCompilesAndWhen) {
  const Tensor a = ramp(10);
  Engine at_once(tiered(0, false));
  at_once.eval(beyond_xbyak(a));
  EXPECT_EQ(compiles(at_once, "llvm"), 1u);

  EngineOptions without = tiered(0, false);
  without.tiers = "xbyak";
  Engine no_llvm(without);
  for (int i = 0; i < 5; ++i) no_llvm.eval(beyond_xbyak(a));
  EXPECT_EQ(compiles(no_llvm, "llvm"), 0u);
  EXPECT_EQ(no_llvm.stats().hot_kernels, 0u);

  without.tiers = "";
  Engine interpreter(without);
  interpreter.eval(Expr(a) + 1);
  EXPECT_EQ(compiles(interpreter, "interp"), 1u);
  EXPECT_EQ(compiles(interpreter, "xbyak"), 0u);

  for (const char* tiers : {"xbyak,gcc", "xbyak,", ","}) {
    without.tiers = tiers;
    EXPECT_THROW(Engine{without}, ArgumentError) << tiers;
  }
  EXPECT_THROW(Engine{tiered(-1)}, ArgumentError);
}

TEST_F(EngineTiers, CallsOfFunctionsAndLongBodiesGoFromXbyakToLlvm) {
  EngineOptions options = tiered(0, false);
  options.tiers = "xbyak,llvm";
  Engine engine(options);
  const Tensor a = ramp(10);
  engine.binary(Op::add, a, a);
  EXPECT_EQ(compiles(engine, "xbyak"), 1u);
  EXPECT_EQ(compiles(engine, "llvm"), 0u);
  const auto first = elements<float>(engine.eval(beyond_xbyak(a)));
  EXPECT_EQ(compiles(engine, "xbyak"), 2u);
  EXPECT_EQ(compiles(engine, "llvm"), 1u);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(elements<float>(engine.eval(beyond_xbyak(a))), first);
  const auto exponentials = elements<float>(engine.eval(ops::exp(Expr(a))));
  EXPECT_EQ(compiles(engine, "xbyak"), 3u);
  EXPECT_EQ(compiles(engine, "llvm"), 2u);
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(elements<float>(engine.eval(ops::exp(Expr(a)))), exponentials);
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.promoted_kernels + stats.demoted_kernels, 2u);
}

TEST_F(EngineTiers, PreparingAsksForTheBestCode) {
  const Tensor a = ramp(100);
  auto engine = std::make_unique<Engine>(tiered(1000));
  const PreparedPlan plan = engine->prepare(beyond_xbyak(a));
  plan.run();
  const auto expected = elements<float>(plan.outputs()[0]);
  engine->wait_optimised();
  EXPECT_EQ(compiles(*engine, "llvm"), 1u);
  engine.reset();  // the plan lives on, and with it the trial of its new code
  for (int i = 0; i < 50; ++i) {
    plan.run();
    ASSERT_EQ(elements<float>(plan.outputs()[0]), expected);
  }
}

TEST_F(EngineTiers, ManyThreadsGetTheSameBitsAcrossTheSwap) {
  constexpr int num_kernels = 6;
  const Tensor a = ramp(300);
  std::vector<std::vector<float>> expected;
  Engine interpreter({"interp", Numerics::standard, 1});
  for (int kernel = 0; kernel < num_kernels; ++kernel)
    expected.push_back(elements<float>(interpreter.eval(beyond_xbyak(a, kernel))));
  Engine engine(tiered(50));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 400 || is_on_trial(engine, num_kernels); ++round) {
        const int kernel = (i + round) % num_kernels;
        const Tensor result = engine.eval(beyond_xbyak(a, kernel));
        if (std::memcmp(result.data(), expected[static_cast<std::size_t>(kernel)].data(),
                        300 * sizeof(float)) != 0)
          ++wrong;
        // Compilations have a low priority: where the threads outnumber the processors they would
        // get next to nothing.
        if (round >= 400) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(compiles(engine, "llvm"), static_cast<std::uint64_t>(num_kernels));
}

TEST_F(EngineTiers, EnginesMayGoWhileTheyCompile) {
  const Tensor a = ramp(10);
  for (int round = 0; round < 20; ++round) {
    Engine engine(tiered(1));
    for (int kernel = 0; kernel < 10; ++kernel) engine.eval(beyond_xbyak(a, kernel));
    EXPECT_EQ(engine.stats().hot_kernels, 10u);
  }
  Engine last(tiered(1));  // nothing that was left out is in its way
  last.eval(beyond_xbyak(a));
  last.wait_optimised();
  EXPECT_EQ(compiles(last, "llvm"), 1u);
}

TEST_F(EngineTiers, ForkAndExitWhileCompiling) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  const Tensor a = ramp(10);
  Engine engine(tiered(1));
  const auto expected = elements<float>(engine.eval(beyond_xbyak(a)));
  for (int kernel = 1; kernel < 12; ++kernel) engine.eval(beyond_xbyak(a, kernel));
  const auto works = [&] {
    if (elements<float>(engine.eval(beyond_xbyak(a))) != expected) return 1;
    engine.eval(beyond_xbyak(a, 100));
    engine.wait_optimised();
    for (int i = 0; i < 50; ++i)
      if (elements<float>(engine.eval(beyond_xbyak(a))) != expected) return 2;
    return compiles(engine, "llvm") == 13 ? 0 : 3;
  };
  EXPECT_EQ(in_child([&]() -> int { std::exit(works()); }), 0);
  EXPECT_EQ(in_child([]() -> int { std::exit(5); }),
            5);  // with all the others still to be compiled
  EXPECT_EQ(works(), 0);
}

TEST(EngineStats, AreJson) {
  Engine engine(tiered(64));
  engine.unary(Op::neg, ramp(10));
  const std::string json = engine.stats().json();
  for (const char* part :
       {"\"plan_misses\": 1", "\"kernel_misses\": 1", "\"compiles_by_backend\": {\"",
        "\"hot_kernels\": 0", "\"disk\": {\"hits\": 0", "\"compile_us\": ", "\"evictions\": 0"})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

}  // namespace
}  // namespace weft::testing
