// Calls of several passes: what is kept of the first one runs the next.
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

namespace weft::testing {
namespace {

const ReduceOptions last{.dims = {-1}, .keepdim = true};

Tensor numbers(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  const Tensor result = new_tensor(sizes, DType::f32);
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_as<float>()[i] = static_cast<float>(random() % 20'001) / 1000 - 10;
  return result;
}

using Make = std::function<std::vector<Expr>(const Tensor&)>;

const std::vector<Make>& makers() {
  static const std::vector<Make> all{
      [](const Tensor& x) { return std::vector<Expr>{Expr(x) - ops::mean(x, last)}; },
      [](const Tensor& x) {
        const Expr e = ops::exp(Expr(x) - ops::amax(x, last));
        return std::vector<Expr>{e / ops::sum(e, last)};
      },
      [](const Tensor& x) {
        return std::vector<Expr>{(Expr(x) - ops::mean(x, last)) /
                                 ops::sqrt(ops::var(x, last) + 1e-5)};
      },
      [](const Tensor& x) {
        const auto [smallest, largest] = ops::aminmax(x);
        return std::vector<Expr>{smallest, largest, ops::sum(Expr(x) * 3 + 1, last)};
      },
      [](const Tensor& x) {
        const auto [variance, mean] = ops::var_mean(x, last);
        return std::vector<Expr>{variance, mean};
      },
      [](const Tensor& x) {
        return std::vector<Expr>{ops::cumsum(Expr(x) * 0.5, {.dims = {0}}) / ops::sum(x)};
      },
  };
  return all;
}

/// The results of an engine that has made no such call before.
std::vector<Tensor> computed_anew(const std::vector<Expr>& exprs) {
  Engine engine;
  return engine.eval(exprs);
}

TEST(PassList, RepeatedCallsHaveOnePlanAndTheSameBits) {
  Engine engine;
  for (const Sizes& sizes : {Sizes{7, 33}, Sizes{130, 5'001}})
    for (std::size_t which = 0; which < makers().size(); ++which) {
      SCOPED_TRACE(::testing::Message() << "expression " << which << ", " << sizes[0] << " rows");
      const Make& make = makers()[which];
      engine.eval(make(numbers(sizes, 1)));
      const std::uint64_t misses = engine.stats().plan_misses, hits = engine.stats().plan_hits;
      const Tensor other = numbers(sizes, 2);
      const std::vector<Tensor> again = engine.eval(make(other));
      EXPECT_EQ(engine.stats().plan_misses, misses);
      EXPECT_EQ(engine.stats().plan_hits, hits + 1);
      const std::vector<Tensor> expected = computed_anew(make(other));
      ASSERT_EQ(again.size(), expected.size());
      for (std::size_t i = 0; i < again.size(); ++i)
        EXPECT_TRUE(same_tensor(again[i], expected[i])) << "result " << i;
    }
}

TEST(PassList, WhatIsSharedIsLookedAtOnce) {
  Engine engine;
  const Tensor x = numbers({130, 5'001}, 1), row = numbers({5'001}, 2);
  // Each level doubles the ways from a result to its tensor.
  Expr shared(x), shared_row(row);
  for (int level = 0; level < 60; ++level) {
    shared = ops::maximum(shared, shared);
    shared_row = ops::maximum(shared_row, shared_row);
  }
  const Tensor expected = engine.eval(Expr(x) - ops::sum(x, last) + Expr(row));
  EXPECT_TRUE(same_tensor(engine.eval(Expr(x) - ops::sum(shared, last) + shared_row), expected));
}

TEST(PassList, PlansPreparedInPlaceWriteTheOutputThatTheyAreGiven) {
  Engine engine;
  const Tensor x = numbers({7, 33}, 3), y = numbers({7, 33}, 4);
  const Expr in(x);
  const PreparedPlan plan = engine.prepare(in - ops::mean(in), x);
  const Tensor other = numbers({7, 33}, 4), out = empty_like(other);
  plan.run(std::vector<std::byte*>{out.data(), other.data()});
  const Expr given(y);
  EXPECT_TRUE(same_tensor(out, engine.eval(given - ops::mean(given))));
  EXPECT_TRUE(same_tensor(other, y)) << "an input was written";
}

TEST(PassList, PreparingWritesNothing) {
  Engine engine;
  const Tensor x = numbers({9, 50}, 5), before = numbers({9, 50}, 5);
  const Expr centred = Expr(x) - ops::mean(x, last);
  const Tensor expected = computed_anew({Expr(before) - ops::mean(before, last)})[0];
  const Tensor out = full({9, 50}, 99.0F);
  const PreparedPlan apart = engine.prepare(centred, out);
  EXPECT_TRUE(same_tensor(out, full({9, 50}, 99.0F)));
  const PreparedPlan in_place = engine.prepare(centred, x);
  EXPECT_TRUE(same_tensor(x, before));
  apart.run();
  EXPECT_TRUE(same_tensor(out, expected));
  in_place.run();
  EXPECT_TRUE(same_tensor(x, expected));
  // What can't be prepared is left as it was, too.
  const Tensor small = full({3}, 99.0F), long_one = full({12, 50}, 99.0F);
  EXPECT_THROW(engine.prepare(centred, small), UnsupportedError);
  EXPECT_TRUE(same_tensor(small, full({3}, 99.0F)));
  const Tensor shifted = long_one.narrow(0, 0, 9);
  const Expr overlapping(long_one.narrow(0, 1, 9));
  EXPECT_THROW(engine.prepare(overlapping - ops::mean(overlapping, last), shifted), ArgumentError);
  EXPECT_THROW(engine.prepare(centred, unbacked(Sizes{9, 50}, Sizes{50, 1}, DType::f32)), Error);
  const Expr ints(full({9, 50}, std::int32_t{4}));
  const Tensor counts = full({9, 1}, std::int64_t{99});
  EXPECT_THROW(engine.prepare(ops::sum(ops::div_floor(ints, ints), last) + 1, counts),
               UnsupportedError);
  EXPECT_TRUE(same_tensor(counts, full({9, 1}, std::int64_t{99})));
  EXPECT_TRUE(same_tensor(long_one, full({12, 50}, 99.0F)));
}

TEST(PassList, WhatHasBeenCalledIsPreparedWithoutComputing) {
  Engine engine;
  const Tensor x = numbers({9, 50}, 6), out = new_tensor({9, 50}, DType::f32);
  const Expr scaled = Expr(x) / ops::sum(x, last);
  engine.eval(scaled, out);
  const EngineStats before = engine.stats();
  const PreparedPlan plan = engine.prepare(scaled, out);
  EXPECT_EQ(engine.stats().plan_misses, before.plan_misses);
  EXPECT_EQ(engine.stats().plan_hits, before.plan_hits);
  plan.run();
  EXPECT_TRUE(same_tensor(out, computed_anew({scaled})[0]));
}

TEST(PassList, TemporariesTakeTheirTurns) {
  // Each sum of rows is in memory until the next has been taken; the first one to the end.
  Engine engine;
  const Tensor x = numbers({40, 60}, 7);
  const auto make = [](const Tensor& from) {
    const Expr first = ops::sum(from, last);
    Expr value(from);
    for (int i = 0; i < 6; ++i) value = value - ops::mean(value * first, last);
    return value + first;
  };
  engine.eval(make(x));
  for (std::uint64_t seed = 8; seed < 11; ++seed) {
    const Tensor other = numbers({40, 60}, seed);
    EXPECT_TRUE(same_tensor(engine.eval(make(other)), computed_anew({make(other)})[0]));
  }
}

TEST(PassList, ResultsHaveTheSizesOfTheirExpressions) {
  Engine engine;
  const Tensor a = numbers({4, 5}, 1), row = numbers({5}, 2);
  for (int round = 0; round < 2; ++round) {
    const std::vector<Expr> exprs{Expr(a) + Expr(row), Expr(row) * 2, Expr(a) * 3};
    const std::vector<Tensor> results = engine.eval(exprs);
    for (std::size_t i = 0; i < exprs.size(); ++i)
      EXPECT_TRUE(same_tensor(results[i], computed_anew({exprs[i]})[0])) << "result " << i;
    // An output that another expression reads is written when that has been computed.
    const Tensor in_out = numbers({5}, 2), sum = new_tensor({4, 5}, DType::f32);
    const Expr in_place[] = {Expr(in_out) * 2, Expr(a) + Expr(in_out)};
    const Tensor outs[] = {in_out, sum};
    engine.eval(in_place, outs);
    EXPECT_TRUE(same_tensor(in_out, results[1]));
    EXPECT_TRUE(same_tensor(sum, results[0]));
    // An output of other sizes is resized to its own expression's.
    const Tensor resized = empty({0}), other = empty({0});
    const Tensor wrong[] = {resized, other};
    engine.eval(std::span(exprs).first(2), wrong);
    EXPECT_TRUE(same_tensor(resized, results[0]));
    EXPECT_TRUE(same_tensor(other, results[1]));
  }
  const std::vector<Expr> exprs{Expr(a) + Expr(row), Expr(row) * 2};
  const PreparedPlan plan = engine.prepare(exprs);
  plan.run();
  for (std::size_t i = 0; i < exprs.size(); ++i)
    EXPECT_TRUE(same_tensor(plan.outputs()[i], computed_anew({exprs[i]})[0]));
}

TEST(PassList, PreparedPlansRunIt) {
  Engine engine;
  for (const Sizes& sizes : {Sizes{7, 33}, Sizes{130, 5'001}})
    for (const Make& make : makers()) {
      const Tensor x = numbers(sizes, 3);
      const PreparedPlan plan = engine.prepare(make(x));
      const std::vector<Tensor> expected = computed_anew(make(numbers(sizes, 4)));
      engine.copy(x, numbers(sizes, 4));
      std::vector<std::thread> threads;
      plan.run();
      ASSERT_EQ(plan.outputs().size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(same_tensor(plan.outputs()[i], expected[i])) << "result " << i;
      // On other memory, by several threads at once.
      std::vector<std::vector<Tensor>> outputs(3);
      for (auto& own : outputs) {
        for (const Tensor& output : expected) own.push_back(empty_like(output));
        threads.emplace_back([&plan, &x, &own] {
          std::vector<std::byte*> data;
          for (const Tensor& output : own) data.push_back(output.data());
          data.push_back(x.data());
          plan.run(data);
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (const auto& own : outputs)
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_TRUE(same_tensor(own[i], expected[i]));
    }
}

TEST(PassList, ViewsOfOneStorageMayLieApartTheNextTime) {
  Engine engine;
  const auto make = [](const Tensor& a, const Tensor& b) {
    return Expr(a) - ops::mean(b, last) * ops::sum(a, last);
  };
  const Tensor both = numbers({20, 40}, 5);
  const Tensor a = both.narrow(0, 0, 10), b = both.narrow(0, 10, 10);
  engine.eval(make(a, b));
  const Tensor c = numbers({10, 40}, 6), d = numbers({10, 40}, 7);
  EXPECT_TRUE(same_tensor(engine.eval(make(c, d)), computed_anew({make(c, d)})[0]));
  EXPECT_TRUE(same_tensor(engine.eval(make(b, a)), computed_anew({make(b, a)})[0]));
}

TEST(PassList, OutputsMayBeInputs) {
  Engine engine;
  for (int round = 0; round < 3; ++round) {
    const Tensor x = numbers({9, 50}, 8), before = numbers({9, 50}, 8);
    engine.eval(Expr(x) - ops::mean(x, last), x);
    EXPECT_TRUE(same_tensor(x, computed_anew({Expr(before) - ops::mean(before, last)})[0]));
    // Of different sizes, and one of them an input of the other.
    const Tensor total = new_tensor({9, 1}, DType::f32), y = numbers({9, 50}, 9);
    const Expr exprs[] = {Expr(y) * 2 - ops::amax(y, last), ops::sum(Expr(y) + 1, last)};
    const Tensor outs[] = {y, total};
    engine.eval(exprs, outs);
    const Tensor same = numbers({9, 50}, 9);
    EXPECT_TRUE(same_tensor(y, computed_anew({Expr(same) * 2 - ops::amax(same, last)})[0]));
    EXPECT_TRUE(same_tensor(total, computed_anew({ops::sum(Expr(same) + 1, last)})[0]));
  }
}

TEST(PassList, NumbersAndDivisorsAreThoseOfEachCall) {
  Engine engine;
  const Tensor x = tensor_of<float>({1, 2, 3, 6});
  for (const double scale : {2.0, 3.0, -1.0})
    EXPECT_EQ(get<float>(engine.eval(ops::sum(Expr(x) * scale) * 2 + ops::amax(x) - scale), 0),
              static_cast<float>(24 * scale + 6 - scale));
  const auto divided = [&](std::int32_t by) {
    const Tensor divisor = tensor_of<std::int32_t>({by});
    return engine.eval(ops::sum(ops::div_floor(12, Expr(divisor))) + ops::sum(Expr(x))).item();
  };
  EXPECT_EQ(divided(3), Scalar(16.0));
  EXPECT_EQ(divided(4), Scalar(15.0));
  EXPECT_THROW(divided(0), ArithmeticError);
  EXPECT_EQ(divided(2), Scalar(18.0));
}

TEST(PassList, ArePreparedWhileAnotherThreadDropsPlans) {
  Engine engine;
  std::atomic<bool> is_done{false};
  std::thread other([&] {
    for (int i = 0; !is_done; ++i) engine.set_num_threads(1 + i % 2);
  });
  for (std::int64_t i = 0; i < 300; ++i) {
    const Tensor x = numbers({1 + i % 97, 1 + i % 89}, 11);
    EXPECT_NO_THROW(engine.prepare(Expr(x) - ops::amax(Expr(x), {.dims = {0}, .keepdim = true})));
  }
  is_done = true;
  other.join();
}

}  // namespace
}  // namespace weft::testing
