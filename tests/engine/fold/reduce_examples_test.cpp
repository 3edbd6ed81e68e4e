// Reductions of a few numbers, as PyTorch has them: dtypes, NaN and ties, several results, and
// expressions around them.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;

TEST(ReduceExamples, ComplexNumbersAreTrueByTheirRealParts) {
  const Tensor a = empty({3}, DType::c64);
  a.data_as<c64>()[0] = {0, 2};
  a.data_as<c64>()[1] = {0, 0};
  a.data_as<c64>()[2] = {0, -1};
  Engine engine;
  const auto truth = [&](Reduction reduction) {
    return engine.reduce(reduction, a).data_as<bool>()[0];
  };
  EXPECT_FALSE(truth(Reduction::any));  // as a cast to bool, and as PyTorch
  a.data_as<c64>()[1] = {1, 0};
  EXPECT_TRUE(truth(Reduction::any));
  EXPECT_FALSE(truth(Reduction::all));
}

TEST(ReduceExamples, ExpressionsSurroundReductions) {
  Engine engine;
  const Tensor a = tensor_of<float>({1, 2, 3, 4, 5, 9}, {2, 3});
  const Expr x(a);
  const ReduceOptions rows{.dims = {1}, .keepdim = true};
  EXPECT_THAT(elements<float>(engine.eval(x - ops::mean(x, rows))),
              ElementsAreArray({-1, 0, 1, -2, -1, 3}));
  EXPECT_THAT(elements<float>(engine.eval(ops::sum(x * x, {.dims = {0}}))),
              ElementsAreArray({17, 29, 90}));
  EXPECT_THAT(elements<float>(engine.eval(ops::sqrt(ops::sum(x * 0 + 8)) + x)),
              ElementsAre(std::sqrt(48.F) + 1, std::sqrt(48.F) + 2, std::sqrt(48.F) + 3,
                          std::sqrt(48.F) + 4, std::sqrt(48.F) + 5, std::sqrt(48.F) + 9));
  // Folds of folds, and two results.
  const Expr total = ops::sum(x, rows);
  EXPECT_THAT(elements<float>(engine.eval(ops::sum(total / 3))), ElementsAre(8));
  const Expr exprs[] = {total, ops::amax(x, rows), total};
  const std::vector<Tensor> results = engine.eval(exprs);
  EXPECT_THAT(elements<float>(results[0]), ElementsAreArray({6, 18}));
  EXPECT_THAT(elements<float>(results[1]), ElementsAreArray({3, 9}));
  EXPECT_NE(results[2].data(), results[0].data());
  // Nothing but numbers.
  EXPECT_EQ(engine.eval(ops::sum(Expr(3) + 4)).item(), Scalar(7));
}

TEST(ReduceExamples, TakesPyTorchsDtypes) {
  Engine engine;
  const auto dtype_of_sum = [&](DType dtype, ReduceOptions options = {}) {
    return engine.reduce(Reduction::sum, zeros(Sizes{3}, {dtype}), options).dtype();
  };
  EXPECT_EQ(dtype_of_sum(DType::boolean), DType::i64);
  EXPECT_EQ(dtype_of_sum(DType::u8), DType::i64);
  EXPECT_EQ(dtype_of_sum(DType::bf16), DType::bf16);
  EXPECT_EQ(dtype_of_sum(DType::c32), DType::c32);
  EXPECT_EQ(dtype_of_sum(DType::i8, {.dtype = DType::i32}), DType::i32);
  EXPECT_EQ(dtype_of_sum(DType::f64, {.dtype = DType::f16}), DType::f16);
  EXPECT_EQ(engine.reduce(Reduction::any, zeros(Sizes{3}, {DType::u8})).dtype(), DType::u8);
  EXPECT_EQ(engine.reduce(Reduction::any, zeros(Sizes{3}, {DType::f32})).dtype(), DType::boolean);
  // 3000 steps of 1 leave bf16 at 256; f32 counts on.
  EXPECT_EQ(engine.reduce(Reduction::sum, full(Sizes{3000}, 1, {DType::bf16})).item(),
            Scalar(3008.0));
}

TEST(ReduceExamples, TreatsNaNAndTiesAsPyTorch) {
  Engine engine;
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor a = tensor_of<float>({2, nan, 7, nan, 7});
  EXPECT_TRUE(std::isnan(engine.reduce(Reduction::amax, a).item().as_double()));
  EXPECT_EQ(engine.reduce(Reduction::argmin, a).item(), Scalar(1));
  EXPECT_EQ(engine.reduce(Reduction::nansum, a).item(), Scalar(16.0));
  EXPECT_EQ(engine.reduce(Reduction::argmax, tensor_of<float>({2, 7, 7, 1})).item(), Scalar(1));
  const auto [values, places] = engine.max(tensor_of<float>({2, 7, 7, 1, 0, nan}, {2, 3}), 1);
  EXPECT_EQ(get<float>(values, 0), 7);
  EXPECT_TRUE(std::isnan(get<float>(values, 1)));
  EXPECT_THAT(elements<std::int64_t>(places), ElementsAreArray({1, 2}));
  // Scans keep the place of the last of equals.
  const auto [largest, where] = engine.cummax(tensor_of<float>({1, 3, 3, 2, 4}), 0);
  EXPECT_THAT(elements<float>(largest), ElementsAreArray({1, 3, 3, 3, 4}));
  EXPECT_THAT(elements<std::int64_t>(where), ElementsAreArray({0, 1, 2, 2, 4}));
  const auto [rest, first] = engine.cummin(tensor_of<float>({1, 3, 3, 2, 4}), 0, true);
  EXPECT_THAT(elements<float>(rest), ElementsAreArray({1, 2, 2, 2, 4}));
  EXPECT_THAT(elements<std::int64_t>(first), ElementsAreArray({0, 3, 3, 3, 4}));
}

TEST(ReduceExamples, GivesTwoResultsAtOnce) {
  Engine engine;
  const Tensor a = tensor_of<float>({4, 1, 3, 8, 6, 7}, {2, 3});
  const auto [smallest, largest] = engine.aminmax(a, {.dims = {1}});
  EXPECT_THAT(elements<float>(smallest), ElementsAreArray({1, 6}));
  EXPECT_THAT(elements<float>(largest), ElementsAreArray({4, 8}));
  const auto [variance, mean] = engine.var_mean(a, {.dims = {1}, .correction = 0});
  EXPECT_THAT(elements<float>(mean), ElementsAre(8.F / 3, 7));
  EXPECT_FLOAT_EQ(get<float>(variance, 1), 2.F / 3);
  const auto [values, places] = engine.cummin(a, 1);
  EXPECT_THAT(elements<float>(values), ElementsAreArray({4, 1, 1, 8, 6, 6}));
  EXPECT_THAT(elements<std::int64_t>(places), ElementsAreArray({0, 1, 1, 0, 1, 1}));
}

TEST(ReduceExamples, FoldsWithOpsOfOnesOwn) {
  Engine engine;
  const Tensor a = tensor_of<std::int32_t>({12, 18, 30, 7, 21, 35}, {2, 3});
  const ReduceOptions rows{.dims = {1}};
  EXPECT_THAT(elements<std::int32_t>(engine.eval(fold(Op::gcd, a, rows))),
              ElementsAreArray({6, 7}));
  EXPECT_THAT(elements<std::int32_t>(engine.eval(fold(Op::bitwise_xor, a, rows))),
              ElementsAre(12 ^ 18 ^ 30, 7 ^ 21 ^ 35));
  EXPECT_THROW(fold(Op::sub, a), ArgumentError);
  EXPECT_THROW(fold(Op::hypot, a), ArgumentError);
}

}  // namespace
}  // namespace weft::testing
