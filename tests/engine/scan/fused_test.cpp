// Scans of expressions: what is computed in front of a scan goes through a buffer, and the result
// has the bits of a scan of a tensor, whatever the layouts and the number of threads.
#include "engine/expression/expr_node.h"
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"
#include "tests/required_backends.h"
#include "tests/temporary_folder.h"

#include <weft/engine.h>
#include <weft/info.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace weft::testing {
namespace {

using matchers::HasSubstr;

constexpr int num_cases = 900;
/// LLVM takes a thousand times as long as the others.
constexpr int compiled_every = 7;

/// Numbers whose sums and products depend on the order, and stay finite.
void fill(const Tensor& tensor, Random& random) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    double value = static_cast<double>(ir::pick(random, 2'000'001)) / 1e6 - 1;
    if (is_integral(tensor.dtype())) value = std::round(std::abs(value) * 100);
    const Bits bits = Scalar(value).bits(tensor.dtype());
    std::memcpy(element(tensor, i), &bits, itemsize_bytes(tensor.dtype()));
  }
}

Tensor filled_layout(const Sizes& sizes, DType dtype, Random& random) {
  const Tensor result =
      ir::pick(random, 2) == 0 ? random_layout(sizes, dtype, random) : new_tensor(sizes, dtype);
  fill(result, random);
  return result;
}

struct Case {
  Tensor a, b;
  int form;
  int scan;
  int dim;
  bool is_reverse;
  DType dtype;
};

/// One in thirty has rows that are scanned in blocks, one in ten is large enough for threads.
Sizes random_sizes(int number, Random& random) {
  if (number % 30 == 0) return {2, 33'000 + 4'096 * (number % 7) + number % 5};
  if (number % 30 == 1) return {40'000 + number, 1 + number % 3};
  if (number % 10 == 2) return {30 + number % 70, 150 + number % 1'000};
  if (number % 10 == 3) return {5'000 + number};
  Sizes sizes(1 + ir::pick(random, 4));
  for (std::int64_t& size : sizes) size = 1 + static_cast<std::int64_t>(ir::pick(random, 6));
  sizes[ir::pick(random, sizes.size())] = 1 + static_cast<std::int64_t>(ir::pick(random, 150));
  return sizes;
}

Case random_case(int number, Random& random) {
  constexpr DType dtypes[] = {DType::f32, DType::f32, DType::f64, DType::f16, DType::i32,
                              DType::u8,  DType::c64, DType::f32, DType::i64, DType::boolean};
  Case result{};
  result.dtype = dtypes[ir::pick(random, std::size(dtypes))];
  const Sizes sizes = random_sizes(number, random);
  result.a = filled_layout(sizes, result.dtype, random);
  Sizes second = sizes;
  for (std::int64_t& size : second)
    if (ir::pick(random, 5) == 0) size = 1;  // which broadcasts
  result.b = filled_layout(second, result.dtype, random);
  result.form = static_cast<int>(ir::pick(random, 4));
  result.scan = static_cast<int>(ir::pick(random, 7));
  result.dim = static_cast<int>(ir::pick(random, sizes.size()));
  result.is_reverse = ir::pick(random, 2) == 0;
  return result;
}

/// What is scanned.
Expr argument_of(const Case& test) {
  const Expr a(test.a), b(test.b);
  switch (test.form) {
    case 0: return a * b;
    case 1: return is_integral(test.dtype) ? a + b : (a - b) * 0.25 + 1.0;
    case 2: return is_integral(test.dtype) ? a * b + a : ops::exp(a) + b;
    default: return is_complex(test.dtype) ? ops::conj(a) : cast(a, DType::f64) * 0.5;
  }
}

Expr scan_of(const Case& test, const Expr& x) {
  const ReduceOptions options{.dims = {test.dim}, .reverse = test.is_reverse};
  const int scan = is_complex(x.dtype())    ? test.scan % 2
                   : is_integral(x.dtype()) ? test.scan % 5
                                            : test.scan;
  switch (scan) {
    case 0: return ops::cumsum(x, options);
    case 1: return ops::cumprod(x, options);
    case 2: return ops::cummax(x, {.dims = {test.dim}});
    case 3: return ops::cummin(x, {.dims = {test.dim}});
    case 4: return scan_places(Op::maximum, x, test.dim);
    case 5: return ops::logcumsumexp(x, {.dims = {test.dim}});
    default: return ops::cumsum(x, {.dims = {test.dim}, .dtype = DType::i64});
  }
}

/// The same for numbers that are written before.  What is computed in small floats stays f32 up to
/// the scan, unless that converts it.
Expr scan_of_written(const Case& test, Engine& engine) {
  const Expr argument = argument_of(test), scan = scan_of(test, argument);
  const bool is_converted = scan.dtype() == DType::i64 && test.scan != 4;
  if (!is_small_float(argument.dtype()) || is_converted)
    return scan_of(test, engine.eval(argument));
  Case wide = test;
  wide.a = engine.to(test.a, DType::f32);
  wide.b = engine.to(test.b, DType::f32);
  const Expr of_wide = scan_of(test, engine.eval(argument_of(wide)));
  return of_wide.dtype() == scan.dtype() ? of_wide : cast(of_wide, scan.dtype());
}

bool has_backend(std::string_view name) {
  for (const EngineInfo::Backend& backend : engine_info().backends)
    if (backend.name == name) return backend.unavailable_reason.empty();
  return false;
}

class ScanFused : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(16); }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(ScanFused, HasTheBitsOfAScanOfATensor) {
  Random random(31);
  std::map<int, Engine> engines;
  for (const int threads : {1, 2, 3, 16})
    engines.try_emplace(threads, EngineOptions{.num_threads = threads});
  Engine interp(EngineOptions{.backend = "interp", .num_threads = 2});
  Engine streaming(EngineOptions{.num_threads = 2, .streaming_bytes = 1});
  const DiskCacheOptions no_disk{CacheMode::off, {}, 0};
  // Calls take the old way or the new.
  std::map<std::string, Engine> compiling;
  if (has_backend("llvm")) {
    compiling.try_emplace(
        "llvm", EngineOptions{.backend = "llvm", .num_threads = 3, .disk_cache = no_disk});
    compiling.try_emplace(
        "tiers", EngineOptions{
                     .num_threads = 2, .threshold = 0, .background = false, .disk_cache = no_disk});
  }
  for (int number = 0; number < num_cases; ++number) {
    const Case test = random_case(number, random);
    const Expr argument = argument_of(test);
    const Expr of_written = scan_of_written(test, interp);
    const Tensor expected = engines.at(1).eval(of_written);
    const Expr scan = scan_of(test, argument);
    const std::string place = "case " + std::to_string(number) + ": " + text(scan) + " of " +
                              layout_text(test.a) + " and " + layout_text(test.b);
    for (auto& [threads, engine] : engines)
      ASSERT_TRUE(same_tensor(engine.eval(scan), expected)) << place << ", threads: " << threads;
    ASSERT_TRUE(same_tensor(streaming.eval(of_written), expected)) << place;
    ASSERT_TRUE(same_tensor(streaming.eval(scan), expected)) << place;
    if (test.a.numel() < 10'000) {
      ASSERT_TRUE(same_tensor(interp.eval(scan), expected)) << place << ", by the interpreter";
    }
    for (auto& [kind, engine] : compiling)
      for (int call = 0; number % compiled_every == 0 && call < 3; ++call)
        ASSERT_TRUE(same_tensor(engine.eval(scan), expected)) << place << ", compiled by " << kind;
    const Sizes sizes(expected.sizes().begin(), expected.sizes().end());
    for (Engine* const engine : {&engines.at(3), &streaming}) {
      const Tensor given = random_layout(sizes, expected.dtype(), random);
      engine->eval(scan, given);
      ASSERT_TRUE(same_tensor(given, expected)) << place << ", into " << layout_text(given);
    }
  }
}

TEST_F(ScanFused, IsOneCallOfThePlan) {
  const Tensor a = new_tensor({100, 200}, DType::f32), b = new_tensor({200}, DType::f32);
  Random random(5);
  fill(a, random);
  fill(b, random);
  Engine engine;
  for (const int dim : {0, 1}) {
    engine.eval(ops::cumsum(Expr(a) * b, {.dims = {dim}}));
    EXPECT_EQ(engine.stats().plan_misses, static_cast<std::uint64_t>(dim + 1));
  }
}

/// Where few elements of the inputs lie side by side, what is scanned is written to a tensor, all
/// of whose rows do.
TEST_F(ScanFused, OfShortRunsIsTwoCalls) {
  const Tensor a = new_tensor({50, 1000, 3}, DType::f32), b = new_tensor({3}, DType::f32);
  Random random(6);
  fill(a, random);
  fill(b, random);
  Engine engine;
  const Expr argument = Expr(a) * b;
  const Tensor actual = engine.eval(ops::cumsum(argument, {.dims = {0}}));
  EXPECT_GT(engine.stats().plan_misses, 1u);
  EXPECT_TRUE(same_tensor(actual, engine.eval(ops::cumsum(engine.eval(argument), {.dims = {0}}))));
}

TEST_F(ScanFused, IsExplained) {
  const Expr a = Expr::named("a", parse_layout("f32[100,1000]"));
  Engine engine;
  ExplainOptions options;
  options.emit = {"asm"};
  options.backend = has_backend("xbyak") ? "xbyak" : "interp";
  const Explanation told = engine.explain(ops::cumsum(a * a, {.dims = {1}}), {}, options);
  ASSERT_EQ(told.passes.size(), 1u);
  EXPECT_THAT(told.passes[0], HasSubstr("scan of f32[100, 1000]: cumsum(a * a, dims=[1])"));
  ASSERT_FALSE(told.precompiled.empty());
  EXPECT_THAT(told.texts.at("asm"), HasSubstr("run_scan of jit/fold/scans.h, add f32"));
  EXPECT_EQ(told.backend, options.backend);  // what computes a * a
}

TEST_F(ScanFused, IsExplainedAsLlvmCompilesIt) {
  if (!has_backend("llvm")) return leave_out_without("llvm", "it is not there");
  const Expr a = Expr::named("a", parse_layout("f32[100,1000]"));
  Engine engine(EngineOptions{.disk_cache = DiskCacheOptions{CacheMode::off, {}, 0}});
  ExplainOptions options;
  options.emit = {"ir", "asm"};
  for (const int dim : {0, 1}) {
    const Explanation told = engine.explain(ops::cumsum(a * a, {.dims = {dim}}), {}, options);
    EXPECT_EQ(told.backend, "llvm");
    EXPECT_TRUE(told.precompiled.empty());
    EXPECT_THAT(told.texts.at("ir"),
                HasSubstr(dim == 0 ? "  scan\n  parallel\n" : "  parallel\n  scan\n"));
    EXPECT_THAT(told.texts.at("asm"), HasSubstr("accumulate f64 $0 add"));
  }
}

/// Hot calls get LLVM's code, from the disk in the next process.
TEST_F(ScanFused, IsCompiledWhenItIsHot) {
  if (!has_backend("llvm")) return leave_out_without("llvm", "it is not there");
  const TemporaryFolder folder;
  EngineOptions options;
  options.threshold = 0;
  options.background = false;
  options.disk_cache =
      DiskCacheOptions{CacheMode::on, folder.path().string(), std::uint64_t{1} << 20};
  const Tensor a = new_tensor({40, 300}, DType::f32);
  Random random(7);
  fill(a, random);
  const Expr expr = ops::cumsum(Expr(a) * Expr(a), {.dims = {1}});
  Engine compiling(options);
  const Tensor expected = compiling.eval(expr);
  EXPECT_GT(compiling.stats().disk.stores, 0u);
  Engine loading(options);
  EXPECT_TRUE(same_tensor(loading.eval(expr), expected));
  EXPECT_GT(loading.stats().disk_loads, 0u);
  EXPECT_EQ(loading.stats().compiles_by_backend.count("llvm"), 0u);
}

}  // namespace
}  // namespace weft::testing
