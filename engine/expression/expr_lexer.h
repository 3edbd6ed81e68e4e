// The words of an expression in Python's spelling.
#pragma once

#include <weft/scalar.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

struct ExprToken {
  enum class Kind { end, number, name, symbol, word };

  Kind kind = Kind::end;
  std::size_t position = 0;  ///< of its first byte
  std::string_view text;     ///< as written: `+`, `**`, `(` ...; of a word without the quotes
  Scalar number;             ///< Kind::number

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
  /// "'+'" or "the end": how messages name it.
  std::string described() const;
};

/// Cuts a text into tokens from left to right.  The text must outlive lexer and tokens.
class ExprLexer {
 public:
  explicit ExprLexer(std::string_view text) : text_(text) {}

  /// The next token; Kind::end again and again at the end.
  ///
  /// Errors: ArgumentError with a caret on a malformed number or a character of no token.
  ExprToken next();

  std::string_view text() const { return text_; }

 private:
  ExprToken take(ExprToken::Kind kind, std::size_t length);
  ExprToken number();
  ExprToken based_integer(int base);
  ExprToken decimal();
  ExprToken word();
  std::size_t digits(std::size_t from, int base) const;

  std::string_view text_;
  std::size_t position_ = 0;
};

/// Whether a text is one Kind::name and nothing else.
bool is_name(std::string_view text);

/// Errors: always ArgumentError, "expression, column N: MESSAGE" and the caret picture.
[[noreturn]] void fail_in_expression(std::string_view text, std::size_t position,
                                     std::string_view message);

}  // namespace weft
