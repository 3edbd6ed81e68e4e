// What is compared bit for bit, what within how many units in the last place, and what is not; and
// that what is further off is found.
#include "engine/fuzz/tolerance.h"
#include "engine/fuzz/compare.h"

#include <weft/engine.h>
#include <weft/expr.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

namespace weft::fuzzing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class FuzzTolerance : public testing::Test {
 protected:
  static std::string of(const std::string& text, Numerics numerics = Numerics::standard,
                        std::optional<DType> given = {}, const char* backend = "nvrtc") {
    const std::vector<std::pair<std::string, Tensor>> names = {
        {"a", empty({3}, DType::f32)},  {"b", empty({3}, DType::bf16)},
        {"c", empty({3}, DType::c64)},  {"d", empty({3}, DType::f64)},
        {"e", empty({3}, DType::c128)}, {"m", empty({3}, DType::boolean)},
    };
    const Expr expr = parse_expr(text, names);
    const Tolerance tolerance = tolerance_of(expr, given.value_or(expr.dtype()), numerics, backend);
    if (tolerance.is_exact()) return "exact";
    if (tolerance.is_unknown()) return "unknown";
    return detail::concat(tolerance.ulps, " ", name(tolerance.unit));
  }
};

TEST_F(FuzzTolerance, IsNoneWhereArithmeticDefinesTheBits) {
  for (const Numerics numerics : {Numerics::standard, Numerics::strict, Numerics::fast})
    for (const char* const text :
         {"a * 2 + b", "floor(a) < d", "sqrt(a) / d", "gelu(a)", "exp(b)", "log(a)", "c * c / e",
          "cast(a * b, i32)", "sin(2.0) * a", "fmod(a, b)", "where(m, a, d)"})
      EXPECT_EQ(of(text, numerics), "exact") << text;
  EXPECT_EQ(of("tan(a)", Numerics::standard, {}, "llvm"), "exact");
}

TEST_F(FuzzTolerance, IsOfTheFunctionThatGivesTheResult) {
  // Of huge angles, through f64: half a unit, and 1.5 of the interpreter's.
  EXPECT_EQ(of("tan(a)"), "2 f32");
  EXPECT_EQ(of("tan(a)", Numerics::fast), "2 f32");
  EXPECT_EQ(of("tan(d)"), "3.5 f64");
  EXPECT_EQ(of("tan(a * 2 + b)"), "2 f32");
  EXPECT_EQ(of("library_exp(a)"), "2 f32");
  EXPECT_EQ(of("library_exp(a)", Numerics::fast), "2 f32");
  EXPECT_EQ(of("atan2(d, d)"), "exact");
  EXPECT_EQ(of("hypot(d, d)"), "exact");
  EXPECT_EQ(of("erfc(d)"), "exact");
  for (const char* const text : {"abs(c)", "abs(e)", "sgn(e)"}) {
    EXPECT_EQ(of(text), "exact") << text;
    EXPECT_EQ(of(text, Numerics::fast), "exact") << text;
  }
  EXPECT_EQ(of("atan2(a, a)"), "exact");
  EXPECT_EQ(of("sqrt(c)"), "exact");
  EXPECT_EQ(of("sqrt(e)"), "exact");
  EXPECT_EQ(of("tan(c)"), "1 f32");
  EXPECT_EQ(of("tan(e)"), "16 f64");
  // A product with what is exact.
  EXPECT_EQ(of("polar(2.0, d)"), "8 f64");
}

TEST_F(FuzzTolerance, IsKeptBySignsChoicesAndConversions) {
  EXPECT_EQ(of("-tan(a)"), "2 f32");
  EXPECT_EQ(of("where(m, tan(a), d)"), "2 f32");
  EXPECT_EQ(of("where(m, tan(a), tan(d))"), "3.5 f32");
  EXPECT_EQ(of("cast(tan(a), f64)"), "2 f32");
  EXPECT_EQ(of("cast(tan(d), f32)"), "1 f32");
  EXPECT_EQ(of("tan(b)"), "1 bf16");
  EXPECT_EQ(of("tan(a)", Numerics::standard, DType::f16), "1 f16");
  EXPECT_EQ(of("cast(tan(b), f32)"), "1 bf16");
}

TEST_F(FuzzTolerance, IsUnknownWhereFunctionsGoOn) {
  for (const char* const text :
       {"floor(tan(a))", "tan(a) < b", "tan(a) - b", "cast(tan(a), i32)", "tan(tan(a))",
        "where(tan(a) > 1, a, d)", "real(tan(c))", "pow(c, e)"})
    EXPECT_EQ(of(text), "unknown") << text;
  // NaN that are computed have any sign.
  EXPECT_EQ(of("signbit(a - a)"), "unknown");
  EXPECT_EQ(of("copysign(a, a * d)"), "unknown");
  EXPECT_EQ(of("signbit(cast(a - a, f64))"), "unknown");
  EXPECT_EQ(of("signbit(cast(a, f64))"), "exact");
  EXPECT_EQ(of("signbit(a)"), "exact");
  EXPECT_EQ(of("copysign(a * d, a)"), "exact");
}

template <class T>
bool are_close(T actual, T expected, const Tolerance& tolerance) {
  const auto bits_of = [](T value) {
    Bits bits{};
    std::memcpy(static_cast<void*>(&bits), &value, sizeof value);
    return bits;
  };
  return is_close(bits_of(actual), bits_of(expected), dtype_of<T>, tolerance);
}

float steps(float from, int count) {
  for (int i = 0; i < count; ++i) from = std::nextafter(from, HUGE_VALF);
  return from;
}

TEST(FuzzCompare, CountsUnitsInTheLastPlace) {
  const Tolerance two{2, DType::f32}, exact{};
  EXPECT_TRUE(are_close(steps(1.5F, 2), 1.5F, two));
  EXPECT_FALSE(are_close(steps(1.5F, 3), 1.5F, two));
  EXPECT_FALSE(are_close(steps(1.5F, 1), 1.5F, exact));
  EXPECT_TRUE(are_close(0.0F, 0x1p-148F, two));
  EXPECT_FALSE(are_close(0.0F, 0x1p-147F, two));
  EXPECT_FALSE(are_close(0.0F, -0.0F, two));
  EXPECT_FALSE(are_close(0.0F, -0.0F, exact));
  // Of a coarser dtype.
  EXPECT_TRUE(are_close(1.0078125, 1.0, {1, DType::bf16}));
  EXPECT_FALSE(are_close(1.016, 1.0, {1, DType::bf16}));
}

TEST(FuzzCompare, HasInfinityBehindTheLargestNumber) {
  const Tolerance two{2, DType::f32};
  const float largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(are_close(largest, HUGE_VALF, two));
  EXPECT_FALSE(are_close(-largest, HUGE_VALF, two));
  EXPECT_FALSE(are_close(largest / 2, HUGE_VALF, two));
  EXPECT_FALSE(are_close(NAN, HUGE_VALF, two));
  EXPECT_FALSE(are_close(NAN, 1.0F, two));
  EXPECT_TRUE(are_close(NAN, -NAN, two));
  EXPECT_TRUE(are_close(NAN, -NAN, {}));
  EXPECT_TRUE(are_close(std::numeric_limits<double>::max(), infinity, {2, DType::f64}));
}

TEST(FuzzCompare, TakesTheLargerPartOfComplexNumbers) {
  const Tolerance one{1, DType::f32};
  EXPECT_TRUE(are_close(c64(1, 0), c64(1, 0x1p-24F), one));
  EXPECT_FALSE(are_close(c64(1, 0), c64(1, 0x1p-22F), one));
  EXPECT_FALSE(are_close(c64(1, 0), c64(1, 0x1p-24F), {}));
  EXPECT_FALSE(are_close(c64(HUGE_VALF, 1), c64(HUGE_VALF, 2), one));
  EXPECT_TRUE(are_close(c64(HUGE_VALF, NAN), c64(HUGE_VALF, NAN), one));
  EXPECT_FALSE(are_close(c64(HUGE_VALF, NAN), c64(-HUGE_VALF, NAN), one));
}

TEST(FuzzCompare, FindsTheElementAndSaysWhatWasAllowed) {
  const Tensor expected = full({2}, 1.5, TensorOptions{DType::f32, {}, MemoryFormat::contiguous}),
               actual = full({2}, 1.5, TensorOptions{DType::f32, {}, MemoryFormat::contiguous});
  auto* const elements = reinterpret_cast<float*>(actual.data());
  const auto found = [&](const Tolerance& tolerance) {
    return compare({actual}, {expected}, std::span(&tolerance, 1), "nvrtc");
  };
  elements[1] = steps(1.5F, 3);
  ASSERT_TRUE(found({2, DType::f32}));
  EXPECT_EQ(found({2, DType::f32})->index, std::vector<std::int64_t>{1});
  EXPECT_NE(found({2, DType::f32})->what.find(", within 2 ulp of f32"), std::string::npos);
  EXPECT_FALSE(found({4, DType::f32}));
  EXPECT_TRUE(found({}));
  // What is not compared has its dtype and sizes all the same.
  const Tolerance unknown{infinity, DType::f32};
  EXPECT_FALSE(found(unknown));
  EXPECT_TRUE(compare({actual},
                      {full({2}, 1.5, TensorOptions{DType::f64, {}, MemoryFormat::contiguous})},
                      std::span(&unknown, 1), "nvrtc"));
  EXPECT_TRUE(compare({actual},
                      {full({3}, 1.5, TensorOptions{DType::f32, {}, MemoryFormat::contiguous})},
                      std::span(&unknown, 1), "nvrtc"));
}

}  // namespace
}  // namespace weft::fuzzing
