#include "tests/matchers.h"
#include "tests/message_of.h"

#include <weft/error.h>
#include <weft/loops.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;

Tensor counting(std::initializer_list<std::int64_t> sizes) {
  const Tensor tensor = empty(sizes, DType::f32);
  std::iota(tensor.data_as<float>(), tensor.data_as<float>() + tensor.numel(), 0.0F);
  return tensor;
}

// Worked example 9 of the specification.
TEST(seed_examples, DimCounterStepsThroughARange) {
  const std::vector<std::int64_t> shape{64, 2000, 10};
  DimCounter counter(shape, 1066670, 1280000);
  const auto values = [&] { return std::vector(counter.values().begin(), counter.values().end()); };
  EXPECT_EQ(values(), (std::vector<std::int64_t>{46, 666, 8}));
  const std::int64_t strides[] = {4, 256, 512000};
  EXPECT_EQ(std::inner_product(strides, strides + 3, counter.values().begin(), std::int64_t{0}),
            4266680);
  EXPECT_EQ(counter.max_2d_step(), (std::array<std::int64_t, 2>{18, 1}));
  counter.increment({18, 1});
  EXPECT_EQ(values(), (std::vector<std::int64_t>{0, 667, 8}));
  EXPECT_EQ(counter.max_2d_step(), (std::array<std::int64_t, 2>{64, 1333}));
  counter.increment({64, 1333});
  EXPECT_EQ(values(), (std::vector<std::int64_t>{0, 0, 9}));
  EXPECT_EQ(counter.max_2d_step(), (std::array<std::int64_t, 2>{64, 2000}));
  counter.increment({64, 2000});
  EXPECT_EQ(values(), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_TRUE(counter.is_done());
}

// Worked example 10: for_each adding in place, cpu_kernel of two inputs, cumsum by restriding.
TEST(seed_examples, ForEachAddsInPlace) {
  const Tensor out = counting({3, 5}), in = counting({5, 3}).t();
  const auto iterator = TensorIteratorConfig().add_output(out).add_input(in).build();
  for_each(iterator, [](std::byte** data, const std::int64_t* stride_bytes, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      *reinterpret_cast<float*>(data[0] + i * stride_bytes[0]) +=
          *reinterpret_cast<float*>(data[1] + i * stride_bytes[1]);
  });
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      EXPECT_EQ(out.select(0, i).select(0, j).item().as_double(), 5 * i + j + 3 * j + i);
}

TEST(seed_examples, CpuKernelAddsTwoInputs) {
  const Tensor a = counting({2, 3, 4}), b = counting({3, 4});
  const Tensor out;
  const auto iterator = TensorIterator::binary_op(out, a, b);
  cpu_kernel(iterator, [](float x, float y) { return x + y; });
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(iterator.output().data_as<float>()[i], static_cast<float>(i + i % 12));
}

float one_more(float x) { return x + 1; }

TEST(Loops, TakeLambdasThatThrowNothingAndFunctions) {
  const Tensor in = counting({5}), out;
  const auto doubled = TensorIterator::unary_op(out, in), more = TensorIterator::unary_op(out, in);
  cpu_kernel(doubled, [](float x) noexcept { return 2 * x; });
  cpu_kernel(more, one_more);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(doubled.output().data_as<float>()[i], static_cast<float>(2 * i));
    EXPECT_EQ(more.output().data_as<float>()[i], static_cast<float>(i + 1));
  }
}

TEST(seed_examples, CumsumByRestridingTheScannedDimension) {
  const Tensor in = counting({4, 3});
  const Tensor out = empty({4, 3}, DType::f32);
  const Tensor in_rows = in.as_strided({1, 3}, {0, 1}), out_rows = out.as_strided({1, 3}, {0, 1});
  const auto iterator =
      TensorIteratorConfig().add_output(out_rows).add_input(in_rows).resize_outputs(false).build();
  for_each(iterator, [](std::byte** data, const std::int64_t* stride_bytes, std::int64_t n) {
    for (std::int64_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::int64_t row = 0; row < 4; ++row) {
        sum += *reinterpret_cast<float*>(data[1] + column * stride_bytes[1] + row * 12);
        *reinterpret_cast<float*>(data[0] + column * stride_bytes[0] + row * 12) = sum;
      }
    }
  });
  const std::vector<float> expected{0, 1, 2, 3, 5, 7, 9, 12, 15, 18, 22, 26};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.data_as<float>()));
}

// An element is written before it is read, whichever way the loops go; odd steps keep the memory
// from being one view of the other.
TEST(CpuKernel, InputsThatWouldBeOverwrittenAreReadFirst) {
  for (const bool is_parallel : {false, true}) {
    const std::int64_t size = is_parallel ? 100000 : 10;
    const Tensor x = counting({size});
    const Tensor out = x.slice(0, 2, size, 2), in = x.slice(0, 0, size - 2, 2);
    const TensorIterator iterator = TensorIterator::binary_op(out, out, in);
    ASSERT_TRUE(iterator.needs_temporary(1));
    cpu_kernel(
        iterator, [](float p, float q) { return p + q; }, is_parallel ? 100 : 1 << 20);
    for (std::int64_t i = 2; i < size; i += 2)
      ASSERT_EQ(x.data_as<float>()[i], static_cast<float>(2 * i - 2)) << i;
  }
  const Tensor y = counting({8});
  const TensorIterator backwards = TensorIterator::unary_op(y, y.flip({0}));
  cpu_kernel_vec(
      backwards, [](float v) { return v; }, [](const Vec<float>& v) { return v; });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(y.data_as<float>()[i], static_cast<float>(7 - i));
}

TEST(CpuKernel, RefusesOperandsWithoutBytes) {
  const auto identity = [](float v) { return v; };
  const Tensor meta = empty({2, 3}, {DType::f32, Device{DeviceType::meta}});
  EXPECT_THROW(cpu_kernel(TensorIterator::unary_op(Tensor(), meta), identity), UnsupportedError);
  const std::vector<std::int64_t> two{2}, one{1};
  const Tensor layout = unbacked(two, one, DType::f32);
  EXPECT_THROW(cpu_kernel(TensorIterator::unary_op(Tensor(), layout), identity), UnsupportedError);
}

// Loops go through bytes, which lazy bits leave alone.
TEST(CpuKernel, RefusesOperandsWithLazyBits) {
  const Tensor z = zeros({2}, DType::c64).conj(), x = counting({2}), y = x.neg_view();
  const auto refused = [](const TensorIterator& iterator, const auto& function) {
    return test::message_of<ArgumentError>([&] { cpu_kernel(iterator, function); });
  };
  const auto plain = [](float v) { return v; };
  EXPECT_THAT(refused(TensorIterator::unary_op({}, z), [](std::complex<float> v) { return v; }),
              HasSubstr("operand 1 is c64[2] strides [1] conj"));
  EXPECT_THAT(refused(TensorIterator::unary_op({}, y), plain), HasSubstr("operand 1 is f32[2]"));
  EXPECT_THAT(refused(TensorIterator::unary_op(y, full({2}, 3.0F)), plain),
              HasSubstr("operand 0 is f32[2] strides [1] neg"));
  EXPECT_EQ(x.data_as<float>()[1], 1);
  const TensorIterator sum = TensorIterator::reduce_op(zeros({1}), counting({40000}).neg_view());
  EXPECT_THROW(parallel_reduce(sum, [](auto&&...) { FAIL(); }), ArgumentError);
  EXPECT_THROW(foreach_reduced_elt(sum, [](TensorIterator&) { FAIL(); }), ArgumentError);
}

TEST(Loops, EmptyFunctionsAreRefused) {
  const TensorIterator copy = TensorIterator::unary_op({}, counting({4}));
  EXPECT_THROW(for_each(copy, Loop1d()), ArgumentError);
  EXPECT_THROW(for_each_2d(copy, Loop2d()), ArgumentError);
  EXPECT_THROW(serial_for_each(copy, Loop2d(), 0, 4), ArgumentError);
  EXPECT_THROW(parallel_reduce(copy, Loop2d()), ArgumentError);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { foreach_reduced_elt(copy, {}); }),
              HasSubstr("foreach_reduced_elt() was given an empty function"));
}

TEST(DimCounter, NothingToCount) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{0, 3}, {3, 0}, {0}}) {
    const DimCounter counter(shape, 0, 0);
    EXPECT_TRUE(counter.is_done());
    const auto step = counter.max_2d_step();
    EXPECT_EQ(step[0] * step[1], 0);
  }
}

TEST(DimCounter, RefusesWhatIsNoRange) {
  const std::vector<std::int64_t> shape{2, 3}, none{0, 3}, negative{2, -3};
  for (const auto& [begin, end] : {std::pair{-1, 2}, {3, 2}, {0, 7}})
    EXPECT_THAT(test::message_of<ArgumentError>([&] { DimCounter(shape, begin, end); }),
                HasSubstr("is not part of [0, 6)"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { DimCounter(none, 0, 3); }),
              HasSubstr("the range [0, 3) is not part of [0, 0)"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { DimCounter(negative, 0, 0); }),
              HasSubstr("a size is -3"));
}

TEST(DimCounter, CoversEveryRangeOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> shape(random() % 5);
    std::int64_t numel = 1;
    for (auto& size : shape) numel *= size = 1 + static_cast<std::int64_t>(random() % 5);
    const std::int64_t begin = static_cast<std::int64_t>(random() % (numel + 1));
    const std::int64_t end = begin + static_cast<std::int64_t>(random() % (numel - begin + 1));
    std::int64_t expected = begin;
    for (DimCounter counter(shape, begin, end); !counter.is_done();) {
      std::int64_t linear = 0;
      for (std::size_t dim = shape.size(); dim-- > 0;)
        linear = linear * shape[dim] + counter.values()[dim];
      if (!shape.empty()) {
        ASSERT_EQ(linear, expected);
      }
      const auto step = counter.max_2d_step();
      ASSERT_GE(step[0] * step[1], 1);
      expected += step[0] * step[1];
      counter.increment(step);
    }
    ASSERT_EQ(expected, end);
  }
}

TEST(Loops, VoidLambdasAndConstInputs) {
  const Tensor a = counting({100});
  const auto iterator = TensorIteratorConfig().add_const_input(a).build();
  std::atomic<int> sum = 0;
  cpu_kernel(iterator, [&](float x) { sum += static_cast<int>(x); });
  EXPECT_EQ(sum, 4950);
}

TEST(Loops, SeveralOutputs) {
  const Tensor a = counting({7, 3});
  const Tensor quotient = empty({7, 3}, DType::f32), remainder = empty({7, 3}, DType::i32);
  const auto iterator = TensorIteratorConfig()
                            .check_all_same_dtype(false)
                            .add_output(quotient)
                            .add_output(remainder)
                            .add_input(a)
                            .build();
  cpu_kernel_multiple_outputs(iterator, [](float x) {
    return std::tuple<float, std::int32_t>(x / 2, static_cast<std::int32_t>(x) % 2);
  });
  for (int i = 0; i < 21; ++i) {
    EXPECT_EQ(quotient.data_as<float>()[i], static_cast<float>(i) / 2);
    EXPECT_EQ(remainder.data_as<std::int32_t>()[i], i % 2);
  }
}

TEST(Loops, VectorKernelHandlesTailsNumbersAndStrides) {
  const auto check = [](const Tensor& a, const Tensor& b) {
    const Tensor out;
    const auto iterator = TensorIterator::binary_op(out, a, b);
    cpu_kernel_vec(
        iterator, [](float x, float y) { return x * y + 1; },
        [](Vec<float> x, Vec<float> y) { return x * y + 1; });
    const Tensor result = iterator.output();
    const Tensor wide_a = a.expand(result.sizes()), wide_b = b.expand(result.sizes());
    for (std::int64_t i = 0; i < result.size(0); ++i)
      for (std::int64_t j = 0; j < result.size(1); ++j) {
        const auto at = [&](const Tensor& t) {
          return t.select(0, i).select(0, j).item().as_double();
        };
        ASSERT_EQ(at(result), at(wide_a) * at(wide_b) + 1) << i << "," << j;
      }
  };
  check(counting({3, 37}), counting({3, 37}));
  check(counting({3, 37}), counting({1}));
  check(counting({37, 3}).t(), counting({3, 37}));
  check(counting({3, 37}).slice(1, 0, 37, 3), counting({3, 1}));
}

// A range that begins and ends within rows of three dimensions that do not coalesce.
TEST(Loops, SerialVectorKernelWritesItsRangeOnly) {
  const Tensor a = counting({4, 5, 16}).slice(2, 0, 11);
  for (const auto& [begin, end] :
       {std::pair<std::int64_t, std::int64_t>{0, 220}, {7, 150}, {8, 9}}) {
    const Tensor out = zeros(std::vector<std::int64_t>{4, 5, 11});
    const auto iterator = TensorIterator::unary_op(out, a);
    ASSERT_EQ(iterator.ndim(), 2);
    cpu_serial_kernel_vec(
        iterator, [](float x) { return x + 1; }, [](Vec<float> x) { return x + 1; }, begin, end);
    for (std::int64_t i = 0; i < 220; ++i)
      ASSERT_EQ(out.data_as<float>()[i],
                i < begin || i >= end ? 0 : static_cast<float>(i / 11 * 16 + i % 11 + 1))
          << i;
  }
}

TEST(Loops, SerialKernelVisitsInOrder) {
  const Tensor a = counting({4, 5});
  const auto iterator = TensorIteratorConfig().add_const_input(a).build();
  std::vector<float> seen;
  cpu_serial_kernel(
      iterator, [&](float x) { seen.push_back(x); }, 3, 17);
  ASSERT_EQ(seen.size(), 14U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<float>(i + 3));
  EXPECT_THROW(cpu_serial_kernel(
                   iterator, [](float) {}, 0, 21),
               ArgumentError);
}

/// Copies the elements [7, 50) of `in` and leaves the others of a row-major output alone.
void expect_part_is_copied(const Tensor& in) {
  const Tensor out = empty(in.sizes(), {DType::f32, {}, MemoryFormat::contiguous});
  std::fill_n(out.data_as<float>(), out.numel(), -1.0F);
  const auto iterator = TensorIteratorConfig().add_output(out).add_input(in).build();
  ASSERT_EQ(iterator.ndim(), 3);
  const Loop2d copy = [](std::byte** data, const std::int64_t* stride_bytes, std::int64_t n_inner,
                         std::int64_t n_outer) {
    for (std::int64_t j = 0; j < n_outer; ++j)
      for (std::int64_t i = 0; i < n_inner; ++i)
        *reinterpret_cast<float*>(data[0] + i * stride_bytes[0] + j * stride_bytes[2]) =
            *reinterpret_cast<float*>(data[1] + i * stride_bytes[1] + j * stride_bytes[3]);
  };
  serial_for_each(iterator, copy, 7, 50);
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < in.size(0); ++i)
    for (std::int64_t j = 0; j < in.size(1); ++j)
      for (std::int64_t k = 0; k < in.size(2); ++k, ++number) {
        const double element = in.select(0, i).select(0, j).select(0, k).item().as_double();
        EXPECT_EQ(out.data_as<float>()[number], number >= 7 && number < 50 ? element : -1);
      }
}

TEST(Loops, PartsOfManyDimensions) {
  expect_part_is_copied(counting({4, 5, 8}).slice(1, 0, 3).slice(2, 1, 7));  // padded
  expect_part_is_copied(counting({6, 5, 4}).permute({2, 1, 0}));
  expect_part_is_copied(counting({5, 4, 6}).permute({1, 0, 2}).slice(2, 0, 3));
}

TEST(Loops, RangesAreSharedAmongThreads) {
  std::vector<int> counts(1000);
  parallel_for(0, 1000, 10, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(counts, std::vector<int>(1000, 1));
}

TEST(Loops, ManyElementsOnManyThreads) {
  const Tensor a = counting({300, 1000});
  const Tensor out;
  const auto iterator = TensorIterator::unary_op(out, a);
  cpu_kernel(
      iterator, [](float x) { return -x; }, 1000);
  for (std::int64_t i = 0; i < a.numel(); ++i)
    ASSERT_EQ(iterator.output().data_as<float>()[i], -static_cast<float>(i));
}

TEST(Loops, ExceptionsReachTheCallerOnce) {
  const Tensor a = counting({300, 1000});
  const auto iterator = TensorIteratorConfig().add_const_input(a).build();
  EXPECT_THROW(cpu_kernel(
                   iterator,
                   [](float x) {
                     if (x == 1234) throw std::runtime_error("x");
                   },
                   1000),
               std::runtime_error);
}

TEST(Loops, DtypesAndCountsAreChecked) {
  const Tensor a = counting({4});
  const Tensor out;
  const auto iterator = TensorIterator::unary_op(out, a);
  EXPECT_THROW(cpu_kernel(iterator, [](double x) { return x; }), ArgumentError);
  EXPECT_THROW(cpu_kernel(iterator, [](float x, float y) { return x + y; }), ArgumentError);
}

/// out = sum over the dimensions in which `out` has stride 0.
void sum_into(const Tensor& out, const Tensor& in) {
  const auto iterator = TensorIterator::reduce_op(out, in);
  parallel_reduce(iterator, [](std::byte** data, const std::int64_t* stride_bytes, std::int64_t n,
                               std::int64_t m) {
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        *reinterpret_cast<float*>(data[0] + i * stride_bytes[0] + j * stride_bytes[2]) +=
            *reinterpret_cast<float*>(data[1] + i * stride_bytes[1] + j * stride_bytes[3]);
  });
}

TEST(Loops, AnIteratorThatWasMovedFromHasNoOperands) {
  const Tensor a = counting({3});
  TensorIterator given = TensorIterator::unary_op(Tensor(), a);
  EXPECT_THROW(given.data(17), ArgumentError);
  EXPECT_THROW(given.stride_bytes(-1), ArgumentError);
  EXPECT_THROW(given.tensor(2), ArgumentError);
  const TensorIterator taken = std::move(given);
  EXPECT_EQ(taken.numel(), 3);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(given.ntensors(), 0);
  EXPECT_EQ(given.noutputs(), 0);
  EXPECT_EQ(given.ninputs(), 0);
  EXPECT_EQ(given.numel(), 0);
  EXPECT_THROW(given.dtype(), ArgumentError);
  EXPECT_THROW(given.output(), ArgumentError);
  for_each(given, [](std::byte**, const std::int64_t*, std::int64_t) { FAIL(); });
  EXPECT_THROW(cpu_kernel(given, one_more), ArgumentError);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Reduce, SumsAreRightAndTheSameForAnyNumberOfThreads) {
  std::mt19937 random(3);
  const Tensor in = empty({401, 503}, DType::f32);
  for (std::int64_t i = 0; i < in.numel(); ++i)
    in.data_as<float>()[i] = static_cast<float>(random()) / 4e9F;
  const int threads = num_threads();
  for (const auto& strides : {std::vector<std::int64_t>{0, 0}, {1, 0}, {0, 1}}) {
    std::vector<std::vector<float>> results;
    for (const int count : {1, 2, 3}) {
      set_num_threads(count);
      const Tensor out = zeros(std::vector<std::int64_t>{600});
      sum_into(out.as_strided(in.sizes(), strides), in);
      results.emplace_back(out.data_as<float>(), out.data_as<float>() + 600);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
    double expected = 0;
    for (std::int64_t i = 0; i < in.numel(); ++i)
      expected += static_cast<double>(in.data_as<float>()[i]);
    const double total = std::accumulate(results[0].begin(), results[0].end(), 0.0);
    EXPECT_NEAR(total / expected, 1, 1e-3);
  }
  set_num_threads(threads);
}

/// Whether, of several tries, `call` has called the function that it is given from two threads.
/// Few are enough where that isn't expected.
template <class Call>
bool runs_on_two_threads(bool is_expected, const Call& call) {
  const int threads = num_threads();
  set_num_threads(2);
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> seen;
  const int most_attempts = is_expected ? 100 : 5;
  for (int attempt = 0; attempt < most_attempts && seen.size() < 2; ++attempt) {
    int num_waits = 0;
    call([&] {
      std::unique_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
      changed.notify_all();
      // Not at each of thousands of elements.
      if (++num_waits <= 2)
        changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return seen.size() > 1; });
    });
  }
  set_num_threads(threads);
  return seen.size() > 1;
}

TEST(Loops, SeveralThreadsTakePartIfAskedFor) {
  const Tensor in = zeros(std::vector<std::int64_t>{400, 500});
  const Tensor out = zeros(std::vector<std::int64_t>{400, 500});
  const auto pointwise = TensorIteratorConfig().add_output(out).add_const_input(in).build();
  for (const bool is_large : {true, false}) {
    const std::int64_t grain = is_large ? 1000 : in.numel();
    EXPECT_EQ(is_large, runs_on_two_threads(is_large, [&](const auto& visit) {
                for_each_2d(
                    pointwise,
                    [&](std::byte**, const std::int64_t*, std::int64_t, std::int64_t) { visit(); },
                    grain);
              }));
    EXPECT_EQ(is_large, runs_on_two_threads(is_large, [&](const auto& visit) {
                for_each(
                    pointwise, [&](std::byte**, const std::int64_t*, std::int64_t) { visit(); },
                    grain);
              }));
  }
}

TEST(Reduce, SeveralThreadsTakePartIfAskedFor) {
  const Tensor in = zeros(std::vector<std::int64_t>{400, 500});
  const Tensor out = zeros(std::vector<std::int64_t>{400});
  for (const std::int64_t kept : {0, 1}) {  // one output, and one a row
    const Tensor reduced = out.as_strided(in.sizes(), std::vector<std::int64_t>{kept, 0});
    const auto iterator = TensorIterator::reduce_op(reduced, in);
    EXPECT_TRUE(runs_on_two_threads(true, [&](const auto& visit) {
      parallel_reduce(
          iterator, [&](std::byte**, const std::int64_t*, std::int64_t, std::int64_t) { visit(); });
    })) << kept;
    if (kept == 0) continue;
    for (const bool parallelize : {true, false})
      EXPECT_EQ(parallelize, runs_on_two_threads(parallelize, [&](const auto& visit) {
                  foreach_reduced_elt(
                      iterator, [&](TensorIterator&) { visit(); }, parallelize);
                }));
  }
}

TEST(Loops, TakeAsManyOperandsAsAnIterator) {
  constexpr int num_inputs = 100;
  const Tensor out = zeros(std::vector<std::int64_t>{3, 2});
  const Tensor transposed = out.t();
  TensorIteratorConfig config;
  config.add_output(transposed);
  std::vector<Tensor> inputs;
  inputs.reserve(num_inputs);  // the iterator borrows them
  for (int i = 0; i < num_inputs; ++i) {
    inputs.push_back(counting({2, 3}));
    config.add_const_input(inputs.back());
  }
  const auto iterator = config.build();
  for_each(iterator, [](std::byte** data, const std::int64_t* stride_bytes, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      for (int k = 1; k <= num_inputs; ++k)
        *reinterpret_cast<float*>(data[0] + i * stride_bytes[0]) +=
            *reinterpret_cast<const float*>(data[k] + i * stride_bytes[k]);
  });
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      EXPECT_EQ(out.data_as<float>()[2 * i + j],
                num_inputs * inputs[0].data_as<float>()[3 * j + i]);
}

TEST(Reduce, GoesOnFromWhatTheOutputHolds) {
  for (const std::int64_t count : {30'000, 32'769, 100'000}) {
    const Tensor out = full({}, 5, {DType::f32});
    const std::vector<std::int64_t> sizes{count};
    sum_into(out.expand(sizes), full(sizes, 1, {DType::f32}));
    EXPECT_EQ(out.data_as<float>()[0], static_cast<float>(count + 5));
  }
}

TEST(Reduce, ForeachReducedElementSeesItsInputs) {
  const Tensor in = counting({6, 5, 4});
  const Tensor out = zeros(std::vector<std::int64_t>{6, 4});
  const auto iterator = TensorIterator::reduce_op(out.as_strided({6, 5, 4}, {4, 0, 1}), in);
  foreach_reduced_elt(iterator, [](TensorIterator& element) {
    float largest = -1;
    for_each(element, [&](std::byte** data, const std::int64_t* stride_bytes, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        largest = std::max(largest, *reinterpret_cast<float*>(data[1] + i * stride_bytes[1]));
    });
    *reinterpret_cast<float*>(element.data(0)) = largest;
  });
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(out.data_as<float>()[4 * i + j], static_cast<float>(20 * i + 16 + j));
}

TEST(Reduce, ElementsOfNothingAreAskedFor) {
  const Tensor out = counting({3, 1});
  int calls = 0;
  foreach_reduced_elt(TensorIterator::reduce_op(out, empty({3, 0}, DType::f32)),
                      [&](TensorIterator& element) {
                        EXPECT_EQ(element.numel(), 0);
                        *reinterpret_cast<float*>(element.data(0)) = static_cast<float>(++calls);
                      });
  EXPECT_EQ(calls, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out.data_as<float>()[i], static_cast<float>(i + 1));
}

// The last row is an input of every column's sum, and what the sums are written to.
TEST(Reduce, InputsThatAreWrittenAreCopiedBeforeAnyIsWritten) {
  const auto ones_into_last_row = [](auto&& reduce) {
    const Tensor in = full({64, 1024}, 1, {DType::f32});
    const Tensor out = in.select(0, 63);
    const Tensor sums = out.as_strided({64, 1024}, {0, 1});
    const auto iterator = TensorIteratorConfig()
                              .set_check_mem_overlap(false)
                              .is_reduction(true)
                              .resize_outputs(false)
                              .add_output(sums)
                              .add_input(in)
                              .build();
    reduce(iterator);
    return std::vector<float>(out.data_as<float>(), out.data_as<float>() + 1024);
  };
  const auto add = [](std::byte** data, const std::int64_t* stride_bytes, std::int64_t n,
                      std::int64_t m) {
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        *reinterpret_cast<float*>(data[0] + i * stride_bytes[0] + j * stride_bytes[2]) +=
            *reinterpret_cast<float*>(data[1] + i * stride_bytes[1] + j * stride_bytes[3]);
  };
  const std::vector<float> expected(1024, 65);
  EXPECT_EQ(ones_into_last_row([&](const TensorIterator& it) { parallel_reduce(it, add); }),
            expected);
  EXPECT_EQ(ones_into_last_row([&](const TensorIterator& it) {
              foreach_reduced_elt(it, [&](TensorIterator& element) {
                serial_for_each(element, add, 0, element.numel());
              });
            }),
            expected);
}

}  // namespace
}  // namespace weft
