// Expressions written as texts: the brackets that Python needs, and what is read back.
#include "tests/engine/support/expressions.h"
#include "tests/matchers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

TEST(ExprText, WritesOnlyTheBracketsThatPythonNeeds) {
  for (const char* text : {"a + b * c",
                           "(a + b) * c",
                           "a - (b - c)",
                           "a - b - c",
                           "-a ** b",
                           "(-a) ** b",
                           "a ** -b",
                           "a ** b ** c",
                           "(a ** b) ** c",
                           "a / (b * c)",
                           "(a < b) & (b < c)",
                           "(a < b) == m",
                           "i & j << k",
                           "(i & j) << k",
                           "~(i | j)",
                           "--a",
                           "-(a + b)",
                           "where(a < b, a, 0.5)",
                           "cast(a + b, bf16) * 2",
                           "a * (1+2j)",
                           "a ** (-2)",
                           "a - -2",
                           "exp(a) + exp(b)"}) {
    const Expr expr = parse(text);
    const std::string written = weft::text(expr);
    EXPECT_EQ(bracketed(parse(written).node()), bracketed(expr.node()))
        << text << " -> " << written;
  }
  EXPECT_EQ(weft::text(parse("((a) + (b * (c)))")), "a + b * c");
  EXPECT_EQ(weft::text(parse("(a + b) * c")), "(a + b) * c");
  EXPECT_EQ(weft::text(Expr(names()[0].second) + Expr(names()[1].second)), "t0 + t1");
}

TEST(ExprText, FoldsOfASingleNumberReadBack) {
  const Names single = {{"s", parse_layout("f32[]")}};
  for (const char* text : {"cumsum(s, dim=-1)", "cumprod(s, dim=0)", "sum(s)", "argmax(s)",
                           "amax(s, keepdim=true)", "logcumsumexp(s, dim=0)"}) {
    const std::string written = weft::text(parse_expr(text, single));
    EXPECT_EQ(weft::text(parse_expr(written, single)), written) << text;
  }
}

TEST(ExprText, PlacesAmongAllElementsReadBack) {
  for (const char* text : {"argmax(a)", "argmin(a, keepdim=true)", "argmax(a, dims=[1])"}) {
    const std::string written = weft::text(parse(text));
    EXPECT_EQ(written, text);
    EXPECT_EQ(weft::text(parse(written)), written);
  }
}

TEST(ExprText, NumbersKeepTheSignOfAnImaginaryZero) {
  const std::string written = weft::text(parse("a + 2j * 2j"));
  EXPECT_EQ(weft::text(parse(written)), written);
  const std::string negative = weft::text(parse("a * -(-4.0 + 0j)"));
  EXPECT_EQ(negative, "a * -(-4.0+0.0j)");
  EXPECT_EQ(weft::text(parse(negative)), negative);
}

TEST(ExprText, ComplexNumbersKeepTheSignsOfZeros) {
  const std::vector<std::pair<std::string, Tensor>> named{{"t0", names()[0].second}};
  for (const double real : {0.0, -0.0, 2.0, -2.0})
    for (const double imag : {0.0, -0.0, 3.0, -3.0}) {
      const std::string written =
          weft::text(Expr(named[0].second) * Expr(Scalar(std::complex<double>(real, imag))));
      EXPECT_EQ(weft::text(parse_expr(written, named)), written) << real << " " << imag;
    }
}

TEST(ExprText, ComplexNumbersReadBackWhereTheyAreNotFinite) {
  const auto is_same = [](double a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> parts{0.0, -0.0, 2.0, -2.0, HUGE_VAL, -HUGE_VAL, nan, -nan};
  for (const double real : parts)
    for (const double imag : parts) {
      const std::string written = weft::text(Expr(Scalar(std::complex<double>(real, imag))));
      const Scalar again = number(written);
      EXPECT_TRUE(is_same(again.as_complex().real(), real)) << written;
      EXPECT_TRUE(is_same(again.as_complex().imag(), imag)) << written;
      EXPECT_EQ(weft::text(Expr(again)), written);
    }
  EXPECT_EQ(number("infj"), Scalar(std::complex<double>(0, HUGE_VAL)));
  EXPECT_EQ(number("-inf * 2j").text(), "(nan-infj)");  // as Python has it
  EXPECT_EQ(number("1 - nanj").text(), "(1.0+nanj)");
}

TEST(ExprText, OfASharedDagStaysShort) {
  Expr expr = parse("a");
  for (int i = 0; i < 60; ++i) expr = expr + expr;
  EXPECT_LE(weft::text(expr).size(), (std::size_t{1} << 16) + 64);
}

/// A random expression with every bracket written, and the tree that it means.
std::string random_expression(std::mt19937& random, int depth, std::string& tree) {
  static const std::pair<const char*, const char*> binary[] = {{"+", "add"},
                                                               {"-", "sub"},
                                                               {"*", "mul"},
                                                               {"**", "pow"},
                                                               {"//", "div_floor"},
                                                               {"%", "remainder"},
                                                               {"&", "bitwise_and"},
                                                               {"|", "bitwise_or"},
                                                               {"^", "bitwise_xor"},
                                                               {"<<", "bitwise_left_shift"},
                                                               {">>", "bitwise_right_shift"}};
  if (depth == 0) return tree = std::string(1, "ijk"[random() % 3]);
  std::string left;
  std::string right;
  const auto pick = random() % 13;
  if (pick >= 11) {
    const std::string inner = random_expression(random, depth - 1, left);
    tree = (pick == 11 ? "neg(" : "bitwise_not(") + left + ")";
    return (pick == 11 ? "-(" : "~(") + inner + ")";
  }
  const std::string x = random_expression(random, depth - 1, left);
  const std::string y = random_expression(random, depth - 1, right);
  tree = binary[pick].second + ("(" + left + "," + right + ")");
  return "(" + x + ")" + binary[pick].first + "(" + y + ")";
}

TEST(ExprText, RoundTripsRandomTrees) {
  const unsigned seed = 20;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 500; ++i) {
    std::string tree;
    const std::string source = random_expression(random, 1 + i % 5, tree);
    const Expr expr = parse(source);
    ASSERT_EQ(bracketed(expr.node()), tree) << source;
    const std::string written = weft::text(expr);
    ASSERT_EQ(bracketed(parse(written).node()), tree) << source << " -> " << written;
  }
}

}  // namespace
}  // namespace weft::testing
