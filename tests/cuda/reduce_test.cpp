// Reductions on the stand-in for a GPU: the CPU's bits, and how many launches they take.
#include "tests/cuda/engine_fixture.h"
#include "tests/matchers.h"

#include <weft/expr.h>
#include <weft/reduce.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;
using test::gpu0;
using test::message_of;

class CudaReductions : public test::EngineOnFakeGpu {
 protected:
  /// Between -1 and 1, or as many integers as that dtype has.
  Tensor random(std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
    const Tensor result = empty(sizes, {.dtype = DType::f64});
    const double scale = is_integral(dtype) ? 100 : 1;
    for (double& x : std::span(result.data_as<double>(), static_cast<std::size_t>(result.numel())))
      x = scale * std::uniform_real_distribution<double>(-1, 1)(random_);
    return engine_.to(result, dtype);
  }

  Tensor random_complex(const std::vector<std::int64_t>& sizes, DType dtype) {
    return engine_.to(
        engine_.eval(ops::complex(random(sizes, DType::f64), random(sizes, DType::f64))), dtype);
  }

  /// Whether an expression of `inputs` has the same bits there as here.
  template <class Make>
  void expect_cpus_bits(const Make& make, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> there;
    for (const Tensor& input : inputs) there.push_back(on(gpu0, input));
    const Tensor result = engine_.eval(make(there));
    EXPECT_EQ(result.device(), gpu0);
    expect_same(result, engine_.eval(make(inputs)));
  }

  std::mt19937_64 random_{7};
};

using Inputs = std::vector<Tensor>;
using Dimensions = std::vector<std::int64_t>;

ReduceOptions along(const Dimensions& dims) {
  ReduceOptions options;
  options.dims = dims;
  return options;
}

TEST_F(CudaReductions, HaveTheCpusBits) {
  const auto check = [&](Reduction reduction, DType dtype) {
    for (const Dimensions& dims : {Dimensions{0}, Dimensions{1}})
      for (const Dimensions& sizes :
           {Dimensions{65, 300}, Dimensions{5, 16}, Dimensions{2, 4099}}) {
        const Tensor a = random(sizes, dtype);
        expect_same(engine_.reduce(reduction, on(gpu0, a), along(dims)),
                    engine_.reduce(reduction, a, along(dims)));
      }
  };
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::f16})
    check(Reduction::sum, dtype);
  for (const DType dtype : {DType::f32, DType::i32, DType::f16}) check(Reduction::amax, dtype);
  for (const DType dtype : {DType::f64, DType::i64}) check(Reduction::prod, dtype);
}

TEST_F(CudaReductions, OfExpressionsHaveTheCpusBits) {
  const auto squares = [](const Dimensions& dims) {
    return [dims](const Inputs& in) {
      return ops::sum(ops::square(Expr(in[0]) - Expr(in[1])), along(dims));
    };
  };
  for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{1}, Dimensions{2},
                                 Dimensions{0, 2}, Dimensions{0, 1}}) {
    expect_cpus_bits(squares(dims), {random({17, 5, 129}), random({5, 129})});
    expect_cpus_bits(squares(dims), {random({3, 33, 64}).permute({2, 0, 1}), random({1})});
  }
  const Tensor half = full(IntSpan(), 0.5, {.dtype = DType::f32});
  const Tensor a = random({8, 70}), x = on(gpu0, a);
  expect_same(engine_.eval(ops::mean(Expr(x) * Expr(half), along({0}))),
              engine_.eval(ops::mean(Expr(a) * Expr(half), along({0}))));
}

TEST_F(CudaReductions, OfLayoutsHaveTheCpusBits) {
  const auto sum = [](const Dimensions& dims) {
    return [dims](const Inputs& in) { return ops::sum(in[0], along(dims)); };
  };
  const Tensor a = random({40, 6, 50});
  for (const Tensor& view : {a.permute({2, 1, 0}), a.slice(2, 1, {}, 3), a.select(1, 2).flip({1}),
                             a.narrow(0, 0, 1).expand({4, 6, 50})})
    for (const Dimensions& dims : {Dimensions{0}, Dimensions{-1}})
      expect_cpus_bits(sum(dims), {view});
}

TEST_F(CudaReductions, OfLogicAndCountsHaveTheCpusBits) {
  const Tensor a = engine_.eval(Expr(random({20, 300})) > 0.9);
  for (const Dimensions& dims : {Dimensions{0}, Dimensions{1}}) {
    expect_cpus_bits([&](const Inputs& in) { return ops::any(in[0], along(dims)); }, {a});
    expect_cpus_bits([&](const Inputs& in) { return ops::count_nonzero(in[0], along(dims)); }, {a});
  }
}

TEST_F(CudaReductions, OfPlacesAreTheCpus) {
  const auto check = [&](const Tensor& a, const Dimensions& dims) {
    for (const Reduction reduction : {Reduction::argmax, Reduction::argmin})
      expect_same(engine_.reduce(reduction, on(gpu0, a), along(dims)),
                  engine_.reduce(reduction, a, along(dims)));
  };
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3fn, DType::i8, DType::i64}) {
    const Tensor a = random({5, 40, 9}, dtype);
    for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{1}, Dimensions{2}})
      check(a, dims);
  }
  const Tensor few = engine_.eval(Expr(random({30, 7, 20})) > 0.8);  // many that are equal
  for (const Tensor& view : {few, few.permute({2, 0, 1}), few.flip({1}), few.slice(0, 1, {}, 3),
                             few.narrow(1, 2, 1).expand({30, 4, 20})})
    for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{1}, Dimensions{2}})
      check(view, dims);
  const Tensor nan = engine_.eval(ops::where(Expr(few), Expr(NAN), Expr(random({30, 7, 20}))));
  check(nan, {});
  check(nan, {2});
  check(random({70'000}), {});
}

TEST_F(CudaReductions, OfPlacesOfExpressionsAreTheCpus) {
  const auto places = [](const Dimensions& dims) {
    return [dims](const Inputs& in) {
      return ops::argmax(ops::abs(Expr(in[0]) - Expr(in[1])), along(dims));
    };
  };
  for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{1}})
    expect_cpus_bits(places(dims), {random({17, 129}), random({129})});
  expect_cpus_bits([](const Inputs& in) { return ops::argmin(ops::abs(Expr(in[0])), along({1})); },
                   {engine_.to(random({9, 33}), DType::c64)});
}

TEST_F(CudaReductions, ByLogaddexpHaveTheCpusBits) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16})
    for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{1}})
      expect_cpus_bits(
          [&](const Inputs& in) { return fold(Op::logaddexp, Expr(in[0]) * 2, along(dims)); },
          {random({70, 90}, dtype)});
}

TEST_F(CudaReductions, OfComplexNumbersHaveTheCpusBits) {
  for (const DType dtype : {DType::c64, DType::c128, DType::c32})
    for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{1}}) {
      const Tensor a = random_complex({70, 131}, dtype);
      for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::prod})
        for (const auto& view :
             {+[](const Tensor& x) { return x; }, +[](const Tensor& x) { return x.t(); },
              +[](const Tensor& x) { return x.flip({1}).slice(0, 0, {}, 3); }})
          expect_same(engine_.reduce(reduction, view(on(gpu0, a)), along(dims)),
                      engine_.reduce(reduction, view(a), along(dims)));
    }
  const Tensor large = random_complex({300'000}, DType::c64);
  expect_cpus_bits([](const Inputs& in) { return ops::sum(in[0]); }, {large});
}

TEST_F(CudaReductions, OfComplexExpressionsHaveTheCpusBits) {
  const auto products = [](const Dimensions& dims) {
    return [dims](const Inputs& in) {
      return ops::sum(Expr(in[0]) * ops::conj(Expr(in[1])), along(dims));
    };
  };
  const auto quotients = [](const Inputs& in) {
    return ops::prod(Expr(in[0]) / Expr(in[1]), along({1}));
  };
  const auto parts = [](const Inputs& in) {
    return ops::sum(ops::square(ops::real(Expr(in[0]))) + ops::imag(Expr(in[1])), along({0}));
  };
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Tensor a = random_complex({17, 5, 129}, dtype), b = random_complex({5, 129}, dtype);
    for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{2}, Dimensions{0, 2}}) {
      expect_cpus_bits(products(dims), {a, b});
      expect_cpus_bits(products(dims), {a.conj(), b});
    }
    expect_cpus_bits(quotients, {a, b});
    expect_cpus_bits(parts, {a, b});
  }
  const Tensor half = full(IntSpan(), 0.5, {.dtype = DType::c128});
  const Tensor a = random_complex({8, 70}, DType::c128);
  const auto scaled = [&](const Tensor& x) { return ops::sum(Expr(x) * Expr(half), along({0})); };
  expect_same(engine_.eval(scaled(on(gpu0, a))), engine_.eval(scaled(a)));
}

TEST_F(CudaReductions, OfExpressionsBeyondOneKernelAreOfWhatIsWrittenBefore) {
  const auto sum = [](const Inputs& in) {
    Expr value(in[0]);
    for (int i = 0; i < 40; ++i) value = ops::logaddexp(value, Expr(in[0]) - i);
    return ops::sum(value, along({1}));
  };
  const int before = num_launches();
  expect_cpus_bits(sum, {random({9, 100})});
  EXPECT_EQ(num_launches() - before, 2);
}

TEST_F(CudaReductions, TakeALaunchOrTwo) {
  const Tensor a = random({1'000'000}), x = on(gpu0, a);
  const auto launches_of = [&](const Expr& expr) {
    const int before = num_launches();
    expect_same(engine_.eval(expr), engine_.eval(expr));
    return (num_launches() - before) / 2;
  };
  expect_same(engine_.eval(ops::sum(x)), engine_.eval(ops::sum(a)));
  EXPECT_EQ(launches_of(ops::sum(x)), 2);
  EXPECT_EQ(launches_of(ops::sum(on(gpu0, random({1000, 1000})), along({1}))), 1);
  EXPECT_EQ(launches_of(ops::argmax(x)), 2);
  EXPECT_EQ(launches_of(ops::argmin(on(gpu0, random({1000, 1000})), along({0}))), 1);
  EXPECT_EQ(launches_of(fold(Op::hypot, x)), 2);
}

TEST_F(CudaReductions, RepeatedCallsReuseThePlanAndTheMemory) {
  const Tensor a = random({100'000}), x = on(gpu0, a);
  engine_.eval(ops::sum(x));
  const std::uint64_t hits = engine_.stats().plan_hits;
  const int compiled = test::fake_gpu().count("nvrtcCompileProgram");
  const int asked = test::fake_gpu().count("cuMemAllocAsync");
  const Tensor sum = engine_.eval(ops::sum(x));
  EXPECT_EQ(engine_.stats().plan_hits, hits + 1);
  EXPECT_EQ(test::fake_gpu().count("nvrtcCompileProgram"), compiled);
  EXPECT_EQ(test::fake_gpu().count("cuMemAllocAsync"), asked);
  expect_same(sum, engine_.eval(ops::sum(a)));
}

TEST_F(CudaReductions, FollowTheNumericsOfTheEngine) {
  Engine invariant({.numerics = Numerics::layout_invariant});
  const Tensor a = random({30, 40, 50}), x = on(gpu0, a);
  for (const bool is_turned : {false, true})
    for (const Dimensions& dims : {Dimensions{}, Dimensions{1}, Dimensions{0, 2}}) {
      const auto sum = [&](const Tensor& t) {
        return invariant.eval(ops::sum(is_turned ? t.permute({2, 0, 1}) : t, along(dims)));
      };
      expect_same(sum(x), sum(a));
    }
  Engine exact({.numerics = Numerics::exact});
  EXPECT_THAT(message_of<UnsupportedError>([&] { exact.eval(ops::sum(x)); }),
              HasSubstr("Numerics::exact"));
}

TEST_F(CudaReductions, CanBeCapturedIfTheyNeedNoMemory) {
  const Tensor small = on(gpu0, random({500})), large = on(gpu0, random({200'000}));
  const Tensor place = empty(IntSpan(), {.dtype = DType::i64, .device = gpu0});
  engine_.eval(ops::argmax(small), place);
  const Tensor out = empty(IntSpan(), {.dtype = DType::f32, .device = gpu0});
  for (const Tensor& x : {small, large}) engine_.eval(ops::sum(x), out);
  const cuda::Stream stream;
  const cuda::StreamGuard guard(stream.handle());
  test::fake_gpu().capture(stream.handle(), 1);
  engine_.eval(ops::sum(small), out);
  engine_.eval(ops::argmax(small), place);
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.eval(ops::sum(large), out); }),
              HasSubstr("captured"));
  test::fake_gpu().capture(stream.handle(), 0);
}

TEST_F(CudaReductions, OfTensorsOfTheCpuGoByWayOfCopies) {
  Engine device({.backend = "nvrtc"});
  const Tensor a = random({33, 100});
  for (const Dimensions& dims : {Dimensions{}, Dimensions{0}, Dimensions{1}})
    expect_same(device.eval(ops::sum(a, along(dims))), engine_.eval(ops::sum(a, along(dims))));
  EXPECT_EQ(num_launches(), 3);
  expect_same(device.eval(ops::argmax(a)), engine_.eval(ops::argmax(a)));
  EXPECT_EQ(num_launches(), 4);
}

}  // namespace
}  // namespace weft
