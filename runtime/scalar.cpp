// Scalars as elements and as text.
#include <weft/scalar.h>

#include <weft/convert.h>
#include <weft/error.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace weft {

namespace {

template <class T>
Bits bits_of(const T& element) {
  static_assert(sizeof(T) <= sizeof(Bits) && std::is_trivially_copyable_v<T>);
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), &element, sizeof(T));
  return {words[0], words[1]};
}

/// The shortest digits that read back as the same double, marked as floating: "1.0", "1e+20",
/// "inf".  A NaN has no sign here, as in Python: arithmetic that reads it back would not keep it.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string result(buffer.data(), end);
  // Letters are those of an exponent or of "inf".
  if (result.find_first_of(".ei") == std::string::npos) result += ".0";
  return result;
}

std::string complex_text(double real, double imag) {
  const bool has_real = real != 0 || std::signbit(real);
  if (!has_real) return real_text(imag) + "j";
  const char* plus = std::signbit(imag) && !std::isnan(imag) ? "" : "+";
  return detail::concat("(", real_text(real), plus, real_text(imag), "j)");
}

}  // namespace

Bits Scalar::bits(DType dtype) const {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    switch (kind_) {
      case Kind::boolean: return bits_of(convert<T>(integer_ != 0));
      case Kind::integer:
        return is_unsigned_ ? bits_of(convert<T>(static_cast<std::uint64_t>(integer_)))
                            : bits_of(convert<T>(integer_));
      case Kind::floating: return bits_of(convert<T>(real_));
      case Kind::complex: return bits_of(convert<T>(c128(real_, imag_)));
    }
    __builtin_unreachable();
  });
}

std::complex<double> Scalar::as_complex() const {
  if (kind_ == Kind::floating || kind_ == Kind::complex) return {real_, imag_};
  return is_unsigned_ ? static_cast<double>(static_cast<std::uint64_t>(integer_))
                      : static_cast<double>(integer_);
}

std::int64_t Scalar::as_integer() const {
  if (kind_ == Kind::floating || kind_ == Kind::complex) return convert<std::int64_t>(real_);
  return integer_;
}

std::string Scalar::text() const {
  switch (kind_) {
    case Kind::boolean: return integer_ != 0 ? "true" : "false";
    case Kind::integer:
      return is_unsigned_ ? std::to_string(static_cast<std::uint64_t>(integer_))
                          : std::to_string(integer_);
    case Kind::floating: return real_text(real_);
    case Kind::complex: return complex_text(real_, imag_);
  }
  __builtin_unreachable();
}

}  // namespace weft
