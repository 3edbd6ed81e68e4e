// What PyTorch does at the edges of operators: exponents that are no powers, results next to
// infinity, parameters out of range.  Expected values were asked of PyTorch or follow from
// arithmetic.
#include "tests/engine/support/elements.h"
#include "tests/engine/support/engines.h"
#include "tests/matchers.h"

#include <weft/cancel.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

using matchers::ElementsAreArray;
using matchers::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_refused(const std::function<void()>& call, const char* text) {
  try {
    call();
    ADD_FAILURE() << "nothing refused it: " << text;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(Edges, ExponentsThatAreNumbersAreSimplerOperators) {
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const std::vector<float> special{-0.0F, -static_cast<float>(infinity), 2, 0.3F, -1.7F};
    const Tensor x = tensor_of(special);
    const auto power = [&](double exponent) {
      return elements<float>(engine->eval(ops::pow(Expr(x), Expr(exponent))));
    };
    const auto root = power(0.5), inverse_root = power(-0.5), cube = power(3), inverse = power(-2);
    EXPECT_TRUE(root[0] == 0 && std::signbit(root[0]));
    EXPECT_TRUE(std::isnan(root[1]));
    EXPECT_EQ(inverse_root[0], -infinity);
    EXPECT_TRUE(std::isnan(inverse_root[1]));
    for (std::size_t i = 2; i < special.size(); ++i) {
      EXPECT_EQ(cube[i], special[i] * special[i] * special[i]);
      EXPECT_EQ(inverse[i], 1 / (special[i] * special[i]));
    }
    EXPECT_THAT(power(0), ElementsAreArray({1, 1, 1, 1, 1}));
    EXPECT_TRUE(same_tensor(engine->eval(ops::pow(Expr(x), Expr(1.0))), x));
  }
}

TEST(Edges, ThePowerOfOneIsACopy) {
  Engine engine;
  const Tensor x = tensor_of<float>({1, 2, 3}), same = engine.eval(ops::pow(Expr(x), Expr(1.0)));
  EXPECT_NE(same.data(), x.data());
  const Tensor out = empty({3}, DType::f32);
  engine.eval(ops::pow(Expr(x), Expr(1.0)), out);
  EXPECT_TRUE(same_tensor(out, x));
  // Integers with a float for an exponent are floats.
  const Tensor whole = engine.eval(ops::pow(Expr(tensor_of<std::int32_t>({0, 4})), Expr(0.5)));
  EXPECT_THAT(elements<float>(whole), ElementsAreArray({0, 2}));
}

TEST(Edges, ComplexPowersOfNumbers) {
  Engine engine;
  using Complex = std::complex<double>;
  const std::vector<Complex> numbers{{0, 0}, {0, 1}, {2, -3}};
  const auto power = [&](int exponent) {
    return elements<Complex>(engine.eval(ops::pow(Expr(tensor_of(numbers)), Expr(exponent))));
  };
  EXPECT_THAT(power(0), ElementsAreArray({Complex(1), Complex(1), Complex(1)}));
  EXPECT_THAT(power(1), ElementsAreArray(numbers));
  EXPECT_THAT(power(3), ElementsAreArray({Complex(0), Complex(0, -1), Complex(-46, -9)}));
}

TEST(Edges, PowersReachTheLargestNumber) {
  constexpr double largest = std::numeric_limits<double>::max();
  const std::vector<double> x{largest, 544229.6811123036, 2, 2, 0, -infinity, -largest, 1e200, 3},
      y{1, 53.7424022, 1023.9999999999999, 1024, -1, 3, 1, 2, infinity};
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const auto power =
        elements<double>(engine->eval(ops::pow(Expr(tensor_of(x)), Expr(tensor_of(y)))));
    EXPECT_THAT(power, ElementsAreArray({largest, std::pow(x[1], y[1]), std::pow(2, y[2]), infinity,
                                         infinity, -infinity, -largest, infinity, infinity}))
        << engine->options().backend;
    EXPECT_TRUE(std::isfinite(power[1]) && std::isfinite(power[2]));
  }
}

TEST(Edges, LeastCommonMultiplesOutOfRangeAreLowBits) {
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const auto multiple = [&](const Tensor& a, const Tensor& b) {
      return engine->eval(apply(Op::lcm, {Expr(a), Expr(b)}));
    };
    EXPECT_THAT(elements<std::int8_t>(multiple(tensor_of<std::int8_t>({64, -64, 12, 0}),
                                               tensor_of<std::int8_t>({126, 126, -18, 5}))),
                ElementsAreArray({-64, -64, 36, 0}));
    // 46341 * 46342 = 2^31 + 50974, of which PyTorch takes the size of what it wraps to.
    EXPECT_THAT(elements<std::int32_t>(
                    multiple(tensor_of<std::int32_t>({46341}), tensor_of<std::int32_t>({46342}))),
                ElementsAreArray({static_cast<std::int32_t>((1LL << 32) - 46341LL * 46342)}));
  }
}

TEST(Edges, SoftplusAboveTwentyIsItsArgument) {
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const Tensor x = tensor_of<double>({20, 20.5, 36});
    const auto softplus = elements<double>(engine->eval(ops::softplus(Expr(x))));
    EXPECT_GT(softplus[0], 20);
    EXPECT_THAT((std::vector<double>{softplus[1], softplus[2]}), ElementsAreArray({20.5, 36.0}));
  }
}

TEST(Edges, AnyAndAllOfBytesTakeABoolOutput) {
  Engine engine;
  const Tensor bytes = tensor_of<std::uint8_t>({0, 2, 0}), out = full(Sizes{}, Scalar(true));
  engine.reduce(Reduction::all, bytes, {}, out);
  EXPECT_EQ(out.item(), Scalar(false));
  engine.reduce(Reduction::any, bytes, {}, out);
  EXPECT_EQ(out.item(), Scalar(true));
  EXPECT_EQ(engine.reduce(Reduction::any, bytes).dtype(), DType::u8);
}

TEST(Edges, DeviationsOfSmallFloatsAreComputedInDouble) {
  Engine engine;
  const Tensor numbers = engine.to(tensor_of<float>({1e38F, 0, 0}), DType::bf16);
  const double deviation = engine.reduce(Reduction::std, numbers).item().as_double();
  EXPECT_NEAR(deviation / 5.77e37, 1, 0.01);
}

TEST(Edges, ParametersOutOfRangeAreRefused) {
  Engine engine;
  const Expr x(tensor_of<float>({1, 2})), ints(tensor_of<std::int32_t>({1, 2}));
  expect_refused(
      [&] {
        apply(Op::softshrink, {x, Expr(-1)});
      },
      "lambda must be greater or equal to 0, but found to be -1.");
  expect_refused([&] { apply(Op::celu, {x, Expr(0)}); }, "alpha cannot be 0 for CELU");
  constexpr std::uint64_t beyond = std::uint64_t{1} << 63;
  expect_refused([&] { ops::add(ints, Expr(beyond)); },
                 "add(): value cannot be converted to type i32 without overflow: "
                 "9223372036854775808");
  EXPECT_EQ(elements<float>(engine.eval(x + Expr(beyond)))[0], 0x1p63F);
  const Expr wide(tensor_of<std::uint64_t>({1}));
  EXPECT_EQ(elements<std::uint64_t>(engine.eval(wide + Expr(beyond)))[0], beyond + 1);
  expect_refused([&] { ops::mean(x, {.dtype = DType::boolean}); },
                 "Optional dtype must be either a floating point or complex dtype. Got: Bool");
}

TEST(Edges, HardtanhOfUnsignedNumbersTakesNoNegativeLimits) {
  Engine engine;
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    const Expr x(engine.to(tensor_of<std::uint8_t>({0, 1, 5}), dtype));
    expect_refused([&] { ops::hardtanh(x, -3, 3); },
                   "cannot do hardtanh on an unsigned type with negative limits");
    EXPECT_EQ(engine.eval(ops::hardtanh(x, 1, 3)).select(0, 2).item().as_double(), 3);
  }
}

TEST(Edges, NanToNumTakesAnyNumbers) {
  Engine engine;
  const Expr bytes(tensor_of<std::uint8_t>({0, 255}));
  EXPECT_EQ(elements<std::uint8_t>(engine.eval(apply(Op::nan_to_num, {bytes, 300, -1, 1e10}))),
            (std::vector<std::uint8_t>{0, 255}));
  const Tensor halves = engine.to(tensor_of<float>({NAN, INFINITY, 1}), DType::f16);
  EXPECT_EQ(elements<float>(engine.to(
                engine.eval(apply(Op::nan_to_num, {Expr(halves), 1e10, -1e10, 0})), DType::f32)),
            (std::vector<float>{INFINITY, -INFINITY, 1}));
}

TEST(Edges, LogitOfIntegersTakesAnEps) {
  Engine engine;
  const Tensor result =
      engine.eval(apply(Op::logit_eps, {Expr(tensor_of<std::int32_t>({0, 1})), 0.25}));
  EXPECT_EQ(result.dtype(), DType::f32);
  EXPECT_FLOAT_EQ(elements<float>(result)[0], -std::log(3.0F));
  EXPECT_FLOAT_EQ(elements<float>(result)[1], std::log(3.0F));
}

TEST(Edges, LerpOutsideOfBothEndsIsNearTheFirst) {
  Engine engine;
  const Tensor from = tensor_of<float>({1, 0.1F}), to = tensor_of<float>({-INFINITY, 0.7F});
  const auto found = elements<float>(engine.eval(ops::lerp(from, to, -0.7)));
  EXPECT_EQ(found[0], INFINITY);
  EXPECT_EQ(found[1], std::fma(-0.7F, 0.7F - 0.1F, 0.1F));
}

TEST(Edges, DoublesBecomeTheLowByteOfTheirI64) {
  const std::vector<double> numbers = {2147483649.0, -2147483649.0, 4294967295.0, 1e15 + 3,
                                       -1e15 - 3,    0x1p62,        0x1p63,       -1e300,
                                       INFINITY,     NAN,           300.7,        -1.5};
  const std::vector<std::uint8_t> bytes = {1, 255, 255, 3, 253, 0, 0, 0, 0, 0, 44, 255};
  for (const char* backend : {"interp", "auto"}) {
    EngineOptions options;
    options.backend = backend;
    Engine engine(options);
    EXPECT_EQ(elements<std::uint8_t>(engine.to(tensor_of<double>(numbers), DType::u8)), bytes)
        << backend;
  }
}

TEST(Edges, OutputsOfSeveralSizesAreNamedByTheirExpressions) {
  Engine engine;
  const Expr small(tensor_of<float>({1, 2})), large(tensor_of<float>({1, 2, 3}));
  const std::vector<Expr> exprs = {small + 1, large + 1};
  const std::vector<Tensor> outputs = {full({2}, Scalar(0.0F)), full({3}, Scalar(true))};
  expect_refused([&] { engine.eval(exprs, outputs); }, "expression 1: result type Float");
  EXPECT_EQ(elements<float>(outputs[0]), (std::vector<float>{0, 0}));
}

TEST(Edges, RoundTakesWholeDecimals) {
  const Expr x(tensor_of<float>({1.25F}));
  expect_refused(
      [&] {
        apply(Op::round_decimals, {x, 1.5});
      },
      "round(): decimals must be an integer, but is 1.5");
  expect_refused([&] { apply(Op::round_decimals, {x, NAN}); }, "decimals must be an integer");
}

TEST(Edges, NothingHasNoVariance) {
  Engine engine;
  for (const double correction : {-1.0, 0.0, 1.0})
    EXPECT_TRUE(std::isnan(
        engine.reduce(Reduction::var, full({0}, Scalar(1.0F)), {.correction = correction})
            .item()
            .as_double()));
}

TEST(Edges, ReductionsOfMoreElementsThanThereAreNumbersAreRefused) {
  const auto repeated = [](std::int64_t rows, std::int64_t columns) {
    return full(Sizes{1}, Scalar(1.0)).expand({rows, columns});
  };
  for (const std::int64_t bits : {31, 32}) {
    const Expr x = Expr(repeated(std::int64_t{1} << bits, 1)) + repeated(1, std::int64_t{1} << 33);
    expect_refused([&] { ops::sum(x); }, "numel: integer multiplication overflow");
    expect_refused([&] { ops::amax(x, {.dims = {0}}); }, "numel: integer multiplication overflow");
  }
}

TEST(Edges, WhatIsMovedCanBeUsedAgain) {
  Engine engine;
  Expr x(tensor_of<float>({1, 2}));
  const Expr y = std::move(x);
  EXPECT_TRUE(same_tensor(engine.eval(x), engine.eval(y)));  // NOLINT: what was moved
  const Tensor out = empty({2}, DType::f32);
  PreparedPlan plan = engine.prepare(y + 1, out);
  const PreparedPlan moved = std::move(plan);
  plan.run();  // NOLINT: what was moved
  EXPECT_THAT(elements<float>(out), ElementsAreArray({2, 3}));
  CancellationToken token;
  const CancellationToken same = std::move(token);
  token.cancel();  // NOLINT: what was moved
  EXPECT_TRUE(same.is_cancelled());
}

TEST(Edges, ScansTakeNoKeepdim) {
  Engine engine;
  expect_refused([&] { ops::cumsum(Expr(tensor_of<float>({1})), {.dims = {0}, .keepdim = true}); },
                 "cumsum() keeps all dimensions and takes no keepdim");
}

TEST(Edges, FloatPowersOfNumbersAreSimplerOperators) {
  const Tensor x = tensor_of<float>({-static_cast<float>(infinity), -0.0F, 4});
  const std::pair<std::string, Tensor> names[] = {{"a", x}};
  const auto roots = elements<double>(Engine().eval(parse_expr("float_power(a, 0.5)", names)));
  EXPECT_TRUE(std::isnan(roots[0]));
  EXPECT_TRUE(roots[1] == 0 && std::signbit(roots[1]));
  EXPECT_EQ(roots[2], 2);
}

TEST(Edges, ExplainCountsWhatAllPassesRead) {
  Engine engine;
  const std::pair<std::string, Tensor> names[] = {{"a", empty({1000}, DType::f32)}};
  for (const char* text : {"var(a)", "norm(a)", "sum(a) + 1", "sum(a)", "logsumexp(a)"}) {
    const Story story = engine.explain(parse_expr(text, names)).story;
    EXPECT_EQ(story.read_bytes, 4000) << text;
    EXPECT_EQ(story.written_bytes, 4) << text;
  }
}

TEST(Edges, ShapesThatDontMatchNameTheArgument) {
  const std::pair<std::string, Tensor> names[] = {{"c", empty({2, 3}, DType::f32)},
                                                  {"b", empty({4}, DType::f32)}};
  expect_refused([&] { Engine().eval(parse_expr("sum(c * c + b)", names)); },
                 "tensor b is b, f32[4], beside [2, 3]");
}

TEST(Edges, AnglesNextToMultiplesOfAQuarterTurn) {
  // The worst of numbers with so many turns; exact values by MPFR.
  const double x = 0x1.065c829d68730p+40, half = 0x1.065c829d68730p+39;
  const auto repeated = [](double value) { return tensor_of(std::vector<double>(19, value)); };
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const auto last = [&](const Expr& expr) { return elements<double>(engine->eval(expr)).back(); };
    EXPECT_DOUBLE_EQ(last(ops::sin(Expr(repeated(x)))), 3.0022447283791637e-17);
    EXPECT_DOUBLE_EQ(last(ops::cos(Expr(repeated(half)))), 1.5011223641895818e-17);
    EXPECT_DOUBLE_EQ(last(ops::tan(Expr(repeated(half)))), 6.661682111037462e16);
    EXPECT_EQ(last(ops::tan(Expr(repeated(-5e-324)))), -5e-324);
  }
}

TEST(Edges, DistancesReachTheLargestNumber) {
  const auto repeated = [](auto value) { return tensor_of(std::vector(35, value)); };
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const Tensor wide = engine->eval(ops::hypot(Expr(repeated(0x1.7c94f22e19e5ep+1023)),
                                                Expr(repeated(0x1.567e3771a080ap+1023))));
    EXPECT_DOUBLE_EQ(elements<double>(wide).back(), 0x1.ffffffffffffdp+1023);
    const Tensor narrow = engine->eval(
        ops::hypot(Expr(repeated(1.3270831309693297e38F)), Expr(repeated(3.1333775366995612e38F))));
    EXPECT_FLOAT_EQ(elements<float>(narrow).back(), 3.4028230080e38F);
    const Tensor infinite =
        engine->eval(ops::hypot(Expr(repeated(1.7e308)), Expr(repeated(1.7e308))));
    EXPECT_EQ(elements<double>(infinite).back(), infinity);
  }
}

TEST(Edges, DecimalsMayBeManyAndFar) {
  Engine engine;
  const Tensor x = tensor_of<double>({1.5e-35, 1.5e33, 123.456});
  const auto rounded = [&](int decimals) {
    return elements<double>(engine.eval(ops::round(Expr(x), decimals)));
  };
  EXPECT_DOUBLE_EQ(rounded(36)[0], 1.5e-35);
  EXPECT_EQ(rounded(-40)[1], 0);
  EXPECT_EQ(rounded(308)[2], infinity);
  const Tensor narrow = tensor_of<float>({1.5e33F});
  EXPECT_EQ(elements<float>(engine.eval(ops::round(Expr(narrow), -31)))[0], 1.5e33F);
}

TEST(Edges, ProductsOfLongRowsStayInRange) {
  std::vector<double> numbers(40000, 1);
  std::fill_n(numbers.begin(), 1000, 0.5);
  std::fill_n(numbers.begin() + 4096, 1500, 2.0);
  std::vector<double> zero(40000, 2);
  zero[0] = 0;
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const auto last = [&](const std::vector<double>& of) {
      return elements<double>(engine->reduce(Reduction::cumprod, tensor_of(of), {.dims = {0}}))
          .back();
    };
    EXPECT_EQ(last(numbers), 0x1p500);
    EXPECT_EQ(last(zero), 0);
  }
}

TEST(Edges, NormsOfNegativeOrderDontOverflowBeforeThePowerDoes) {
  Engine engine;
  const Tensor x = tensor_of<double>({1.354188600924202e154, 1.354188600924202e154});
  const double norm = engine.reduce(Reduction::norm, x, {.p = -2}).item().as_double();
  EXPECT_NEAR(norm / (1.354188600924202e154 / std::sqrt(2.0)), 1, 1e-12);
}

TEST(Edges, MaskedFillKeepsTheInputsDtype) {
  Engine engine;
  const Tensor mask = tensor_of<bool>({true, false}), a = tensor_of<std::int8_t>({1, 2});
  for (const Expr& value : {Expr(0.5), Expr(full(IntSpan(), 0.5, {.dtype = DType::f16}))}) {
    const Tensor filled = engine.eval(ops::masked_fill(a, mask, value));
    EXPECT_EQ(filled.dtype(), DType::i8);
    EXPECT_EQ(get<std::int8_t>(filled, 0), 0);
    EXPECT_EQ(get<std::int8_t>(filled, 1), 2);
  }
}

// A plan's inputs are in the order in which they are written, for which the mask is the second.
TEST(Edges, PreparedMaskedFillTakesInputMaskValue) {
  Engine engine;
  const Tensor a = tensor_of<float>({1, 1, 1}), value = tensor_of<float>({9, 9, 9});
  const Tensor mask = tensor_of<bool>({true, true, true});
  Tensor a2 = tensor_of<float>({10, 20, 30}), value2 = tensor_of<float>({5, 6, 7});
  Tensor mask2 = tensor_of<bool>({false, true, false}), out = new_tensor({3}, DType::f32);
  std::byte* const data[] = {out.data(), a2.data(), mask2.data(), value2.data()};
  engine.prepare(ops::masked_fill(a, mask, value)).run(data);
  EXPECT_THAT(elements<float>(out), ElementsAreArray({10, 6, 30}));
  // The same of a plan that takes several passes.
  engine.prepare(ops::masked_fill(a, mask, value) - reduce(Reduction::sum, value)).run(data);
  EXPECT_THAT(elements<float>(out), ElementsAreArray({-8, -12, 12}));
  std::byte* const where[] = {out.data(), mask2.data(), a2.data(), value2.data()};
  engine.prepare(ops::where(mask, a, value)).run(where);
  EXPECT_THAT(elements<float>(out), ElementsAreArray({5, 20, 7}));
}

TEST(Edges, ParametersMayBeTheGreatestOfTheirDtype) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> numbers{1, most, -5};
  const Tensor x = tensor_of(numbers);
  Engine engine;
  EXPECT_EQ(elements<std::int64_t>(engine.eval(ops::clamp_max(Expr(x), Expr(most)))), numbers);
  expect_refused([&] { engine.eval(ops::clamp_max(Expr(x), Expr(std::uint64_t{1} << 63))); },
                 "without overflow");
  // A power of f32 is taken with an exponent that is infinite.
  const Tensor y = tensor_of(std::vector<float>{1, 0.5F, 2});
  const auto inf = static_cast<float>(infinity);
  EXPECT_EQ(elements<float>(engine.eval(ops::pow(Expr(y), Expr(1e40)))),
            (std::vector<float>{1, 0, inf}));
  EXPECT_EQ(elements<float>(engine.eval(ops::pow(Expr(y), Expr(-1e40)))),
            (std::vector<float>{1, inf, 0}));
}

}  // namespace
}  // namespace weft::testing
