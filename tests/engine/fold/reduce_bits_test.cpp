// The bits of reductions do not depend on threads or on what runs them: ten thousand random cases.
// CMake runs this program once more with the lesser instruction set; what is compared with, the
// interpreter, is the same in both.
#include "tests/engine/support/engines.h"
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace weft::testing {
namespace {

constexpr int num_cases = 10'000;
constexpr int thread_counts[] = {1, 2, 3, 8, 16};

struct Case {
  Tensor a;
  ReduceOptions options;
};

/// One in fifty is large enough for several threads.
Case random_case(int number, Random& random) {
  constexpr DType dtypes[] = {DType::f32, DType::f32,  DType::f32, DType::f64,
                              DType::f16, DType::bf16, DType::i32, DType::u8};
  const bool is_large = number % 50 == 0;
  Sizes sizes(1 + ir::pick(random, is_large ? 3 : 4));
  const std::size_t longest = is_large ? std::size_t{3} : std::size_t{9};
  for (std::int64_t& size : sizes) size = 1 + static_cast<std::int64_t>(ir::pick(random, longest));
  const std::size_t place = ir::pick(random, sizes.size());
  sizes[place] = 1 + static_cast<std::int64_t>(ir::pick(random, is_large ? 60'000 : 90));
  if (is_large && ir::pick(random, 2) == 0) sizes = {100 + number % 300, 200 + number % 77};
  Case result;
  const DType dtype = dtypes[ir::pick(random, std::size(dtypes))];
  result.a =
      ir::pick(random, 2) == 0 ? new_tensor(sizes, dtype) : random_layout(sizes, dtype, random);
  for (std::size_t dim = 0; dim < sizes.size(); ++dim)
    if (ir::pick(random, 2) == 0) result.options.dims.push_back(static_cast<std::int64_t>(dim));
  // A few numbers, so that there are ties, or many; now and then what spreads, of either sign.
  const bool has_ties = ir::pick(random, 3) == 0, has_infinities = ir::pick(random, 8) == 0;
  for (std::int64_t i = 0; i < result.a.numel(); ++i) {
    const auto drawn = static_cast<double>(random() % 2'000'001) / 1e6 - 1;
    double value = has_ties ? std::round(drawn * 3) * 0.5 : drawn;
    if (is_integral(dtype)) value = std::round((drawn + 1) * 100);
    if (has_infinities && random() % 64 == 0) value = std::copysign(HUGE_VAL, drawn);
    const Bits bits = Scalar(is_integral(dtype) && std::isinf(value) ? 0.0 : value).bits(dtype);
    std::memcpy(element(result.a, i), &bits, itemsize_bytes(dtype));
  }
  return result;
}

class ReduceBits : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(16); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(ReduceBits, AreTheSameForAllThreadsAndTiers) {
  Random random(20'26);
  Engine reference(EngineOptions{.backend = "interp", .num_threads = 1});
  std::map<int, Engine> engines;
  for (const int threads : thread_counts)
    engines.try_emplace(threads, EngineOptions{.num_threads = threads, .tiers = "xbyak"});
  Engine streaming(EngineOptions{.num_threads = 1, .streaming_bytes = 1});
  for (int number = 0; number < num_cases; ++number) {
    const auto [a, options] = random_case(number, random);
    const Reduction others[] = {Reduction::mean,   Reduction::var,  Reduction::prod,
                                Reduction::cumsum, Reduction::amin, Reduction::logsumexp};
    for (Reduction reduction :
         {Reduction::sum, Reduction::amax, Reduction::argmax, others[number % 6]}) {
      ReduceOptions own = options;
      const bool is_float = !is_integral(a.dtype());
      if (!is_float && info(reduction).input != ReductionInput::widened)
        reduction = Reduction::amax;
      const bool is_one = info(reduction).shape != ReductionShape::dims;
      if (is_one) own.dims = {static_cast<std::int64_t>(number) % a.dim()};
      if (reduction == Reduction::argmax && number % 2 == 0) own.dims = {};
      const Tensor expected = reference.reduce(reduction, a, own);
      ASSERT_TRUE(same_tensor(streaming.reduce(reduction, a, own), expected))
          << "case " << number << ": " << text(weft::reduce(reduction, a, own)) << " of "
          << layout_text(a);
      for (auto& [threads, engine] : engines)
        ASSERT_TRUE(same_tensor(engine.reduce(reduction, a, own), expected))
            << "case " << number << ", " << threads
            << " threads: " << text(weft::reduce(reduction, a, own)) << " of " << layout_text(a);
    }
  }
}

TEST_F(ReduceBits, OfScansOfLongRowsAreThoseOfEachRow) {
  Random random(9);
  for (const DType dtype : {DType::f32, DType::f64, DType::i64})
    for (const std::int64_t count : {32'767, 32'768, 70'001})
      for (const Reduction reduction : {Reduction::cumsum, Reduction::cumprod}) {
        const Tensor a = random_layout({3, count}, dtype, random);
        // Rows between one another's elements are scanned in no blocks, one alone in some.
        const bool are_apart = std::abs(a.stride(0)) > std::abs(a.stride(1));
        for (std::int64_t i = 0; i < a.numel(); ++i) {
          const double value = static_cast<double>(random() % 2'000'001) / 1e6 - 1;
          const double near_one = std::exp(value / 8);
          const bool is_product = reduction == Reduction::cumprod;
          const Bits bits = Scalar(is_integral(dtype) ? std::round(value * 9)
                                   : is_product       ? near_one
                                                      : value)
                                .bits(dtype);
          std::memcpy(element(a, i), &bits, itemsize_bytes(dtype));
        }
        for (const bool is_reverse : {false, true}) {
          const ReduceOptions options{.dims = {1}, .reverse = is_reverse};
          Engine one(EngineOptions{.num_threads = 1});
          const Tensor expected = one.reduce(reduction, a, options);
          for (const int threads : thread_counts) {
            Engine engine(EngineOptions{.num_threads = threads});
            ASSERT_TRUE(same_tensor(engine.reduce(reduction, a, options), expected))
                << threads << " threads";
            if (!are_apart) continue;
            ASSERT_TRUE(same_tensor(engine.reduce(reduction, a.narrow(0, 1, 1), options),
                                    one.contiguous(expected.narrow(0, 1, 1))));
          }
          // Against the sum of all before, in a wider type.
          long double kept = reduction == Reduction::cumsum ? 0 : 1;
          for (std::int64_t i = 0; i < count && !is_integral(dtype); ++i) {
            const std::int64_t at = count * 2 + (is_reverse ? count - 1 - i : i);
            const auto number = [&](const Tensor& tensor) -> long double {
              return dtype == DType::f32 ? get<float>(tensor, at) : get<double>(tensor, at);
            };
            kept = reduction == Reduction::cumsum ? kept + number(a) : kept * number(a);
            const long double error = std::abs(number(expected) - kept);
            ASSERT_LE(error, (dtype == DType::f32 ? 1.5e-7L : 1e-11L) * (std::abs(kept) + 1)) << i;
          }
        }
      }
}

/// The sum of blocks [first, first + count) of 128 rows of one column, as docs/reductions.md has
/// it.
template <class T>
T column_sum(const std::vector<T>& column, std::size_t first, std::size_t count) {
  if (count > 1) {
    const std::size_t left = std::bit_floor(count - 1);
    return column_sum(column, first, left) + column_sum(column, first + left, count - left);
  }
  T sum = 0;
  for (std::size_t row = first * 128; row < std::min(column.size(), first * 128 + 128); ++row)
    sum += column[row];
  return sum;
}

/// `units` matrices that are each folded to a row, with something behind each of their rows.
template <class T>
void expect_sums_of_columns(std::int64_t units, std::int64_t rows, std::int64_t columns,
                            Random& random) {
  const Tensor a = new_tensor({units, rows, columns + 1}, dtype_of<T>).slice(2, 0, columns);
  for (std::int64_t i = 0; i < a.numel(); ++i)
    put<T>(a, i, static_cast<T>(static_cast<double>(random() % 2'000'001) / 1e6 - 1));
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    const Tensor sums = engine->reduce(Reduction::sum, a, {.dims = {1}});
    const Tensor means = engine->reduce(Reduction::mean, a, {.dims = {1}});
    for (std::int64_t i = 0; i < units * columns; ++i) {
      std::vector<T> column;
      for (std::int64_t row = 0; row < rows; ++row)
        column.push_back(get<T>(a, (i / columns * rows + row) * columns + i % columns));
      const T sum = column_sum(column, 0, (column.size() + 127) / 128);
      ASSERT_EQ(get<T>(sums, i), sum) << engine->options().backend << ", column " << i << " of "
                                      << units << "x" << rows << "x" << columns;
      ASSERT_EQ(get<T>(means, i), sum / static_cast<T>(rows));
    }
  }
}

TEST_F(ReduceBits, OfAFewColumnsAreThoseOfBlocksOfRows) {
  Random random(10);
  for (const std::int64_t rows : {128, 129, 1000, 20'000})
    for (std::int64_t columns = 4; columns <= 17; ++columns) {
      if (columns >= 8) expect_sums_of_columns<float>(1, rows, columns, random);
      expect_sums_of_columns<double>(1, rows, columns, random);
    }
}

TEST_F(ReduceBits, OfAFewColumnsOfManyMatricesAreThoseOfEach) {
  Random random(11);
  for (const std::int64_t units : {2, 5, 70})
    for (const std::int64_t rows : {128, 300, 700})
      for (const std::int64_t columns : {4, 7, 8, 16, 40}) {
        if (columns >= 8) expect_sums_of_columns<float>(units, rows, columns, random);
        expect_sums_of_columns<double>(units, rows, columns, random);
      }
}

}  // namespace
}  // namespace weft::testing
