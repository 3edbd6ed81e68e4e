// The expression parser: Python's precedence, numbers, and messages that point at the place.
#include "tests/engine/support/expressions.h"
#include "tests/matchers.h"

#include <weft/error.h>
#include <weft/expr.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

using matchers::HasSubstr;

template <class ErrorType = ArgumentError>
std::string message_of(std::string_view text) {
  try {
    parse(text);
  } catch (const ErrorType& error) {
    return error.what();
  } catch (const Error& error) {
    return std::string("another class of error: ") + error.what();
  }
  return "no error";
}

TEST(ParseExpr, BindsAsPythonDoes) {
  // Right-hand sides: what Python's ast module gives for the left ones.
  EXPECT_EQ(bracketed("a + b * c"), "add(a,mul(b,c))");
  EXPECT_EQ(bracketed("a - b - c"), "sub(sub(a,b),c)");
  EXPECT_EQ(bracketed("a / b * c"), "mul(div(a,b),c)");
  EXPECT_EQ(bracketed("a ** b ** c"), "pow(a,pow(b,c))");
  EXPECT_EQ(bracketed("-a ** b"), "neg(pow(a,b))");
  EXPECT_EQ(bracketed("a ** -b"), "pow(a,neg(b))");
  EXPECT_EQ(bracketed("a ** -b ** c"), "pow(a,neg(pow(b,c)))");
  EXPECT_EQ(bracketed("a ** -b * c"), "mul(pow(a,neg(b)),c)");
  EXPECT_EQ(bracketed("-a * b"), "mul(neg(a),b)");
  EXPECT_EQ(bracketed("a * -b"), "mul(a,neg(b))");
  EXPECT_EQ(bracketed("--a"), "neg(neg(a))");
  EXPECT_EQ(bracketed("+a - +b"), "sub(a,b)");
  EXPECT_EQ(bracketed("a // b % c"), "remainder(div_floor(a,b),c)");
  EXPECT_EQ(bracketed("i | j ^ k & i"), "bitwise_or(i,bitwise_xor(j,bitwise_and(k,i)))");
  EXPECT_EQ(bracketed("i << j + k"), "bitwise_left_shift(i,add(j,k))");
  EXPECT_EQ(bracketed("i & j << k"), "bitwise_and(i,bitwise_left_shift(j,k))");
  EXPECT_EQ(bracketed("i >> j >> k"), "bitwise_right_shift(bitwise_right_shift(i,j),k)");
  EXPECT_EQ(bracketed("~i & j"), "bitwise_and(bitwise_not(i),j)");
  EXPECT_EQ(bracketed("i | j < k"), "lt(bitwise_or(i,j),k)");
  EXPECT_EQ(bracketed("(a < b) & (b < c)"), "bitwise_and(lt(a,b),lt(b,c))");
  EXPECT_EQ(bracketed("a+b >= c"), "ge(add(a,b),c)");
  EXPECT_EQ(bracketed("a<=b"), "le(a,b)");
  EXPECT_EQ(bracketed("a>b"), "gt(a,b)");
  EXPECT_EQ(bracketed("a == b"), "eq(a,b)");
  EXPECT_EQ(bracketed("a != -b"), "ne(a,neg(b))");
  EXPECT_EQ(bracketed("a * (b + c)"), "mul(a,add(b,c))");
  EXPECT_EQ(bracketed("((a))"), "a");
}

TEST(ParseExpr, CallsRowsOfTheOpTable) {
  EXPECT_EQ(bracketed("tanh(a*b + c)"), "tanh(add(mul(a,b),c))");
  EXPECT_EQ(bracketed("where(m, a, 0)"), "where(m,a,0)");
  EXPECT_EQ(bracketed("where(a > b, maximum(a, b,), -c)"), "where(gt(a,b),maximum(a,b),neg(c))");
  EXPECT_EQ(bracketed("cast(a, bf16)"), "cast(a,bf16)");
  EXPECT_EQ(bracketed("cast(a + b, dtype=u8,)"), "cast(add(a,b),u8)");
  EXPECT_EQ(bracketed("copy(a)"), "a");
  EXPECT_EQ(bracketed("copy(a) + copy(-b)"), "add(a,neg(b))");
  EXPECT_EQ(bracketed(" exp ( a ) "), "exp(a)");
  EXPECT_EQ(bracketed("a\n + b"), "add(a,b)");
  for (Op op : all_ops()) {
    std::string text = std::string(name(op)) + "(";
    for (int i = 0; i < info(op).arity; ++i) text += i > 0 ? ", x" : "x";
    // The first dtype that the row takes; `where` wants a bool in front and takes all.
    for (DType dtype : {DType::f32, DType::i32, DType::boolean, DType::c64}) {
      if (info(op).result == ResultRule::select) dtype = DType::boolean;
      if (!accepts(info(op).domain, dtype)) continue;
      const Names x{
          {"x", unbacked(std::vector<std::int64_t>{}, std::vector<std::int64_t>{}, dtype)}};
      const Expr parsed = parse_expr(text + ")", x);
      EXPECT_EQ(parsed.node().op, op) << text;
      break;
    }
  }
}

TEST(ParseExpr, SharesALeafAndKeepsItsTensor) {
  const Expr expr = parse("a * a");
  EXPECT_EQ(expr.node().args[0], expr.node().args[1]);
  EXPECT_TRUE(expr.node().args[0]->tensor.is_same(names()[0].second));
}

TEST(ParseExpr, ThePowerOfTwoIsASquare) {
  EXPECT_EQ(bracketed("a ** 2"), "square(a)");
  EXPECT_EQ(bracketed("pow(a - b, 2.0)"), "square(sub(a,b))");
  EXPECT_EQ(bracketed("i ** 2"), "square(i)");
  // Other dtypes, other exponents.
  EXPECT_EQ(bracketed("i ** 2.0"), "square(cast(i,f32))");
  EXPECT_EQ(bracketed("m ** 2"), "pow(m,2)");
  EXPECT_EQ(bracketed("a ** (2+1j)"), "pow(a,(2.0+1.0j))");
  EXPECT_EQ(bracketed("a ** 3"), "mul(square(a),a)");
  EXPECT_EQ(bracketed("a ** -0.5"), "rsqrt(a)");
  EXPECT_EQ(bracketed("i ** 3"), "pow(i,3)");
  EXPECT_EQ(bracketed("a ** 4"), "pow(a,4)");
  EXPECT_EQ(bracketed("2 ** a"), "pow(2,a)");
}

TEST(ParseExpr, TensorNamesHideNumbers) {
  const std::vector<std::int64_t> none;
  const Names own{{"e", unbacked(none, none, DType::f32)},
                  {"exp", unbacked(none, none, DType::f32)}};
  EXPECT_EQ(parse_expr("e", own).node().kind, ExprNode::Kind::tensor);
  EXPECT_EQ(bracketed(parse_expr("exp(exp)", own).node()), "exp(exp)");
}

TEST(ParseExpr, ReadsPythonsNumbers) {
  EXPECT_EQ(number("7"), Scalar(7));
  EXPECT_EQ(number("1_000_000"), Scalar(1000000));
  EXPECT_EQ(number("0xFF_ff"), Scalar(0xFFFF));
  EXPECT_EQ(number("0o17"), Scalar(15));
  EXPECT_EQ(number("0b1010"), Scalar(10));
  EXPECT_EQ(number("000"), Scalar(0));
  EXPECT_EQ(number("9223372036854775807"), Scalar(INT64_MAX));
  EXPECT_EQ(number("18446744073709551615"), Scalar(UINT64_MAX));
  EXPECT_EQ(number("-9223372036854775808"), Scalar(INT64_MIN));
  EXPECT_EQ(number("1."), Scalar(1.0));
  EXPECT_EQ(number(".5"), Scalar(0.5));
  EXPECT_EQ(number("1e-3"), Scalar(1e-3));
  EXPECT_EQ(number("1_0.2_5E+1_0"), Scalar(10.25e10));
  EXPECT_EQ(number("2j"), Scalar(std::complex<double>(0, 2)));
  EXPECT_EQ(number("1.5e1J"), Scalar(std::complex<double>(0, 15)));
  EXPECT_EQ(number("1 + 2j"), Scalar(std::complex<double>(1, 2)));
  EXPECT_EQ(number("True"), Scalar(true));
  EXPECT_EQ(number("false"), Scalar(false));
  EXPECT_EQ(number("pi"), Scalar(std::numbers::pi));
  EXPECT_EQ(number("e"), Scalar(std::numbers::e));
  EXPECT_EQ(number("-inf"), Scalar(-HUGE_VAL));
  EXPECT_TRUE(std::isnan(number("nan").as_double()));
}

TEST(ParseExpr, ComputesNumbersAsPythonDoes) {
  // Values that Python 3.11 prints for the left sides.
  EXPECT_EQ(number("1/3"), Scalar(0.3333333333333333));
  EXPECT_EQ(number("6/3"), Scalar(2.0));
  EXPECT_EQ(number("-7 // 2"), Scalar(-4));
  EXPECT_EQ(number("-7 % 3"), Scalar(2));
  EXPECT_EQ(number("7 % -3"), Scalar(-2));
  EXPECT_EQ(number("-7.5 // 2"), Scalar(-4.0));
  EXPECT_EQ(number("-7.5 % 2"), Scalar(0.5));
  EXPECT_EQ(number("2**10"), Scalar(1024));
  EXPECT_EQ(number("2**-1"), Scalar(0.5));
  EXPECT_EQ(number("-2**2"), Scalar(-4));
  EXPECT_EQ(number("(-1)**1000000001"), Scalar(-1));
  EXPECT_EQ(number("2**63"), Scalar(std::uint64_t{1} << 63));
  EXPECT_EQ(number("2.0**0.5"), Scalar(1.4142135623730951));
  EXPECT_EQ(number("1 << 10 >> 3"), Scalar(128));
  EXPECT_EQ(number("-1 >> 100"), Scalar(-1));
  EXPECT_EQ(number("6 & 3 | 8 ^ 1"), Scalar(11));
  EXPECT_EQ(number("~5"), Scalar(-6));
  EXPECT_EQ(number("True + True"), Scalar(2));
  EXPECT_EQ(number("True & False"), Scalar(false));
  EXPECT_EQ(number("~True"), Scalar(false));  // as on bool tensors; Python says -2
  EXPECT_EQ(number("1 < 2.5"), Scalar(true));
  EXPECT_EQ(number("2j * 2j"), Scalar(std::complex<double>(-4, 0)));
  EXPECT_EQ(number("18446744073709551615 - 1"), Scalar(UINT64_MAX - 1));
  EXPECT_THAT(message_of("1 // 0"), HasSubstr("column 3: division of a number by zero"));
  EXPECT_THAT(message_of("a + 1.0 / 0"), HasSubstr("column 9: division of a number by zero"));
  EXPECT_THAT(message_of("3**100"), HasSubstr("column 2: the result of this integer arithmetic"));
  EXPECT_THAT(message_of("1 << 64"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(message_of("9223372036854775807 * 9223372036854775807"), HasSubstr("64 bits"));
  EXPECT_THAT(message_of("1 << -1"), HasSubstr("negative shift count"));
}

TEST(ParseExpr, PointsAtThePlaceOnce) {
  EXPECT_EQ(message_of("a & 1"),
            "expression, column 3: bitwise_and() does not take f32; it takes integers and bool\n"
            "  a & 1\n"
            "    ^");
}

TEST(ParseExpr, PointsAtThePlace) {
  EXPECT_EQ(message_of("a + * b"),
            "expression, column 5: expected a value, found '*'\n"
            "  a + * b\n"
            "      ^");
  EXPECT_EQ(message_of("(a + b"),
            "expression, column 1: this '(' is never closed\n"
            "  (a + b\n"
            "  ^");
  EXPECT_EQ(message_of(""), "expression, column 1: the expression is empty\n  \n  ^");
  EXPECT_EQ(message_of("a +"),
            "expression, column 4: expected a value, found the end\n  a +\n     ^");
  // Columns count characters, the caret stands under them, and only a part of a long text is shown.
  EXPECT_EQ(message_of("a\t+ \xC3\xA9"),
            "expression, column 5: unexpected character\n  a + \xC3\xA9\n      ^");
  const std::string shown = message_of(std::string(500, ' ') + "$" + std::string(500, ' '));
  EXPECT_THAT(shown, HasSubstr("expression, column 501: unexpected character '$'\n  ..."));
  const auto lines_end = shown.find_last_of('\n');
  const auto line = shown.substr(shown.find('\n') + 1);
  EXPECT_EQ(line[shown.size() - lines_end - 2], '$');
  EXPECT_LT(shown.size(), 300u);
}

struct BadText {
  const char* text;
  int column;
  const char* fragment;
};

TEST(ParseExpr, RefusesWhatMeansNothing) {
  const BadText table[] = {
      {"a b", 3, "expected an operator, found 'b'"},
      {"a)", 2, "this ')' closes nothing"},
      {"()", 2, "expected a value, found ')'"},
      {"exp(a", 4 - 3, "never closed"},
      {"a, b", 2, "one expression is read here"},
      {"(a, b)", 3, "',' is only meaningful"},
      {"exp(,)", 5, "expected a value"},
      {"a < b < c", 7, "comparisons do not chain"},
      {"a < b == c", 7, "comparisons do not chain"},
      {"a && b", 3, "write &"},
      {"a || b", 3, "write |"},
      {"a and b", 3, "write &"},
      {"not a", 1, "write ~"},
      {"!a", 1, "write ~"},
      {"a if m else b", 3, "where(condition, x, y)"},
      {"a = b", 3, "write =="},
      {"a.exp()", 2, "write a method as a function"},
      {"a[0]", 2, "indexing"},
      {"a @ b", 3, "matrix product"},
      {"012", 1, "must not start with 0"},
      {"0x", 3, "expected digits"},
      {"2x", 2, "right after a number"},
      {"1__0", 2, "right after a number"},
      {"1e", 2, "expected digits after the 'e'"},
      {"1e999", 1, "does not fit f64"},
      {"18446744073709551616", 1, "does not fit 64 bits"},
      {"x + a", 1, "unknown name 'x'; the tensors are"},
      {"exp + a", 1, "is called with arguments in brackets"},
      {"tnh(a)", 1, "unknown function 'tnh'; the nearest are tanh"},
      {"a(b)", 1, "'a' is a tensor, not a function"},
      {"exp(a, b)", 1, "exp takes 1 argument"},
      {"add(a)", 1, "add takes 2 arguments"},
      {"exp()", 1, "exp takes 1 argument"},
      {"copy(a, b)", 1, "copy takes 1 argument, got 2"},
      {"cast(a)", 1, "cast takes a value and a dtype"},
      {"cast(a, bf17)", 9, "expected a dtype, found 'bf17'; the dtypes are bf16"},
      {"cast(a, 3)", 9, "expected a dtype"},
      {"cast(a, u8, b)", 13, "cast takes a value and a dtype"},
      {"cast(a, u8 * b)", 12, "expected ',' or ')', found '*'"},
      {"exp(x=a)", 5, "the only keyword argument here is 'input'"},
      {"a & b", 3, "bitwise_and"},
      {"m - m", 3, "bool"},
      {"a + sum(a, dims=[0,2])", 5, "Dimension out of range (expected to be in range of [-2, 1]"},
      {"sum(a, dims=[0, -2])", 1, "dim 0 appears multiple times in the list of dims"},
      {"sum(a, dims=[0 1])", 16, "expected ',' or ']', found '1'"},
      {"sum(a, dims=0.5)", 13, "expected an integer"},
      {"sum(a, b)", 8,
       "this is no argument of sum(input, dims=None, keepdim=false, dtype=None, "
       "numerics=None)"},
      {"max(a, b)", 8, "; of two values: maximum(input, other)"},
      {"min(a, b)", 8, "; of two values: minimum(input, other)"},
      {"sum(a, 0, dims=1)", 11, "dims is given twice"},
      {"sum(a, keepdim=2)", 16, "expected true or false, found '2'"},
      {"sum()", 1, "expected a value to reduce"},
      {"cumsum(a)", 1, "goes along one dimension, but 0 are given"},
      {"mean(i)", 1, "mean(): could not infer output dtype"},
      {"sum(a, dims=-9223372036854775808)", 1, "Dimension out of range"},
      {"sum(a, dims=-9223372036854775809)", 13, "does not fit 64 bits"},
      {"sum(a, dims=18446744073709551615)", 13, "does not fit 64 bits"},
      {"norm(a, p=2j)", 11, "expected a real number"},
      {"norm(a, p=-2j)", 11, "expected a real number"},
  };
  for (const BadText& row : table) {
    const std::string message = message_of(row.text);
    EXPECT_THAT(message, HasSubstr(row.fragment)) << row.text;
    EXPECT_THAT(message, HasSubstr("column " + std::to_string(row.column) + ":")) << row.text;
    EXPECT_THAT(message, HasSubstr(row.text)) << row.text;
  }
  const Names twice{{"a", names()[0].second}, {"a", names()[1].second}};
  EXPECT_THROW(parse_expr("a", twice), ArgumentError);
}

TEST(ParseExpr, SurvivesAnyDepthAndLength) {
  constexpr std::size_t count = 10'000;
  EXPECT_EQ(bracketed(std::string(count, '(') + "a" + std::string(count, ')')), "a");
  EXPECT_THAT(message_of(std::string(count, '(')), HasSubstr("found the end"));
  EXPECT_THAT(message_of(std::string(count, '(') + "a"), HasSubstr("never closed"));

  std::string sum = "a";
  std::string power = "a";
  std::string nested = "a";
  for (std::size_t i = 0; i < count; ++i) {
    sum += " + b";
    power += "**b";
    nested = "exp(" + std::move(nested);
  }
  nested += std::string(count, ')');
  for (const std::string& text : {sum, power, nested, std::string(count, '-') + "a"}) {
    const Expr expr = parse(text);
    EXPECT_EQ(expr.dtype(), DType::f32);
    const std::string written = weft::text(expr);
    EXPECT_LE(written.size(), (std::size_t{1} << 16) + 16);
  }
  EXPECT_EQ(weft::text(parse(sum)), sum);
}

TEST(ParseExpr, AnyBytesGiveAnExpressionOrAnError) {
  std::mt19937 random(7);
  const std::string alphabet = "ab ij+-*/%()<>=&|^~,.0123e_xm\n\t[]#\x80";
  int parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 12; n > 0; --n) text += alphabet[random() % alphabet.size()];
    try {
      parse(text);
      ++parsed;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("^")) << text;
    }
  }
  EXPECT_GT(parsed, 100);
}

TEST(ParseExpr, ArithmeticErrorsPointAtThePlace) {
  const Tensor a = empty({3}, DType::i32);
  const std::vector<std::pair<std::string, Tensor>> names{{"a", a}};
  for (const char* const text : {"1 + pow(a, -1)", "a + 18446744073709551615 ** 2"}) {
    try {
      parse_expr(text, names);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("^")) << text;
    }
  }
  EXPECT_THROW(parse_expr("1 + pow(a, -1)", names), ArithmeticError);
}

}  // namespace
}  // namespace weft::testing
