// User operators: what they expand to, and what may not be defined.
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;

Tensor numbers() { return arange(Scalar(-2.0), Scalar(3.0), Scalar(0.5)); }

template <class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "no ArgumentError";
}

std::string refusal(std::string_view signature, std::string_view expression) {
  Definitions definitions;
  definitions.define("known", "x + 1");
  return message_of([&] { definitions.define(signature, expression); });
}

TEST(Define, ComputesWhatTheTextSays) {
  for (const char* backend : {"auto", "interp"}) {
    EngineOptions options;
    options.backend = backend;
    Engine engine(options);
    engine.define("swish", "x / (1 + exp(-x))");
    const Tensor a = numbers();
    const Tensor result = engine.eval(engine.call("swish", {Expr(a)}));
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      const float x = a.data_as<float>()[i];
      EXPECT_NEAR(result.data_as<float>()[i], x / (1 + std::exp(-x)), 1e-6) << i;
    }
  }
}

TEST(Define, CalculatesWithNothingThatIsNoNumber) {
  Engine engine;
  engine.define("quarters(d)", "4 // (false + d)");
  engine.define("halves(d)", "2 // sin(0 + d) + 1 // exp(0)");
  const Tensor a = numbers();
  const Tensor result = engine.eval(engine.call("quarters", {Expr(a)}));
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    if (a.data_as<float>()[i] == 0) continue;
    EXPECT_EQ(result.data_as<float>()[i], std::floor(4 / a.data_as<float>()[i])) << i;
  }
}

TEST(Define, ExpandsToTheSameExpression) {
  Engine engine;
  engine.define("scaled(v, by)", "v * by + 0.5");
  engine.define("twice(v)", "scaled(scaled(v, 2), v)");
  const std::vector<std::pair<std::string, Tensor>> names{{"a", numbers()}, {"b", numbers()}};
  const auto expanded = [&](const char* written) {
    return text(parse_expr(written, names, engine.definitions()));
  };
  EXPECT_EQ(expanded("scaled(a, b)"), "a * b + 0.5");
  EXPECT_EQ(expanded("-scaled(a + b, 3)"), "-((a + b) * 3 + 0.5)");
  EXPECT_EQ(expanded("twice(a)"), "(a * 2 + 0.5) * a + 0.5");
  // Numbers are folded before they meet a tensor, as if they had been written.
  EXPECT_EQ(expanded("scaled(2, 3) + a"), "6.5 + a");
}

TEST(Define, PromotesLikeTheExpression) {
  Engine engine;
  engine.define("half", "x / 2");
  const Tensor integers = arange(Scalar(4));
  EXPECT_EQ(engine.call("half", {Expr(integers)}).dtype(), DType::f32);
  const Expr wide = cast(Expr(integers), DType::f64);
  EXPECT_EQ(engine.call("half", {wide}).dtype(), DType::f64);
}

TEST(Define, TakesABuilder) {
  Engine engine;
  engine.define("norm2", 2, [](std::span<const Expr> args) {
    return ops::sqrt(args[0] * args[0] + args[1] * args[1]);
  });
  engine.define("hyp(a)", "norm2(a, a)");
  const Tensor a = numbers();
  EXPECT_EQ(text(engine.call("hyp", {Expr::named("a", a)})), "sqrt(a * a + a * a)");
}

TEST(Define, SharesKernelsWithTheWrittenExpression) {
  Engine engine;
  engine.define("affine", "x * 3 + 1");
  const Tensor a = numbers();
  engine.eval(Expr(a) * Expr(3) + Expr(1));
  const auto compiled = engine.stats().kernel_misses;
  engine.eval(engine.call("affine", {Expr(a)}));
  EXPECT_EQ(engine.stats().kernel_misses, compiled);
}

TEST(Define, RefusesNames) {
  EXPECT_THAT(refusal("exp", "x"), HasSubstr("'exp' is a built-in function"));
  EXPECT_THAT(refusal("cast", "x"), HasSubstr("built-in function"));
  EXPECT_THAT(refusal("sum", "x"), HasSubstr("reduction or scan"));
  EXPECT_THAT(refusal("pi", "x"), HasSubstr("is a number"));
  EXPECT_THAT(refusal("and", "x"), HasSubstr("word of Python"));
  for (const char* name : {"", " ", "1f", "f g", "f-g", "f.g", "\xc3\xa9"})
    EXPECT_THAT(refusal(name, "x"), HasSubstr("is no name for an operator")) << name;
}

TEST(Define, RefusesSignatures) {
  EXPECT_THAT(refusal("f(", "x"), HasSubstr("expected NAME(PARAMETER, ...)"));
  EXPECT_THAT(refusal("f()", "1"), HasSubstr("is no name for a parameter"));
  EXPECT_THAT(refusal("f(a, a)", "a"), HasSubstr("named twice"));
  EXPECT_THAT(refusal("f(a, 2)", "a"), HasSubstr("is no name for a parameter"));
  EXPECT_THAT(refusal("f", "3"), HasSubstr("reads none of its parameters"));
  EXPECT_THAT(refusal("f", "x * z"), HasSubstr("reads z but not y"));
}

TEST(Define, RefusesExpressions) {
  EXPECT_THAT(refusal("f(a)", "a + b"), HasSubstr("unknown name 'b'"));
  EXPECT_THAT(refusal("f(a)", "a +"), HasSubstr("expected a value"));
  EXPECT_THAT(refusal("f(a)", "f(a) + 1"), HasSubstr("unknown function 'f'"));
  EXPECT_THAT(refusal("f(a)", "known(a, a)"), HasSubstr("known takes 1 argument, got 2"));
  EXPECT_THAT(refusal("f(a)", "where(a, a)"), HasSubstr("where takes 3 arguments"));
  EXPECT_EQ(refusal("f(a)", "known(a) & (a > 1)"), "no ArgumentError");  // dtypes come later
}

TEST(Define, RefusesAnotherMeaning) {
  Definitions definitions;
  definitions.define("f(a)", "a + 1");
  definitions.define("f(a)", "a + 1");
  EXPECT_THAT(message_of([&] { definitions.define("f(a)", "a + 2"); }),
              HasSubstr("'f' is defined already, as a + 1"));
  EXPECT_THAT(message_of([&] {
                definitions.define("f", 1, [](std::span<const Expr> args) { return args[0]; });
              }),
              HasSubstr("defined already"));
}

TEST(Define, RefusesCalls) {
  Definitions definitions;
  definitions.define("masked(a)", "a & 1");
  const Expr a(numbers());
  EXPECT_THAT(message_of([&] { definitions.call("mask", {a}); }),
              HasSubstr("unknown user operator 'mask'; defined are masked"));
  EXPECT_THAT(message_of([&] {
                definitions.call("masked", {a, a});
              }),
              HasSubstr("masked takes 1 argument, got 2"));
  EXPECT_THAT(message_of([&] { definitions.call("masked", {a}); }),
              HasSubstr("bitwise_and() does not take f32"));
}

TEST(Define, NoticesBuildersThatCallThemselves) {
  Definitions definitions;
  definitions.define("f", 1,
                     [&](std::span<const Expr> args) { return definitions.call("g", args); });
  definitions.define("g(a)", "f(a) + 1");
  const Expr a(numbers());
  EXPECT_THAT(message_of([&] { definitions.call("g", {a}); }),
              HasSubstr("'g' calls itself: g -> f -> g"));
  // The failure leaves nothing behind.
  definitions.define("h", "x + 1");
  EXPECT_NO_THROW(definitions.call("h", {a}));
}

TEST(Define, BoundsTheExpansion) {
  Definitions definitions;
  const Expr a(numbers());
  definitions.define("d0", "x + 1");
  for (int i = 1; i < 150; ++i)
    definitions.define(detail::concat("d", i), detail::concat("d", i - 1, "(x)"));
  EXPECT_NO_THROW(definitions.call("d90", {a}));
  EXPECT_THAT(message_of([&] { definitions.call("d149", {a}); }), HasSubstr("100 levels"));
  definitions.define("e0", "x + 1");
  for (int i = 1; i < 40; ++i) {
    const std::string below = detail::concat("e", i - 1);
    definitions.define(detail::concat("e", i), detail::concat(below, "(", below, "(x))"));
  }
  EXPECT_THAT(message_of([&] { definitions.call("e39", {a}); }), HasSubstr("10000 calls"));
}

TEST(Define, ServesManyThreads) {
  Engine engine;
  const Expr a(numbers());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        engine.define(detail::concat("f", i), "x + 1");
        engine.define(detail::concat("g", t, "_", i), "x * 2");
        engine.call(detail::concat("f", i), {a});
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine.definitions().names().size(), 50U + 4 * 50);
}

}  // namespace
}  // namespace weft
