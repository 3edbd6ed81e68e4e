// Folds of one call that share a pass, in a loop of theirs or in turns, have the bits that each has
// alone, and weft explain says which do.
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/info.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <thread>

namespace weft::testing {
namespace {

using matchers::HasSubstr;

constexpr int num_cases = 105;
constexpr int thread_counts[] = {1, 2, 3};

/// DIMS stand for the dimensions of a case, ONE for one of them.
const char* const groups[] = {
    "aminmax(a, DIMS)",
    "sum(a, DIMS), sum(a * a, DIMS)",
    "var_mean(a, DIMS)",
    "sum(a, ONE), argmax(a, ONE)",
    "amax(a), argmax(a), argmin(a)",
    "amin(a, DIMS), argmin(a, ONE)",
    "mean(a, DIMS), count_nonzero(a, DIMS)",
    "amax(a, DIMS), sum(a, DIMS), any(a, DIMS), amin(a, DIMS)",
    "sum(a * b, DIMS), sum(a * a, DIMS), sum(b * b, DIMS)",
    "sum(a - mean(a, DIMS, keepdim=true), DIMS), amax(abs(a - mean(a, DIMS, keepdim=true)), DIMS)",
    "sum(a * 0.5 + 1, DIMS, keepdim=true), prod(a * 0.01 + 1, DIMS)",
    "norm(a, 2, DIMS), norm(a, 1, DIMS), norm(a, inf, DIMS), sum(cast(a, f64), DIMS)",
    // Some of these, or none, go together.
    "sum(a, DIMS), sum(a, ONE), amax(b, DIMS)",
    "sum(a, ONE), cumsum(a, ONE)",
    "sum(tan(a), DIMS), amax(a, DIMS)",
};

std::int64_t cache_bytes() {
  static const std::int64_t bytes = engine_info().l2_bytes;
  return bytes;
}

/// Mostly more than the second cache holds, in one of the shapes that are walked differently.
Sizes random_sizes(DType dtype, Random& random) {
  const bool is_small = random() % 3 == 0;
  const std::int64_t large = cache_bytes() / static_cast<std::int64_t>(itemsize_bytes(dtype)) + 1;
  const std::int64_t least = is_small ? 1000 : large;
  const std::int64_t count = least + static_cast<std::int64_t>(random() % 300'000);
  const std::int64_t shortest = 1 + static_cast<std::int64_t>(random() % 40);
  const std::int64_t middle = 100 + static_cast<std::int64_t>(random() % 900);
  switch (random() % 6) {
    case 0: return {count};
    case 1: return {shortest, count / shortest + 1};
    case 2: return {count / shortest + 1, shortest};
    case 3: return {middle, count / middle + 1};
    case 4: return {3, middle, count / middle / 3 + 1};
    default: return {2, shortest, 5, count / shortest / 10 + 1};
  }
}

void fill(const Tensor& tensor, Random& random) {
  const bool has_nan = random() % 16 == 0, has_ties = random() % 3 == 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const std::uint64_t drawn = random();
    double value = static_cast<double>(drawn % 2'000'001) / 1e6 - 1;
    if (has_ties) value = std::round(value * 3) / 2;
    if (is_integral(tensor.dtype())) value = std::round(std::abs(value) * 100);
    if (has_nan && !is_integral(tensor.dtype()) && drawn >> 48 == 0) value = NAN;
    const Bits bits = Scalar(value).bits(tensor.dtype());
    std::memcpy(element(tensor, i), &bits, itemsize_bytes(tensor.dtype()));
  }
}

std::string replaced(std::string text, std::string_view word, const std::string& by) {
  for (std::size_t at; (at = text.find(word)) != std::string::npos;)
    text.replace(at, word.size(), by);
  return text;
}

struct Case {
  Tensor a, b;
  std::string text;

  std::vector<Expr> exprs() const {
    const std::pair<std::string, Tensor> names[] = {{"a", a}, {"b", b}};
    return parse_exprs(text, names);
  }
};

Case random_case(int number, Random& random) {
  constexpr DType dtypes[] = {DType::f32, DType::f32, DType::f32, DType::f64,
                              DType::f16, DType::i32, DType::u8};
  Case result;
  DType dtype = dtypes[random() % std::size(dtypes)];
  result.text = groups[static_cast<std::size_t>(number) % std::size(groups)];
  const bool needs_floats = result.text.find("mean") != std::string::npos ||
                            result.text.find("norm") != std::string::npos;
  if (needs_floats && is_integral(dtype)) dtype = DType::f32;
  const Sizes sizes = random_sizes(dtype, random);
  const auto tensor = [&] {
    const Tensor made =
        random() % 3 == 0 ? random_layout(sizes, dtype, random) : new_tensor(sizes, dtype);
    fill(made, random);
    return made;
  };
  result.a = tensor();
  result.b = result.text.find('b') == std::string::npos ? result.a : tensor();
  std::string dims;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim)
    if (random() % 2 == 0) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
  if (dims.empty()) dims = "0";
  const std::string one = std::to_string(random() % sizes.size());
  result.text = replaced(result.text, "DIMS", "dims=[" + dims + "]");
  result.text = replaced(result.text, "ONE", "dims=[" + one + "]");
  return result;
}

class JointFolds : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(3); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(JointFolds, HaveTheBitsOfSeparateCalls) {
  Random random(31);
  Engine reference(EngineOptions{.backend = "interp", .num_threads = 1});
  std::map<int, Engine> engines;
  for (const int threads : thread_counts)
    engines.try_emplace(threads, EngineOptions{.num_threads = threads, .tiers = "xbyak"});
  for (int number = 0; number < num_cases; ++number) {
    const Case test = random_case(number, random);
    const std::vector<Expr> exprs = test.exprs();
    std::vector<Tensor> expected;
    for (const Expr& expr : exprs) expected.push_back(reference.eval(expr));
    for (auto& [threads, engine] : engines) {
      const std::vector<Tensor> results = engine.eval(exprs);
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        ASSERT_TRUE(same_tensor(results[i], expected[i]))
            << "case " << number << ", " << threads << " threads, result " << i << " of "
            << test.text << " of " << layout_text(test.a) << " and " << layout_text(test.b);
    }
  }
}

TEST_F(JointFolds, KeepTheOrderThatIsAskedFor) {
  Random random(32);
  for (const Numerics numerics :
       {Numerics::strict, Numerics::layout_invariant, Numerics::exact, Numerics::fast})
    for (int number = 0; number < 12; ++number) {
      Case test = random_case(number, random);
      if (test.text.find("prod") != std::string::npos) continue;  // is never exact
      const std::vector<Expr> exprs = test.exprs();
      Engine together(EngineOptions{.numerics = numerics, .num_threads = 2});
      Engine alone(EngineOptions{.numerics = numerics, .num_threads = 1});
      const std::vector<Tensor> results = together.eval(exprs);
      for (std::size_t i = 0; i < results.size(); ++i)
        ASSERT_TRUE(same_tensor(results[i], alone.eval(exprs[i])))
            << name(numerics) << ", result " << i << " of " << test.text << " of "
            << layout_text(test.a);
    }
}

/// The passes of an expression of `a`, and of `b` of the same layout.
std::vector<std::string> passes_of(const std::string& text, const std::string& layout,
                                   Numerics numerics = Numerics::standard) {
  Engine engine;
  const std::pair<std::string, Tensor> names[] = {{"a", parse_layout(layout)},
                                                  {"b", parse_layout(layout)}};
  ExplainOptions options;
  options.numerics = numerics;
  return engine.explain(parse_expr(text, names), {}, options).passes;
}

/// How many passes over memory that are.
int num_passes(const std::vector<std::string>& passes) {
  int count = 0;
  for (const std::string& pass : passes) count += pass.find(", in the same pass") == pass.npos;
  return count;
}

TEST(JointFoldsExplain, SaysWhichFoldsShareAPass) {
  const std::string many = std::to_string(cache_bytes());  // elements, of several bytes each
  const auto passes = passes_of("amax(a) - amin(a)", "f32[1000000000]");
  ASSERT_EQ(passes.size(), 2);
  EXPECT_THAT(passes[0], HasSubstr(", one pass of 2 folds that reads 4.0 GB"));
  EXPECT_THAT(passes[1], HasSubstr(", in the same pass"));
  const auto count = [&](const std::string& text, const std::string& layout) {
    return num_passes(passes_of(text, layout));
  };
  const std::string row = "f32[" + many + "]", rows = "f32[300," + many + "]";
  EXPECT_EQ(count("sum(a) + sum(a * a) + amax(a) + argmax(a) + count_nonzero(a)", row), 1);
  EXPECT_EQ(count("sum(a * b) / sqrt(sum(a * a) * sum(b * b))", row), 1);
  EXPECT_EQ(count("amax(a, dims=[0]) - mean(a, dims=[0])", rows), 1);
  EXPECT_EQ(count("amax(a, dims=[1]) - mean(a, dims=[1])", rows), 1);
  // Its own mean is of f64, and comes before the sum of squares; that of f32 comes along.
  EXPECT_EQ(count("var(a) + mean(a)", row), 2);
  EXPECT_EQ(count("sum((a - mean(a)) ** 2) / sum((a - mean(a)) ** 3)", row), 2);
}

TEST(JointFoldsExplain, SaysWhichFoldsShareALoop) {
  const auto backends = engine_info().backends;
  const auto xbyak = std::ranges::find(backends, "xbyak", &EngineInfo::Backend::name);
  if (xbyak == backends.end() || !xbyak->unavailable_reason.empty())
    return leave_out_without("xbyak", "code has to be there at once");
  const auto loops = [&](const std::string& text, const std::string& layout) {
    std::string result;
    for (const std::string& pass : passes_of(text, layout)) {
      const bool begins = pass.find(", a loop") != pass.npos;
      const bool goes_on = pass.find(" and loop") != pass.npos;
      result += begins ? 'b' : goes_on ? 'g' : '-';
    }
    return result;
  };
  EXPECT_EQ(loops("sum(a) - sum(a * a)", "f32[10000]"), "bg");
  EXPECT_EQ(loops("sum(a, dims=[0]) - sum(a * a, dims=[0])", "f32[1000,1000]"), "bg");
  EXPECT_EQ(loops("sum(a, dims=[1]) - sum(a * b, dims=[1])", "f32[1000,10000]"), "bg");
  EXPECT_EQ(loops("amax(a) - amin(a)", "i32[10000]"), "bg");
  EXPECT_EQ(loops("sum(a) + sum(a * a) + prod(a) + prod(a + 1) + sum(abs(a))", "f32[10000]"),
            "bggg-");
  // A function that is a call; lanes of two sizes; places; nothing that both read.
  EXPECT_EQ(loops("sum(tan(a)) + sum(a) + prod(a)", "f32[10000]"), "-bg");
  EXPECT_EQ(loops("sum(cast(a, f64)) + sum(a)", "f32[10000]"), "--");
  EXPECT_EQ(loops("amax(a) + argmax(a)", "f32[10000]"), "--");
  EXPECT_EQ(loops("sum(a) + sum(b)", "f32[10000]"), "--");
  // AVX2 has no registers for all lanes of two folds, and so no code for short rows; and the loops
  // that are compiled ahead are as fast where NaN takes more than an instruction.
  const bool has_avx512 = engine_info().cpu_features.find("avx512") != std::string::npos;
  const std::string with_avx512 = has_avx512 ? "bg" : "--";
  EXPECT_EQ(loops("sum(a, dims=[1]) - sum(a * a, dims=[1])", "f32[1000,100]"), with_avx512);
  EXPECT_EQ(loops("amax(a) - amin(a)", "f32[10000]"), with_avx512);
  EXPECT_EQ(loops("amax(a, dims=[1]) - amin(a, dims=[1])", "f32[1000,1000]"), with_avx512);
  // Short rows and narrow columns that are folded as they lie.
  EXPECT_EQ(loops("amax(a, dims=[0]) - amin(a, dims=[0])", "f32[1000,32]"), "--");
  EXPECT_EQ(loops("amax(a, dims=[0]) - amin(a, dims=[0])", "f32[1000,100]"), with_avx512);
  EXPECT_EQ(loops("amax(a, dims=[1]) - amin(a, dims=[1])", "f32[1000,100]"), "--");
}

TEST(JointFoldsExplain, LeavesApartWhatDoesNotFit) {
  const std::string many = std::to_string(cache_bytes());
  const std::string row = "f32[" + many + "]", rows = "f32[300," + many + "]";
  EXPECT_EQ(num_passes(passes_of("sum(a) + amax(b)", row)), 2);
  EXPECT_EQ(num_passes(passes_of("sum(a, dims=[0]) + sum(a)", rows)), 2);
  EXPECT_EQ(num_passes(passes_of("sum(cast(a, f64)) + sum(a)", "f32[1000]")), 2);
  EXPECT_EQ(num_passes(passes_of("sum(a) / sum(a * a)", row, Numerics::exact)), 2);
  EXPECT_EQ(num_passes(passes_of("amax(a) - sum(a)", row, Numerics::exact)), 2);
  EXPECT_EQ(num_passes(passes_of("amax(a) - amin(a)", row, Numerics::exact)), 1);
  // A block holds 21 rows of 160 elements in lanes of f32, and 12 in those of f64.
  EXPECT_EQ(num_passes(passes_of("sum(cast(a, f64)) + sum(a)", "f32[100000,160]{200,1}")), 2);
  EXPECT_EQ(num_passes(passes_of("sum(cast(a, f64)) + sum(a)", "f32[100000,128]{200,1}")), 1);
}

TEST_F(JointFolds, AreKeptAsOnePlan) {
  Random random(33);
  Engine engine(EngineOptions{.num_threads = 2});
  const Sizes sizes{cache_bytes()};
  const auto exprs_of = [](const Tensor& a, const Tensor& scale) {
    const std::pair<std::string, Tensor> names[] = {{"a", a}, {"s", scale}};
    return parse_exprs("aminmax(a, keepdim=true), sum(a * 3 + s, keepdim=true)", names);
  };
  const Tensor x = new_tensor(sizes, DType::f32), y = new_tensor(sizes, DType::f32);
  const Tensor scale = full({1}, 2.0F);
  fill(x, random);
  fill(y, random);
  engine.eval(exprs_of(x, scale));
  const EngineStats before = engine.stats();
  const std::vector<Tensor> again = engine.eval(exprs_of(y, scale));
  EXPECT_EQ(engine.stats().plan_misses, before.plan_misses);
  EXPECT_EQ(engine.stats().plan_hits, before.plan_hits + 1);
  const PreparedPlan plan = engine.prepare(exprs_of(x, scale));
  Engine alone(EngineOptions{.num_threads = 1});
  std::vector<Tensor> expected;
  for (const Expr& expr : exprs_of(y, scale)) expected.push_back(alone.eval(expr));
  std::vector<std::vector<Tensor>> outputs(3);
  std::vector<std::thread> threads;
  for (auto& own : outputs) {
    for (const Tensor& output : expected) own.push_back(empty_like(output));
    threads.emplace_back([&plan, &y, &scale, &own] {
      std::vector<std::byte*> data;
      for (const Tensor& output : own) data.push_back(output.data());
      data.push_back(y.data());
      data.push_back(scale.data());
      plan.run(data);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(same_tensor(again[i], expected[i])) << "result " << i;
    for (const auto& own : outputs) EXPECT_TRUE(same_tensor(own[i], expected[i]));
  }
}

TEST_F(JointFolds, WriteGivenOutputsAndInputs) {
  Random random(34);
  Engine engine;
  const Tensor x = new_tensor({300, cache_bytes() / 300}, DType::f32);
  fill(x, random);
  const Expr in(x);
  const ReduceOptions columns{.dims = {0}};
  const Expr exprs[] = {ops::amin(in, columns), ops::sum(in, columns)};
  const Tensor expected[] = {engine.eval(exprs[0]), engine.eval(exprs[1])};
  // Into columns of a wider tensor, and over the first row of what is read.
  const Tensor wide = new_tensor({x.size(1), 2}, DType::f32);
  const Tensor outs[] = {wide.select(1, 1), x.select(0, 0)};
  engine.eval(exprs, outs);
  EXPECT_TRUE(same_tensor(engine.contiguous(outs[0]), expected[0]));
  EXPECT_TRUE(same_tensor(engine.contiguous(outs[1]), expected[1]));
}

/// Together they read more tensors than a kernel can, and most of them twice.
TEST_F(JointFolds, OfManyTensorsAreComputed) {
  Engine engine;
  constexpr std::int64_t count = 5000;
  const auto more = [&](Expr sum, int num_tensors, float value) {
    for (int i = 0; i < num_tensors; ++i) sum = sum + Expr(full({count}, value));
    return sum;
  };
  const Expr shared = more(Expr(full({count}, 1.0F)), 24, 1);
  const Expr exprs[] = {ops::sum(more(shared, 20, 1)), ops::sum(more(shared, 20, 2))};
  const std::vector<Tensor> results = engine.eval(exprs);
  EXPECT_EQ(results[0].item().as_double(), 45.0 * count);
  EXPECT_EQ(results[1].item().as_double(), 65.0 * count);
}

/// What they read never meets in one expression, and need not broadcast.
TEST_F(JointFolds, OfArgumentsOfDifferentSizesAreApart) {
  Random random(54);
  const Expr a(random_layout({4000, 1}, DType::f32, random)), b(full({70}, 2.0F)),
      c(full({50}, 3.0F));
  const Expr folds[] = {ops::sum(a + b, {.dims = {1}}), ops::sum(a * c, {.dims = {1}})};
  for (const char* const backend : {"auto", "interp"}) {
    Engine engine(EngineOptions{.backend = backend});
    const std::vector<Tensor> together = engine.eval(folds);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(same_tensor(together[i], engine.eval(folds[i]))) << backend;
    EXPECT_NO_THROW(engine.eval(folds[0] * folds[1]));
  }
}

TEST_F(JointFolds, RefuseWhatEachOfThemRefuses) {
  Engine engine;
  const Tensor ints = new_tensor({cache_bytes()}, DType::c64);
  std::memset(ints.data(), 0, static_cast<std::size_t>(ints.numel()) * 8);
  const Expr in(ints);
  const Expr exprs[] = {ops::sum(in), ops::amax(in)};
  EXPECT_THROW(engine.eval(exprs), ArgumentError);
  const Expr counts(full({cache_bytes()}, std::int32_t{4}));
  const Expr zeros(full({cache_bytes()}, std::int32_t{0}));
  const Expr divided[] = {ops::sum(ops::div_floor(counts, zeros)), ops::sum(counts)};
  EXPECT_THROW(engine.eval(divided), ArithmeticError);
}

}  // namespace
}  // namespace weft::testing
