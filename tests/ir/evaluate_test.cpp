// The meaning of the ops against independent references: plain C++ on wider integers, long double.
#include "ir/evaluate.h"

#include "ir/combine.h"

#include "tests/ir/random_kernel.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <functional>
#include <numbers>

namespace weft::ir {
namespace {

template <class T>
T from_bits_of(Bits bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

template <class Result, class... Args>
Result call(Op op, Args... args) {
  const std::array<Bits, sizeof...(Args)> bits{[](auto arg) {
    Bits result;
    std::memcpy(static_cast<void*>(&result), &arg, sizeof arg);
    return result;
  }(args)...};
  const DType dtype = dtype_of<std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>>;
  return from_bits_of<Result>(evaluate({.op = op, .dtype = dtype}, bits, dtype));
}

// --- Integers, against arithmetic in 128 bits. ---
using Wide = __int128;

template <class T>
void check_integers() {
  SCOPED_TRACE(name(dtype_of<T>));
  Random random(21);
  constexpr int width = 8 * sizeof(T);
  for (int i = 0; i < 4000; ++i) {
    const T a = from_bits_of<T>(random_bits(random, dtype_of<T>)),
            b = from_bits_of<T>(random_bits(random, dtype_of<T>));
    const Wide x = a, y = b;
    const auto wrap = [](Wide value) {
      return static_cast<T>(static_cast<unsigned __int128>(value));
    };
    const auto product =
        static_cast<T>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
    ASSERT_EQ(call<T>(Op::add, a, b), wrap(x + y));
    ASSERT_EQ(call<T>(Op::sub, a, b), wrap(x - y));
    ASSERT_EQ(call<T>(Op::mul, a, b), product);
    ASSERT_EQ(call<T>(Op::neg, a), wrap(-x));
    ASSERT_EQ(call<T>(Op::abs, a), wrap(x < 0 ? -x : x));
    ASSERT_EQ(call<T>(Op::maximum, a, b), wrap(x > y ? x : y));
    ASSERT_EQ(call<T>(Op::fmin, a, b), wrap(x < y ? x : y));
    ASSERT_EQ(call<bool>(Op::lt, a, b), x < y);
    ASSERT_EQ(call<bool>(Op::logical_xor, a, b), (x != 0) != (y != 0));
    ASSERT_EQ(call<T>(Op::bitwise_not, a), wrap(~x));
    ASSERT_EQ(call<T>(Op::sign, a), wrap(x > 0 ? 1 : x < 0 ? -1 : 0));
    ASSERT_EQ(call<bool>(Op::signbit, a), x < 0);
    ASSERT_EQ(call<bool>(Op::isfinite, a), true);
    ASSERT_EQ(call<T>(Op::floor, a), a);
    const Wide shifted_left = y < 0 || y >= width
                                  ? Wide{0}
                                  : static_cast<Wide>(static_cast<unsigned __int128>(x) << int(y));
    const Wide shifted_right = x >> (y < 0 || y >= width ? 127 : int(y));
    ASSERT_EQ(call<T>(Op::bitwise_left_shift, a, b), wrap(shifted_left)) << int(a) << ' ' << int(b);
    ASSERT_EQ(call<T>(Op::bitwise_right_shift, a, b), wrap(shifted_right))
        << int(a) << ' ' << int(b);
    if (y == 0) {
      ASSERT_EQ(call<T>(Op::div_floor, a, b), T(0));
      ASSERT_EQ(call<T>(Op::div_trunc, a, b), T(0));
      continue;
    }
    const Wide truncated = x / y, rest = x % y;
    const bool is_below = rest != 0 && (rest < 0) != (y < 0);
    ASSERT_EQ(call<T>(Op::div_trunc, a, b), wrap(truncated));
    ASSERT_EQ(call<T>(Op::div_floor, a, b), wrap(truncated - (is_below ? 1 : 0)));
    ASSERT_EQ(call<T>(Op::fmod, a, b), wrap(rest));
    ASSERT_EQ(call<T>(Op::remainder, a, b), wrap(rest + (is_below ? y : 0)));
  }
}

TEST(Evaluate, Integers) {
  check_integers<std::uint8_t>();
  check_integers<std::int8_t>();
  check_integers<std::uint16_t>();
  check_integers<std::int16_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int32_t>();
  check_integers<std::uint64_t>();
  check_integers<std::int64_t>();
}

TEST(Evaluate, IntegerPowers) {
  for (int base = -128; base < 128; ++base)
    for (int exponent = -3; exponent < 128; ++exponent) {
      const auto x = static_cast<std::int8_t>(base), y = static_cast<std::int8_t>(exponent);
      unsigned expected = 1;
      for (int i = 0; i < exponent; ++i) expected *= static_cast<unsigned>(base);
      if (exponent < 0) expected = base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1u : 255u) : 0;
      ASSERT_EQ(call<std::int8_t>(Op::pow, x, y), static_cast<std::int8_t>(expected))
          << base << " ^ " << exponent;
    }
}

TEST(Evaluate, Bool) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      EXPECT_EQ(call<bool>(Op::add, a, b), a || b);
      EXPECT_EQ(call<bool>(Op::mul, a, b), a && b);
      EXPECT_EQ(call<bool>(Op::maximum, a, b), a || b);
      EXPECT_EQ(call<bool>(Op::bitwise_xor, a, b), a != b);
      EXPECT_EQ(call<bool>(Op::le, a, b), !a || b);
      EXPECT_EQ(call<bool>(Op::bitwise_not, a), !a);
    }
}

// --- Floats. ---
/// Distance in units in the last place of T from the exact value; 0 for NaN from NaN.
template <class T>
double ulps(T actual, long double exact) {
  if (std::isnan(exact) || std::isnan(actual))
    return std::isnan(exact) && std::isnan(actual) ? 0 : INFINITY;
  const T nearest = static_cast<T>(exact);
  if (actual == nearest) return 0;
  if (std::isinf(nearest) || std::isinf(actual)) return INFINITY;
  const T size = std::max(std::abs(nearest), std::numeric_limits<T>::min());
  const T unit = std::ldexp(T(1), std::ilogb(size) + 1 - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<long double>(actual) - exact) /
                             static_cast<long double>(unit));
}

struct UnaryReference {
  Op op;
  std::function<long double(long double)> function;
  double bound;  ///< in ulp
};

long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

template <class T>
void check_unary(const UnaryReference& reference) {
  SCOPED_TRACE(testing::Message() << name(reference.op) << ' ' << name(dtype_of<T>));
  Random random(22);
  for (int i = 0; i < 30000; ++i) {
    // All magnitudes, and more of those between 2^-12 and 2^12.
    T x = from_bits_of<T>(random_bits(random, dtype_of<T>));
    if (i % 2 == 0)
      x = static_cast<T>(std::ldexp(static_cast<double>(random()) * 0x1p-64 - 0.5,
                                    static_cast<int>(pick(random, 24)) - 11));
    const T actual = call<T>(reference.op, x);
    ASSERT_LE(ulps(actual, reference.function(static_cast<long double>(x))), reference.bound)
        << x << " gives " << actual << ", not "
        << static_cast<double>(reference.function(static_cast<long double>(x)));
  }
}

TEST(Evaluate, TranscendentalFunctions) {
  using L = long double;
  const UnaryReference references[] = {
      {Op::exp, [](L x) { return std::exp(x); }, 1.0},
      {Op::exp2, [](L x) { return std::exp2(x); }, 1.0},
      {Op::expm1, [](L x) { return std::expm1(x); }, 1.0},
      {Op::log, [](L x) { return std::log(x); }, 1.0},
      {Op::log2, [](L x) { return std::log2(x); }, 1.0},
      {Op::log10, [](L x) { return std::log10(x); }, 1.0},
      {Op::log1p, [](L x) { return std::log1p(x); }, 1.0},
      {Op::sin, [](L x) { return std::sin(x); }, 1.0},
      {Op::cos, [](L x) { return std::cos(x); }, 1.0},
      {Op::tan, [](L x) { return std::tan(x); }, 1.0},
      {Op::asin, [](L x) { return std::asin(x); }, 1.0},
      {Op::acos, [](L x) { return std::acos(x); }, 1.0},
      {Op::atan, [](L x) { return std::atan(x); }, 1.0},
      {Op::sinh, [](L x) { return std::sinh(x); }, 1.0},
      {Op::cosh, [](L x) { return std::cosh(x); }, 1.0},
      {Op::tanh, [](L x) { return std::tanh(x); }, 1.0},
      {Op::asinh, [](L x) { return std::asinh(x); }, 1.0},
      {Op::acosh, [](L x) { return std::acosh(x); }, 1.0},
      {Op::atanh, [](L x) { return std::atanh(x); }, 1.0},
      {Op::erf, [](L x) { return std::erf(x); }, 1.0},
      {Op::erfc, [](L x) { return std::erfc(x); }, 1.0},
      {Op::sqrt, [](L x) { return std::sqrt(x); }, 0.5},
      {Op::rsqrt, [](L x) { return 1 / std::sqrt(x); }, 1.0},
      {Op::sigmoid, exact_sigmoid, 1.0},
      {Op::silu, [](L x) { return std::isinf(x) ? (x < 0 ? NAN : x) : x * exact_sigmoid(x); }, 1.0},
      {Op::gelu,
       [](L x) {
         return std::isinf(x) ? (x < 0 ? NAN : x) : x / 2 * std::erfc(-x * std::sqrt(0.5L));
       },
       1.0},
      {Op::softplus,
       [](L x) {
         if (std::isnan(x) || x > 20) return x;
         return std::max(x, L(0)) + std::log1p(std::exp(-std::abs(x)));
       },
       1.0},
  };
  for (const UnaryReference& reference : references) {
    check_unary<float>(reference);
    check_unary<double>(reference);
  }
}

template <class T>
void check_floats() {
  SCOPED_TRACE(name(dtype_of<T>));
  Random random(23);
  const auto same = [](T a, T b) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
  };
  for (int i = 0; i < 20000; ++i) {
    const T a = from_bits_of<T>(random_bits(random, dtype_of<T>)),
            b = from_bits_of<T>(random_bits(random, dtype_of<T>));
    const T larger = a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : a > b ? a : b;
    ASSERT_TRUE(same(call<T>(Op::maximum, a, b), larger)) << a << ' ' << b;
    const T fmax = call<T>(Op::fmax, a, b);
    const T expected_fmax = a != a   ? b
                            : b != b ? a
                                     : std::fmax(a, b);  // std::fmax minds signalling NaNs
    ASSERT_TRUE(same(fmax, a == b ? a : expected_fmax)) << a << ' ' << b;
    ASSERT_TRUE(same(call<T>(Op::fmin, a, b), a == b ? a : -call<T>(Op::fmax, -a, -b)));
    ASSERT_TRUE(same(call<T>(Op::copysign, a, b), std::copysign(a, b)));
    ASSERT_TRUE(same(call<T>(Op::nextafter, a, b), std::nextafter(a, b))) << a << ' ' << b;
    ASSERT_TRUE(same(call<T>(Op::fmod, a, b), std::fmod(a, b)));
    ASSERT_TRUE(same(call<T>(Op::round, a), std::nearbyint(a)));
    ASSERT_TRUE(same(call<T>(Op::trunc, a), std::trunc(a)));
    ASSERT_TRUE(same(call<T>(Op::fma, a, b, a), std::fma(a, b, a)));
    ASSERT_EQ(call<bool>(Op::signbit, a), std::signbit(a));
    ASSERT_EQ(call<bool>(Op::isnan, a), std::isnan(a));
    ASSERT_EQ(call<bool>(Op::isinf, a), std::isinf(a));
    ASSERT_EQ(call<bool>(Op::isfinite, a), std::isfinite(a));
    const bool ordered = call<bool>(Op::lt, a, b) || call<bool>(Op::ge, a, b);
    ASSERT_EQ(ordered, !std::isnan(a) && !std::isnan(b));
  }
}

// Two ways to compute each function, which say the same at zeros (their signs too), one and
// infinity.
TEST(Evaluate, SpecialArgumentsOfBothFloats) {
  for (const Op op : all_ops()) {
    if (info(op).arity != 1 || !computes_in(info(op).domain, info(op).result, DType::f64) ||
        (info(op).result != ResultRule::same && info(op).result != ResultRule::floating))
      continue;
    for (const float x : {0.0F, 1.0F, 2.0F, 100.0F, INFINITY, NAN}) {
      for (const float signed_x : {x, -x}) {
        SCOPED_TRACE(std::string(name(op)) + " " + std::to_string(signed_x));
        const auto of_float = call<float>(op, signed_x);
        const auto of_double = call<double>(op, static_cast<double>(signed_x));
        EXPECT_EQ(std::isnan(of_float), std::isnan(of_double));
        if (std::isnan(of_float)) continue;
        EXPECT_EQ(std::isinf(of_float), std::isinf(static_cast<float>(of_double)));
        if (std::isfinite(of_float)) {
          EXPECT_NEAR(of_float, of_double, 1e-5 * std::abs(of_float) + 1e-6);
        }
        EXPECT_EQ(std::signbit(of_float), std::signbit(of_double));
      }
    }
  }
}

/// What folds begin with: of f8e4m3fn too, which has no infinity.
TEST(Evaluate, IdentitiesLeaveNumbersAsTheyAre) {
  for (const Op op : {Op::add, Op::mul, Op::maximum, Op::minimum, Op::bitwise_and, Op::bitwise_or,
                      Op::bitwise_xor})
    for (const DType dtype : all_dtypes) {
      if (!computes_in(info(op).domain, info(op).result, dtype)) continue;
      const Bits one = Scalar(1).bits(dtype);
      const std::array<Bits, 2> args{identity_of(op, dtype).value(), one};
      EXPECT_EQ(evaluate({.op = op, .dtype = dtype}, args, dtype), one)
          << name(op) << ' ' << name(dtype);
    }
}

TEST(Evaluate, Floats) {
  check_floats<float>();
  check_floats<double>();
}

/// Every neighbour of every number, found by searching.
TEST(Evaluate, NextAfterOfSmallFloats) {
  const auto check = []<class T>(std::type_identity<T>) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      const T x{static_cast<decltype(T::bits)>(bits)};
      const float value = convert<float>(x);
      if (!std::isfinite(value)) continue;
      float above = std::numeric_limits<float>::infinity();
      for (unsigned other = 0; other < 256; ++other) {
        const float candidate = convert<float>(T{static_cast<decltype(T::bits)>(other)});
        if (candidate > value && candidate < above) above = candidate;
      }
      const T target = convert<T>(std::min(above, 400.0f));
      if (!(convert<float>(target) > value)) continue;
      ASSERT_EQ(convert<float>(call<T>(Op::nextafter, x, target)), above)
          << name(dtype_of<T>) << ' ' << value;
    }
  };
  check(std::type_identity<f8e4m3fn>{});
  check(std::type_identity<f8e5m2>{});
}

/// Small floats are computed in float and rounded once.
TEST(Evaluate, SmallFloats) {
  Random random(24);
  for (int i = 0; i < 20000; ++i) {
    const auto a = from_bits_of<bf16>(random_bits(random, DType::bf16)),
               b = from_bits_of<bf16>(random_bits(random, DType::bf16));
    const float x = convert<float>(a), y = convert<float>(b);
    ASSERT_TRUE(
        call<bool>(Op::signbit, call<bf16>(Op::fmax, convert<bf16>(0.0F), convert<bf16>(-0.0F))));
    ASSERT_EQ(call<bf16>(Op::mul, a, b), convert<bf16>(x * y));
    ASSERT_EQ(call<bf16>(Op::sigmoid, a), convert<bf16>(call<float>(Op::sigmoid, x)));
    const auto c = from_bits_of<f16>(random_bits(random, DType::f16));
    ASSERT_EQ(call<f16>(Op::square, c), convert<f16>(convert<float>(c) * convert<float>(c)));
  }
}

TEST(Evaluate, Complex) {
  const c64 a(3, -4), b(0.5, 2);
  EXPECT_EQ(call<float>(Op::abs, a), 5);
  EXPECT_EQ(call<float>(Op::imag, a), -4);
  EXPECT_EQ(call<c64>(Op::conj, a), c64(3, 4));
  EXPECT_EQ(call<c64>(Op::mul, a, b), c64(9.5, 4));
  EXPECT_NEAR(std::abs(call<c64>(Op::div, call<c64>(Op::mul, a, b), b) - a), 0, 1e-6);
  EXPECT_NEAR(std::abs(call<c64>(Op::exp, a) - std::exp(a)), 0, 1e-5);
  EXPECT_FLOAT_EQ(call<float>(Op::angle, a), std::arg(a));
  const auto near = [](c64 x, c64 expected) {
    EXPECT_NEAR(std::abs(x - expected), 0, 1e-6 * std::abs(expected)) << x << " " << expected;
  };
  near(call<c64>(Op::sigmoid, a), 1.0F / (1.0F + std::exp(-a)));
  near(call<c64>(Op::silu, a), a / (1.0F + std::exp(-a)));
  near(call<c64>(Op::softsign, a), a / (1.0F + std::abs(a)));
  near(call<c64>(Op::tanhshrink, a), a - std::tanh(a));
  near(call<c64>(Op::log2, a), std::log(a) / std::log(2.0F));
  near(call<c64>(Op::log10, a), std::log10(a));
  for (const Op op : {Op::log2, Op::log10}) {
    EXPECT_EQ(call<c64>(op, c64(0, 0)), c64(-HUGE_VALF, 0));
    EXPECT_EQ(call<c64>(op, c64(HUGE_VALF, 1)), c64(HUGE_VALF, 0));
  }
  const c64 turned = a * std::numbers::pi_v<float>;
  near(call<c64>(Op::sinc, a), std::sin(turned) / turned);
  EXPECT_EQ(call<c64>(Op::sinc, c64(0, 0)), c64(1, 0));
  EXPECT_TRUE(call<bool>(Op::isinf, c64(1, INFINITY)));
  EXPECT_FALSE(call<bool>(Op::isfinite, c64(NAN, 1)));
}

TEST(Evaluate, EveryOpHasAFunctionExactlyWhereItComputes) {
  for (const Op op : all_ops())
    for (const DType dtype : all_dtypes)
      EXPECT_EQ(block_function(op, dtype) != nullptr,
                computes_in(info(op).domain, info(op).result, dtype))
          << name(op) << ' ' << name(dtype);
}

}  // namespace
}  // namespace weft::ir
