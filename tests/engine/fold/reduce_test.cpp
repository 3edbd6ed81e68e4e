// Reductions and scans against plain loops over indices, over random layouts.
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace weft::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Engine& engine_with(const std::string& backend) {
  static std::map<std::string, std::unique_ptr<Engine>> engines;
  auto& engine = engines[backend];
  if (engine == nullptr) engine = std::make_unique<Engine>(EngineOptions{.backend = backend});
  return *engine;
}

/// The numbers that become one: with each output's row-major number, those of its inputs in order.
std::vector<std::vector<std::int64_t>> groups_of(const Sizes& sizes, const ReduceOptions& options) {
  const int ndim = static_cast<int>(sizes.size());
  std::vector<bool> is_reduced(sizes.size(), options.dims.empty());
  for (const std::int64_t dim : options.dims)
    is_reduced[static_cast<std::size_t>(dim < 0 ? dim + ndim : dim)] = true;
  std::int64_t numel = 1, num_groups = 1;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    numel *= sizes[dim];
    if (!is_reduced[dim]) num_groups *= sizes[dim];
  }
  std::vector<std::vector<std::int64_t>> groups(static_cast<std::size_t>(num_groups));
  for (std::int64_t i = 0; i < numel; ++i) {
    std::int64_t rest = i, group = 0, scale = 1;
    for (std::size_t dim = sizes.size(); dim-- > 0;) {
      if (!is_reduced[dim]) {
        group += rest % sizes[dim] * scale;
        scale *= sizes[dim];
      }
      rest /= sizes[dim];
    }
    groups[static_cast<std::size_t>(group)].push_back(i);
  }
  return groups;
}

/// What a reduction makes of whole numbers, in doubles that hold them exactly.
double plain(Reduction reduction, const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, product = 1, largest = -infinity, smallest = infinity, squares = 0, count = 0;
  for (const double value : x) {
    sum += value;
    product *= value;
    largest = std::max(largest, value);
    smallest = std::min(smallest, value);
    squares += value * value;
    count += value != 0 ? 1 : 0;
  }
  double deviations = 0;
  for (const double value : x) deviations += (value - sum / n) * (value - sum / n);
  switch (reduction) {
    case Reduction::sum:
    case Reduction::nansum: return sum;
    case Reduction::prod: return product;
    case Reduction::mean: return sum / n;
    case Reduction::var: return deviations / (n - 1);
    case Reduction::std: return std::sqrt(deviations / (n - 1));
    case Reduction::amax:
    case Reduction::max: return largest;
    case Reduction::amin:
    case Reduction::min: return smallest;
    case Reduction::argmax: return static_cast<double>(std::ranges::find(x, largest) - x.begin());
    case Reduction::argmin: return static_cast<double>(std::ranges::find(x, smallest) - x.begin());
    case Reduction::all: return count == n ? 1 : 0;
    case Reduction::any: return count > 0 ? 1 : 0;
    case Reduction::count_nonzero: return count;
    case Reduction::norm: return std::sqrt(squares);
    case Reduction::logsumexp: {
      double exponentials = 0;
      for (const double value : x) exponentials += std::exp(value - largest);
      return largest + std::log(exponentials);
    }
    default: return not_a_number;
  }
}

double number_at(const Tensor& tensor, std::int64_t i) {
  return visit_dtype(tensor.dtype(), [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (is_complex(dtype_of<T>)) {
      return not_a_number;
    } else {
      return convert<double>(get<T>(tensor, i));
    }
  });
}

/// Small whole numbers, whose sums and products are exact in every order.
void fill_whole(const Tensor& tensor, Random& random) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const auto magnitude = static_cast<std::int64_t>(ir::pick(random, 3));
    const bool is_negative = is_signed(tensor.dtype()) && ir::pick(random, 2) == 0;
    const Bits bits = Scalar(is_negative ? -magnitude : magnitude).bits(tensor.dtype());
    std::memcpy(element(tensor, i), &bits, itemsize_bytes(tensor.dtype()));
  }
}

Sizes random_sizes(Random& random, std::int64_t largest) {
  Sizes sizes(1 + ir::pick(random, 4));
  for (std::int64_t& size : sizes)
    size = 1 + static_cast<std::int64_t>(ir::pick(random, static_cast<std::size_t>(largest)));
  return sizes;
}

ReduceOptions random_options(const Sizes& sizes, ReductionShape shape, Random& random) {
  ReduceOptions options;
  const auto ndim = static_cast<std::int64_t>(sizes.size());
  if (shape == ReductionShape::dims) {
    for (std::int64_t dim = 0; dim < ndim; ++dim)
      if (ir::pick(random, 2) == 0) options.dims.push_back(dim - (ir::pick(random, 2) ? ndim : 0));
  } else if (shape == ReductionShape::scan || ir::pick(random, 4) != 0) {
    options.dims = {static_cast<std::int64_t>(ir::pick(random, sizes.size()))};
  }
  options.keepdim = shape != ReductionShape::scan && ir::pick(random, 2) == 0;
  options.reverse = shape == ReductionShape::scan && ir::pick(random, 2) == 0;
  return options;
}

bool is_exact(Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
    case Reduction::var:
    case Reduction::std:
    case Reduction::norm:
    case Reduction::logsumexp: return false;
    default: return true;
  }
}

void check_reduction(Reduction reduction, const Tensor& a, const ReduceOptions& options,
                     Engine& engine) {
  const Sizes sizes(a.sizes().begin(), a.sizes().end());
  const Tensor actual = engine.reduce(reduction, a, options);
  const auto groups = groups_of(sizes, options);
  ASSERT_EQ(actual.numel(), static_cast<std::int64_t>(groups.size()));
  EXPECT_TRUE(actual.is_contiguous());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<double> x;
    for (const std::int64_t number : groups[i]) x.push_back(number_at(a, number));
    const double expected = plain(reduction, x);
    const double got = number_at(actual, static_cast<std::int64_t>(i));
    const double tolerance = is_exact(reduction)         ? 0
                             : is_small_float(a.dtype()) ? 0.01 * (1 + std::abs(expected))
                                                         : 1e-5 * (1 + std::abs(expected));
    if (std::isnan(expected) && std::isnan(got)) continue;
    if (expected == got) continue;  // infinities
    ASSERT_NEAR(got, expected, tolerance) << name(reduction) << " of " << describe(a) << ", output "
                                          << i << ", " << groups[i].size() << " elements";
  }
}

TEST(Reduce, IsWhatPlainLoopsGive) {
  Random random(20);
  const std::array dtypes{DType::f32, DType::f64,  DType::i32, DType::i64,    DType::u8,
                          DType::i16, DType::bf16, DType::f16, DType::boolean};
  for (const Reduction reduction : all_reductions()) {
    const ReductionInfo& row = info(reduction);
    if (row.shape == ReductionShape::scan) continue;
    for (int i = 0; i < 60; ++i) {
      const DType dtype = dtypes[ir::pick(random, dtypes.size())];
      const bool needs_float =
          row.input == ReductionInput::floating || row.input == ReductionInput::precise;
      if (needs_float && is_integral(dtype)) continue;
      const Sizes sizes = random_sizes(random, i % 10 == 0 ? 40 : 8);
      const Tensor a = random_layout(sizes, dtype, random);
      fill_whole(a, random);
      const ReduceOptions options = random_options(sizes, row.shape, random);
      check_reduction(reduction, a, options, engine_with(i % 4 == 0 ? "interp" : "auto"));
    }
  }
}

TEST(Reduce, ScansAreWhatPlainLoopsGive) {
  Random random(21);
  const std::array scans{Reduction::cumsum, Reduction::cumprod, Reduction::cummax,
                         Reduction::cummin};
  for (int i = 0; i < 200; ++i) {
    const Reduction scan = scans[ir::pick(random, scans.size())];
    const DType dtype =
        std::array{DType::f32, DType::f64, DType::i32, DType::bf16, DType::u8}[ir::pick(random, 5)];
    const Sizes sizes = random_sizes(random, i % 20 == 0 ? 50 : 6);
    const Tensor a = random_layout(sizes, dtype, random);
    fill_whole(a, random);
    const ReduceOptions options = random_options(sizes, ReductionShape::scan, random);
    const Tensor actual = engine_with("auto").reduce(scan, a, options);
    ASSERT_TRUE(std::ranges::equal(actual.sizes(), a.sizes()));
    for (auto group : groups_of(sizes, options)) {
      if (options.reverse) std::ranges::reverse(group);
      double value = number_at(a, group[0]);
      for (const std::int64_t number : group) {
        const double x = number_at(a, number);
        if (number != group[0])
          value = scan == Reduction::cumsum    ? value + x
                  : scan == Reduction::cumprod ? value * x
                  : scan == Reduction::cummax  ? std::max(value, x)
                                               : std::min(value, x);
        // Products of bf16 overflow nothing, but may round.
        if (dtype == DType::bf16 && std::abs(value) > 256) break;
        ASSERT_EQ(number_at(actual, number), value)
            << name(scan) << " of " << describe(a) << " along " << options.dims[0];
      }
    }
  }
}

/// Numbers whose sum depends on the order.
Tensor uneven(const Sizes& sizes, Random& random, DType dtype = DType::f32) {
  const Tensor a = random_layout(sizes, dtype, random);
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const Bits bits = Scalar(static_cast<double>(ir::pick(random, 2000001)) / 1e5 - 9).bits(dtype);
    std::memcpy(element(a, i), &bits, itemsize_bytes(dtype));
  }
  return a;
}

/// Sums and products of f32 are kept in f64 and rounded as they are written.
void expect_rounded_scans(const Sizes& sizes, int dim, Random& random) {
  Tensor a = new_tensor(sizes, DType::f32);
  for (std::int64_t i = 0; i < a.numel(); ++i)
    a.data_as<float>()[i] = static_cast<float>(ir::pick(random, 2000001)) / 1e6f - 1.3f;
  if (a.numel() > 3) a.data_as<float>()[a.numel() / 2] = -0.0f;
  const std::int64_t columns = sizes[1], step = dim == 0 ? columns : 1;
  for (const Reduction scan : {Reduction::cumsum, Reduction::cumprod}) {
    const Tensor actual = engine_with("auto").reduce(scan, a, {.dims = {dim}});
    for (std::int64_t other = 0; other < sizes[1 - dim]; ++other) {
      const std::int64_t first = dim == 0 ? other : other * columns;
      double kept = scan == Reduction::cumsum ? 0 : 1;
      for (std::int64_t i = first; i < first + sizes[dim] * step; i += step) {
        const double x = a.data_as<float>()[i];
        kept = scan == Reduction::cumsum ? kept + x : kept * x;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(actual.data_as<float>()[i]),
                  std::bit_cast<std::uint32_t>(static_cast<float>(kept)))
            << name(scan) << " of [" << sizes[0] << ", " << columns << "] along " << dim
            << ", item " << i;
      }
    }
  }
}

TEST(Reduce, ScansOfFloatsAreRoundedAsTheyAreWritten) {
  Random random(33);
  for (const std::int64_t rows : {1, 2, 7, 8, 9, 17})
    for (const std::int64_t columns : {1, 3, 8, 15, 16, 100})
      for (const int dim : {0, 1}) expect_rounded_scans({rows, columns}, dim, random);
  // Past the caches, in rows that start anywhere in a cache line.
  expect_rounded_scans({60, 20011}, 0, random);
}

TEST(Reduce, BitsDependOnNeitherThreadsNorBackend) {
  Random random(22);
  const std::vector<Sizes> shapes{{200'000},      {3, 70'001},  {5'000, 37},
                                  {9, 300, 41},   {40, 5, 600}, {2'000, 3},
                                  {4, 3, 90, 50}, {130, 2},     {64, 64, 64}};
  for (const Sizes& sizes : shapes)
    for (int i = 0; i < 6; ++i) {
      const Tensor a = uneven(sizes, random), b = uneven(sizes, random);
      const ReduceOptions options = random_options(sizes, ReductionShape::dims, random);
      const Expr plain_sum = ops::sum(a, options);
      const Expr fused = ops::sum(ops::square(Expr(a) - b), options);
      const Expr largest = ops::amax(Expr(a) * b, options);
      for (const Expr& expr : {plain_sum, fused, largest}) {
        const Tensor expected = engine_with("interp").eval(expr);
        for (const int threads : {1, 2, 3, 8, 16}) {
          Engine engine(EngineOptions{.num_threads = threads});
          EXPECT_TRUE(same_tensor(engine.eval(expr), expected))
              << text(expr) << " of " << describe(a) << " on " << threads << " threads";
        }
      }
    }
}

/// Rows of an output between those of its neighbours, so many that outputs take turns.
TEST(Reduce, ChannelsThatTakeTurns) {
  const std::array<std::array<std::int64_t, 3>, 5> shapes{
      {{3, 200, 300}, {40, 131, 257}, {5, 2, 9000}, {7, 300, 4097}, {70, 129, 512}}};
  for (const auto& [images, channels, pixels] : shapes) {
    const Tensor a = empty({images, channels, pixels}, DType::f32);
    auto* const values = a.data_as<float>();
    std::vector<float> sums(static_cast<std::size_t>(channels));
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      const std::int64_t channel = i / pixels % channels;
      values[i] = static_cast<float>((i * 7919 + channel) % 17 - 6);  // sums are exact
      sums[static_cast<std::size_t>(channel)] += values[i];
    }
    for (const int threads : {1, 2, 3}) {
      Engine engine(EngineOptions{.num_threads = threads});
      EXPECT_EQ(elements<float>(engine.reduce(Reduction::sum, a, {.dims = {0, 2}})), sums)
          << images << " x " << channels << " x " << pixels << ", " << threads << " threads";
    }
  }
}

/// Where rows are apart, each output is folded alone.
TEST(Reduce, TurnsHaveTheBitsOfOneAfterTheOther) {
  Random random(27);
  for (const Sizes& sizes : {Sizes{9, 150, 311}, {2, 70, 1500}, {3, 5, 40, 700}, {33, 65, 1024}}) {
    Sizes padded = sizes;
    ++padded.back();
    const auto last = static_cast<std::int64_t>(sizes.size()) - 1;
    const Tensor apart =
        engine_with("auto").contiguous(uneven(padded, random)).narrow(last, 0, sizes.back());
    for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::amax})
      for (const int threads : {1, 3}) {
        Engine engine(EngineOptions{.num_threads = threads});
        const Tensor packed = engine.contiguous(apart);
        EXPECT_TRUE(same_tensor(engine.reduce(reduction, packed, {.dims = {0, last}}),
                                engine.reduce(reduction, apart, {.dims = {0, last}})))
            << name(reduction) << " of " << describe(packed) << ", " << threads << " threads";
      }
  }
}

TEST(Reduce, ManySmallCasesHaveTheInterpretersBits) {
  Random random(26);
  const std::array reductions{Reduction::sum,  Reduction::prod,   Reduction::amax,  Reduction::amin,
                              Reduction::norm, Reduction::argmax, Reduction::cumsum};
  const std::array dtypes{DType::f32, DType::f64, DType::bf16, DType::i32};
  for (int i = 0; i < 10'000; ++i) {
    const Reduction reduction = reductions[ir::pick(random, reductions.size())];
    const DType dtype = dtypes[ir::pick(random, dtypes.size())];
    if (reduction == Reduction::norm && is_integral(dtype)) continue;
    const Sizes sizes = random_sizes(random, i % 100 == 0 ? 30 : 6);
    const Tensor a = uneven(sizes, random, dtype);
    const ReduceOptions options = random_options(sizes, info(reduction).shape, random);
    const Tensor expected = engine_with("interp").reduce(reduction, a, options);
    ASSERT_TRUE(same_tensor(engine_with("auto").reduce(reduction, a, options), expected))
        << "case " << i << ": " << name(reduction) << " of " << describe(a);
  }
}

TEST(Reduce, PlacesDependOnNeitherThreadsNorBackend) {
  Random random(23);
  for (const Sizes& sizes : std::vector<Sizes>{{100'000}, {300, 400}, {7, 90, 110}})
    for (int i = 0; i < 8; ++i) {
      const Tensor a = random_layout(sizes, DType::f32, random);
      for (std::int64_t j = 0; j < a.numel(); ++j)
        put<float>(a, j, static_cast<float>(ir::pick(random, 50)));
      if (i % 2 == 0) put<float>(a, a.numel() / 3, std::nanf(""));
      const ReduceOptions options = random_options(sizes, ReductionShape::one, random);
      const Tensor actual = engine_with("auto").reduce(Reduction::argmax, a, options);
      const auto groups = groups_of(sizes, options);
      for (std::size_t group = 0; group < groups.size(); ++group) {
        std::int64_t best = 0;
        for (std::size_t j = 0; j < groups[group].size(); ++j) {
          const float x = get<float>(a, groups[group][j]);
          const float y = get<float>(a, groups[group][static_cast<std::size_t>(best)]);
          if (x > y || (std::isnan(x) && !std::isnan(y))) best = static_cast<std::int64_t>(j);
        }
        ASSERT_EQ(get<std::int64_t>(actual, static_cast<std::int64_t>(group)), best) << describe(a);
      }
    }
}

TEST(Reduce, SumsAreAsExactAsPairwiseOnes) {
  Random random(24);
  for (const Sizes& sizes : std::vector<Sizes>{{1 << 20}, {700, 900}, {20'000, 30}})
    for (const std::int64_t dim : {std::int64_t{0}, static_cast<std::int64_t>(sizes.size()) - 1}) {
      const Tensor a = uneven(sizes, random);
      const ReduceOptions options{.dims = {dim}};
      const Tensor actual = engine_with("auto").reduce(Reduction::sum, a, options);
      const auto groups = groups_of(sizes, options);
      for (std::size_t i = 0; i < groups.size(); ++i) {
        double exact = 0, magnitude = 0;
        for (const std::int64_t number : groups[i]) {
          exact += get<float>(a, number);
          magnitude += std::abs(get<float>(a, number));
        }
        const auto n = static_cast<double>(groups[i].size());
        const double roundings = 128 + std::log2(std::max(n / 128, 1.0));
        ASSERT_NEAR(get<float>(actual, static_cast<std::int64_t>(i)), exact,
                    roundings * 0x1p-24 * magnitude);
      }
    }
}

/// Evaluated fold by fold on all rows at once, as it is for inputs that fit the cache.
Tensor row_by_row(Engine& engine, const std::function<Expr(const Expr&)>& make, const Tensor& a) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < a.size(0); ++i) rows.push_back(engine.eval(make(a.narrow(0, i, 1))));
  Sizes sizes(rows[0].sizes().begin(), rows[0].sizes().end());
  sizes[0] = a.size(0);
  const Tensor all = new_tensor(sizes, rows[0].dtype());
  for (std::int64_t i = 0; i < a.size(0); ++i)
    engine.copy(all.narrow(0, i, 1), rows[static_cast<std::size_t>(i)]);
  return all;
}

TEST(Reduce, BlocksOfRowsHaveTheBitsOfTheWhole) {
  Random random(25);
  Engine one(EngineOptions{.num_threads = 1}), many(EngineOptions{.num_threads = 4});
  const ReduceOptions last{.dims = {-1}, .keepdim = true};
  const std::vector<std::function<Expr(const Expr&)>> makers{
      [&](const Expr& x) { return x - ops::mean(x, last); },
      [&](const Expr& x) {
        const Expr e = ops::exp(x - ops::amax(x, last));
        return e / ops::sum(e, last);
      },
      [&](const Expr& x) { return (x - ops::mean(x, last)) / ops::sqrt(ops::var(x, last) + 1e-5); },
      [&](const Expr& x) { return ops::logsumexp(x, {.dims = {-1}}); },
  };
  for (const Sizes& sizes : std::vector<Sizes>{{130, 5'001}, {3, 400'001}, {40, 20, 900}})
    for (const auto& make : makers) {
      const Tensor a = new_tensor(sizes, DType::f32);
      for (std::int64_t i = 0; i < a.numel(); ++i)
        a.data_as<float>()[i] = static_cast<float>(ir::pick(random, 20001)) / 1000 - 10;
      const Tensor expected = row_by_row(one, make, a);
      EXPECT_TRUE(same_tensor(one.eval(make(a)), expected)) << text(make(a));
      const Tensor given = empty_like(expected);
      many.eval(make(a), given);
      EXPECT_TRUE(same_tensor(given, expected)) << text(make(a));
    }
}

/// Pieces of what is filled lie where they belong.
TEST(Reduce, FillsManyOutputs) {
  Engine engine;
  for (const std::int64_t count : {65'536, 65'537, 200'001})
    for (const bool has_gaps : {false, true}) {
      Tensor out = full({2, 3, has_gaps ? 2 * count : count}, 7, {DType::i64});
      const Tensor all = out;
      if (has_gaps) out = out.slice(2, 0, {}, 2);
      engine.eval(
          ops::argmax(Expr(zeros(std::vector<std::int64_t>{2, 3, 1, count})), {.dims = {2}}), out);
      std::int64_t sum = 0, rest = 0;
      for (std::int64_t i = 0; i < out.numel(); ++i) sum += get<std::int64_t>(out, i);
      for (std::int64_t i = 0; i < all.numel(); ++i) rest += get<std::int64_t>(all, i);
      EXPECT_EQ(sum, 0) << count;
      EXPECT_EQ(rest, has_gaps ? 7 * out.numel() : 0) << count;
    }
}

}  // namespace
}  // namespace weft::testing
