// Floats taken apart, put together and squeezed: frexp in one pass, ldexp as PyTorch promotes it,
// and conversions that saturate.
#include "tests/engine/support/elements.h"
#include "tests/engine/support/engines.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::HasSubstr;

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Frexp, GivesBothPartsInOnePass) {
  Random random(3);
  const Tensor x = new_tensor({1000}, DType::f32);
  randomise(x, random);
  const Tensor mantissa = new_tensor({1000}, DType::f32), exponent = new_tensor({1000}, DType::i32);
  for (std::int64_t i = 0; i < 1000; ++i) {
    const float value = get<float>(x, i);
    int power = 0;
    put<float>(mantissa, i, std::frexp(value, &power));
    put<std::int32_t>(exponent, i, std::isfinite(value) ? power : 0);
  }
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const auto [first, second] = engine->frexp(x);
    EXPECT_TRUE(same_tensor(first, mantissa)) << engine->options().backend;
    EXPECT_TRUE(same_tensor(second, exponent)) << engine->options().backend;
    EXPECT_EQ(engine->stats().kernel_misses, 1U) << engine->options().backend;
  }
}

TEST(Frexp, IsReadWhereResultsMayBeTwo) {
  Engine engine;
  const std::vector<std::pair<std::string, Tensor>> names{{"a", tensor_of<double>({12, -0.0})},
                                                          {"n", tensor_of<std::int32_t>({1, 2})}};
  const std::vector<Tensor> results = engine.eval(parse_exprs("a + n, frexp(a * 2)", names));
  ASSERT_EQ(results.size(), 3U);
  EXPECT_THAT(elements<double>(results[1]), ElementsAre(0.75, -0.0));
  EXPECT_THAT(elements<std::int32_t>(results[2]), ElementsAre(5, 0));
  const auto said = [&](const char* text) { return refusal([&] { parse_exprs(text, names); }); };
  EXPECT_THAT(said("frexp(a) + 1"), HasSubstr("frexp has two results, which nothing combines"));
  EXPECT_THAT(said("1 + frexp(a)"), HasSubstr("frexp has two results: it stands alone"));
  EXPECT_THAT(said("frexp()"), HasSubstr("frexp takes 1 argument"));
  EXPECT_THAT(said("frexp(a, 2)"), HasSubstr("frexp takes 1 argument"));
  EXPECT_THAT(said("frexp(n)"), HasSubstr("does not take i32; it takes"));
  EXPECT_THAT(refusal([&] { parse_expr("frexp(a)", names); }), HasSubstr("two results"));
  EXPECT_THAT(refusal([&] { engine.frexp(names[1].second); }),
              HasSubstr("frexp() does not take i32; it takes real floating"));
  EXPECT_THAT(refusal([&] { engine.define("frexp(x)", "x + 1"); }),
              HasSubstr("a built-in function"));
}

TEST(Ldexp, IntegersAreExponentsOfF32) {
  Engine engine;
  const Tensor n = tensor_of<std::int64_t>({3, -200, 200});
  const auto of = [&](const Tensor& x) { return engine.binary(Op::ldexp, x, n); };
  EXPECT_EQ(of(engine.to(tensor_of<float>({1, 2, 3}), DType::f16)).dtype(), DType::f32);
  EXPECT_THAT(elements<float>(of(tensor_of<std::int32_t>({1, 2, 3}))), ElementsAre(8, 0, infinity));
  EXPECT_THAT(elements<double>(of(tensor_of<double>({1.5, 1, 1}))),
              ElementsAre(12, 0x1p-200, 0x1p200));
  const Tensor one = scalar_tensor<std::int64_t>(3);  // 0-dim: it leaves f16 as it is
  const Tensor half = engine.to(tensor_of<float>({1.5}), DType::f16);
  EXPECT_EQ(engine.binary(Op::ldexp, half, one).dtype(), DType::f16);
}

TEST(Ldexp, TakesComplexNumbers) {
  const Tensor x = tensor_of<c64>({{1.5F, 1}, {2, -3}, {infinity, 1}});
  const Tensor n = tensor_of<std::int32_t>({2, -1, 2});
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    SCOPED_TRACE(engine->options().backend);
    const std::vector<c64> result = elements<c64>(engine->binary(Op::ldexp, x, n));
    EXPECT_EQ(result[0], c64(6, 4));
    EXPECT_EQ(result[1], c64(1, -1.5F));
    EXPECT_EQ(result[2].real(), infinity);  // as PyTorch's product, whose other part is NaN
    EXPECT_TRUE(std::isnan(result[2].imag()));
    // 1.5 * 2 ** (2 + 1j)
    const Tensor power = tensor_of<c64>({{2, 1}});
    const c64 turned = elements<c64>(engine->binary(Op::ldexp, tensor_of<float>({1.5F}), power))[0];
    EXPECT_NEAR(turned.real(), 6 * std::cos(std::log(2.0)), 1e-6);
    EXPECT_NEAR(turned.imag(), 6 * std::sin(std::log(2.0)), 1e-6);
  }
}

TEST(SaturatingCast, StaysWithinTheLargestOfSmallFloats) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = tensor_of<float>({448, 463, 464, 1e30F, -infinity, nan, -3.3F, 70000});
  const std::vector<std::pair<std::string, Tensor>> names{{"a", x}};
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    SCOPED_TRACE(engine->options().backend);
    const auto values = [&](const Expr& expr) {
      return elements<float>(engine->to(engine->eval(expr), DType::f32));
    };
    const auto largest = [&](DType dtype) {
      const std::vector<float> saturated = values(cast(x, dtype, CastOverflow::saturates));
      EXPECT_EQ(saturated[4], -saturated[3]);
      EXPECT_TRUE(std::isnan(saturated[5]));
      EXPECT_EQ(saturated[6], values(cast(x, dtype))[6]);
      return saturated[3];
    };
    EXPECT_EQ(largest(DType::f8e4m3fn), 448);
    EXPECT_EQ(largest(DType::f8e5m2), 57344);
    EXPECT_EQ(largest(DType::f16), 65504);
    const std::vector<float> parsed = values(parse_expr("cast(a, f8e4m3fn, saturate=true)", names));
    EXPECT_EQ(parsed[2], 448);
    const std::vector<float> plain = values(parse_expr("cast(a, f8e4m3fn, saturate=false)", names));
    EXPECT_TRUE(std::isnan(plain[3]));
  }
}

TEST(SaturatingCast, TakesInfinitiesOfSmallFloats) {
  Engine engine;
  const Tensor x = tensor_of<float>({infinity, -infinity});
  for (const DType from : {DType::f16, DType::bf16, DType::f8e5m2})
    for (const DType to : {DType::f16, DType::bf16, DType::f8e5m2}) {
      const Tensor result = engine.eval(cast(engine.to(x, from), to, CastOverflow::saturates));
      const auto largest = static_cast<float>(largest_finite(to));
      EXPECT_THAT(elements<float>(engine.to(result, DType::f32)), ElementsAre(largest, -largest))
          << name(from) << " to " << name(to);
    }
}

TEST(SaturatingCast, TakesEveryDtype) {
  Engine engine;
  for (const DType from : all_dtypes) {
    const Tensor x = full(Sizes{2}, Scalar(1), {from, {}, {}});
    const Tensor result = engine.eval(cast(x, DType::f8e5m2, CastOverflow::saturates));
    EXPECT_EQ(convert<float>(get<f8e5m2>(result, 0)), 1) << name(from);
  }
  const Tensor wide = tensor_of<std::int64_t>({1'000'000'007, -57345});
  EXPECT_THAT(elements<float>(engine.to(
                  engine.eval(cast(wide, DType::f8e5m2, CastOverflow::saturates)), DType::f32)),
              ElementsAre(57344, -57344));
  // More than half way between two numbers of 8 bits, by a bit that f32 does not have.
  const Tensor odd =
      tensor_of<std::int64_t>({(std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1});
  EXPECT_EQ(elements<float>(engine.to(engine.eval(cast(odd, DType::bf16, CastOverflow::saturates)),
                                      DType::f32)),
            elements<float>(engine.to(engine.to(odd, DType::bf16), DType::f32)));
  EXPECT_THAT(refusal([&] { cast(wide, DType::f64, CastOverflow::saturates); }),
              HasSubstr("a cast to f64 does not saturate"));
  const std::vector<std::pair<std::string, Tensor>> names{{"a", wide}};
  EXPECT_THAT(refusal([&] { parse_expr("cast(a, i8, saturate=true)", names); }),
              HasSubstr("a cast to i8 does not saturate"));
  EXPECT_THAT(refusal([&] { parse_expr("cast(a, f16, saturate=2)", names); }),
              HasSubstr("expected true or false"));
  EXPECT_THAT(refusal([&] { parse_expr("cast(a, f16, 1)", names); }),
              HasSubstr("saturate=true or false"));
}

}  // namespace
}  // namespace weft::testing
