// Reductions of expressions: code that computes and folds in one loop gives the bits of the
// interpreter, whatever the number of threads and whoever compiled it, and weft explain shows it.
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"
#include "tests/required_backends.h"
#include "tests/temporary_folder.h"

#include <weft/engine.h>
#include <weft/info.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

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
                                   "sum(a * b, DIMS) / amax(a + b, DIMS)",
                                   "sum(tan(cast(a, f64)), DIMS)",
                                   "logsumexp(a * 0.5 - b, DIMS)",
                                   "any(a < b, DIMS)"};

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

bool has_backend(std::string_view name) {
  for (const EngineInfo::Backend& backend : engine_info().backends)
    if (backend.name == name) return backend.unavailable_reason.empty();
  return false;
}

DiskCacheOptions no_disk() { return {CacheMode::off, {}, 0}; }

TEST_F(ReduceFused, LlvmHasTheInterpretersBits) {
  if (!has_backend("llvm")) return leave_out_without("llvm", "it is not there");
  // WEFT_FULL=1: some minutes.
  const int step = std::getenv("WEFT_FULL") != nullptr ? 1 : 13;
  Random random(8);
  Engine reference(EngineOptions{.backend = "interp", .num_threads = 1});
  std::map<int, Engine> engines;
  for (const int threads : {1, 2, 3})
    engines.try_emplace(
        threads, EngineOptions{.backend = "llvm", .num_threads = threads, .disk_cache = no_disk()});
  const char* const by_name = has_backend("xbyak") ? "xbyak" : "interp";
  Engine xbyak(EngineOptions{.backend = by_name, .num_threads = 2});
  // Each call takes the old way or the new.
  Engine tiered(EngineOptions{
      .num_threads = 3, .threshold = 0, .background = false, .disk_cache = no_disk()});
  for (int number = 0; number < num_cases; number += step) {
    const auto [a, b, text] = random_case(number, random);
    const std::vector<std::pair<std::string, Tensor>> names{{"a", a}, {"b", b}};
    const Expr expr = parse_expr(text, names);
    const Tensor expected = reference.eval(expr);
    const std::string place = "case " + std::to_string(number) + ": " + text + " of " +
                              layout_text(a) + " and " + layout_text(b);
    Engine& llvm = engines.at(1 + number / step % 3);
    ASSERT_TRUE(same_tensor(llvm.eval(expr), expected)) << "llvm, " << place;
    ASSERT_TRUE(same_tensor(xbyak.eval(expr), expected)) << "xbyak, " << place;
    for (int call = 0; call < 3; ++call)
      ASSERT_TRUE(same_tensor(tiered.eval(expr), expected)) << "call " << call << ", " << place;
  }
}

/// Every third element of each row, which xbyak reduces none of.
Tensor third_elements() {
  const Tensor all = new_tensor({100, 3000}, DType::f32);
  Random random(5);
  fill(all, random);
  return all.as_strided({100, 1000}, {3000, 3});
}

std::uint64_t compiles_by_llvm(const Engine& engine) {
  const auto counted = engine.stats().compiles_by_backend;
  return counted.contains("llvm") ? counted.at("llvm") : 0;
}

TEST(ReduceTiers, NobodyWaitsForLlvm) {
  if (!has_backend("llvm")) return leave_out_without("llvm", "it is not there");
  Engine engine(EngineOptions{.threshold = 1000, .disk_cache = no_disk()});
  const Tensor a = third_elements();
  const Expr expr = ops::sum(Expr(a) * Expr(a), {.dims = {1}});
  const Tensor first = engine.eval(expr);
  EXPECT_EQ(engine.stats().hot_kernels, 0u);
  while (engine.stats().hot_kernels == 0) ASSERT_TRUE(same_tensor(engine.eval(expr), first));
  engine.wait_optimised();
  EXPECT_EQ(compiles_by_llvm(engine), 1u);
  const auto is_settled = [&] {
    const EngineStats stats = engine.stats();
    return stats.promoted_kernels + stats.demoted_kernels == 1;
  };
  while (!is_settled()) ASSERT_TRUE(same_tensor(engine.eval(expr), first));
  EXPECT_TRUE(same_tensor(engine.eval(expr), first));
}

TEST(ReduceTiers, WhatIsPreparedIsCompiledAtOnce) {
  if (!has_backend("llvm")) return leave_out_without("llvm", "it is not there");
  Engine engine(EngineOptions{.disk_cache = no_disk()});
  const Tensor a = third_elements();
  const Expr expr = ops::amax(Expr(a) * Expr(a), {.dims = {0}});
  const PreparedPlan plan = engine.prepare(expr);
  EXPECT_EQ(engine.stats().hot_kernels, 1u);
  engine.wait_optimised();
  EXPECT_EQ(compiles_by_llvm(engine), 1u);
  Engine reference(EngineOptions{.backend = "interp"});
  for (int call = 0; call < 4; ++call) {
    plan.run();
    EXPECT_TRUE(same_tensor(plan.outputs()[0], reference.eval(expr)));
  }
}

TEST(ReduceTiers, WhatLiesOnTheDiskServesTheFirstCall) {
  if (!has_backend("llvm")) return leave_out_without("llvm", "it is not there");
  const TemporaryFolder folder;
  EngineOptions options;
  options.threshold = 0;
  options.background = false;
  options.disk_cache =
      DiskCacheOptions{CacheMode::on, folder.path().string(), std::uint64_t{1} << 20};
  const Tensor a = third_elements();
  const Expr expr = ops::sum(Expr(a) * Expr(a), {.dims = {1}});
  Engine compiling(options);
  const Tensor expected = compiling.eval(expr);
  EXPECT_EQ(compiling.stats().disk.stores, 1u);
  Engine loading(options);
  EXPECT_TRUE(same_tensor(loading.eval(expr), expected));
  EXPECT_EQ(loading.stats().disk_loads, 1u);
  EXPECT_EQ(loading.stats().hot_kernels, 0u);
  EXPECT_EQ(compiles_by_llvm(loading), 0u);
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

TEST(ReduceExplain, ShowsWhatLlvmMakesOfOthers) {
  if (!has_backend("llvm")) return leave_out_without("llvm", "it is not there");
  Engine engine(EngineOptions{.disk_cache = no_disk()});
  const Expr a = Expr::named("a", parse_layout("f32[100,1000]{3000,3}"));
  const Explanation strided =
      engine.explain(ops::sum(a * a, {.dims = {1}}), {}, showing({"ir", "llvm", "asm"}));
  EXPECT_EQ(strided.backend, "llvm");
  EXPECT_EQ(strided.refusals,
            std::vector<std::string>{"xbyak: $1 is not dense along the innermost loop"});
  EXPECT_THAT(strided.texts.at("ir"), HasSubstr("accumulate f32 $0 add %1\n"));
  EXPECT_THAT(strided.texts.at("llvm"), HasSubstr("@weft_rows"));
  EXPECT_THAT(strided.texts.at("asm"), HasSubstr("accumulate f32 $0 add %1"));

  ExplainOptions by_llvm = showing({"ir"});
  by_llvm.backend = "llvm";
  const Expr c = Expr::named("c", parse_layout("c64[100,1000]"));
  const Explanation complex = engine.explain(ops::sum(c * c, {.dims = {1}}), {}, by_llvm);
  ASSERT_FALSE(complex.refusals.empty());
  EXPECT_EQ(complex.refusals.front(),
            "llvm: complex numbers are reduced (the reduction as a whole)");
}

}  // namespace
}  // namespace weft::testing
