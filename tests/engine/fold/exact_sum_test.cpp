// Numerics::exact against sums of single bits: a count for each power of two, and nothing rounded.
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <thread>

namespace weft::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A sum as the number of times that each power of two, from 2^-1100 on, is in it.
class Bitwise {
 public:
  void add(double x, std::int64_t times = 1) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    const std::int64_t sign = mantissa < 0 ? -times : times;
    if (mantissa < 0) mantissa = -mantissa;
    for (int bit = 0; bit < 53; ++bit)
      if ((mantissa >> bit & 1) != 0)
        counts_[static_cast<std::size_t>(exponent - 53 + bit + 1130)] += sign;
  }
  /// The size of it in binary digits, the highest first.
  std::vector<int> size() const {
    for (const std::int64_t sign : {1, -1}) {
      std::vector<int> digits;
      std::int64_t carry = 0;
      for (const std::int64_t count : counts_) {
        const std::int64_t value = sign * count + carry;
        digits.push_back(static_cast<int>(value & 1));
        carry = value >> 1;
      }
      if (carry == 0) return {digits.rbegin(), digits.rend()};
    }
    return {};
  }

 private:
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(2400);
};

/// How far `times` times a result is from a sum.  The number behind the largest is a power of two.
template <class T>
std::vector<int> distance(const Bitwise& sum, T result, std::int64_t times) {
  Bitwise difference = sum;
  if (std::isinf(result)) {
    const double half = std::ldexp(1.0, std::numeric_limits<T>::max_exponent - 1);
    difference.add(std::copysign(half, result), -2 * times);
  } else {
    difference.add(static_cast<double>(result), -times);
  }
  return difference.size();
}

/// Whether no other T is nearer, and of two that are as near the even one was taken.
template <class T>
::testing::AssertionResult is_rounded(const std::vector<T>& values, T result, bool is_mean) {
  const auto times = is_mean ? static_cast<std::int64_t>(values.size()) : 1;
  Bitwise sum;
  for (const T value : values) sum.add(static_cast<double>(value));
  const std::vector<int> own = distance(sum, result, times);
  for (const double direction : {-infinity, infinity}) {
    const T other = std::nextafter(result, static_cast<T>(direction));
    if (other == result) continue;
    const std::vector<int> others = distance(sum, other, times);
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const bool is_odd = (std::bit_cast<Word>(result) & 1) != 0;
    if (others < own || (others == own && is_odd))
      return ::testing::AssertionFailure() << std::hexfloat << result << " is not the sum of "
                                           << values.size() << " numbers; nearer is " << other;
  }
  return ::testing::AssertionSuccess();
}

enum class Kind { unit, wide, cancelling, subnormal, huge, whole, close, num_kinds };

/// Numbers that are hard to add in one way or another.
template <class T>
std::vector<T> numbers(Kind kind, std::size_t count, Random& random) {
  using Limits = std::numeric_limits<T>;
  const auto unit = [&] { return static_cast<T>(random() % 2000003) / 1000001 - 1; };
  std::vector<T> result;
  while (result.size() < count) {
    const auto exponent = [&](int low, int high) {
      return low + static_cast<int>(ir::pick(random, static_cast<std::size_t>(high - low)));
    };
    T value = unit();
    switch (kind) {
      case Kind::unit: break;
      case Kind::wide:
        value = std::ldexp(value, exponent(Limits::min_exponent - 30, Limits::max_exponent - 1));
        break;
      case Kind::cancelling:
        value = std::ldexp(value, exponent(-60, 60));
        result.push_back(-value);
        if (ir::pick(random, 50) == 0) result.push_back(std::ldexp(unit(), -80));
        break;
      case Kind::subnormal: value *= Limits::min(); break;
      case Kind::huge: value *= Limits::max(); break;
      case Kind::whole: value = std::round(value * 5); break;
      default: value = 1 + value * Limits::epsilon(); break;
    }
    result.push_back(value);
  }
  result.resize(count);
  std::shuffle(result.begin(), result.end(), random);
  return result;
}

const ReduceOptions exact{.numerics = Numerics::exact};

template <class T>
T exact_sum(Engine& engine, const std::vector<T>& values) {
  return get<T>(engine.reduce(Reduction::sum, tensor_of<T>(values), exact), 0);
}

template <class T>
void check_numbers(std::uint64_t seed) {
  Random random(seed);
  Engine one(EngineOptions{.num_threads = 1}), plain(EngineOptions{.backend = "interp"});
  for (int kind = 0; kind < static_cast<int>(Kind::num_kinds); ++kind)
    for (const std::size_t count : {1, 2, 3, 15, 16, 17, 100, 4'096, 4'097, 9'001}) {
      SCOPED_TRACE(::testing::Message() << "kind " << kind << ", " << count << " numbers");
      const std::vector<T> values = numbers<T>(static_cast<Kind>(kind), count, random);
      const T sum = exact_sum(one, values);
      ASSERT_TRUE(is_rounded(values, sum, false));
      ASSERT_EQ(exact_sum(plain, values), sum);
      const T mean = get<T>(one.reduce(Reduction::mean, tensor_of<T>(values), exact), 0);
      ASSERT_TRUE(is_rounded(values, mean, true));
    }
}

TEST(ExactSum, IsTheNearestF32) { check_numbers<float>(3); }
TEST(ExactSum, IsTheNearestF64) { check_numbers<double>(4); }

/// Whatever way the calling thread rounds, and whether it takes subnormal numbers for zeros.
TEST(ExactSum, IsTheSameInEveryRoundingMode) {
  Random random(8);
  Engine one(EngineOptions{.num_threads = 1}), many(EngineOptions{.num_threads = 3});
  for (const Kind kind : {Kind::wide, Kind::cancelling, Kind::subnormal}) {
    const std::vector<float> values = numbers<float>(kind, 300'000, random);
    const float sum = exact_sum(one, values);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
      std::thread([&] {
        std::fesetround(mode);
        EXPECT_EQ(exact_sum(one, values), sum) << mode;
        EXPECT_EQ(exact_sum(many, values), sum) << mode;
        EXPECT_EQ(std::fegetround(), mode);
      }).join();
#if defined(__SSE2__)
    std::thread([&] {
      constexpr unsigned zeros_for_subnormals = 0x8040;
      _mm_setcsr(_mm_getcsr() | zeros_for_subnormals);
      EXPECT_EQ(exact_sum(one, values), sum);
      EXPECT_EQ(exact_sum(many, values), sum);
    }).join();
#endif
  }
}

TEST(ExactSum, OfWhateverIsReducedInAnyLayout) {
  Random random(5);
  std::vector<std::unique_ptr<Engine>> engines;
  for (const int threads : {1, 3, 8})
    engines.push_back(std::make_unique<Engine>(EngineOptions{.num_threads = threads}));
  for (int i = 0; i < 60; ++i) {
    const Sizes sizes = i % 6 == 0 ? Sizes{300, 7, 90} : Sizes{1 + i % 40, 19, 1 + i % 23};
    const Tensor a = random_layout(sizes, DType::f32, random);
    const std::vector<float> values =
        numbers<float>(static_cast<Kind>(i % static_cast<int>(Kind::num_kinds)),
                       static_cast<std::size_t>(a.numel()), random);
    for (std::int64_t k = 0; k < a.numel(); ++k) put(a, k, values[static_cast<std::size_t>(k)]);
    ReduceOptions options = exact;
    options.dims = {i % 3};
    if (i % 2 == 0) options.dims.push_back((i + 1) % 3);
    const bool is_mean = i % 4 == 1;
    const Expr reduced = is_mean ? ops::mean(a, options) : ops::sum(a, options);
    const Tensor result = engines[0]->eval(reduced);
    for (const auto& engine : engines) EXPECT_TRUE(same_tensor(engine->eval(reduced), result));
    std::vector<std::vector<float>> groups(static_cast<std::size_t>(result.numel()));
    for (std::int64_t k = 0; k < a.numel(); ++k) {
      std::int64_t group = 0, scale = 1, rest = k;
      for (std::size_t dim = 3; dim-- > 0;) {
        const bool is_kept =
            std::ranges::find(options.dims, static_cast<std::int64_t>(dim)) == options.dims.end();
        if (is_kept) group += rest % sizes[dim] * scale;
        if (is_kept) scale *= sizes[dim];
        rest /= sizes[dim];
      }
      groups[static_cast<std::size_t>(group)].push_back(values[static_cast<std::size_t>(k)]);
    }
    for (std::int64_t k = 0; k < result.numel(); k += 1 + result.numel() / 40)
      ASSERT_TRUE(is_rounded(groups[static_cast<std::size_t>(k)], get<float>(result, k), is_mean))
          << text(reduced);
  }
}

TEST(ExactSum, OfComplexNumbersIsOneOfEachPart) {
  Random random(6);
  Engine engine;
  for (const Sizes& sizes : {Sizes{5'003, 1}, Sizes{37, 41}}) {
    const Tensor a = new_tensor(sizes, DType::c64);
    std::vector<std::vector<float>> parts[2];
    parts[0].resize(static_cast<std::size_t>(sizes[1]));
    parts[1].resize(static_cast<std::size_t>(sizes[1]));
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      const auto values = numbers<float>(Kind::wide, 2, random);
      put(a, i, c64(values[0], values[1]));
      for (std::size_t part = 0; part < 2; ++part)
        parts[part][static_cast<std::size_t>(i % sizes[1])].push_back(values[part]);
    }
    const Tensor result =
        engine.reduce(Reduction::sum, a, {.dims = {0}, .numerics = Numerics::exact});
    for (std::int64_t i = 0; i < sizes[1]; ++i) {
      const auto column = static_cast<std::size_t>(i);
      ASSERT_TRUE(is_rounded(parts[0][column], get<c64>(result, i).real(), false));
      ASSERT_TRUE(is_rounded(parts[1][column], get<c64>(result, i).imag(), false));
    }
  }
}

TEST(ExactSum, RoundsOnceWhereItMatters) {
  Engine engine;
  const float half_ulp = 0x1p-24F;
  EXPECT_EQ(exact_sum<float>(engine, {1, half_ulp}), 1);  // a tie, to even
  EXPECT_EQ(exact_sum<float>(engine, {1, half_ulp, 0x1p-149F}), 1 + 2 * half_ulp);
  EXPECT_EQ(exact_sum<float>(engine, {1, half_ulp, -0x1p-149F}), 1);
  EXPECT_EQ(exact_sum<float>(engine, {1 + 2 * half_ulp, half_ulp}), 1 + 4 * half_ulp);
  EXPECT_EQ(exact_sum<double>(engine, {1, 0x1p-53, 0x1p-1074}), 1 + 0x1p-52);
  EXPECT_EQ(exact_sum<double>(engine, {1e308, 1, -1e308}), 1);
  // Sums on the way may overflow.
  constexpr double most = std::numeric_limits<double>::max();
  EXPECT_EQ(exact_sum<double>(engine, {most, most, most, -most, -most}), most);
  EXPECT_EQ(exact_sum<double>(engine, {most, 0x1p970 / 2}), most);
  EXPECT_EQ(exact_sum<double>(engine, {most, 0x1p970}), infinity);  // a tie
  EXPECT_EQ(exact_sum<double>(engine, {-most, -most}), -infinity);
  const Tensor twice = tensor_of<double>({most, most});
  EXPECT_EQ(get<double>(engine.reduce(Reduction::mean, twice, exact), 0), most);
  // Nor is a mean rounded twice: the sum of these is no f32.
  const Tensor thirds = tensor_of<float>({16'777'216, 5, 0});
  EXPECT_EQ(get<float>(engine.reduce(Reduction::mean, thirds, exact), 0), 5'592'407);
}

TEST(ExactSum, HasInfinitiesNaNAndZerosAsAdditionHas) {
  Engine engine;
  const auto inf = static_cast<float>(infinity);
  EXPECT_EQ(exact_sum<float>(engine, {1, inf, 3}), inf);
  EXPECT_EQ(exact_sum<float>(engine, {-inf, 1, -inf}), -inf);
  EXPECT_TRUE(std::isnan(exact_sum<float>(engine, {inf, 1, -inf})));
  EXPECT_TRUE(std::isnan(exact_sum<float>(engine, {1, static_cast<float>(not_a_number)})));
  for (const std::vector<float>& zeros : {std::vector<float>{}, {-0.0F}, {-0.0F, -0.0F}, {2, -2}}) {
    const float sum = exact_sum<float>(engine, zeros);
    EXPECT_EQ(sum, 0);
    EXPECT_FALSE(std::signbit(sum));
  }
  EXPECT_TRUE(std::isnan(
      get<float>(engine.reduce(Reduction::mean, new_tensor({0}, DType::f32), exact), 0)));
  std::vector<double> many(20'000, 0x1p1000);
  many[7'000] = infinity;
  EXPECT_EQ(exact_sum<double>(engine, many), infinity);
  many[19'999] = -infinity;
  EXPECT_TRUE(std::isnan(exact_sum<double>(engine, many)));
}

}  // namespace
}  // namespace weft::testing
