// What PyTorch does at the edges of operators: exponents that are no powers, results next to
// infinity, parameters out of range.  Expected values were asked of PyTorch or follow from
// arithmetic.
#include "tests/engine/support/elements.h"
#include "tests/engine/support/engines.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>

namespace weft::testing {
namespace {

using matchers::ElementsAreArray;
using matchers::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
Tensor tensor_of(const std::vector<T>& values) {
  const Tensor result = new_tensor({static_cast<std::int64_t>(values.size())}, dtype_of<T>);
  std::ranges::copy(values, result.data_as<T>());
  return result;
}

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

TEST(Edges, SoftplusFromTwentyOnIsItsArgument) {
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

}  // namespace
}  // namespace weft::testing
