// Expressions that are too large for one kernel: against their ops one by one, and by index
// arithmetic.
#include "tests/engine/support/elements.h"
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"
#include "tests/message_of.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;
using test::message_of;

constexpr int many = 150;

class Parts : public ::testing::TestWithParam<const char*> {
 protected:
  /// Of whole numbers, whose sums are exact.
  Tensor numbers(const Sizes& sizes, DType dtype = DType::f32) {
    const Tensor result = new_tensor(sizes, dtype);
    for (std::int64_t i = 0; i < result.numel(); ++i) {
      const Bits bits = Scalar(static_cast<double>(ir::pick(random_, 9)) - 4).bits(dtype);
      std::memcpy(element(result, i), &bits, itemsize_bytes(dtype));
    }
    return result;
  }
  std::vector<Tensor> many_numbers(const Sizes& sizes, DType dtype = DType::f32) {
    std::vector<Tensor> result;
    for (int i = 0; i < many; ++i) result.push_back(numbers(sizes, dtype));
    return result;
  }
  static Expr sum_of(const std::vector<Tensor>& tensors) {
    Expr sum(tensors[0]);
    for (std::size_t i = 1; i < tensors.size(); ++i) sum = sum + Expr(tensors[i]);
    return sum;
  }

  Random random_{12};
  Engine engine_{EngineOptions{.backend = GetParam()}};
};

TEST_P(Parts, AddManyTensors) {
  const std::vector<Tensor> tensors = many_numbers({5, 7});
  const Expr sum = sum_of(tensors);
  std::uint64_t num_planned = 0;
  for (int call = 0; call < 3; ++call) {
    tensors[77].data_as<float>()[0] = static_cast<float>(call);
    const Tensor result = engine_.eval(sum);
    for (std::int64_t i = 0; i < 35; ++i) {
      float expected = 0;
      for (const Tensor& tensor : tensors) expected += get<float>(tensor, i);
      ASSERT_EQ(get<float>(result, i), expected) << i << ", call " << call;
    }
    if (call == 0) num_planned = engine_.stats().plan_misses;
    EXPECT_EQ(engine_.stats().plan_misses, num_planned);
  }
}

/// For any dtypes and layouts.
TEST_P(Parts, HaveTheBitsOfOpsOneByOne) {
  Engine strict(EngineOptions{.backend = GetParam(), .numerics = Numerics::strict});
  constexpr DType dtypes[] = {DType::f32, DType::f16, DType::i32,
                              DType::u8,  DType::f64, DType::c64};
  constexpr Op ops[] = {Op::add, Op::sub, Op::mul};
  for (int round = 0; round < 12; ++round) {
    const DType narrowest = dtypes[ir::pick(random_, std::size(dtypes))];
    const Sizes sizes{1 + static_cast<std::int64_t>(ir::pick(random_, 6)), 4, 3};
    Tensor expected = random_layout(sizes, narrowest, random_);
    Expr expr(expected);
    for (int i = 0; i < many; ++i) {
      const bool is_other = ir::pick(random_, 20) == 0;
      const DType dtype = is_other ? dtypes[ir::pick(random_, std::size(dtypes))] : narrowest;
      const Tensor x = random_layout(sizes, dtype, random_);
      const Op op = ops[ir::pick(random_, std::size(ops))];
      expr = apply(op, {expr, Expr(x)});
      expected = engine_.binary(op, expected, x);
    }
    const Tensor result = strict.eval(expr);
    ASSERT_TRUE(same_tensor(result, expected)) << "round " << round;
    const Tensor out = random_layout(sizes, expected.dtype(), random_);
    strict.eval(expr, out);
    ASSERT_TRUE(same_tensor(out, expected)) << "round " << round << ", " << layout_text(out);
  }
}

/// As in one kernel, values on a small float are rounded at the end alone.
TEST_P(Parts, StayWide) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor a = tensor_of<float>({0.1F, -0.7F, 0.93F, 0.99F});
    const Tensor x = engine_.to(a, dtype);
    Expr sum(x), wide = cast(x, DType::f32);
    for (int i = 0; i < many; ++i) {
      const Tensor y = engine_.to(numbers({4}), dtype);
      sum = (sum + Expr(y)) * Expr(x);
      wide = (wide + cast(y, DType::f32)) * cast(x, DType::f32);
    }
    const Tensor result = engine_.eval(sum);
    EXPECT_TRUE(same_tensor(result, engine_.to(engine_.eval(wide), dtype)));
    Engine strict(EngineOptions{.backend = GetParam(), .numerics = Numerics::strict});
    EXPECT_FALSE(same_tensor(result, strict.eval(sum)));
  }
}

/// A product or a sum of a small float is a few instructions more than its own before the passes
/// have dropped what nobody needs, and in strict numerics many times its own after them.
TEST_P(Parts, OfLongExpressionsOfSmallFloats) {
  constexpr DType dtypes[] = {DType::bf16, DType::f16, DType::f8e4m3fn, DType::f8e5m2};
  for (const DType dtype : dtypes) {
    const Tensor a = engine_.to(tensor_of<float>({0.5F, -0.75F, 0.25F, 0.9F}), dtype);
    Engine strict(EngineOptions{.backend = GetParam(), .numerics = Numerics::strict});
    Expr chain(a), wide = cast(a, DType::f32);
    Tensor by_step = a;
    for (int i = 0; i < 200; ++i) {
      chain = chain * a + a;
      wide = wide * cast(a, DType::f32) + cast(a, DType::f32);
      by_step = strict.binary(Op::add, strict.binary(Op::mul, by_step, a), a);
    }
    EXPECT_TRUE(same_tensor(engine_.eval(chain), engine_.to(engine_.eval(wide), dtype)))
        << name(dtype);
    EXPECT_TRUE(same_tensor(strict.eval(chain), by_step)) << name(dtype);
    const Tensor out = empty({4}, dtype);
    strict.eval(chain, out);
    EXPECT_TRUE(same_tensor(out, by_step)) << name(dtype);
  }
}

TEST_P(Parts, OfManyCasts) {
  const Tensor a = tensor_of<float>({0.3F, -7.1F, 250.0F, 1e-3F});
  const Tensor expected = engine_.eval(cast(cast(a, DType::f8e4m3fn), DType::f32));
  Expr there_and_back(a);
  for (int i = 0; i < 300; ++i)
    there_and_back = -cast(cast(there_and_back, DType::f8e4m3fn), DType::f32);
  EXPECT_TRUE(same_tensor(engine_.eval(there_and_back), expected));
  EXPECT_FALSE(engine_.explain(there_and_back).passes.empty());
}

TEST_P(Parts, OfLongExpressions) {
  const Tensor a = numbers({9}, DType::i32);
  Expr sum(a), horner(a), negated(a);
  for (int i = 0; i < 6000; ++i) sum = Expr(a) - sum, negated = -negated;
  for (int i = 0; i < 1000; ++i) horner = horner * a + i;
  const Tensor b = engine_.eval(sum), c = engine_.eval(horner), d = engine_.eval(negated);
  for (std::int64_t i = 0; i < 9; ++i) {
    const auto x = static_cast<std::uint32_t>(get<std::int32_t>(a, i));
    std::uint32_t expected = x;
    for (std::uint32_t k = 0; k < 1000; ++k) expected = expected * x + k;
    EXPECT_EQ(get<std::int32_t>(b, i), get<std::int32_t>(a, i));
    EXPECT_EQ(static_cast<std::uint32_t>(get<std::int32_t>(c, i)), expected);
    EXPECT_EQ(get<std::int32_t>(d, i), get<std::int32_t>(a, i));
  }
}

/// What is shared is computed once: written out these are 2^5000 additions.
TEST_P(Parts, OfWhatIsShared) {
  const Tensor a = tensor_of<std::int32_t>({3, 0, -5});
  Expr doubled(a);
  for (int i = 0; i < 5000; ++i) doubled = i % 31 == 0 ? doubled - doubled + a : doubled + doubled;
  std::uint32_t expected = 3;
  for (int i = 0; i < 5000; ++i) expected = i % 31 == 0 ? 3 : expected + expected;
  EXPECT_EQ(static_cast<std::uint32_t>(get<std::int32_t>(engine_.eval(doubled), 0)), expected);
}

/// Of a function that is a thousand instructions.
TEST_P(Parts, OfFunctions) {
  std::vector<Tensor> x;
  for (int i = 0; i < 9; ++i) x.push_back(tensor_of<double>({0.5 + i, 1.25 * i + 1}));
  Expr sum = ops::lgamma(x[0]);
  Tensor expected = engine_.eval(sum);
  for (std::size_t i = 1; i < x.size(); ++i) {
    sum = sum - ops::lgamma(x[i]);
    expected = engine_.binary(Op::sub, expected, engine_.unary(Op::lgamma, x[i]));
  }
  EXPECT_TRUE(same_tensor(engine_.eval(sum), expected));
}

TEST_P(Parts, AroundAndWithinFolds) {
  const std::vector<Tensor> tensors = many_numbers({6, 40});
  const ReduceOptions rows{.dims = {1}, .keepdim = true};
  Expr sums = ops::sum(tensors[0], rows);
  for (std::size_t i = 1; i < tensors.size(); ++i) sums = sums + ops::sum(tensors[i], rows);
  const Tensor within = engine_.eval(ops::sum(sum_of(tensors), rows));
  for (int call = 0; call < 2; ++call)
    EXPECT_TRUE(same_tensor(engine_.eval(sums), within)) << "call " << call;
  EXPECT_TRUE(
      same_tensor(engine_.eval(sum_of(tensors) - within), engine_.eval(sum_of(tensors) - sums)));
  for (std::int64_t row = 0; row < 6; ++row) {
    float expected = 0;
    for (const Tensor& tensor : tensors)
      for (std::int64_t i = 0; i < 40; ++i) expected += get<float>(tensor, row * 40 + i);
    EXPECT_EQ(get<float>(within, row), expected);
  }
}

TEST_P(Parts, IntoOutputsThatAreInputs) {
  const std::vector<Tensor> tensors = many_numbers({4, 4});
  const Tensor expected = engine_.eval(sum_of(tensors));
  const Tensor out = tensors[3].t();
  const Tensor turned = engine_.contiguous(expected);
  engine_.eval(sum_of(tensors), out);
  EXPECT_TRUE(same_tensor(out, turned));
}

TEST_P(Parts, OfSeveralResults) {
  const std::vector<Tensor> tensors = many_numbers({3, 5});
  const std::vector<Expr> exprs{sum_of(tensors), sum_of(tensors) * 2, Expr(tensors[0])};
  const std::vector<Tensor> results = engine_.eval(exprs);
  EXPECT_TRUE(same_tensor(results[1], engine_.eval(Expr(results[0]) * 2)));
  EXPECT_TRUE(same_tensor(results[2], tensors[0]));
}

/// What one of the parts refuses leaves the output as it was.
TEST_P(Parts, WriteNothingBeforeAllIsChecked) {
  std::vector<Tensor> tensors = many_numbers({8}, DType::i32);
  const Tensor divisor = tensor_of<std::int32_t>({1, 1, 1, 1, 1, 1, 1, 0});
  const Tensor out = tensor_of<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8});
  const auto before = elements<std::int32_t>(out);
  const Expr first = sum_of(tensors) + apply(Op::div_floor, {Expr(tensors[0]), Expr(divisor)});
  const Expr last = apply(Op::div_floor, {Expr(tensors[0]), Expr(divisor)}) + sum_of(tensors);
  for (const Expr& expr : {first, last}) {
    EXPECT_THROW(engine_.eval(expr, out), ArithmeticError);
    EXPECT_EQ(elements<std::int32_t>(out), before);
  }
  tensors.back() = numbers({7}, DType::i32);
  EXPECT_THROW(engine_.eval(sum_of(tensors), out), ArgumentError);
  EXPECT_EQ(elements<std::int32_t>(out), before);
}

TEST_P(Parts, ArePrepared) {
  const std::vector<Tensor> tensors = many_numbers({30});
  const PreparedPlan plan = engine_.prepare(sum_of(tensors) + 1.5);
  for (int call = 0; call < 2; ++call) {
    tensors[140].data_as<float>()[3] = static_cast<float>(call);
    plan.run();
    EXPECT_TRUE(same_tensor(plan.outputs()[0], engine_.eval(sum_of(tensors) + 1.5)));
  }
}

TEST_P(Parts, AreInferredOnMeta) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < many; ++i)
    tensors.push_back(empty({4, i % 2 == 0 ? 1 : 5}, {DType::f16, {DeviceType::meta}}));
  const Tensor result = engine_.eval(ops::sum(sum_of(tensors), {.dims = {0}}) + sum_of(tensors));
  EXPECT_EQ(result.device().type, DeviceType::meta);
  EXPECT_EQ(result.dtype(), DType::f16);
  EXPECT_THAT(result.sizes(), ElementsAre(4, 5));
}

/// infer() is asked for given outputs of several results, too.
TEST_P(Parts, AreInferred) {
  const auto of_numbers = [&] {
    Expr chain(numbers({4}));
    for (int i = 0; i < 600; ++i) chain = chain * Expr(i + 0.5);
    return chain;
  };
  const auto of_operators = [&] {
    const Tensor a = numbers({3, 2}).t();
    Expr chain(a);
    for (int i = 0; i < 9000; ++i) chain = chain + a;
    return chain;
  };
  const Expr large[] = {
      sum_of(many_numbers({5, 7})), of_numbers(), of_operators(),
      sum_of(many_numbers({6})) + ops::sum(sum_of(many_numbers({2, 6})), {.dims = {0}})};
  for (const Expr& expr : large) {
    const Tensor value = engine_.eval(expr);
    const Inferred inferred = engine_.infer(expr);
    EXPECT_EQ(inferred.dtype, value.dtype());
    EXPECT_THAT(inferred.sizes, ElementsAreArray(value.sizes()));
    EXPECT_THAT(inferred.strides, ElementsAreArray(value.strides()));
    const Tensor wider = empty(value.sizes(), DType::f64);
    EXPECT_EQ(engine_.infer(expr, wider).dtype, DType::f64);
  }
  std::vector<Expr> exprs{large[0]};
  std::vector<Tensor> outs;
  for (int i = 1; i < 33; ++i) exprs.push_back(Expr(numbers({5, 7})) * Expr(2));
  for (int i = 0; i < 33; ++i) outs.push_back(numbers({5, 7}));
  engine_.eval(exprs, outs);
  for (std::size_t i = 0; i < exprs.size(); ++i)
    EXPECT_EQ(elements<float>(outs[i]), elements<float>(engine_.eval(exprs[i])));
}

TEST_P(Parts, AreExplained) {
  const Explanation told =
      engine_.explain(sum_of(many_numbers({6, 7})), {}, {.backend = GetParam(), .emit = {}});
  ASSERT_EQ(told.passes.size(), 13u);  // of 12, and then of 11 and the part before
  EXPECT_THAT(told.passes[0],
              HasSubstr("part0, as all is too much for one kernel, of f32[6, 7]: t0 + t1"));
  EXPECT_EQ(told.operands.at(1).name, "part12");
  EXPECT_THAT(told.result_sizes, ElementsAre(6, 7));
}

/// Tensors of fewer elements count for nothing, and views that overlap for one: they stay in the
/// caches.
TEST_P(Parts, OfFewStreams) {
  const auto passes = [&](const Expr& expr) {
    return engine_.explain(expr, {}, {.backend = GetParam(), .emit = {}}).passes.size();
  };
  std::vector<Tensor> tensors{numbers({30, 40})};
  for (int i = 1; i < 16; ++i) tensors.push_back(numbers({30, 40}));
  EXPECT_EQ(passes(sum_of(tensors)), 0u);
  for (int i = 0; i < 30; ++i) tensors.push_back(numbers({40}));
  EXPECT_EQ(passes(sum_of(tensors)), 0u);
  const Tensor image = numbers({34, 44});
  std::vector<Tensor> window, vectors;
  for (int i = 0; i < 25; ++i) window.push_back(image.narrow(0, i / 5, 30).narrow(1, i % 5, 40));
  for (int i = 0; i < 30; ++i) vectors.push_back(numbers(i % 2 == 0 ? Sizes{40} : Sizes{40, 1}));
  EXPECT_EQ(passes(sum_of(window)), 0u);
  EXPECT_EQ(passes(sum_of(vectors)), 0u);
  Expr centred(tensors[0]);
  for (int i = 0; i < 17; ++i)
    centred = centred - ops::mean(numbers({30, 40}), {.dims = {1}, .keepdim = true});
  EXPECT_EQ(passes(centred), 17u);
  std::vector<Tensor> planes;
  const Tensor planar = numbers({17, 30, 40});
  for (int i = 0; i < 17; ++i) planes.push_back(planar.select(0, i));
  EXPECT_GT(passes(sum_of(planes)), 0u);
  tensors.push_back(numbers({30, 40}));
  EXPECT_GT(passes(sum_of(tensors)), 0u);
  EXPECT_GT(passes(ops::sum(sum_of(tensors), {.dims = {1}})), 1u);
  const Tensor result = engine_.eval(sum_of(tensors));
  for (std::int64_t i = 0; i < 1200; ++i) {
    float expected = 0;
    for (const Tensor& tensor : tensors) expected += get<float>(tensor, i % tensor.numel());
    ASSERT_EQ(get<float>(result, i), expected) << i;
  }
}

TEST_P(Parts, HaveAnyNumberOfResults) {
  for (const int num_results : {33, 64, 65, 150}) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < num_results; ++i) inputs.push_back(full({4, 6}, i, DType::f32));
    std::vector<Expr> exprs;
    for (int i = 0; i < num_results; ++i)
      exprs.push_back(Expr(inputs[static_cast<std::size_t>(i)]) * 2 +
                      inputs[static_cast<std::size_t>((i + 1) % num_results)]);
    const auto expected = [&](int i) { return static_cast<float>(2 * i + (i + 1) % num_results); };
    for (int call = 0; call < 2; ++call) {
      const std::vector<Tensor> results = engine_.eval(exprs);
      ASSERT_EQ(results.size(), exprs.size());
      for (int i = 0; i < num_results; ++i)
        EXPECT_EQ(get<float>(results[static_cast<std::size_t>(i)], 23), expected(i));
    }
    // Written over what others read, by which nothing changes: all are computed first.
    std::vector<Tensor> outputs;
    for (int i = 0; i < num_results; ++i)
      outputs.push_back(i % 2 == 0 ? inputs[static_cast<std::size_t>((i + 6) % num_results)]
                                   : empty({0}, DType::f32));
    engine_.eval(exprs, outputs);
    for (int i = 0; i < num_results; ++i)
      EXPECT_EQ(get<float>(outputs[static_cast<std::size_t>(i)], 23), expected(i));
  }
}

TEST_P(Parts, OfManyResultsOrSizesAreInferredOnMeta) {
  const auto on_meta = [](const Sizes& sizes) {
    return empty(sizes, {DType::f32, {DeviceType::meta, 0}});
  };
  const Tensor x = on_meta({3, 4});
  const std::vector<Tensor> many_results = engine_.eval(std::vector<Expr>(100, Expr(x) + 1));
  EXPECT_EQ(many_results.size(), 100u);
  EXPECT_TRUE(std::ranges::equal(many_results[99].sizes(), Sizes{3, 4}));
  const std::vector<Tensor> results =
      engine_.eval(std::vector<Expr>{Expr(on_meta({1})) + 1, Expr(x) * 2, Expr(on_meta({2})) + 1});
  EXPECT_TRUE(std::ranges::equal(results[0].sizes(), Sizes{1}));
  EXPECT_TRUE(std::ranges::equal(results[1].sizes(), Sizes{3, 4}));
  EXPECT_TRUE(std::ranges::equal(results[2].sizes(), Sizes{2}));
  // What is refused resizes no output.
  const std::vector<Tensor> outputs{on_meta({0}), on_meta({0})};
  const std::vector<Expr> refused{Expr(x) + 1, Expr(on_meta({2})) + on_meta({3})};
  EXPECT_THROW(engine_.eval(refused, outputs), ArgumentError);
  EXPECT_EQ(outputs[0].numel(), 0);
}

TEST_P(Parts, OfManyResultsHaveFolds) {
  const Tensor x = numbers({6, 50});
  std::vector<Expr> exprs;
  for (int i = 0; i < 100; ++i) exprs.push_back(ops::sum(Expr(x)) + i);
  const std::vector<Tensor> results = engine_.eval(exprs);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(get<float>(results[static_cast<std::size_t>(i)], 0),
              get<float>(results[0], 0) + static_cast<float>(i));
}

INSTANTIATE_TEST_SUITE_P(Backends, Parts, ::testing::Values("interp", "auto"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::testing
