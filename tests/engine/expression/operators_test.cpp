// C++'s operators between expressions, tensors and numbers: what Python's of the same spelling are.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

using matchers::ElementsAre;

TEST(ExprOperators, AreThoseOfTexts) {
  const Expr a = Expr::named("a", tensor_of<std::int32_t>({7, -7, 12}));
  const Expr b = Expr::named("b", tensor_of<std::int32_t>({2, 3, 12}));
  for (const auto& [spelled, expr] : std::vector<std::pair<std::string, Expr>>{{"a + b", a + b},
                                                                               {"a - b", a - b},
                                                                               {"a * b", a * b},
                                                                               {"a / b", a / b},
                                                                               {"a % b", a % b},
                                                                               {"a < b", a < b},
                                                                               {"a <= b", a <= b},
                                                                               {"a > b", a > b},
                                                                               {"a >= b", a >= b},
                                                                               {"a == b", a == b},
                                                                               {"a != b", a != b},
                                                                               {"a & b", a & b},
                                                                               {"a | b", a | b},
                                                                               {"a ^ b", a ^ b},
                                                                               {"a << b", a << b},
                                                                               {"a >> b", a >> b},
                                                                               {"-a", -a},
                                                                               {"~a", ~a}}) {
    EXPECT_EQ(text(expr), spelled);
  }
}

TEST(ExprOperators, TakeTensorsAndNumbersOnEitherSide) {
  Engine engine;
  const Tensor a = tensor_of<std::int32_t>({7, -7, 12}), b = tensor_of<std::int32_t>({2, 3, 12});
  EXPECT_THAT(elements<bool>(engine.eval(a == b)), ElementsAre(false, false, true));
  EXPECT_THAT(elements<bool>(engine.eval(7 != a)), ElementsAre(false, true, true));
  EXPECT_THAT(elements<std::int32_t>(engine.eval(a % b)), ElementsAre(1, 2, 0));
  EXPECT_THAT(elements<std::int32_t>(engine.eval(1 << b)), ElementsAre(4, 8, 4096));
  EXPECT_THAT(elements<bool>(engine.eval(~(a > 0))), ElementsAre(false, true, false));
  const std::complex<float> i(0, 1);
  EXPECT_EQ((a * i).dtype(), DType::c64);
  EXPECT_EQ((tensor_of<double>({1}) * std::complex<double>(0, 1)).dtype(), DType::c128);
  // Numbers of more digits than a Scalar has are no expressions.
  static_assert(!std::is_convertible_v<long double, Expr>);
}

TEST(ExprOperators, AssignmentsGrowTheExpressionAndWriteNothing) {
  Engine engine;
  const Tensor a = tensor_of<float>({1, 2, 3});
  Expr sum = a;
  sum += a * 2;
  sum -= 1;
  sum *= sum;
  sum /= 4;
  EXPECT_THAT(elements<float>(engine.eval(sum)), ElementsAre(1.F, 6.25F, 16.F));
  EXPECT_THAT(elements<float>(a), ElementsAre(1.F, 2.F, 3.F));
}

TEST(NewTensors, TakeSizesInAVectorAndADType) {
  const std::vector<std::int64_t> sizes{2, 1};
  EXPECT_THAT(elements<std::int32_t>(ones(sizes, DType::i32)), ElementsAre(1, 1));
  EXPECT_THAT(elements<float>(ones({2})), ElementsAre(1.F, 1.F));
  EXPECT_THAT(elements<double>(ones({2}, DType::f64)), ElementsAre(1., 1.));
  EXPECT_THAT(elements<std::int64_t>(zeros(sizes, DType::i64)), ElementsAre(0, 0));
  EXPECT_THAT(elements<double>(full(sizes, 2, DType::f64)), ElementsAre(2., 2.));
  EXPECT_EQ(weft::empty(sizes, DType::f16).dtype(), DType::f16);
}

}  // namespace
}  // namespace weft::testing
