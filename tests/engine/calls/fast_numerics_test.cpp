// What Numerics::fast changes, to the bit: a product that only a sum or a difference uses is not
// rounded, on every backend; three functions of f32 have bounds of their own; and nothing else
// differs from the default.
#include "tests/engine/support/elements.h"
#include "tests/required_backends.h"

#include <weft/convert.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace weft::testing {
namespace {

std::unique_ptr<Engine> engine_of(const char* backend, Numerics numerics) {
  EngineOptions options;
  options.backend = backend;
  options.numerics = numerics;
  options.disk_cache = DiskCacheOptions{CacheMode::off, {}, 0};
  try {
    return std::make_unique<Engine>(options);
  } catch (const UnsupportedError& error) {
    EXPECT_FALSE(is_required_backend(backend)) << error.what();
    return nullptr;
  }
}

/// Of the backends that are there.
std::vector<std::unique_ptr<Engine>> fast_engines(std::initializer_list<const char*> backends = {
                                                      "interp", "xbyak", "llvm", "auto", "nvrtc"}) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const char* backend : backends)
    if (auto engine = engine_of(backend, Numerics::fast)) engines.push_back(std::move(engine));
  return engines;
}

class FastNumerics : public ::testing::Test {
 protected:
  Tensor random_tensor(DType dtype, std::int64_t size = 301) {
    const Tensor result = new_tensor({size}, dtype);
    randomise(result, random_);
    return result;
  }

  /// Compares with what `compute(a, b, c)` makes of the elements, in double or float.
  template <class T, class Compute>
  void expect(const Expr& expr, const Compute& compute, const char* what) {
    const Tensor wanted = new_tensor({a_.numel()}, dtype_of<T>);
    for (std::int64_t i = 0; i < a_.numel(); ++i)
      put<T>(wanted, i, compute(get<T>(a_, i), get<T>(b_, i), get<T>(c_, i)));
    for (const auto& engine : fast_engines())
      EXPECT_TRUE(same_tensor(engine->eval(expr), wanted))
          << what << " by " << engine->options().backend;
  }

  template <class T>
  void check_real() {
    a_ = random_tensor(dtype_of<T>);
    b_ = random_tensor(dtype_of<T>);
    c_ = random_tensor(dtype_of<T>);
    const Expr a = a_, b = b_, c = c_;
    const auto sum = [](T x, T y, T z) { return std::fma(x, y, z); };
    expect<T>(a * b + c, sum, "a * b + c");
    expect<T>(c + a * b, sum, "c + a * b");
    expect<T>(
        a * b - c, [](T x, T y, T z) { return std::fma(x, y, -z); }, "a * b - c");
    expect<T>(
        c - a * b, [](T x, T y, T z) { return std::fma(-x, y, z); }, "c - a * b");
    expect<T>(
        a * b + b * c, [](T x, T y, T z) { return std::fma(x, y, T(y * z)); }, "a * b + b * c");
    expect<T>(
        ops::add(c, a, 0.375), [](T x, T, T z) { return std::fma(T(0.375), x, z); },
        "add with alpha");
    expect<T>(
        ops::addcmul(c, a, b, 3), [](T x, T y, T z) { return std::fma(T(T(3) * x), y, z); },
        "addcmul");
    // The product has another use, so it is rounded.
    const Expr product = a * b;
    expect<T>((product + c) * product,
              [](T x, T y, T z) {
                const volatile T rounded = x * y;
                const volatile T added = rounded + z;
                return T(added * rounded);
              },
              "(a * b + c) * (a * b)");
  }

  Tensor a_, b_, c_;
  Random random_{20260105};
};

TEST_F(FastNumerics, SumsOfAProductRoundOnce) {
  check_real<float>();
  check_real<double>();
}

TEST_F(FastNumerics, SmallFloatsRoundTheSumOfAnExactProduct) {
  a_ = random_tensor(DType::bf16);
  b_ = random_tensor(DType::bf16);
  c_ = random_tensor(DType::bf16);
  expect<bf16>(
      Expr(a_) * b_ + c_,
      [](bf16 x, bf16 y, bf16 z) {
        return convert<bf16>(std::fma(convert<float>(x), convert<float>(y), convert<float>(z)));
      },
      "bf16");
}

/// Whether an op is, all by itself, a sum with a product.
bool is_sum_with_product(Op op) {
  return op == Op::add_scaled || op == Op::sub_scaled || op == Op::addcmul;
}

/// Functions of f32 that lose some exactness.
bool is_approximate(Op op) { return op == Op::sigmoid || op == Op::silu || op == Op::gelu_tanh; }

double units_off(float actual, double exact) {
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(static_cast<double>(actual) - exact) / std::ldexp(1.0, exponent - 23);
}

/// Of what docs/numerics.md says: 2.5 ulp, and of gelu_tanh twice the exponent's more.
double bound_of(Op op, double exponent) {
  return op == Op::gelu_tanh ? 2.5 + 2 * std::abs(exponent) : 2.5;
}

TEST_F(FastNumerics, FunctionsKeepTheirBounds) {
  const Tensor x = new_tensor({1 << 17}, DType::f32);
  std::uniform_real_distribution<float> wide(-105, 30), near(-12, 12), small(-1e-3F, 1e-3F);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    put<float>(x, i, i % 3 == 0 ? wide(random_) : i % 3 == 1 ? near(random_) : small(random_));
  for (const Op op : {Op::sigmoid, Op::silu, Op::gelu_tanh}) {
    const Tensor first = fast_engines({"interp"})[0]->eval(apply(op, {Expr(x)}));
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double v = get<float>(x, i);
      const double exponent =
          op == Op::gelu_tanh ? 1.5957691216057308 * (v + 0.044715 * v * v * v) : v;
      const double share = 1 / (1 + std::exp(-exponent));
      const double exact = op == Op::sigmoid ? share : v * share;
      ASSERT_LE(units_off(get<float>(first, i), exact), bound_of(op, exponent))
          << name(op) << '(' << v << ") = " << get<float>(first, i);
    }
    for (const auto& engine : fast_engines({"xbyak", "llvm", "auto"}))
      EXPECT_TRUE(same_tensor(engine->eval(apply(op, {Expr(x)})), first))
          << name(op) << " by " << engine->options().backend;
  }
}

TEST_F(FastNumerics, FunctionsKeepTheirSpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> special{infinity, -infinity, std::nanf(""), 0.0F,   -0.0F,
                                   -200,     200,       1e-45F,        -1e30F, 1e30F};
  const Tensor x = new_tensor({static_cast<std::int64_t>(special.size())}, DType::f32);
  std::ranges::copy(special, x.data_as<float>());
  const auto standard = engine_of("interp", Numerics::standard);
  for (const Op op : {Op::sigmoid, Op::silu, Op::gelu_tanh})
    for (const auto& engine : fast_engines({"interp", "xbyak", "llvm", "auto"}))
      EXPECT_TRUE(
          same_tensor(engine->eval(apply(op, {Expr(x)})), standard->eval(apply(op, {Expr(x)}))))
          << name(op) << " by " << engine->options().backend;
}

TEST_F(FastNumerics, EverythingElseHasTheBitsOfTheDefault) {
  const auto interpreter = engine_of("interp", Numerics::standard);
  const auto engines = fast_engines({"interp", "xbyak", "llvm"});  // a device has other functions
  for (const Op op : all_ops()) {
    for (const DType dtype : {DType::f32, DType::i32, DType::c64}) {
      if (!accepts(info(op).domain, dtype)) continue;
      if (is_sum_with_product(op) && is_floating(dtype) && !is_complex(dtype)) continue;
      if (is_approximate(op) && !is_complex(dtype)) continue;
      std::vector<Expr> args;
      for (int i = 0; i < info(op).arity; ++i) {
        const bool is_mask = info(op).result == ResultRule::select && i == 0;
        const Tensor arg = random_tensor(is_mask ? DType::boolean : dtype, 67);
        args.push_back(is_integer(dtype) && i == 1 ? Expr(arg) | 1 : Expr(arg));
      }
      const Expr expr = apply(op, std::span<const Expr>(args));
      const Tensor wanted = interpreter->eval(expr);
      for (const auto& engine : engines) {
        try {
          EXPECT_TRUE(same_tensor(engine->eval(expr), wanted))
              << name(op) << ' ' << name(dtype) << " by " << engine->options().backend;
        } catch (const UnsupportedError&) {
          EXPECT_NE(engine->options().backend, "interp") << name(op) << ' ' << name(dtype);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::testing
