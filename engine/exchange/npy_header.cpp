#include "engine/exchange/npy_header.h"

#include <weft/error.h>
#include <weft/tensor.h>

#include "engine/messages/caret.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

namespace weft {
namespace {

struct NpyType {
  DType dtype;
  std::string_view descr;  ///< without the byte order
};

constexpr auto npy_types = std::to_array<NpyType>({
    {DType::boolean, "b1"},
    {DType::u8, "u1"},
    {DType::u16, "u2"},
    {DType::u32, "u4"},
    {DType::u64, "u8"},
    {DType::i8, "i1"},
    {DType::i16, "i2"},
    {DType::i32, "i4"},
    {DType::i64, "i8"},
    {DType::f16, "f2"},
    {DType::f32, "f4"},
    {DType::f64, "f8"},
    {DType::c64, "c8"},
    {DType::c128, "c16"},
});

std::string accepted_types() {
  std::string result;
  for (const NpyType& type : npy_types)
    result.append(result.empty() ? "" : ", ").append(type.descr);
  return result;
}

/// The dtype that NumPy calls `descr`, as "<f4" or "|b1".
DType dtype_of_descr(std::string_view descr) {
  std::string_view kind = descr;
  char byte_order = '<';
  if (!kind.empty() && std::string_view("<>|=").find(kind.front()) != std::string_view::npos) {
    byte_order = kind.front();
    kind.remove_prefix(1);
  }
  const auto type = std::ranges::find(npy_types, kind, &NpyType::descr);
  WEFT_CHECK(
      type != npy_types.end(), UnsupportedError, "the dtype '", descr,
      "' is not supported; expected one of ", accepted_types(),
      " (bf16, f8 and the like, which .npy stores as V2 or V1, have to be converted to f4 or "
      "viewed as u2 or u1 before they are saved)");
  WEFT_CHECK(byte_order != '>' || itemsize_bytes(type->dtype) == 1, UnsupportedError,
             "the data is big-endian ('", descr,
             "'), only little-endian is supported; convert it with ", "x.astype('<", kind, "')");
  return type->dtype;
}

/// Reads the subset of Python that NumPy writes: one dictionary of strings, booleans and a tuple of
/// integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_spaces();
    if (position_ < text_.size()) fail("expected the end of the header", position_);
    if (!descr_) fail("the key 'descr' is missing", position_);
    if (!is_fortran_order_) fail("the key 'fortran_order' is missing", position_);
    if (!sizes_) fail("the key 'shape' is missing", position_);
    return {dtype_of_descr(*descr_), *is_fortran_order_, std::move(*sizes_)};
  }

 private:
  [[noreturn]] void fail(std::string_view message, std::size_t position) const {
    throw ArgumentError(point_at("header", message, text_, position));
  }

  void parse_entry() {
    skip_spaces();
    const std::size_t first = position_;
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr" && !descr_)
      descr_ = parse_descr();
    else if (key == "fortran_order" && !is_fortran_order_)
      is_fortran_order_ = parse_boolean();
    else if (key == "shape" && !sizes_)
      sizes_ = parse_shape();
    else
      fail("expected the keys 'descr', 'fortran_order' and 'shape', once each", first);
  }

  void skip_spaces() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])))
      ++position_;
  }

  bool accept(char wanted) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("expected '") + wanted + "'", position_);
  }

  std::string_view parse_string() {
    skip_spaces();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a string", position_);
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("expected the end of this string", position_);
    const std::string_view result = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return result;
  }

  std::string_view parse_descr() {
    skip_spaces();
    if (position_ < text_.size() && text_[position_] == '[')
      throw UnsupportedError("structured dtypes are not supported; expected one of " +
                             accepted_types());
    return parse_string();
  }

  bool parse_boolean() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_, word.size()) != word) continue;
      position_ += word.size();
      return value;
    }
    fail("expected True or False", position_);
  }

  Dims parse_shape() {
    expect('(');
    Dims sizes;
    bool has_comma = true;
    while (!accept(')')) {
      if (!has_comma) fail("expected ',' or ')'", position_);
      if (sizes.size() == max_dims)
        fail(detail::concat("expected at most ", max_dims, " dimensions"), position_);
      sizes.push_back(parse_size());
      has_comma = accept(',');
    }
    return sizes;
  }

  std::int64_t parse_size() {
    skip_spaces();
    const char* begin = text_.data() + position_;
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status == std::errc::invalid_argument) fail("expected a size", position_);
    if (status == std::errc::result_out_of_range)
      fail("expected a size that fits in 64 bits", position_);
    if (value < 0) fail("expected a size, which is never negative", position_);
    position_ += static_cast<std::size_t>(end - begin);
    // Python 2 marked its long integers.
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;
    return value;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::optional<std::string_view> descr_;
  std::optional<bool> is_fortran_order_;
  std::optional<Dims> sizes_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return HeaderParser(text).parse(); }

std::string npy_header_text(const NpyHeader& header) {
  const auto type = std::ranges::find(npy_types, header.dtype, &NpyType::dtype);
  WEFT_CHECK(type != npy_types.end(), UnsupportedError, "the dtype ", name(header.dtype),
             " has no name in .npy files; convert to one of ", accepted_types(),
             " first, for example with cast(x, f32)");
  std::string result = "{'descr': '";
  result += itemsize_bytes(header.dtype) == 1 ? '|' : '<';
  result += type->descr;
  result += "', 'fortran_order': ";
  result += header.is_fortran_order ? "True" : "False";
  result += ", 'shape': (";
  for (std::int64_t size : header.sizes) result.append(std::to_string(size)).append(", ");
  // A tuple of one needs its comma, longer ones read better without the last.
  if (header.sizes.size() == 1) result.pop_back();
  if (header.sizes.size() > 1) result.resize(result.size() - 2);
  return result + "), }";
}

}  // namespace weft
