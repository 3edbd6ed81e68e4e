// Numerics::layout_invariant, and how both modes of reductions are asked for.
#include "tests/engine/support/engines.h"
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"

#include <weft/dispatch.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <functional>

namespace weft::testing {
namespace {

using matchers::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "no error";
}

/// The numbers of `from` in another layout, that of `to`.
Tensor laid_out_as(const Tensor& to, const Tensor& from) {
  for (std::int64_t i = 0; i < from.numel(); ++i)
    std::memcpy(element(to, i), element(from, i), itemsize_bytes(from.dtype()));
  return to;
}

void fill(const Tensor& tensor, Random& random) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const double value = static_cast<double>(ir::pick(random, 200'001)) / 1e5 - 1;
    const Bits bits = Scalar(ir::pick(random, 9) == 0 ? value * 0 : value).bits(tensor.dtype());
    std::memcpy(element(tensor, i), &bits, itemsize_bytes(tensor.dtype()));
  }
}

const std::vector<std::function<Expr(const Expr&, const ReduceOptions&)>>& reduced_expressions() {
  using Make = std::function<Expr(const Expr&, const ReduceOptions&)>;
  static const std::vector<Make> all{
      [](const Expr& x, const ReduceOptions& options) { return ops::sum(x, options); },
      [](const Expr& x, const ReduceOptions& options) { return ops::sum(x * x + 1, options); },
      [](const Expr& x, const ReduceOptions& options) { return ops::mean(x, options); },
      [](const Expr& x, const ReduceOptions& options) { return ops::prod(x * 1.5, options); },
      [](const Expr& x, const ReduceOptions& options) { return ops::amax(x, options); },
      [](const Expr& x, const ReduceOptions& options) { return ops::var(x, options); },
      [](const Expr& x, const ReduceOptions& options) { return ops::logsumexp(x, options); },
      [](const Expr& x, const ReduceOptions& options) { return ops::norm(x, options); },
  };
  return all;
}

TEST(LayoutInvariant, EveryLayoutHasTheBitsOfTheContiguousOne) {
  Random random(11);
  Engine one(EngineOptions{.numerics = Numerics::layout_invariant, .num_threads = 1});
  Engine many(EngineOptions{.numerics = Numerics::layout_invariant, .num_threads = 5});
  Engine standard(EngineOptions{.num_threads = 1});
  const auto& makers = reduced_expressions();
  int num_differences = 0;
  for (int i = 0; i < 400; ++i) {
    const bool is_large = i % 20 == 0;
    Sizes sizes(1 + ir::pick(random, is_large ? 3 : 4));
    for (std::int64_t& size : sizes)
      size = 1 + static_cast<std::int64_t>(ir::pick(random, is_large ? 20 : 12));
    if (is_large) sizes.back() = 300;
    const DType dtype = i % 5 == 0 ? DType::f64 : i % 7 == 0 ? DType::bf16 : DType::f32;
    const Tensor contiguous = new_tensor(sizes, dtype);
    fill(contiguous, random);
    const Tensor other = laid_out_as(random_layout(sizes, dtype, random), contiguous);
    ReduceOptions options;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim)
      if (ir::pick(random, 2) == 0) options.dims.push_back(static_cast<std::int64_t>(dim));
    const auto& make = makers[static_cast<std::size_t>(i) % makers.size()];
    const Tensor expected = one.eval(make(contiguous, options));
    ASSERT_TRUE(same_tensor(one.eval(make(other, options)), expected))
        << text(make(other, options));
    ASSERT_TRUE(same_tensor(many.eval(make(other, options)), expected));
    const Tensor given = random_layout(Sizes(expected.sizes().begin(), expected.sizes().end()),
                                       expected.dtype(), random);
    many.eval(make(other, options), given);
    for (std::int64_t k = 0; k < expected.numel(); ++k)
      ASSERT_EQ(
          std::memcmp(element(given, k), element(expected, k), itemsize_bytes(expected.dtype())),
          0);
    if (i < 100 && !same_tensor(standard.eval(make(other, options)), expected)) ++num_differences;
  }
  EXPECT_GT(num_differences, 3);  // the order that a layout suggests is another one
}

TEST(LayoutInvariant, BroadcastOperandsCountAsTheirCopies) {
  Random random(12);
  Engine engine;
  const Tensor a = new_tensor({40, 1}, DType::f32), b = new_tensor({300}, DType::f32);
  fill(a, random);
  fill(b, random);
  const ReduceOptions options{.numerics = Numerics::layout_invariant};
  const Tensor product = engine.contiguous(engine.eval(Expr(a) * Expr(b)));
  const Tensor expected = engine.eval(ops::sum(product, options));
  EXPECT_TRUE(same_tensor(engine.eval(ops::sum(Expr(a) * Expr(b), options)), expected));
  const Tensor expanded = a.expand({40, 300});
  EXPECT_TRUE(same_tensor(
      engine.eval(ops::sum(expanded, options)),
      engine.eval(ops::sum(engine.clone(expanded, MemoryFormat::contiguous), options))));
}

TEST(LayoutInvariant, BlocksOfRowsKeepTheBits) {
  Random random(13);
  Engine engine(EngineOptions{.numerics = Numerics::layout_invariant, .num_threads = 2});
  const Tensor a = new_tensor({700, 1'201}, DType::f32);
  fill(a, random);
  const ReduceOptions last{.dims = {1}, .keepdim = true};
  const auto make = [&](const Tensor& x) {
    return Expr(x) - ops::mean(x, last) / ops::var(x, last);
  };
  const Tensor transposed = laid_out_as(new_tensor({1'201, 700}, DType::f32).transpose(0, 1), a);
  EXPECT_TRUE(same_tensor(engine.contiguous(engine.eval(make(transposed))), engine.eval(make(a))));
}

TEST(ReduceNumerics, IsAnOptionOfOneReductionAndOfTheEngine) {
  const Tensor a = tensor_of<float>({1, 0x1p-24F, 0x1p-24F, 0x1p30F, -0x1p30F});
  Engine standard, exact(EngineOptions{.numerics = Numerics::exact});
  const float sum = 1 + 0x1p-23F;
  EXPECT_EQ(get<float>(exact.reduce(Reduction::sum, a), 0), sum);
  EXPECT_EQ(get<float>(standard.reduce(Reduction::sum, a, {.numerics = Numerics::exact}), 0), sum);
  EXPECT_NE(get<float>(standard.reduce(Reduction::sum, a), 0), sum);
  const Tensor out = new_tensor({}, DType::f32);
  standard.reduce(Reduction::sum, a, {.numerics = Numerics::exact}, out);
  EXPECT_EQ(get<float>(out, 0), sum);
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  for (const char* text : {"sum(a, numerics=exact)", "sum(a, numerics='exact')",
                           "sum(a * 1, dims=[0], numerics=exact)"})
    EXPECT_EQ(get<float>(standard.eval(parse_expr(text, names)), 0), sum) << text;
  EXPECT_EQ(text(parse_expr("mean(a, numerics=exact)", names)),
            "mean(a, dims=[0], numerics=exact)");
  EXPECT_EQ(text(parse_expr("amax(a, numerics=layout_invariant)", names)),
            "amax(a, dims=[0], numerics=layout_invariant)");
  // What is elementwise stays as it is by default.
  EXPECT_TRUE(same_tensor(exact.eval(Expr(a) * 3), standard.eval(Expr(a) * 3)));
}

TEST(ReduceNumerics, IsRefusedWhereItMeansNothing) {
  const Tensor a = tensor_of<float>({1, 2, 3}), whole = tensor_of<std::int32_t>({1, 2, 3});
  Engine standard, exact(EngineOptions{.numerics = Numerics::exact});
  EXPECT_THAT(refusal([&] { ops::prod(a, {.numerics = Numerics::exact}); }),
              HasSubstr("prod of f32 rounds at each element; what is exact are sums and means"));
  EXPECT_THAT(refusal([&] { exact.reduce(Reduction::cumsum, a, {.dims = {0}}); }),
              HasSubstr("cumsum of f32"));
  ExplainOptions explained;
  explained.numerics = Numerics::exact;
  EXPECT_THAT(refusal([&] { exact.explain(ops::prod(a), {}, explained); }),
              HasSubstr("prod of f32"));
  EXPECT_THAT(refusal([&] { exact.eval(Expr(a) - ops::prod(a)); }), HasSubstr("prod of f32"));
  EXPECT_THAT(refusal([&] { ops::sum(a, {.numerics = Numerics::fast}); }),
              HasSubstr("sum(): numerics fast is for whole calls"));
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  EXPECT_THAT(refusal([&] { parse_expr("sum(a, numerics=wild)", names); }),
              HasSubstr("expected layout_invariant or exact, found 'wild'"));
  EXPECT_THAT(refusal([&] { parse_expr("cumsum(a, 0, numerics=exact)", names); }),
              HasSubstr("cumsum of f32"));
  // What never rounds is exact.
  EXPECT_EQ(exact.reduce(Reduction::prod, whole).item(), Scalar(6));
  EXPECT_EQ(exact.reduce(Reduction::amax, a).item(), Scalar(3.0));
  EXPECT_EQ(exact.reduce(Reduction::argmin, a).item(), Scalar(0));
  EXPECT_EQ(get<std::int64_t>(exact.reduce(Reduction::cumsum, whole, {.dims = {0}}), 2), 6);
}

/// Between a reduction and what is around it, small floats are rounded by `strict` only.
TEST(ReduceNumerics, SmallFloatsStayWideAroundReductions) {
  const ReduceOptions rows{.dims = {1}, .keepdim = true};
  const Tensor large = full({4, 64}, 300, {.dtype = DType::f16});  // its squares are infinite
  const Expr normalised = Expr(large) * ops::rsqrt(ops::mean(Expr(large) * large, rows));
  for (const Numerics numerics : {Numerics::standard, Numerics::fast, Numerics::exact,
                                  Numerics::layout_invariant, Numerics::strict}) {
    const float expected = numerics == Numerics::strict ? 0 : 1;
    for (const auto& engine :
         engines({"interp", "xbyak", "llvm", "auto"}, {.numerics = numerics})) {
      SCOPED_TRACE(detail::concat(engine->options().backend, " ", name(numerics)));
      EXPECT_EQ(get<float>(engine->eval(cast(normalised, DType::f32)), 5), expected);
      for (const DType dtype : {DType::f16, DType::bf16}) {
        const float even = dtype == DType::f16 ? 2048 : 256;  // the next number is two more
        const Tensor a = engine->eval(cast(tensor_of<float>({even, 1}), dtype));
        EXPECT_EQ(get<float>(engine->eval(cast(ops::sum(a) - even, DType::f32)), 0), expected);
      }
    }
  }
}

TEST(ReduceNumerics, PassesThroughTheDispatcher) {
  const Tensor a = tensor_of<float>({1, 0x1p-24F, 0x1p-24F});
  const auto sum = registry()
                       .op("weft::sum")
                       .typed<Tensor(const Tensor&, IntSpan, bool, std::optional<DType>, double,
                                     double, bool, std::optional<std::string_view>)>();
  EXPECT_EQ(get<float>(sum.call(a, {}, false, {}, 2, 1, false, "exact"), 0), 1 + 0x1p-23F);
  EXPECT_THROW(sum.call(a, {}, false, {}, 2, 1, false, "wild"), ArgumentError);
}

TEST(SeveralResults, AreReadFromOneText) {
  Engine engine;
  const Tensor a = tensor_of<float>({4, 1, 3, 8, 6, 7}, {2, 3});
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  const auto results = engine.eval(
      parse_exprs("aminmax(a, dims=[1]), sum(a * 2), var_mean(a, 1, correction=0)", names));
  ASSERT_EQ(results.size(), 5U);
  EXPECT_THAT(elements<float>(results[0]), matchers::ElementsAre(1, 6));
  EXPECT_THAT(elements<float>(results[1]), matchers::ElementsAre(4, 8));
  EXPECT_EQ(results[2].item(), Scalar(58.0));
  EXPECT_FLOAT_EQ(get<float>(results[3], 1), 2.F / 3);
  EXPECT_EQ(get<float>(results[4], 1), 7);
  EXPECT_EQ(parse_exprs("a + 1", names).size(), 1U);
  EXPECT_THAT(refusal([&] { parse_exprs("1 + aminmax(a)", names); }),
              HasSubstr("aminmax has two results: it stands alone"));
  EXPECT_THAT(refusal([&] { parse_exprs("aminmax(a) + 1", names); }),
              HasSubstr("which nothing combines"));
  EXPECT_THAT(refusal([&] { parse_expr("aminmax(a)", names); }),
              HasSubstr("has two results, and one is read here: write amin or amax"));
  EXPECT_THAT(refusal([&] { parse_expr("frexp(a)", names); }),
              HasSubstr("write frexp_mantissa or frexp_exponent"));
  EXPECT_THAT(refusal([&] { parse_expr("sum(a), amax(a)", names); }),
              HasSubstr("one expression is read here"));
  EXPECT_THAT(refusal([&] { parse_exprs("sum(a),", names); }),
              HasSubstr("expected a value, found the end"));
  EXPECT_THAT(refusal([&] { parse_exprs("var_mean()", names); }),
              HasSubstr("expected a value to reduce: var_mean(input"));
  EXPECT_THAT(refusal([&] { parse_exprs("aminmax(a, dims=[5])", names); }),
              HasSubstr("Dimension out of range"));
}

}  // namespace
}  // namespace weft::testing
