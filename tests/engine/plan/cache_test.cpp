// What is planned and compiled once, and what must not be confused.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"
#include "tests/message_of.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/naive.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace weft::testing {
namespace {

using matchers::ElementsAreArray;
using matchers::HasSubstr;

Tensor range(std::int64_t count, std::int64_t start = 0) {
  const Tensor result = new_tensor({count}, DType::f32);
  for (std::int64_t i = 0; i < count; ++i) put<float>(result, i, static_cast<float>(start + i));
  return result;
}

TEST(engine_cache, a_repeated_call_finds_its_plan) {
  Engine engine;
  const Tensor a = range(8), b = range(8), out = range(8);
  engine.binary(Op::add, a, b, out);
  EXPECT_EQ(engine.stats().plan_misses, 1u);
  EXPECT_EQ(engine.stats().kernel_misses, 1u);
  for (int i = 0; i < 5; ++i) engine.binary(Op::add, a, b, out);
  EXPECT_EQ(engine.stats().plan_hits, 5u);
  EXPECT_EQ(engine.stats().plan_misses, 1u);
  // Other tensors of the same layouts are the same call.
  engine.binary(Op::add, range(8), range(8, 3), range(8));
  EXPECT_EQ(engine.stats().plan_hits, 6u);
  EXPECT_GT(engine.stats().code_bytes, 0u);
  EXPECT_GT(engine.stats().compile_us, 0.0);
  std::uint64_t compiles = 0;
  for (const auto& [backend, count] : engine.stats().compiles_by_backend) compiles += count;
  EXPECT_EQ(compiles, engine.stats().kernel_misses);
}

TEST(engine_cache, the_value_of_a_number_is_no_part_of_the_kernel) {
  Engine engine;
  const Tensor a = range(20);
  for (int i = 0; i < 50; ++i) {
    const Tensor result = engine.eval(Expr(a) * i + 0.5 * i);
    EXPECT_EQ(get<float>(result, 3), 3.5f * static_cast<float>(i));
  }
  EXPECT_EQ(engine.stats().kernel_misses, 1u);
  EXPECT_EQ(engine.stats().plan_misses, 1u);
}

TEST(engine_cache, the_kind_of_a_number_is_part_of_it) {
  Engine engine;
  const Tensor a = tensor_of<std::int32_t>({1, 2});
  EXPECT_EQ(engine.eval(Expr(a) + 1).dtype(), DType::i32);
  EXPECT_EQ(engine.eval(Expr(a) + 1.0).dtype(), DType::f32);
  EXPECT_EQ(engine.eval(Expr(a) + true).dtype(), DType::i32);
  EXPECT_EQ(engine.eval(Expr(a) + Scalar(std::complex<double>(0, 1))).dtype(), DType::c64);
}

TEST(engine_cache, sizes_share_kernels) {
  Engine engine;
  for (std::int64_t rows = 1; rows <= 12; ++rows) {
    for (std::int64_t columns = 1; columns <= 12; ++columns) {
      const Tensor a = range(rows * columns).view({rows, columns});
      const Tensor b = range(columns, 5);
      const Tensor result = engine.binary(Op::sub, a, b);
      for (std::int64_t i = 0; i < a.numel(); ++i)
        ASSERT_EQ(get<float>(result, i), static_cast<float>(i - i % columns - 5));
    }
  }
  EXPECT_EQ(engine.stats().plan_misses, 144u);
  EXPECT_LE(engine.stats().kernel_misses, 8u);
}

TEST(engine_cache, dtypes_and_layouts_are_not_confused) {
  Engine engine;
  for (const DType dtype : {DType::f32, DType::i32, DType::u32}) {
    for (const bool transposed : {false, true}) {
      Tensor a = new_tensor({2, 2}, dtype);
      if (transposed) a = a.t();
      for (std::int64_t i = 0; i < 4; ++i) {
        const Bits bits = Scalar(i - (dtype == DType::u32 ? 0 : 2)).bits(dtype);
        std::memcpy(element(a, i), &bits, 4);
      }
      const Tensor result = engine.binary(Op::lt, a, a.t());
      EXPECT_EQ(elements<bool>(result), (std::vector<bool>{false, true, false, false}));
    }
  }
}

TEST(engine_cache, aliasing_is_not_confused) {
  Engine engine;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Tensor a = range(4), b = range(4, 10), c = range(4);
    engine.binary(Op::sub, a, b, c);
    EXPECT_THAT(elements<float>(c), ElementsAreArray({-10, -10, -10, -10}));
    engine.binary(Op::sub, a, b, a);
    EXPECT_THAT(elements<float>(a), ElementsAreArray({-10, -10, -10, -10}));
    engine.binary(Op::sub, b, b, b);
    EXPECT_THAT(elements<float>(b), ElementsAreArray({0, 0, 0, 0}));
    engine.binary(Op::sub, a, b, b);
    EXPECT_THAT(elements<float>(b), ElementsAreArray({-10, -10, -10, -10}));
  }
}

TEST(engine_cache, views_of_one_storage_are_not_confused_with_separate_ones) {
  Engine engine;
  const Tensor whole = range(8);
  engine.unary(Op::neg, range(4), range(4));
  engine.unary(Op::neg, whole.narrow(0, 0, 4), whole.narrow(0, 4, 4));
  EXPECT_THAT(elements<float>(whole), ElementsAreArray({0, 1, 2, 3, 0, -1, -2, -3}));
}

/// out[i] = a[i] + b[i], first on memory of its own, then with b one element behind out.
TEST(engine_cache, borrowed_memory_that_overlaps_is_not_confused) {
  constexpr std::int64_t count = 500;
  Engine engine;
  const Sizes sizes{count}, strides{2};
  std::vector<float> x(2 * count + 2), y(2 * count + 2), z(2 * count + 2);
  const auto view = [&](std::vector<float>& memory, std::size_t at) {
    return from_blob(memory.data() + at, IntSpan(sizes), IntSpan(strides), DType::f32);
  };
  engine.binary(Op::add, view(x, 2), view(y, 0), view(z, 2));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  engine.binary(Op::add, view(x, 2), view(x, 0), view(x, 2));
  for (std::size_t i = 2; i < x.size(); i += 2) ASSERT_EQ(x[i], static_cast<float>(2 * i - 2)) << i;
}

TEST(engine_cache, a_resized_output_is_planned_again) {
  Engine engine;
  const Tensor a = range(6);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Tensor out = new_tensor({2, 2}, DType::f32);
    engine.unary(Op::square, a, out);
    ASSERT_EQ(out.numel(), 6);
    EXPECT_THAT(elements<float>(out), ElementsAreArray({0, 1, 4, 9, 16, 25}));
  }
}

TEST(engine_cache, expressions_follow_sizes_or_are_refused) {
  Engine engine;
  const Tensor x = range(2), seen = range(2);
  const Expr plus = Expr(x) + 1, mean = ops::mean(x), variance = ops::var_mean(x)[0];
  const Expr with_number = Expr(seen) + tensor_of<double>({0.5}).view({});
  x.resize_({4});
  for (std::int64_t i = 0; i < 4; ++i) put<float>(x, i, 3);
  EXPECT_THAT(elements<float>(engine.eval(plus)), ElementsAreArray({4, 4, 4, 4}));
  for (const Expr& made_before : {mean, variance, mean * 2, ops::sum(Expr(x) - mean)}) {
    for (int call = 0; call < 2; ++call)
      EXPECT_THAT(test::message_of<ArgumentError>([&] { engine.eval(made_before); }),
                  HasSubstr("with sizes [2], which are [4] now"));
    EXPECT_THROW(engine.infer(made_before), ArgumentError);
    EXPECT_THROW(engine.explain(made_before), ArgumentError);
    EXPECT_THROW(engine.prepare(made_before), ArgumentError);
  }
  // Nothing of it is kept for those that are made now.
  EXPECT_EQ(engine.eval(ops::mean(x)).item().as_double(), 3);
  EXPECT_EQ(engine.reduce(Reduction::mean, x).item().as_double(), 3);
  // That a tensor has no dimensions decides dtypes.
  seen.resize_({});
  EXPECT_THAT(test::message_of<ArgumentError>([&] { engine.eval(with_number); }),
              HasSubstr("made of a tensor with dimensions"));
  EXPECT_THROW(naive_eval(with_number, new_tensor({}, DType::f64)), ArgumentError);
  EXPECT_EQ(engine.eval(Expr(seen) + tensor_of<double>({0.5}).view({})).dtype(), DType::f64);
  // Resized by the engine, and back: as it was made for.
  const Tensor out = new_tensor({8}, DType::f32);
  const Expr of_out = ops::sum(out);
  engine.unary(Op::square, x, out);
  EXPECT_THROW(engine.eval(of_out), ArgumentError);
  out.resize_({8});
  EXPECT_NO_THROW(engine.eval(of_out));
}

TEST(engine_cache, structure_of_expressions) {
  Engine engine;
  const Tensor a = range(3, 1), b = range(3, 5);
  const Expr x(a), y(b);
  EXPECT_THAT(elements<float>(engine.eval(x - y)), ElementsAreArray({-4, -4, -4}));
  EXPECT_THAT(elements<float>(engine.eval(y - x)), ElementsAreArray({4, 4, 4}));
  EXPECT_THAT(elements<float>(engine.eval(x - x)), ElementsAreArray({0, 0, 0}));
  EXPECT_THAT(elements<float>(engine.eval((x - y) - x)), ElementsAreArray({-5, -6, -7}));
  EXPECT_THAT(elements<float>(engine.eval(x - (y - x))), ElementsAreArray({-3, -2, -1}));
  EXPECT_THAT(elements<float>(engine.eval(x - (y - y))), ElementsAreArray({1, 2, 3}));
  // The same graph twice, built anew: found; a different graph of the same ops: not.
  const std::uint64_t misses = engine.stats().plan_misses;
  engine.eval(Expr(b) - Expr(a));
  EXPECT_EQ(engine.stats().plan_misses, misses);
}

TEST(engine_cache, engines_are_independent) {
  const Tensor a = range(5);
  for (int round = 0; round < 40; ++round) {
    Engine engine(EngineOptions{round % 2 == 0 ? "interp" : "auto", Numerics::standard, 0});
    engine.unary(Op::neg, a);
    engine.unary(Op::neg, a);
    EXPECT_EQ(engine.stats().plan_misses, 1u);
    EXPECT_EQ(engine.stats().plan_hits, 1u);
    EXPECT_EQ(engine.stats().kernel_misses, 1u);
  }
  std::vector<std::unique_ptr<Engine>> many;
  for (int i = 0; i < 20; ++i) many.push_back(std::make_unique<Engine>());
  for (int round = 0; round < 3; ++round)
    for (const auto& engine : many) engine->binary(Op::mul, a, a);
  for (const auto& engine : many) EXPECT_EQ(engine->stats().plan_hits, 2u);
}

TEST(engine_cache, sixteen_threads_share_an_engine) {
  Engine engine;
  std::atomic<int> wrong{0};
  const auto work = [&](int seed) {
    Random random(static_cast<std::uint64_t>(seed));
    for (int round = 0; round < 200; ++round) {
      const auto count = static_cast<std::int64_t>(1 + ir::pick(random, 40));
      const Tensor a = range(count, seed), b = range(2 * count).slice(0, 0, {}, 2);
      const auto number = static_cast<int>(ir::pick(random, 9));
      const std::size_t kind = ir::pick(random, 4);
      const Tensor result = kind == 0   ? engine.binary(Op::add, a, b)
                            : kind == 1 ? engine.eval(Expr(a) * Expr(b) + number)
                            : kind == 2 ? engine.to(b, DType::i16)
                                        : engine.eval(ops::maximum(Expr(a), Expr(b) - number));
      for (std::int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<float>(seed + i), y = static_cast<float>(2 * i);
        const auto n = static_cast<float>(number);
        const float expected = kind == 0   ? x + y
                               : kind == 1 ? x * y + n
                               : kind == 2 ? y
                                           : std::max(x, y - n);
        const float actual =
            kind == 2 ? static_cast<float>(get<std::int16_t>(result, i)) : get<float>(result, i);
        if (actual != expected) ++wrong;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  // One compilation a kernel, whatever the number of threads.
  EXPECT_LE(engine.stats().kernel_misses, 16u);
}

TEST(engine_cache, threads_share_sub_expressions) {
  Engine engine;
  const Tensor a = range(10);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    {
      const Expr shared = Expr(a) * 2 + 1;
      for (int i = 0; i < 4; ++i)
        threads.emplace_back([&engine, shared, i] {
          const Tensor result = engine.eval(shared - i);
          EXPECT_EQ(get<float>(result, 9), static_cast<float>(19 - i));
        });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(engine_prepare, runs_on_its_own_tensors_and_on_others) {
  const Tensor a = range(6), b = range(6, 10);
  auto engine = std::make_unique<Engine>();
  const PreparedPlan plan = engine->prepare(Expr(a) - Expr(b) * 2);
  EXPECT_EQ(plan.num_operands(), 3);
  ASSERT_EQ(plan.outputs().size(), 1u);
  const std::uint64_t misses = engine->stats().kernel_misses;
  plan.run();
  EXPECT_THAT(elements<float>(plan.outputs()[0]), ElementsAreArray({-20, -21, -22, -23, -24, -25}));
  const Tensor out = range(6), c = range(6, 100), d = range(6);
  const std::vector<std::byte*> data{out.data(), c.data(), d.data()};
  plan.run(data);
  EXPECT_THAT(elements<float>(out), ElementsAreArray({100, 99, 98, 97, 96, 95}));
  EXPECT_EQ(engine->stats().kernel_misses, misses);
  EXPECT_THROW(plan.run(std::span(data.data(), 2)), ArgumentError);
  engine.reset();  // the plan owns what it needs
  put<float>(a, 0, 1000);
  plan.run();
  EXPECT_EQ(get<float>(plan.outputs()[0], 0), 980);
}

TEST(engine_prepare, into_given_outputs) {
  Engine engine;
  const Tensor a = range(6).view({2, 3});
  const Tensor out = new_tensor({3, 2}, DType::f64).t();
  const PreparedPlan plan = engine.prepare(Expr(a) + 1, out);
  EXPECT_TRUE(plan.outputs()[0].is_same(out));
  plan.run();
  EXPECT_THAT(elements<double>(out), ElementsAreArray({1, 2, 3, 4, 5, 6}));
  const PreparedPlan in_place = engine.prepare(Expr(a) * 2, a);
  in_place.run();
  in_place.run();
  EXPECT_THAT(elements<float>(a), ElementsAreArray({0, 4, 8, 12, 16, 20}));
}

TEST(engine_prepare, runs_on_memory_that_has_moved) {
  Engine engine;
  const Tensor a = range(6), out = range(6);
  const PreparedPlan plan = engine.prepare(Expr(a) * 3, out);
  plan.run();
  const std::byte* const before = a.data();
  a.storage()->resize_bytes(1 << 20);
  ASSERT_NE(a.data(), before);
  put<float>(a, 5, 100);
  for (int repeat = 0; repeat < 2; ++repeat) {
    plan.run();
    EXPECT_THAT(elements<float>(out), ElementsAreArray({0, 3, 6, 9, 12, 300}));
    put<float>(out, 5, 0);
  }
}

TEST(engine_prepare, by_many_threads) {
  Engine engine;
  const Tensor a = range(100);
  const PreparedPlan plan = engine.prepare(Expr(a) * 3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&plan, i] {
      const Tensor in = range(100, i), out = range(100);
      const std::vector<std::byte*> data{out.data(), in.data()};
      for (int repeat = 0; repeat < 50; ++repeat) plan.run(data);
      EXPECT_EQ(get<float>(out, 99), static_cast<float>(3 * (99 + i)));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(engine_prepare, refuses_what_needs_work_before_each_run) {
  Engine engine;
  const Tensor ints = tensor_of<std::int32_t>({4, 5});
  EXPECT_THROW(engine.prepare(ops::div_floor(Expr(ints), Expr(ints))), UnsupportedError);
  EXPECT_THROW(engine.prepare(ops::div_floor(Expr(ints), 0)), ArithmeticError);
  EXPECT_THROW(engine.prepare(ops::sum(ops::div_floor(Expr(ints), 0)) + 1), ArithmeticError);
  EXPECT_THROW(engine.prepare(ops::div_floor(Expr(ints.slice(0, 0, 0)), 0)), UnsupportedError);
  const Tensor refused = new_tensor({0, 3}, DType::i32);
  EXPECT_THROW(engine.prepare(ops::div_floor(Expr(ints), Expr(ints)), refused), UnsupportedError);
  EXPECT_THAT(refused.sizes(), ElementsAreArray({0, 3}));
  const Tensor x = range(10);
  EXPECT_THROW(engine.prepare(Expr(x.slice(0, 0, 8, 2)) + 1, x.slice(0, 2, 10, 2)),
               UnsupportedError);
  EXPECT_THROW(engine.prepare(Expr(x) + Expr(ints), Tensor()), ArgumentError);
}

}  // namespace
}  // namespace weft::testing
