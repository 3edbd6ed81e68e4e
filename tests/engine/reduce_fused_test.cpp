// Reductions of expressions: code that computes and folds in one loop gives the bits of the
// interpreter, whatever the number of threads, and weft explain shows it.
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

namespace weft::testing {
namespace {

using matchers::HasSubstr;
using matchers::Not;

constexpr int num_cases = 1500;
constexpr int thread_counts[] = {1, 3, 16};

const char* const expressions[] = {"sum((a - b) ** 2, DIMS)",
                                   "amax(abs(a - b), DIMS)",
                                   "amin(maximum(a, b) * 2, DIMS)",
                                   "prod(a * 0.01 + 1, DIMS)",
                                   "mean(where(a < b, a, b) * 1.5, DIMS)",
                                   "sum(sqrt(abs(a)) * b, DIMS)",
                                   "sum(cast(a, f64) / 3, DIMS)",
                                   "norm(a * 1.5 - b, 2, DIMS)",
                                   "sum(exp(a - 2), DIMS)",
                                   "sum(a * b, DIMS) / amax(a + b, DIMS)"};

void fill(const Tensor& tensor, Random& random) {
  const bool has_nan = random() % 16 == 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    double value = static_cast<double>(random() % 2'000'001) / 1e6 - 1;
    if (is_integral(tensor.dtype())) value = std::round(std::abs(value) * 100);
    if (has_nan && !is_integral(tensor.dtype()) && random() % 64 == 0) value = NAN;
    const Bits bits = Scalar(value).bits(tensor.dtype());
    std::memcpy(element(tensor, i), &bits, itemsize_bytes(tensor.dtype()));
  }
}

struct Case {
  Tensor a, b;
  std::string expression;
};

Tensor random_tensor(const Sizes& sizes, DType dtype, Random& random) {
  const Tensor result =
      random() % 3 == 0 ? random_layout(sizes, dtype, random) : new_tensor(sizes, dtype);
  fill(result, random);
  return result;
}

/// One in fifty is large enough for several threads.
Case random_case(int number, Random& random) {
  constexpr DType dtypes[] = {DType::f32, DType::f32, DType::f32,  DType::f64,
                              DType::f16, DType::i32, DType::bf16, DType::u8};
  const bool is_large = number % 50 == 0;
  Sizes sizes(1 + random() % 4);
  for (std::int64_t& size : sizes) size = 1 + static_cast<std::int64_t>(random() % 5);
  const std::size_t longest = random() % 4 == 0 ? 700 : 150;
  sizes[random() % sizes.size()] = 1 + static_cast<std::int64_t>(random() % longest);
  if (is_large) sizes = {20 + number % 300, 150 + number % 177};
  if (number % 100 == 0) sizes = {3, 40'000 + number};
  Case result;
  const DType dtype = dtypes[random() % std::size(dtypes)];
  result.a = random_tensor(sizes, dtype, random);
  Sizes second = sizes;
  for (std::int64_t& size : second)
    if (random() % 6 == 0) size = 1;  // which broadcasts
  result.b = random_tensor(second, dtype, random);
  std::string dims;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim)
    if (random() % 2 == 0) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
  result.expression = expressions[number % std::size(expressions)];
  for (std::size_t at; (at = result.expression.find(", DIMS")) != std::string::npos;)
    result.expression.replace(at, 6, dims.empty() ? "" : ", dims=[" + dims + "]");
  return result;
}

class ReduceFused : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(16); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(ReduceFused, HaveTheInterpretersBits) {
  Random random(7);
  Engine reference(EngineOptions{.backend = "interp", .num_threads = 1});
  std::map<int, Engine> engines;
  for (const int threads : thread_counts)
    engines.try_emplace(threads, EngineOptions{.num_threads = threads, .tiers = "xbyak"});
  for (int number = 0; number < num_cases; ++number) {
    const auto [a, b, text] = random_case(number, random);
    const std::vector<std::pair<std::string, Tensor>> names{{"a", a}, {"b", b}};
    const Expr expr = parse_expr(text, names);
    const Tensor expected = reference.eval(expr);
    for (auto& [threads, engine] : engines)
      ASSERT_TRUE(same_tensor(engine.eval(expr), expected))
          << "case " << number << ", " << threads << " threads: " << text << " of "
          << layout_text(a) << " and " << layout_text(b);
  }
}

ExplainOptions showing(std::vector<std::string> stages) {
  ExplainOptions options;
  options.emit = std::move(stages);
  options.target = "avx2";
  return options;
}

TEST(ReduceExplain, ShowsTheOneKernel) {
  const Expr a = Expr::named("a", parse_layout("f32[100,1000]"));
  const Expr b = Expr::named("b", parse_layout("f32[100,1000]"));
  Engine engine;
  const ExplainOptions options = showing({"ir", "asm"});
  const Explanation rows = engine.explain(ops::sum((a - b) * (a - b), {.dims = {1}}), {}, options);
  if (rows.backend != "xbyak") return leave_out_without("xbyak", "it compiles no reduction");
  EXPECT_EQ(rows.schedule, "inner_reduce");
  EXPECT_THAT(rows.texts.at("ir"), HasSubstr("reduce 8 x8\n  tree lanes 64 block 4096\n"));
  EXPECT_THAT(rows.texts.at("ir"), HasSubstr("accumulate f32 $0 add %3\n"));
  const bool is_disassembled = rows.texts.at("asm").find("; no disassembler") == std::string::npos;
  if (is_disassembled || is_required_backend("llvm")) {
    EXPECT_THAT(rows.texts.at("asm"), HasSubstr("accumulate f32 $0 add %3"));
  }
  EXPECT_THAT(rows.texts.at("asm"), Not(HasSubstr("jit/fold/loops.h")));
  const Explanation columns = engine.explain(ops::amax(a * b, {.dims = {0}}), {}, options);
  EXPECT_EQ(columns.schedule, "outer_reduce");
  EXPECT_THAT(columns.texts.at("ir"), HasSubstr("tree lanes 1 block 128\n"));
  // What lies ready is folded by loops that are there already; the IR is shown all the same.
  const Explanation ready = engine.explain(ops::sum(a, {.dims = {1}}), {}, options);
  EXPECT_THAT(ready.texts.at("ir"), HasSubstr("accumulate f32 $0 add %0\n"));
  EXPECT_THAT(ready.texts.at("asm"), HasSubstr("jit/fold/loops.h"));
}

}  // namespace
}  // namespace weft::testing
