#include "engine/expression/expr_lexer.h"

#include "engine/messages/caret.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <locale>
#include <sstream>

namespace weft {
namespace {

// Longest first, so that `**` is not read as two `*`.
constexpr auto symbols = std::to_array<std::string_view>(
    {"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%",
     "<",  ">",  "&",  "|",  "^",  "~",  "(",  ")",  ",", "=", "[", "]"});

struct Hint {
  std::string_view symbol;
  std::string_view message;
};
constexpr auto hints = std::to_array<Hint>({
    {"&&", "'&&' is not part of expressions: write & between bool values"},
    {"||", "'||' is not part of expressions: write | between bool values"},
    {"!", "'!' is not part of expressions: write ~ for not"},
    {"@", "'@' (a matrix product) is not elementwise"},
    {"?", "'?' is not part of expressions: write where(condition, x, y)"},
    {".", "'.' is not part of expressions: write a method as a function, exp(a) for a.exp()"},
});

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 36;
}

/// Reads what from_chars() calls out of range, whichever end it leaves by: next to 0 there is a
/// nearest number.
bool read_underflowing(const std::string& text, double& value) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  return static_cast<bool>(stream >> value);
}

std::string without_underscores(std::string_view text) {
  std::string result(text);
  std::erase(result, '_');
  return result;
}

}  // namespace

void fail_in_expression(std::string_view text, std::size_t position, std::string_view message) {
  throw ArgumentError(point_at("expression", message, text, position));
}

std::string ExprToken::described() const {
  if (kind == Kind::end) return "the end";
  constexpr std::size_t limit = 40;
  std::string result = kind == Kind::word ? "the text '" : "'";
  result += text.substr(0, limit);
  if (text.size() > limit) result += "...";
  return result += '\'';
}

ExprToken ExprLexer::take(ExprToken::Kind kind, std::size_t length) {
  ExprToken token{kind, position_, text_.substr(position_, length), {}};
  position_ += length;
  return token;
}

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::ranges::all_of(text, is_name_part);
}

ExprToken ExprLexer::next() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  const std::string_view rest = text_.substr(position_);
  if (rest.empty()) return take(ExprToken::Kind::end, 0);
  if (is_digit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_digit(rest[1]))) {
    return number();
  }
  if (is_name_start(rest[0])) {
    const auto end = std::ranges::find_if_not(rest, is_name_part);
    return take(ExprToken::Kind::name, static_cast<std::size_t>(end - rest.begin()));
  }
  if (rest[0] == '\'' || rest[0] == '"') return word();
  for (const Hint& hint : hints) {
    if (!rest.starts_with(hint.symbol) || rest.starts_with("!=")) continue;
    fail_in_expression(text_, position_, hint.message);
  }
  for (std::string_view symbol : symbols) {
    if (rest.starts_with(symbol)) return take(ExprToken::Kind::symbol, symbol.size());
  }
  const bool is_ascii = static_cast<unsigned char>(rest[0]) < 0x80 && rest[0] >= 0x20;
  fail_in_expression(text_, position_,
                     is_ascii ? "unexpected character '" + std::string(rest.substr(0, 1)) + "'"
                              : std::string("unexpected character"));
}

// Without escapes: the words that functions take have none.
ExprToken ExprLexer::word() {
  const std::size_t start = position_;
  const std::size_t end = text_.find(text_[start], start + 1);
  if (end == text_.npos) fail_in_expression(text_, start, "this text in quotes never ends");
  ExprToken token{ExprToken::Kind::word, start, text_.substr(start + 1, end - start - 1), {}};
  position_ = end + 1;
  return token;
}

// The end of a run of digits in which single underscores may stand between two digits.
std::size_t ExprLexer::digits(std::size_t from, int base) const {
  std::size_t end = from;
  while (end < text_.size()) {
    const bool is_separator = text_[end] == '_' && end > from && text_[end - 1] != '_' &&
                              end + 1 < text_.size() && digit_value(text_[end + 1]) < base;
    if (!is_separator && digit_value(text_[end]) >= base) break;
    ++end;
  }
  return end;
}

ExprToken ExprLexer::number() {
  ExprToken token;
  const std::string_view rest = text_.substr(position_);
  const char marker = rest.size() > 1 && rest[0] == '0' ? static_cast<char>(rest[1] | 0x20) : ' ';
  switch (marker) {
    case 'x': token = based_integer(16); break;
    case 'o': token = based_integer(8); break;
    case 'b': token = based_integer(2); break;
    default: token = decimal();
  }
  if (position_ < text_.size() && (is_name_part(text_[position_]) || text_[position_] == '.')) {
    fail_in_expression(
        text_, position_,
        "unexpected '" + std::string(text_.substr(position_, 1)) + "' right after a number");
  }
  return token;
}

ExprToken ExprLexer::based_integer(int base) {
  const std::size_t first = position_ + 2;
  const std::size_t end = digits(first, base);
  if (end == first) fail_in_expression(text_, first, "expected digits here");
  const std::string plain = without_underscores(text_.substr(first, end - first));
  std::uint64_t value = 0;
  const auto result = std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
  if (result.ec != std::errc{}) {
    fail_in_expression(text_, position_, "this integer does not fit 64 bits");
  }
  ExprToken token = take(ExprToken::Kind::number, end - position_);
  token.number = value > INT64_MAX ? Scalar(value) : Scalar(static_cast<std::int64_t>(value));
  return token;
}

ExprToken ExprLexer::decimal() {
  std::size_t end = digits(position_, 10);
  const std::string_view whole = text_.substr(position_, end - position_);
  bool is_integer = true;
  if (end < text_.size() && text_[end] == '.') {
    is_integer = false;
    end = digits(end + 1, 10);
  }
  if (end < text_.size() && (text_[end] | 0x20) == 'e') {
    const bool has_sign =
        end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-');
    const std::size_t exponent = end + 1 + has_sign;
    const std::size_t exponent_end = digits(exponent, 10);
    if (exponent_end == exponent) fail_in_expression(text_, end, "expected digits after the 'e'");
    is_integer = false;
    end = exponent_end;
  }
  const bool is_imaginary = end < text_.size() && (text_[end] | 0x20) == 'j';
  const std::string plain = without_underscores(text_.substr(position_, end - position_));
  const char* const first = plain.data();
  const char* const last = first + plain.size();
  Scalar value;
  if (is_integer && !is_imaginary) {
    if (whole.size() > 1 && whole[0] == '0' && whole.find_first_not_of("0_") != whole.npos) {
      fail_in_expression(text_, position_, "an integer must not start with 0 (octal is 0o17)");
    }
    std::uint64_t integer = 0;
    if (std::from_chars(first, last, integer).ec != std::errc{}) {
      fail_in_expression(text_, position_, "this integer does not fit 64 bits");
    }
    value = integer > INT64_MAX ? Scalar(integer) : Scalar(static_cast<std::int64_t>(integer));
  } else {
    double real = 0;
    if (std::from_chars(first, last, real).ec != std::errc{} && !read_underflowing(plain, real)) {
      fail_in_expression(text_, position_, "this number does not fit f64");
    }
    value = is_imaginary ? Scalar(std::complex<double>(0, real)) : Scalar(real);
  }
  ExprToken token = take(ExprToken::Kind::number, end + is_imaginary - position_);
  token.number = value;
  return token;
}

}  // namespace weft
