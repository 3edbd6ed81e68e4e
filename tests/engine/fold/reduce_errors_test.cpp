// Reductions that are refused, given outputs, empty inputs, and the dispatcher.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/dispatch.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;

class ReduceErrors : public ::testing::Test {
 protected:
  template <class ErrorType = ArgumentError>
  static std::string message(const std::function<void()>& call) {
    try {
      call();
    } catch (const ErrorType& error) {
      return error.what();
    }
    return "no error";
  }
  std::string refusal(Reduction reduction, const Tensor& a, const ReduceOptions& options = {}) {
    return message([&] { engine.reduce(reduction, a, options); });
  }

  Engine engine;
  Tensor a = tensor_of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
};

TEST_F(ReduceErrors, HavePyTorchsTexts) {
  EXPECT_EQ(refusal(Reduction::sum, a, {.dims = {2}}),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_EQ(refusal(Reduction::sum, a, {.dims = {1, -1}}),
            "dim 1 appears multiple times in the list of dims");
  const Tensor none = empty({0, 3}, DType::f32);
  EXPECT_EQ(refusal(Reduction::amax, none),
            "amax(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument.");
  EXPECT_EQ(refusal(Reduction::argmin, none, {.dims = {0}}),
            "argmin(): Expected reduction dim 0 to have non-zero size.");
  EXPECT_EQ(refusal(Reduction::mean, tensor_of<std::int64_t>({1, 2})),
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            "complex dtype. Got: Long");
  // Whatever a given output is, and of an output of integers is said what is said of others.
  EXPECT_EQ(message([&] {
              engine.reduce(Reduction::mean, tensor_of<std::int32_t>({1, 2}), {}, empty({}));
            }),
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            "complex dtype. Got: Int");
  EXPECT_THAT(message([&] { engine.reduce(Reduction::mean, a, {}, empty({}, DType::i32)); }),
              HasSubstr("result type Float can't be cast to the desired output type Int"));
  EXPECT_EQ(refusal(Reduction::std, tensor_of<std::int32_t>({1, 2})),
            "std and var only support floating point and complex dtypes");
  EXPECT_THAT(refusal(Reduction::norm, none, {.p = std::numeric_limits<double>::infinity()}),
              HasSubstr("does not have an identity"));
  EXPECT_THAT(refusal(Reduction::amax, empty({2}, DType::c64)),
              HasSubstr("amax() does not take c64"));
  EXPECT_THAT(refusal(Reduction::cumsum, a),
              HasSubstr("goes along one dimension, but 0 are given"));
  EXPECT_THAT(refusal(Reduction::argmax, a, {.dims = {0, 1}}), HasSubstr("one dimension or all"));
  EXPECT_THAT(refusal(Reduction::sum, Tensor()), HasSubstr("undefined"));
}

TEST_F(ReduceErrors, NameOptionsOfOtherReductions) {
  EXPECT_EQ(refusal(Reduction::sum, a, {.p = 7}), "sum() takes no p; norm does");
  EXPECT_EQ(refusal(Reduction::norm, a, {.correction = 0}),
            "norm() takes no correction; var and std do");
  EXPECT_EQ(message([&] { fold(Op::add, a, {.p = 7}); }), "fold() takes no p; norm does");
  EXPECT_EQ(message([&] { fold(Op::add, a, {.correction = 7}); }),
            "fold() takes no correction; var and std do");
  EXPECT_EQ(refusal(Reduction::argmax, a, {.dtype = DType::i32}),
            "argmax() returns i64 and takes no dtype");
  EXPECT_EQ(refusal(Reduction::any, a, {.dtype = DType::f32}),
            "any() returns truth values and takes no dtype but bool");
  EXPECT_EQ(engine.reduce(Reduction::any, tensor_of<std::uint8_t>({1}), {.dtype = DType::boolean})
                .dtype(),
            DType::boolean);
  EXPECT_EQ(engine.var_mean(a, {.correction = 0}).second.item().as_double(), 3.5);
}

TEST_F(ReduceErrors, NameWhatWasCalledAndWhatItWasGiven) {
  const Tensor complex = empty({2}, DType::c64), halves = empty({2}, DType::c32);
  EXPECT_THAT(refusal(Reduction::max, complex), HasSubstr("max() does not take c64"));
  EXPECT_THAT(refusal(Reduction::argmin, halves), HasSubstr("argmin() does not take c32"));
  EXPECT_THAT(refusal(Reduction::amax, halves), HasSubstr("amax() does not take c32"));
  EXPECT_THAT(refusal(Reduction::cummax, halves, {.dims = {0}}),
              HasSubstr("cummax() does not take c32"));
  EXPECT_THAT(refusal(Reduction::logcumsumexp, halves, {.dims = {0}}),
              HasSubstr("logcumsumexp() does not take c32"));
  EXPECT_THAT(message([&] { engine.cummin(complex, 0); }), HasSubstr("cummin() does not take c64"));
  EXPECT_THAT(message([&] { engine.aminmax(complex); }), HasSubstr("aminmax() does not take c64"));
  EXPECT_EQ(message([&] { engine.aminmax(empty({0}, DType::f32)); }),
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity.");
  EXPECT_THAT(refusal(Reduction::norm, a, {.p = 1e300}),
              HasSubstr("norm(): p = 1e+300 or its reciprocal is beyond the numbers of f32"));
  EXPECT_THAT(refusal(Reduction::norm, a, {.p = 1e-40}), HasSubstr("norm(): p = "));
}

TEST_F(ReduceErrors, OnlyScansHaveADirection) {
  EXPECT_THAT(refusal(Reduction::sum, a, {.reverse = true}),
              HasSubstr("sum() has no direction and takes no reverse"));
  EXPECT_THAT(message([&] { fold(Op::add, a, {.reverse = true}); }),
              HasSubstr("fold() has no direction"));
}

TEST_F(ReduceErrors, EnumeratorsThatThereAreNotAreRefused) {
  EXPECT_EQ(refusal(Reduction(200), a), "there is no reduction 200");
  EXPECT_EQ(message([&] { reduce_pair(PairReduction(2), a); }), "there is no pair of reductions 2");
  EXPECT_EQ(refusal(Reduction::sum, a, {.dtype = DType(77)}), "there is no dtype 77");
  EXPECT_EQ(refusal(Reduction::sum, a, {.numerics = Numerics(9)}), "there are no numerics 9");
  EXPECT_EQ(message([&] { fold(Op(255), a); }), "there is no op 255");
}

TEST_F(ReduceErrors, OutputsAreUntouchedByThem) {
  const Tensor out = tensor_of<std::int32_t>({7, 7, 7});
  EXPECT_THAT(message([&] { engine.reduce(Reduction::amax, a, {.dims = {0}}, out); }),
              HasSubstr("can't be cast to the desired output type"));
  EXPECT_THAT(elements<std::int32_t>(out), ElementsAreArray({7, 7, 7}));
  const Tensor divisors = tensor_of<std::int32_t>({1, 0, 2});
  const Tensor one = tensor_of<std::int64_t>({7}, {});
  EXPECT_THAT(message<ArithmeticError>(
                  [&] { engine.eval(ops::sum(ops::div_floor(divisors, divisors)), one); }),
              HasSubstr("ZeroDivisionError"));
  EXPECT_EQ(get<std::int64_t>(one, 0), 7);
  EXPECT_THROW(engine.prepare(ops::sum(a) + ops::div_floor(ops::sum(divisors), divisors)),
               UnsupportedError);
}

TEST_F(ReduceErrors, GivenOutputsAreWritten) {
  const Tensor strided = new_tensor({6}, DType::f32).slice(0, 0, {}, 2);
  engine.reduce(Reduction::sum, a, {.dims = {0}}, strided);
  EXPECT_THAT(elements<float>(strided), ElementsAreArray({5, 7, 9}));
  const Tensor other_dtype = new_tensor({3}, DType::f64);
  engine.reduce(Reduction::amax, a, {.dims = {0}}, other_dtype);
  EXPECT_THAT(elements<double>(other_dtype), ElementsAreArray({4, 5, 6}));
  const Tensor wrong_size = new_tensor({0}, DType::f32);
  engine.reduce(Reduction::sum, a, {.dims = {1}}, wrong_size);
  EXPECT_THAT(elements<float>(wrong_size), ElementsAreArray({6, 15}));
  const Tensor prepared = new_tensor({3}, DType::f32);
  const PreparedPlan plan = engine.prepare(ops::sum(Expr(a) * a, {.dims = {0}}), prepared);
  plan.run();
  EXPECT_THAT(elements<float>(prepared), ElementsAreArray({17, 29, 45}));
  put<float>(a, 0, 2);
  plan.run();
  EXPECT_THAT(elements<float>(prepared), ElementsAreArray({20, 29, 45}));
  put<float>(a, 0, 1);
  // An input is read before it is written.
  engine.reduce(Reduction::cumsum, a, {.dims = {1}}, a);
  EXPECT_THAT(elements<float>(a), ElementsAreArray({1, 3, 6, 4, 9, 15}));
}

/// As PyTorch: what is asked for nowhere else.
TEST_F(ReduceErrors, GivenOutputsSayWhatSumsComputeIn) {
  const Tensor small = full({3}, 60000, {.dtype = DType::f16});
  const Tensor total = new_tensor({}, DType::f32), running = new_tensor({3}, DType::f32);
  engine.reduce(Reduction::sum, small, {}, total);
  EXPECT_EQ(get<float>(total, 0), 180000);
  engine.reduce(Reduction::cumsum, small, {.dims = {0}}, running);
  EXPECT_THAT(elements<float>(running), ElementsAreArray({60000, 120000, 180000}));
  engine.reduce(Reduction::sum, small, {.dtype = DType::f16}, total);
  EXPECT_EQ(get<float>(total, 0), std::numeric_limits<float>::infinity());
  const Tensor product = new_tensor({}, DType::f64);
  engine.reduce(Reduction::prod, full({4}, 1 << 30, {.dtype = DType::i32}), {}, product);
  EXPECT_EQ(get<double>(product, 0), 0x1p120);
  const Tensor rounded = new_tensor({}, DType::f16), truth = new_tensor({}, DType::boolean);
  engine.reduce(Reduction::sum, full({3}, 0.25, {.dtype = DType::f64}), {}, truth);
  EXPECT_TRUE(get<bool>(truth, 0));
  const auto place = [&] { engine.reduce(Reduction::argmax, a, {.dims = {0}}, rounded); };
  EXPECT_THAT(
      message<ArgumentError>(place),
      HasSubstr("argmax(): Expected out tensor to have dtype long int, but got Half instead"));
}

TEST_F(ReduceErrors, NothingReducesToTheIdentity) {
  const Tensor none = empty({0, 2}, DType::f32);
  EXPECT_THAT(elements<float>(engine.reduce(Reduction::sum, none, {.dims = {0}})),
              ElementsAreArray({0, 0}));
  EXPECT_EQ(engine.reduce(Reduction::prod, none).item(), Scalar(1.0));
  EXPECT_EQ(engine.reduce(Reduction::all, none).item(), Scalar(true));
  EXPECT_EQ(engine.reduce(Reduction::sum, none, {.dims = {1}}).numel(), 0);
  EXPECT_EQ(engine.reduce(Reduction::cumsum, none, {.dims = {0}}).numel(), 0);
}

TEST_F(ReduceErrors, LazyBitsAreApplied) {
  const Tensor z = tensor_of<c64>({{1, 2}, {3, -5}});
  EXPECT_EQ(engine.reduce(Reduction::sum, z.conj()).item().as_complex(),
            std::complex<double>(4, 3));
  const Tensor negative = z.conj().imag();
  EXPECT_THAT(elements<float>(engine.reduce(Reduction::cumsum, negative, {.dims = {0}})),
              ElementsAreArray({-2, 3}));
}

TEST_F(ReduceErrors, CallsGoThroughTheDispatcher) {
  int calls = 0;
  using Signature = Tensor(const Tensor&, IntSpan, bool, std::optional<DType>, double, double, bool,
                           std::optional<std::string_view>);
  const auto sum = registry().op("weft::sum").typed<Signature>();
  {
    const Registration count = registry().impl(
        "weft::sum", DispatchKey::user_outer1,
        KernelFunction::typed([&](DispatchKeySet keys, const Tensor& self, IntSpan dim,
                                  bool keepdim, std::optional<DType> dtype, double p,
                                  double correction, bool reverse,
                                  std::optional<std::string_view> numerics) {
          ++calls;
          return sum.redispatch(keys.below(DispatchKey::user_outer1), self, dim, keepdim, dtype, p,
                                correction, reverse, numerics);
        }));
    const IncludeDispatchKeyGuard guard{DispatchKeySet{DispatchKey::user_outer1}};
    EXPECT_EQ(engine.reduce(Reduction::sum, a).item(), Scalar(21.0));
  }
  EXPECT_EQ(calls, 1);
  const Sizes sizes{2, 3};
  const Tensor meta = empty(IntSpan(sizes), {DType::f32, {DeviceType::meta, 0}});
  const Tensor inferred = engine.reduce(Reduction::mean, meta, {.dims = {1}});
  EXPECT_EQ(inferred.device().type, DeviceType::meta);
  EXPECT_THAT(inferred.sizes(), ElementsAre(2));
}

TEST_F(ReduceErrors, ExpressionsAreWrittenAsTheyAreRead) {
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  for (const char* written :
       {"sum(a, dims=[0, 1])", "amax(a, dims=[1], keepdim=true) - a", "argmin(a, dims=[0])",
        "cumsum(a, dims=[1])", "cumprod(a, dims=[0], reverse=true)", "sum(a * a, dims=[0]) / 2",
        "any(a != 0, dims=[1])", "logcumsumexp(a, dims=[1])"})
    EXPECT_EQ(text(parse_expr(written, names)), written);
}

TEST_F(ReduceErrors, ExplainShowsThePasses) {
  const Expr x = Expr::named("x", unbacked(Sizes{64, 100}, Sizes{100, 1}, DType::f32));
  const Explanation rows = engine.explain(x - ops::mean(x, {.dims = {1}, .keepdim = true}));
  EXPECT_THAT(rows.passes,
              ElementsAre("inner fold of f32[64, 100]: mean(x, dims=[1], keepdim=true)"));
  EXPECT_THAT(rows.result_sizes, ElementsAreArray({64, 100}));
  const Explanation columns = engine.explain(ops::sum(x * x, {.dims = {0}}));
  EXPECT_THAT(columns.passes,
              ElementsAre("outer fold of f32[64, 100]: sum(x * x, dims=[0], keepdim=true)"));
  EXPECT_THAT(columns.result_sizes, ElementsAre(100));
}

/// What infer() says without data, and what is asked of tensors that have none.
TEST_F(ReduceErrors, DTypesAreRefusedWithoutData) {
  const Tensor f = full({2, 3}, 1, DType::f32), c = full({2, 3}, 1, DType::c64);
  const Expr refused[] = {ops::sum(ops::gcd(f, f)), ops::sum(~Expr(f)), ops::amax(c),
                          ops::cumsum(ops::exp2(c), {.dims = {0}})};
  for (const Expr& expr : refused) {
    const std::string said = message([&] { engine.eval(expr); });
    EXPECT_THAT(said, HasSubstr("() does not take "));
    EXPECT_EQ(message([&] { engine.infer(expr); }), said);
  }
  const Tensor meta = empty(c.sizes(), {DType::c64, {DeviceType::meta, 0}});
  EXPECT_THAT(message([&] { engine.eval(ops::amax(meta, {.dims = {0}})); }),
              HasSubstr("amax() does not take c64"));
}

}  // namespace
}  // namespace weft::testing
