// Any number of threads computes the same bytes; the number follows the engine's setting.
#include "tests/engine/support/elements.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <cfenv>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

Tensor numbered(const Sizes& sizes, DType dtype = DType::f32) {
  const Tensor result = new_tensor(sizes, dtype);
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    const std::int64_t value = i * 7919 % 100003;
    if (dtype == DType::f32)
      put<float>(result, i, static_cast<float>(value) / 64);
    else
      put<std::uint8_t>(result, i, static_cast<std::uint8_t>(value));
  }
  return result;
}

/// Of two dense tensors.
bool same_elements(const Tensor& a, const Tensor& b) {
  const auto size = static_cast<std::size_t>(a.numel()) * itemsize_bytes(a.dtype());
  return a.numel() == b.numel() && std::memcmp(a.data(), b.data(), size) == 0;
}

/// The same call with several numbers of threads, on outputs that start off a line.
void expect_same_results(const Expr& expr, const Sizes& sizes, DType dtype) {
  Engine engine({.num_threads = 1});
  const Tensor expected = engine.eval(expr);
  for (const int count : {2, 3, 8, 16}) {
    engine.set_num_threads(count);
    EXPECT_EQ(engine.num_threads(), count);
    for (const std::int64_t offset : {0, 3}) {
      const Tensor storage = new_tensor({expected.numel() + 3}, dtype);
      Sizes strides(sizes.size(), 1);
      for (std::size_t dim = sizes.size() - 1; dim-- > 0;)
        strides[dim] = strides[dim + 1] * sizes[dim + 1];
      const Tensor out = storage.as_strided(IntSpan(sizes), IntSpan(strides), offset);
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::memset(storage.data(), 0x5a,
                    static_cast<std::size_t>(storage.numel()) * itemsize_bytes(dtype));
        engine.eval(expr, out);
        ASSERT_TRUE(same_elements(out, expected)) << count << " threads, offset " << offset;
      }
    }
  }
}

TEST(engine_threads, one_dimension) {
  for (const std::int64_t size : {16384, 100001, 1 << 19}) {
    const Expr a(numbered({size}));
    expect_same_results(a * a + 1, {size}, DType::f32);
    expect_same_results(cast(a, DType::u8), {size}, DType::u8);
  }
}

TEST(engine_threads, conflicting_and_broadcast_layouts) {
  const Tensor a = numbered({300, 517});
  const Tensor b = numbered({517, 300});
  const Tensor row = numbered({517}, DType::u8);
  expect_same_results(Expr(a) + Expr(b.t()) * Expr(row), {300, 517}, DType::f32);
}

TEST(engine_threads, fewer_rows_than_threads) {
  const Tensor a = numbered({5, 70001});
  const Tensor b = numbered({5, 1});
  expect_same_results(Expr(a) * Expr(b), {5, 70001}, DType::f32);
}

TEST(engine_threads, calls_from_parallel_work_use_one) {
  Engine engine({.num_threads = 4});
  const Tensor a = numbered({1 << 18});
  const Tensor expected = engine.eval(Expr(a) * 2);
  std::vector<int> right(4);
  parallel_for(0, 4, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      right[static_cast<std::size_t>(i)] = same_elements(engine.eval(Expr(a) * 2), expected);
  });
  EXPECT_EQ(right, std::vector<int>(4, 1));
}

TEST(engine_threads, many_callers_share_the_workers) {
  Engine engine({.num_threads = 3});
  const Tensor a = numbered({1 << 17});
  const Tensor expected = engine.eval(Expr(a) * 2);
  std::vector<int> num_wrong(4);
  std::vector<std::thread> callers;
  for (int& wrong : num_wrong)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat)
        wrong += same_elements(engine.eval(Expr(a) * 2), expected) ? 0 : 1;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(num_wrong, std::vector<int>(4, 0));
}

// Kernels are shared: the numbers in them must not be rounded as their first caller rounds.
TEST(engine_threads, kernels_are_the_same_whoever_made_them) {
  const Tensor a = numbered({1000});
  const std::vector<Expr> exprs{apply(Op::deg2rad, {Expr(a)}), apply(Op::selu, {Expr(a)}),
                                ops::mean(ops::sqrt(Expr(a)), {.dims = {0}})};
  for (const char* backend : {"auto", "interp"}) {
    Engine made_here({.backend = backend}), made_there({.backend = backend});
    for (const Expr& expr : exprs) {
      std::thread([&] {
        std::fesetround(FE_UPWARD);
        made_there.eval(expr);
      }).join();
      EXPECT_TRUE(same_elements(made_there.eval(expr), made_here.eval(expr))) << text(expr);
    }
  }
}

TEST(engine_threads, number_is_checked) {
  Engine engine;
  EXPECT_EQ(engine.num_threads(), num_threads());
  EXPECT_THROW(engine.set_num_threads(-1), ArgumentError);
  engine.set_num_threads(2);
  engine.set_num_threads(0);
  EXPECT_EQ(engine.num_threads(), num_threads());
}

}  // namespace
}  // namespace weft::testing
