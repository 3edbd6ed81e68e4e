// Scans on the stand-in for a GPU: the CPU's results, and how many launches they take.
#include "tests/cuda/engine_fixture.h"
#include "tests/matchers.h"

#include <weft/expr.h>
#include <weft/reduce.h>

#include <random>
#include <span>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;
using test::gpu0;
using test::message_of;

class CudaScans : public test::EngineOnFakeGpu {
 protected:
  /// Multiples of a half, whose sums have no rounding and so the same bits in every order.
  Tensor halves(std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
    const Tensor result = empty(sizes, {.dtype = DType::f64});
    for (double& x : std::span(result.data_as<double>(), static_cast<std::size_t>(result.numel())))
      x = static_cast<double>(random_() % 9) / (is_integral(dtype) ? 1 : 2) - 2;
    return engine_.to(result, dtype);
  }
  static ReduceOptions along(std::int64_t dim, bool is_reverse = false) {
    ReduceOptions options;
    options.dims = {dim};
    options.reverse = is_reverse;
    return options;
  }
  void expect_cpus(Reduction scan, const Tensor& a, std::int64_t dim, bool is_reverse = false) {
    expect_same(engine_.reduce(scan, on(gpu0, a), along(dim, is_reverse)),
                engine_.reduce(scan, a, along(dim, is_reverse)));
  }
  void expect_cpus_places(const Tensor& a, std::int64_t dim) {
    const Tensor x = on(gpu0, a);
    const auto [largest, first] = engine_.cummax(x, dim);
    const auto [expected_largest, expected_first] = engine_.cummax(a, dim);
    expect_same(largest, expected_largest);
    expect_same(first, expected_first);
    const auto [smallest, second] = engine_.cummin(x, dim);
    const auto [expected_smallest, expected_second] = engine_.cummin(a, dim);
    expect_same(smallest, expected_smallest);
    expect_same(second, expected_second);
  }
  int launches_of(Reduction scan, const Tensor& x, std::int64_t dim) {
    engine_.reduce(scan, x, along(dim));
    const int before = num_launches();
    engine_.reduce(scan, x, along(dim));
    return num_launches() - before;
  }

  std::mt19937_64 random_{8};
};

TEST_F(CudaScans, AreTheCpus) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::f16, DType::u8})
    for (const std::int64_t dim : {0, 1, 2})
      for (const bool is_reverse : {false, true}) {
        const Tensor a = halves({5, 70, 20}, dtype);
        for (const Reduction scan : {Reduction::cumsum, Reduction::cummax, Reduction::cummin})
          expect_cpus(scan, a, dim, is_reverse);
        if (is_integral(dtype)) expect_cpus(Reduction::cumprod, a, dim, is_reverse);
      }
}

TEST_F(CudaScans, OfPlacesAreTheCpus) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i16, DType::f16})
    for (const std::int64_t dim : {0, 1, 2}) expect_cpus_places(halves({5, 70, 20}, dtype), dim);
  const Tensor nan =
      engine_.eval(ops::where(Expr(halves({40, 300})) > 1.5, Expr(NAN), Expr(halves({40, 300}))));
  for (const std::int64_t dim : {0, 1}) expect_cpus_places(nan, dim);
}

TEST_F(CudaScans, OfLayoutsAreTheCpus) {
  const Tensor a = halves({40, 6, 50});
  for (const Tensor& view : {a.permute({2, 1, 0}), a.slice(2, 1, {}, 3), a.flip({0, 2}),
                             a.narrow(0, 0, 1).expand({30, 6, 50}), a.select(2, 0)})
    for (std::int64_t dim = 0; dim < view.dim(); ++dim)
      for (const bool is_reverse : {false, true})
        expect_cpus(Reduction::cumsum, view, dim, is_reverse);
  expect_cpus(Reduction::cumsum, halves({}), 0);
  expect_cpus(Reduction::cumsum, halves({3, 0}), 1);
}

TEST_F(CudaScans, OfLongRowsAndColumnsAreTheCpus) {
  expect_cpus(Reduction::cumsum, halves({200'000}), 0);
  expect_cpus(Reduction::cumsum, halves({100'000}, DType::i32), 0, true);
  expect_cpus(Reduction::cumsum, halves({3000, 40}), 0);
  expect_cpus_places(halves({60'000}), 0);
}

TEST_F(CudaScans, TakeALaunchOrTwo) {
  EXPECT_EQ(launches_of(Reduction::cumsum, on(gpu0, halves({1000, 1000})), 1), 1);
  EXPECT_EQ(launches_of(Reduction::cumsum, on(gpu0, halves({400'000})), 0), 2);
  EXPECT_EQ(launches_of(Reduction::cummax, on(gpu0, halves({20, 50'000})), 0), 1);
  EXPECT_EQ(launches_of(Reduction::cumsum, on(gpu0, halves({20'000, 20})), 0), 2);
}

TEST_F(CudaScans, RepeatedCallsReuseThePlan) {
  const Tensor x = on(gpu0, halves({30, 100}));
  engine_.reduce(Reduction::cumsum, x, along(1));
  const std::uint64_t hits = engine_.stats().plan_hits;
  engine_.reduce(Reduction::cumsum, x, along(1));
  EXPECT_EQ(engine_.stats().plan_hits, hits + 1);
}

TEST_F(CudaScans, CanBeCapturedIfTheyNeedNoMemory) {
  const Tensor small = on(gpu0, halves({500})), large = on(gpu0, halves({200'000}));
  const Tensor to = empty({500}, {.dtype = DType::f32, .device = gpu0});
  const Tensor to_large = empty({200'000}, {.dtype = DType::f32, .device = gpu0});
  engine_.reduce(Reduction::cumsum, small, along(0), to);
  engine_.reduce(Reduction::cumsum, large, along(0), to_large);
  const cuda::Stream stream;
  const cuda::StreamGuard guard(stream.handle());
  test::fake_gpu().capture(stream.handle(), 1);
  engine_.reduce(Reduction::cumsum, small, along(0), to);
  EXPECT_THAT(message_of<UnsupportedError>(
                  [&] { engine_.reduce(Reduction::cumsum, large, along(0), to_large); }),
              HasSubstr("captured"));
  test::fake_gpu().capture(stream.handle(), 0);
}

TEST_F(CudaScans, OfTensorsOfTheCpuGoByWayOfCopies) {
  Engine device({.backend = "nvrtc"});
  const Tensor a = halves({33, 100});
  for (const bool is_reverse : {false, true})
    expect_same(device.reduce(Reduction::cumsum, a, along(1, is_reverse)),
                engine_.reduce(Reduction::cumsum, a, along(1, is_reverse)));
  EXPECT_EQ(num_launches(), 2);
}

TEST_F(CudaScans, WithoutAKernelAreMadeOfElementwiseCalls) {
  const Tensor a = engine_.to(halves({4, 9}), DType::c64);
  expect_cpus(Reduction::cumsum, a, 1);
  EXPECT_GT(launches_of(Reduction::cumprod, on(gpu0, a), 1), 1);
  EXPECT_GT(launches_of(Reduction::logcumsumexp, on(gpu0, halves({4, 9})), 1), 1);
}

}  // namespace
}  // namespace weft
