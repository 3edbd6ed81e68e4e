// Scans on the stand-in for a GPU: the CPU's results, and how many launches they take.
#include "tests/cuda/engine_fixture.h"
#include "tests/matchers.h"

#include <weft/expr.h>
#include <weft/reduce.h>

#include <algorithm>
#include <cmath>
#include <numeric>
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
  Tensor complex_halves(const std::vector<std::int64_t>& sizes, DType dtype) {
    return engine_.to(
        engine_.eval(ops::complex(halves(sizes, DType::f64), halves(sizes, DType::f64))), dtype);
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
    for (const bool reverse : {false, true}) {
      const auto [largest, first] = engine_.cummax(x, dim, reverse);
      const auto [expected_largest, expected_first] = engine_.cummax(a, dim, reverse);
      expect_same(largest, expected_largest);
      expect_same(first, expected_first);
      const auto [smallest, second] = engine_.cummin(x, dim, reverse);
      const auto [expected_smallest, expected_second] = engine_.cummin(a, dim, reverse);
      expect_same(smallest, expected_smallest);
      expect_same(second, expected_second);
    }
  }
  int launches_of(Reduction scan, const Tensor& x, std::int64_t dim) {
    engine_.reduce(scan, x, along(dim));
    const int before = num_launches();
    engine_.reduce(scan, x, along(dim));
    return num_launches() - before;
  }

  /// Whether their elements are as good as equal, however large.
  bool are_close(const Tensor& there, const Tensor& here, double relative) {
    const Expr expected(engine_.to(here, DType::f64));
    const Expr distance = ops::abs(Expr(engine_.to(on(test::cpu, there), DType::f64)) - expected);
    const Expr is_close = distance <= relative * (1 + ops::abs(expected));
    return *engine_.contiguous(engine_.eval(ops::all(is_close))).data_as<bool>();
  }
  /// Whether a scan of an expression of `inputs` is that of the CPU, and one kernel.
  template <class Make>
  void expect_cpus_in_one(const Make& make, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> there;
    for (const Tensor& input : inputs) there.push_back(on(gpu0, input));
    const int before = num_launches();
    const Tensor result = engine_.eval(make(there));
    EXPECT_EQ(num_launches() - before, 1);
    EXPECT_EQ(result.device(), gpu0);
    expect_same(result, engine_.eval(make(inputs)));
  }
  /// A view of random sizes, some 1 where `broadcasts`, in a random order, with gaps, flipped.
  Tensor random_view(const std::vector<std::int64_t>& sizes, DType dtype, bool broadcasts) {
    std::vector<int> order(sizes.size()), back(sizes.size());
    std::vector<std::int64_t> stored;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random_);
    const std::int64_t step = 1 + static_cast<std::int64_t>(random_() % 2);
    for (const int dim : order) {
      const auto at = static_cast<std::size_t>(dim);
      back[at] = static_cast<int>(stored.size());
      const bool is_one = broadcasts && random_() % 3 == 0;
      stored.push_back(is_one ? 1 : step * sizes[at]);
    }
    Tensor view = halves(stored, dtype);
    for (int dim = 0; dim < view.dim(); ++dim)
      if (view.size(dim) != 1) view = view.slice(dim, 0, {}, step);
    view = view.permute(back);
    return random_() % 2 == 0 ? view : view.flip({static_cast<int>(random_() % sizes.size())});
  }

  std::mt19937_64 random_{8};
};

using Inputs = std::vector<Tensor>;

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
  expect_cpus_places(full(std::vector<std::int64_t>{}, 2.5F), 0);
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

TEST_F(CudaScans, OfExpressionsAreOneKernel) {
  const auto products = [](std::int64_t dim, bool is_reverse) {
    return [=](const Inputs& in) {
      return ops::cumsum(Expr(in[0]) * Expr(in[1]) + 1, along(dim, is_reverse));
    };
  };
  const auto extrema = [](std::int64_t dim) {
    return [=](const Inputs& in) {
      return ops::cummax(ops::abs(Expr(in[0]) - Expr(in[1])), along(dim));
    };
  };
  for (const std::int64_t dim : {0, 1, 2}) {
    expect_cpus_in_one(products(dim, false), {halves({5, 40, 20}), halves({40, 1})});
    expect_cpus_in_one(products(dim, true), {halves({20, 5, 40}).permute({1, 2, 0}), halves({1})});
    expect_cpus_in_one(extrema(dim), {halves({5, 40, 20}, DType::i16), halves({20}, DType::u8)});
  }
  for (const bool is_reverse : {false, true}) {
    const auto rests = [&](const Inputs& in) {
      return ops::cumprod(1 - ops::square(Expr(in[0])), along(0, is_reverse));
    };
    expect_cpus_in_one(rests, {engine_.to(full({30}, 2.0), DType::i32)});
  }
}

TEST_F(CudaScans, OfExpressionsOfRandomLayoutsAreOneKernel) {
  for (int i = 0; i < 25; ++i) {
    std::vector<std::int64_t> sizes;
    for (std::size_t dim = 0; dim < 1 + random_() % 3; ++dim)
      sizes.push_back(2 + static_cast<std::int64_t>(random_() % 40));
    const auto dim = static_cast<std::int64_t>(random_() % sizes.size());
    const bool is_reverse = random_() % 2 == 0;
    const DType dtype = random_() % 2 == 0 ? DType::f32 : DType::i32;
    const Inputs inputs{random_view(sizes, dtype, false), random_view(sizes, DType::f64, true),
                        random_view(sizes, dtype, true)};
    const auto make = [&](const Inputs& in) {
      return ops::cumsum((Expr(in[0]) + Expr(in[2])) * Expr(in[1]), along(dim, is_reverse));
    };
    expect_cpus_in_one(make, inputs);
  }
}

TEST_F(CudaScans, OfExpressionsReadNumbersOfTheCpu) {
  const Tensor half = full(IntSpan(), 0.5, {.dtype = DType::f32}), a = halves({7, 30});
  const auto scaled = [&](const Tensor& x) { return ops::cumsum(Expr(x) * Expr(half), along(1)); };
  expect_same(engine_.eval(scaled(on(gpu0, a))), engine_.eval(scaled(a)));
}

TEST_F(CudaScans, OfExpressionsBeyondOneKernelAreWrittenBefore) {
  const Tensor a = halves({4, 50});
  const auto largest = [](const Tensor& x) {
    Expr value(x);
    for (int i = 0; i < 40; ++i) value = ops::logaddexp(value, Expr(x) - i);
    return ops::cummax(value, along(1));
  };
  const Expr there = largest(on(gpu0, a));
  const int before = num_launches();
  expect_same(engine_.eval(there), engine_.eval(largest(a)));
  EXPECT_EQ(num_launches() - before, 2);
}

TEST_F(CudaScans, ByLogaddexpAreCloseToTheCpus) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const std::int64_t dim : {0, 1})
      for (const bool is_reverse : {false, true}) {
        const Tensor a = halves({70, 90}, dtype);
        const auto scanned = [&](const Tensor& x) {
          return engine_.reduce(Reduction::logcumsumexp, x, along(dim, is_reverse));
        };
        const int before = num_launches();
        const Tensor there = scanned(on(gpu0, a));
        EXPECT_EQ(num_launches() - before, 1);
        EXPECT_TRUE(are_close(there, scanned(a), dtype == DType::f32 ? 1e-6 : 1e-15));
      }
  expect_cpus(Reduction::logcumsumexp, full({40}, -HUGE_VAL, {.dtype = DType::f32}), 0);
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

TEST_F(CudaScans, OfTensorsInTwoPlacesAreRefused) {
  const Tensor here = halves({4, 9}), a = on(gpu0, here), b = on(test::gpu1, here);
  const Tensor out = on(gpu0, full({4, 9}, 7.0, {.dtype = DType::f32}));
  const auto refuses = [&](const Expr& expr) {
    EXPECT_THROW(engine_.eval(expr, out), ArgumentError);
    expect_same(out, full({4, 9}, 7.0, {.dtype = DType::f32}));
  };
  for (const Tensor& elsewhere : {b, here}) {
    refuses(ops::cumsum(elsewhere, along(1)));
    refuses(ops::cumsum(Expr(elsewhere) * 2, along(1)));
    refuses(ops::cumsum(Expr(a) + Expr(elsewhere), along(1)));
    refuses(ops::cumsum(Expr(a) + Expr(elsewhere.slice(0, 0, 1)), along(0)));
    refuses(ops::cumsum(ops::cumsum(Expr(elsewhere), along(1)) + Expr(a), along(0)));
  }
}

TEST_F(CudaScans, OfComplexNumbersAreTheCpus) {
  for (const DType dtype : {DType::c64, DType::c128, DType::c32})
    for (const std::int64_t dim : {0, 1})
      for (const bool is_reverse : {false, true}) {
        const Tensor a = complex_halves({17, 90}, dtype);
        expect_cpus(Reduction::cumsum, a, dim, is_reverse);
        expect_cpus(Reduction::cumsum, a.flip({1}).slice(0, 0, {}, 2), dim, is_reverse);
      }
  expect_cpus(Reduction::cumsum, complex_halves({40'000}, DType::c64), 0);
  const Tensor a = complex_halves({7, 9}, DType::c64);
  EXPECT_EQ(launches_of(Reduction::cumsum, on(gpu0, a), 1), 1);
  // Few of them, so that no product has been rounded.
  const auto product = [&](const Tensor& x) {
    return engine_.eval(ops::real(ops::cumprod(x, along(1))) + 0);
  };
  expect_same(product(on(gpu0, a)), product(a));
}

TEST_F(CudaScans, OfComplexExpressionsAreOneKernel) {
  const auto sums = [](const Inputs& in) {
    return ops::cumsum(Expr(in[0]) * ops::conj(Expr(in[1])), along(1));
  };
  const auto norms = [](const Inputs& in) {
    return ops::cumsum(ops::square(ops::real(Expr(in[0]))), along(0));
  };
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Tensor a = complex_halves({13, 40}, dtype), b = complex_halves({13, 1}, dtype);
    expect_cpus_in_one(sums, {a, b});
    expect_cpus_in_one(sums, {a.conj(), b});
    expect_cpus_in_one(norms, {a});
  }
}

}  // namespace
}  // namespace weft
