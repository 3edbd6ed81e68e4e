// Where weft is better than PyTorch on purpose, as docs/divergences.md lists it.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;

Sizes strides_of(const Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}

TEST(Divergences, StridedOverlapReadsEveryInputFirst) {
  Engine engine;
  const Tensor x = arange(Scalar(0), Scalar(10), Scalar(1), DType::f32);
  const Tensor written = x.slice(0, 2, 10, 2);
  engine.binary(Op::add, written, x.slice(0, 0, 8, 2), written);
  EXPECT_THAT(elements<float>(x), ElementsAreArray({0, 1, 2, 3, 6, 5, 10, 7, 14, 9}));
}

TEST(Divergences, RefusedOverlapNamesTheFirstPair) {
  Engine engine;
  const Tensor x = arange(Scalar(0), Scalar(6), Scalar(1), DType::f32);
  try {
    engine.binary(Op::add, x.slice(0, 0, 4, 1), x.slice(0, 0, 4, 1), x.slice(0, 2, 6, 1));
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("element [0] of"));
    EXPECT_THAT(error.what(), HasSubstr("element [2] of"));
  }
  EXPECT_THAT(elements<float>(x), ElementsAreArray({0, 1, 2, 3, 4, 5}));
}

TEST(Divergences, ScansIntoTheirInputReadItFirst) {
  Engine engine;
  const Tensor x = arange(Scalar(0), Scalar(6), Scalar(1), DType::f32);
  engine.reduce(Reduction::cumsum, x.slice(0, 0, 5), {.dims = {0}}, x.slice(0, 1));
  EXPECT_THAT(elements<float>(x), ElementsAreArray({0, 0, 1, 3, 6, 10}));
  const Tensor one = zeros({1}, DType::f32);
  EXPECT_THROW(engine.reduce(Reduction::sum, ones({3, 2}), {.dims = {0}}, one.expand({2})),
               ArgumentError);
  EXPECT_THAT(elements<float>(one), ElementsAreArray({0}));
}

TEST(Divergences, NegativeStridesAreViews) {
  Engine engine;
  const Tensor x = arange(Scalar(0), Scalar(4), Scalar(1), DType::f32);
  const Tensor backwards = x.flip({0});
  EXPECT_EQ(strides_of(backwards), Sizes{-1});
  EXPECT_EQ(backwards.storage(), x.storage());
  EXPECT_THAT(elements<float>(engine.binary(Op::sub, x, backwards)),
              ElementsAreArray({-3, -1, 1, 3}));
  const Tensor out = new_tensor({4}, DType::f32);
  engine.unary(Op::square, x, out.flip({0}));
  EXPECT_THAT(elements<float>(out), ElementsAreArray({9, 4, 1, 0}));
}

/// The strides are those of inputs as they are, not of converted copies of them.
TEST(Divergences, MixedDtypesKeepTheStridesOfTheInputs) {
  Engine engine;
  const Tensor gaps = new_tensor({4, 8}, DType::i32).slice(1, 0, 8, 2).t();
  const Tensor plain = new_tensor({4, 4}, DType::f32);
  std::memset(gaps.storage()->data(), 0, gaps.storage()->size_bytes());
  std::memset(plain.storage()->data(), 0, plain.storage()->size_bytes());
  const Tensor result = engine.binary(Op::add, gaps, plain);
  EXPECT_EQ(result.dtype(), DType::f32);
  EXPECT_EQ(strides_of(result), (Sizes{1, 4}));
  EXPECT_EQ(engine.infer(Expr(gaps) + Expr(plain)).strides, (Sizes{1, 4}));
}

TEST(Divergences, IntegersThatKillPyTorchAreDefined) {
  Engine engine;
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  const Tensor a = tensor_of<std::int32_t>({lowest, 7});
  const Tensor b = tensor_of<std::int32_t>({-1, -2});
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::div_floor, a, b)), ElementsAre(lowest, -4));
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::remainder, a, b)),
              ElementsAreArray({0, -1}));
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::fmod, a, b)), ElementsAreArray({0, 1}));
}

TEST(Divergences, ShiftsByTheWidthOrMoreAreDefined) {
  Engine engine;
  const Tensor a = tensor_of<std::int32_t>({-5, 5});
  const Tensor by = tensor_of<std::int32_t>({32, 40});
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::bitwise_left_shift, a, by)),
              ElementsAreArray({0, 0}));
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::bitwise_right_shift, a, by)),
              ElementsAreArray({-1, 0}));
}

/// Through f32 the value would become a tie, and then 1.
TEST(Divergences, DoublesRoundToHalfOnce) {
  Engine engine;
  const double just_above_a_tie = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  const Tensor half = engine.to(tensor_of<double>({just_above_a_tie}), DType::f16);
  EXPECT_EQ(convert<double>(get<f16>(half, 0)), 1 + std::ldexp(1.0, -10));
}

/// Whatever the length and the strides, so that vectors and their tails agree.
TEST(Divergences, NegatedViewsAreCopiedToBool) {
  Engine engine;
  const Tensor truth = empty({2}, DType::boolean);
  const Tensor numbers = full(Sizes{2}, Scalar(3.0));
  numbers.data_as<float>()[1] = 0;
  engine.copy(truth, numbers.neg_view());
  EXPECT_EQ(elements<bool>(truth), (std::vector<bool>{true, false}));
}

TEST(Divergences, ComplexSumsKeepTheirPartsApart) {
  Engine engine;
  const Tensor a = full(Sizes{1}, Scalar(std::complex<double>(1, 1)), {DType::c64, {}, {}});
  const Tensor b =
      full(Sizes{1}, Scalar(std::complex<double>(2, std::nan(""))), {DType::c64, {}, {}});
  const c64 sum = elements<c64>(engine.binary(Op::add, a, b))[0];
  EXPECT_EQ(sum.real(), 3);
  EXPECT_TRUE(std::isnan(sum.imag()));
}

TEST(Divergences, NegatedComplexZerosAreMinusZero) {
  Engine engine;
  for (const std::int64_t count : {1, 4, 17, 64}) {
    for (const std::int64_t step : {1, 2}) {
      const Tensor zeros = full(Sizes{count * step}, Scalar(0), {DType::c64, {}, {}});
      const Tensor copy = empty({count}, DType::c64);
      engine.copy(copy, zeros.slice(0, 0, count * step, step).neg_view());
      for (const c64& value : elements<c64>(copy)) {
        EXPECT_TRUE(std::signbit(value.real()) && std::signbit(value.imag()))
            << count << " in steps of " << step;
      }
    }
  }
}

TEST(Divergences, DivisionByZeroIsFoundBeforeAnythingIsWritten) {
  Engine engine;
  const Tensor a = tensor_of<std::int64_t>({4, 5, 6});
  const Tensor zeros_last = tensor_of<std::int64_t>({1, 1, 0});
  const Tensor out = tensor_of<std::int64_t>({7, 8, 9});
  EXPECT_THROW(engine.binary(Op::div_floor, a, zeros_last, out), ArithmeticError);
  EXPECT_THAT(elements<std::int64_t>(out), ElementsAreArray({7, 8, 9}));
}

/// What is not selected leaves no trace, and NaN is propagated as PyTorch does.
TEST(Divergences, ComplexVariancesDivideOnce) {
  Engine engine;
  const auto variance = [&](const Tensor& z, double correction) {
    return get<float>(engine.reduce(Reduction::var, z, {.correction = correction}), 0);
  };
  const Tensor on_the_axis = tensor_of<c64>({{1, 0}, {2, 0}, {3, 0}});  // NaN in PyTorch
  EXPECT_EQ(variance(on_the_axis, 3), std::numeric_limits<float>::infinity());
  EXPECT_EQ(variance(on_the_axis, 5), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(variance(tensor_of<c64>({{1, 1}, {1, 1}}), 2)));
}

TEST(Divergences, SelectionsHaveNoBranches) {
  Engine engine;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor mask = tensor_of<bool>({true, false, true});
  const Tensor a = tensor_of<float>({1, nan, 3}), b = tensor_of<float>({nan, 2, infinity});
  EXPECT_THAT(elements<float>(engine.ternary(Op::where, mask, a, b)), ElementsAreArray({1, 2, 3}));
  const Tensor larger = engine.binary(Op::maximum, a, b);
  EXPECT_TRUE(std::isnan(get<float>(larger, 0)));
  EXPECT_TRUE(std::isnan(get<float>(larger, 1)));
  EXPECT_EQ(get<float>(larger, 2), infinity);
}

/// Of two ambiguous tensors of one shape the result is contiguous whichever comes first.
TEST(Divergences, TheFastSetUpIsPartOfTheResult) {
  Engine engine;
  const Tensor a = new_tensor({2, 3, 1, 1}, DType::f32);
  const Tensor b = new_tensor({2, 3, 1, 1}, DType::f32, MemoryFormat::channels_last);
  EXPECT_EQ(engine.infer(Expr(a) + Expr(b)).strides, (Sizes{3, 1, 1, 1}));
  EXPECT_EQ(engine.infer(Expr(b) + Expr(a)).strides, (Sizes{3, 1, 1, 1}));
}

TEST(Divergences, ConditionsMayBeNumbers) {
  Engine engine;
  const Tensor condition = tensor_of<float>({1, 0, -0.5F});
  const Tensor a = tensor_of<std::uint8_t>({1, 2, 3});
  EXPECT_THAT(elements<std::uint8_t>(engine.eval(ops::where(Expr(condition), Expr(a), Expr(300)))),
              ElementsAreArray({1, 44, 3}));
}

TEST(Divergences, OutputsMayHaveOtherDtypes) {
  Engine engine;
  const Tensor a = tensor_of<std::int64_t>({1, -2, 7});
  const Tensor out = new_tensor({3}, DType::i32), most = new_tensor({1}, DType::f32);
  engine.eval(-Expr(a), out);
  EXPECT_THAT(elements<std::int32_t>(out), ElementsAreArray({-1, 2, -7}));
  engine.eval(ops::amax(Expr(a), {.dims = {0}, .keepdim = true}), most);
  EXPECT_EQ(get<float>(most, 0), 7);
}

TEST(Divergences, FilledTensorsKeepTheirMemoryFormat) {
  Engine engine;
  const Tensor image = new_tensor({2, 3, 4, 5}, DType::f32, MemoryFormat::channels_last);
  const Tensor mask = full({2, 3, 4, 5}, Scalar(true));
  EXPECT_TRUE(
      engine.eval(ops::masked_fill(image, mask, 0)).is_contiguous(MemoryFormat::channels_last));
  const Tensor values = tensor_of<float>({1, 2, 3, 4, 5});
  EXPECT_EQ(get<float>(engine.eval(ops::masked_fill(image, mask, values)), 3), 4);
}

TEST(Divergences, LogitsBetweenCrossedBoundsAreThoseOfTheUpper) {
  Engine engine;
  const Tensor logits = engine.eval(ops::logit(tensor_of<double>({1, -2, 3}), 0.6));
  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(get<double>(logits, i), std::log(0.4 / 0.6));
}

TEST(Divergences, SoftsignOfIntegersDoesNotWrap) {
  Engine engine;
  const Tensor bytes = tensor_of<std::int8_t>({-128, 127}),
               words = tensor_of<std::int32_t>({INT32_MAX});
  EXPECT_THAT(elements<float>(engine.eval(ops::softsign(bytes))),
              ElementsAreArray({-128.F / 129, 127.F / 128}));
  EXPECT_EQ(get<float>(engine.eval(ops::softsign(words)), 0), 1.F);
}

TEST(Divergences, OperandsOfSeveralDtypesHaveACommonOne) {
  Engine engine;
  const Tensor a = tensor_of<float>({1, 3}), b = tensor_of<double>({2, 4}),
               n = tensor_of<std::int32_t>({1, 2}), truth = tensor_of<bool>({true, false});
  EXPECT_THAT(elements<double>(engine.eval(apply(Op::lerp, {Expr(a), Expr(b), Expr(0.5)}))),
              ElementsAreArray({1.5, 3.5}));
  EXPECT_THAT(elements<double>(engine.eval(apply(Op::heaviside, {Expr(a), Expr(b)}))),
              ElementsAreArray({1., 1.}));
  EXPECT_EQ(engine.eval(apply(Op::complex, {Expr(a), Expr(b)})).dtype(), DType::c128);
  EXPECT_EQ(engine.eval(ops::addcdiv(Expr(a), Expr(n), Expr(n))).dtype(), DType::f32);
  EXPECT_EQ(engine.eval(apply(Op::tanhshrink, {Expr(truth)})).dtype(), DType::f32);
}

TEST(Divergences, NormsComputeInTheDtypeThatIsAskedFor) {
  Engine engine;
  const Tensor a = tensor_of<double>({3, 4});
  const Tensor narrow = engine.eval(ops::norm(a, {.dtype = DType::f16, .p = 2}));
  EXPECT_EQ(narrow.dtype(), DType::f16);
  EXPECT_EQ(narrow.item(), Scalar(5.0));
}

TEST(Divergences, NormsOfAnInfinityAndNaNAreNaN) {
  Engine engine;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor z = tensor_of<std::complex<double>>({{infinity, std::nan("")}});
  EXPECT_TRUE(std::isnan(get<double>(engine.eval(ops::norm(z, {.p = 2})), 0)));
  EXPECT_EQ(get<double>(engine.eval(ops::abs(z)), 0), infinity);
}

TEST(Divergences, NansumsOfComplexNumbersLeaveOutNaN) {
  Engine engine;
  const double nan = std::nan("");
  using C = std::complex<double>;
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Tensor z = tensor_of<C>({C(1, 2), C(nan, 1), C(1, nan), C(nan, nan), C(3, -4)});
    const Tensor sum = engine.reduce(Reduction::nansum, engine.to(z, dtype), {});
    EXPECT_EQ(sum.dtype(), dtype);
    EXPECT_EQ(get<C>(engine.to(sum, DType::c128), 0), C(4, -2));
  }
}

TEST(Divergences, NumbersOverTensorsRoundOnce) {
  Engine engine;
  const double divisor = -2.5, single = 1.75;
  EXPECT_EQ(get<double>(engine.eval(3.0 / Expr(full({1}, divisor, DType::f64))), 0), -1.2);
  ASSERT_NE(3 * (1 / divisor), -1.2);  // what PyTorch gives
  const auto quotient = get<float>(engine.eval(-1.5 / Expr(full({1}, single, DType::f32))), 0);
  EXPECT_EQ(quotient, -1.5F / 1.75F);
  ASSERT_NE(quotient, -1.5F * (1 / 1.75F));
}

TEST(Divergences, ComposedFunctionsFollowTheirOperands) {
  Engine engine;
  const Tensor b = full({4, 3}, 1, DType::f32).t();
  for (const Expr& expr : {ops::pow(Expr(2.0), Expr(b)), apply(Op::log_sigmoid, {Expr(b)})}) {
    const Tensor result = engine.eval(expr);
    EXPECT_TRUE(std::ranges::equal(result.strides(), b.strides())) << text(expr);
  }
}

}  // namespace
}  // namespace weft::testing
