// Scans along long rows, which several threads share, and scans by logaddexp: against plain loops.
#include "engine/expression/expr_node.h"
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace weft::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class ScanRows : public ::testing::Test {
 protected:
  void SetUp() override {
    set_num_threads(16);
    for (const int threads : {1, 2, 3, 8, 16})
      engines_.try_emplace(threads, EngineOptions{.num_threads = threads});
  }
  void TearDown() override { set_num_threads(before_); }

  /// What all numbers of threads give.
  Tensor eval(const Expr& expr) {
    const Tensor expected = engines_.at(1).eval(expr);
    for (auto& [threads, engine] : engines_)
      EXPECT_TRUE(same_tensor(engine.eval(expr), expected)) << text(expr) << ", " << threads;
    return expected;
  }

  Random random_{41};
  std::map<int, Engine> engines_;

 private:
  int before_ = num_threads();
};

template <class T>
T& item(const Tensor& tensor, std::int64_t i) {
  return *reinterpret_cast<T*>(element(tensor, i));
}

// --- Extrema. ---

/// Rows that are hard to cut: what comes before a piece beats some of it, all or nothing.
enum class Course { random, falling, rising, constant, zeros, nans };
constexpr Course all_courses[] = {Course::random,   Course::falling, Course::rising,
                                  Course::constant, Course::zeros,   Course::nans};

template <class T>
T value_at(Course course, std::int64_t i, std::int64_t count, Random& random) {
  const auto noise = static_cast<double>(ir::pick(random, 100));
  const double place = static_cast<double>(i) / static_cast<double>(count);
  const bool is_float = std::is_floating_point_v<T>;
  switch (course) {
    case Course::random: return static_cast<T>(noise);
    case Course::falling: return static_cast<T>(120 - 100 * place);
    case Course::rising: return static_cast<T>(100 * place + noise / 10);
    case Course::constant: return static_cast<T>(7);
    case Course::zeros: return static_cast<T>(is_float && noise < 50 ? -0.0 : 0.0);
    case Course::nans: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto quiet = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
    if (i > count / 2 && ir::pick(random, 1000) == 0)
      return std::bit_cast<T>(static_cast<Bits>(quiet + static_cast<Bits>(i)));
  }
  return static_cast<T>(noise);
}

template <class T>
void expect_extrema(const Tensor& x, const Tensor& values, const Tensor& places, bool is_maximum,
                    std::int64_t first, std::int64_t step, std::int64_t count,
                    bool is_reverse = false) {
  const std::int64_t begin = is_reverse ? count - 1 : 0, pace = is_reverse ? -1 : 1;
  T kept = item<T>(x, first + begin * step);
  std::int64_t place = begin;
  T best = kept;
  for (std::int64_t i = begin; i >= 0 && i < count; i += pace) {
    const T next = item<T>(x, first + i * step);
    const bool stays = is_maximum ? kept > next : kept < next;
    if (i != begin && !stays && kept == kept) kept = next;
    if (next != next || (is_maximum ? next >= best : next <= best)) {
      best = next;
      place = i;
    }
    const T actual = item<T>(values, first + i * step);
    ASSERT_EQ(std::memcmp(&actual, &kept, sizeof actual), 0) << "value " << i;
    ASSERT_EQ(item<std::int64_t>(places, first + i * step), place) << "place " << i;
  }
}

TEST_F(ScanRows, PiecesOfExtremaLeaveNoTrace) {
  constexpr std::int64_t count = 50'003;
  const auto check = [&]<class T>(std::type_identity<T>, DType dtype) {
    for (const Course course : all_courses)
      for (const Sizes& sizes : {Sizes{count}, Sizes{count, 2}, Sizes{2, count}}) {
        const int dim = sizes[0] == count ? 0 : 1;
        const Tensor x = random_layout(sizes, dtype, random_);
        for (std::int64_t i = 0; i < x.numel(); ++i)
          item<T>(x, i) = value_at<T>(course, i % count, count, random_);
        const std::int64_t rows = x.numel() / count;
        for (const auto& [is_maximum, is_reverse] :
             {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
          const Op op = is_maximum ? Op::maximum : Op::minimum;
          const ReduceOptions options{.dims = {dim}, .reverse = is_reverse};
          const Tensor values =
              eval(is_maximum ? ops::cummax(x, options) : ops::cummin(x, options));
          const Tensor places = eval(scan_places(op, x, dim, is_reverse));
          for (std::int64_t row = 0; row < rows; ++row)
            expect_extrema<T>(x, values, places, is_maximum, dim == 0 ? row : row * count,
                              dim == 0 ? rows : 1, count, is_reverse);
          if (HasFatalFailure())
            FAIL() << name(dtype) << " of course " << static_cast<int>(course) << ", "
                   << layout_text(x) << ", " << name(op) << (is_reverse ? ", from the end" : "");
        }
      }
  };
  check(std::type_identity<float>{}, DType::f32);
  check(std::type_identity<double>{}, DType::f64);
  check(std::type_identity<std::uint8_t>{}, DType::u8);
  check(std::type_identity<std::int64_t>{}, DType::i64);
}

TEST_F(ScanRows, PiecesOfComputedExtremaLeaveNoTrace) {
  constexpr std::int64_t count = 60'001;
  for (const Course course : all_courses) {
    const Tensor x = new_tensor({count}, DType::f32), y = new_tensor({count}, DType::f32);
    for (std::int64_t i = 0; i < count; ++i) {
      item<float>(x, i) = value_at<float>(course, i, count, random_);
      item<float>(y, i) = -item<float>(x, i);
    }
    const Tensor values = eval(ops::cummax(-Expr(y), {.dims = {0}}));
    const Tensor places = eval(scan_places(Op::maximum, -Expr(y), 0));
    expect_extrema<float>(x, values, places, true, 0, 1, count);
    if (HasFatalFailure()) FAIL() << "course " << static_cast<int>(course);
  }
}

// --- Complex sums and products. ---

TEST_F(ScanRows, OfComplexNumbersAreThoseOfWiderNumbers) {
  using Wide = std::complex<long double>;
  for (const DType dtype : {DType::c64, DType::c128})
    for (const Sizes& sizes : {Sizes{70'001}, Sizes{2, 40'000}, Sizes{300, 40}, Sizes{33'000, 1}})
      for (const int dim : {0, 1})
        for (const bool is_sum : {true, false}) {
          if (dim >= static_cast<int>(sizes.size())) continue;
          const Tensor x = random_layout(sizes, dtype, random_);
          const auto at = [&](const Tensor& tensor, std::int64_t i) {
            return dtype == DType::c64 ? Wide(item<std::complex<float>>(tensor, i))
                                       : Wide(item<std::complex<double>>(tensor, i));
          };
          for (std::int64_t i = 0; i < x.numel(); ++i) {
            const auto angle = static_cast<double>(ir::pick(random_, 1000));
            const std::complex<double> value = std::polar(is_sum ? angle / 500 : 1.0, angle);
            if (dtype == DType::c64)
              item<std::complex<float>>(x, i) = std::complex<float>(value);
            else
              item<std::complex<double>>(x, i) = value;
          }
          const ReduceOptions options{.dims = {dim}};
          const Tensor actual = eval(is_sum ? ops::cumsum(x, options) : ops::cumprod(x, options));
          const std::int64_t columns = sizes.size() == 1 ? 1 : sizes[1];
          const std::int64_t step = dim == 0 ? columns : 1,
                             count = sizes[static_cast<std::size_t>(dim)];
          for (std::int64_t row = 0; row < x.numel() / count; ++row) {
            const std::int64_t first = dim == 0 ? row : row * count;
            Wide kept = is_sum ? 0 : 1;
            for (std::int64_t i = 0; i < count; ++i) {
              kept = is_sum ? kept + at(x, first + i * step) : kept * at(x, first + i * step);
              const long double error = std::abs(at(actual, first + i * step) - kept);
              ASSERT_LE(error, (std::abs(kept) + 1) * (dtype == DType::c64 ? 1e-7L : 1e-11L))
                  << name(dtype) << " " << layout_text(x) << " along " << dim << ", item " << i;
            }
          }
        }
}

TEST_F(ScanRows, InfinitiesOfComplexProductsAreNotRecovered) {
  const Tensor x = new_tensor({40'000}, DType::c64);
  for (std::int64_t i = 0; i < x.numel(); ++i) item<std::complex<float>>(x, i) = 1;
  item<std::complex<float>>(x, 100) = {std::numeric_limits<float>::infinity(), 0};
  const Tensor actual = eval(ops::cumprod(x, {.dims = {0}}));
  const auto result = item<std::complex<float>>(actual, 100);
  EXPECT_EQ(result.real(), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(result.imag()));  // 1 * 0 + 0 * inf
}

// --- logaddexp. ---

/// log(exp(x[0]) + ... + exp(x[i])).
std::vector<long double> log_sums(const std::vector<double>& row) {
  std::vector<long double> results;
  long double largest = -infinity, sum = 0;
  for (const double x : row) {
    if (x > largest) {
      sum = sum * std::exp(largest - x) + 1;
      largest = x;
    } else {
      sum += x == largest ? 1 : std::exp(static_cast<long double>(x) - largest);
    }
    results.push_back(largest + std::log(sum));
  }
  return results;
}

void expect_near(double actual, long double expected, DType dtype, const std::string& place) {
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(actual)) << place;
    return;
  }
  if (std::isinf(expected)) {
    ASSERT_EQ(actual, static_cast<double>(expected)) << place;
    return;
  }
  const long double relative = dtype == DType::f32 ? 6.1e-8L : 5e-16L;
  ASSERT_LE(std::abs(actual - expected), std::abs(expected) * relative + 1e-14L)
      << place << ": " << actual << " and " << static_cast<double>(expected);
}

double log_value(int course, std::int64_t i, Random& random) {
  const double noise = static_cast<double>(ir::pick(random, 2001)) / 100 - 10;
  switch (course) {
    case 0: return noise;
    case 1: return 100 * noise;                 // most vanish
    case 2: return i < 20 ? -infinity : noise;  // nothing yet
    case 3: return i == 30 ? infinity : noise;
    case 4: return i == 40 ? std::nan("") : noise;
    case 5: return i % 50 == 49 ? -infinity : noise - 1e3;  // exponentials of f64 underflow
    default: return static_cast<double>(i) + noise;         // a new largest again and again
  }
}

TEST_F(ScanRows, ByLogaddexpAreLogarithmsOfSums) {
  const std::vector<Sizes> shapes{{1},     {7},      {100},    {5'000},  {5, 3},      {300, 20},
                                  {9, 90}, {700, 2}, {2, 700}, {70'001}, {2, 33'000}, {33'000, 2}};
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Sizes& sizes : shapes)
      for (int course = 0; course < 7; ++course) {
        const int dim = static_cast<int>(ir::pick(random_, sizes.size()));
        const std::int64_t count = sizes[static_cast<std::size_t>(dim)];
        const std::int64_t step = dim == 0 && sizes.size() == 2 ? sizes[1] : 1;
        const Tensor x = random_layout(sizes, dtype, random_);
        const auto at = [&](const Tensor& tensor, std::int64_t i) {
          return dtype == DType::f32 ? item<float>(tensor, i) : item<double>(tensor, i);
        };
        for (std::int64_t i = 0; i < x.numel(); ++i) {
          const double value = log_value(course, dim == 0 ? i / step : i % count, random_);
          if (dtype == DType::f32)
            item<float>(x, i) = static_cast<float>(value);
          else
            item<double>(x, i) = value;
        }
        const bool is_reverse = ir::pick(random_, 2) == 0;
        const Tensor actual = eval(ops::logcumsumexp(x, {.dims = {dim}, .reverse = is_reverse}));
        for (std::int64_t other = 0; other < x.numel() / count; ++other) {
          const std::int64_t first = dim == 0 ? other : other * count;
          const auto number = [&](std::int64_t i) {
            return first + (is_reverse ? count - 1 - i : i) * step;
          };
          std::vector<double> row;
          for (std::int64_t i = 0; i < count; ++i) row.push_back(at(x, number(i)));
          const std::vector<long double> expected = log_sums(row);
          for (std::int64_t i = 0; i < count; ++i)
            ASSERT_NO_FATAL_FAILURE(
                expect_near(at(actual, number(i)), expected[static_cast<std::size_t>(i)], dtype,
                            layout_text(x) + ", course " + std::to_string(course) + ", item " +
                                std::to_string(i)));
        }
      }
}

}  // namespace
}  // namespace weft::testing
