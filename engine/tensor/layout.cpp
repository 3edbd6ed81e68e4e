// The layout notation, "f32[3,4]{1,3}@5": read and written; and how operands appear in messages.
#include <weft/error.h>
#include <weft/expr.h>

#include "engine/messages/caret.h"
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

namespace weft {
namespace {

/// "[3,4]" with the given brackets.
std::string bracketed(IntSpan values, char open, char close) {
  std::string result(1, open);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) result += ',';
    result += std::to_string(values[i]);
  }
  result += close;
  return result;
}

std::string dtype_names() {
  std::string result;
  for (DType dtype : all_dtypes) result.append(result.empty() ? "" : ", ").append(name(dtype));
  return result;
}

/// Reads one layout from front to back; `position_` is where the next token begins.
class LayoutParser {
 public:
  explicit LayoutParser(std::string_view text) : text_(text) {}

  Tensor parse() {
    const DType dtype = parse_dtype_name();
    const Dims sizes = parse_list('[', ']', "a size", 0);
    const Dims strides = parse_strides(sizes);
    const std::size_t offset_position = position_;
    std::optional<std::int64_t> offset;
    if (accept('@')) {
      offset = parse_integer("a storage offset", 0);
      what_may_follow_ = {};
    }
    skip_spaces();
    if (position_ < text_.size())
      fail("expected " + std::string(what_may_follow_) + "the end of the layout", position_);
    return pointing_at(offset ? offset_position : 0, [&] {
      // Without an offset the first element is as near to the beginning as negative strides let it
      // be.
      if (!offset) offset = -reach(sizes, strides).value_or(Reach{}).first;
      return unbacked(sizes, strides, dtype, *offset);
    });
  }

 private:
  [[noreturn]] void fail(std::string_view message, std::size_t position) const {
    throw ArgumentError(point_at("layout", message, text_, position));
  }

  /// Runs what knows nothing of the text, and adds the place to its errors.
  template <class Function>
  std::invoke_result_t<Function> pointing_at(std::size_t position, Function&& function) const {
    try {
      return function();
    } catch (const ArgumentError& error) {
      fail(error.what(), position);
    }
  }

  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }

  bool accept(char wanted) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  std::string_view parse_word() {
    skip_spaces();
    const std::size_t first = position_;
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    return text_.substr(first, position_ - first);
  }

  DType parse_dtype_name() {
    skip_spaces();
    const std::size_t first = position_;
    const auto dtype = parse_dtype(parse_word());
    if (!dtype) fail("expected a dtype: one of " + dtype_names(), first);
    return *dtype;
  }

  std::int64_t parse_integer(std::string_view what, std::int64_t least) {
    skip_spaces();
    const char* begin = text_.data() + position_;
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    const std::string expected = "expected " + std::string(what);
    if (status == std::errc::invalid_argument) fail(expected, position_);
    if (status == std::errc::result_out_of_range)
      fail(expected + " that fits in 64 bits", position_);
    if (value < least) fail(expected + ", which is never negative", position_);
    position_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  Dims parse_list(char open, char close, std::string_view what, std::int64_t least) {
    if (!accept(open)) fail(std::string("expected '") + open + "'", position_);
    Dims values;
    if (accept(close)) return values;
    do {
      skip_spaces();
      if (values.size() == max_dims)
        fail("expected at most " + std::to_string(max_dims) + " dimensions", position_);
      values.push_back(parse_integer(what, least));
    } while (accept(','));
    if (!accept(close)) fail(std::string("expected ',' or '") + close + "'", position_);
    return values;
  }

  Dims parse_strides(const Dims& sizes) {
    skip_spaces();
    const std::size_t first = position_;
    what_may_follow_ = "'@' and a storage offset, or ";
    if (accept(':')) {
      const MemoryFormat format = parse_format();
      return pointing_at(first, [&] { return format_strides(sizes, format); });
    }
    if (position_ >= text_.size() || text_[position_] != '{') {
      what_may_follow_ = "'{' and strides, ':' and a memory format, '@' and a storage offset, or ";
      return pointing_at(first, [&] { return contiguous_strides(sizes); });
    }
    Dims strides = parse_list('{', '}', "a stride", std::numeric_limits<std::int64_t>::min());
    if (strides.size() != sizes.size())
      fail(detail::concat("expected ", sizes.size(), " strides, one a size, got ", strides.size()),
           first);
    return strides;
  }

  MemoryFormat parse_format() {
    const std::size_t first = position_;
    const std::string_view word = parse_word();
    for (MemoryFormat format :
         {MemoryFormat::contiguous, MemoryFormat::channels_last, MemoryFormat::channels_last_3d})
      if (word == name(format)) return format;
    fail("expected a memory format: channels_last or channels_last_3d", first);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::string_view what_may_follow_;  ///< with what joins it to the end of a message
};

}  // namespace

Tensor parse_layout(std::string_view text) { return LayoutParser(text).parse(); }

namespace {

/// Where there are no elements the strides of such sizes may be larger than can be said.
bool has_contiguous_strides(IntSpan sizes, IntSpan strides) {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (strides[i] != expected) return false;
    const std::int64_t size = std::max<std::int64_t>(sizes[i], 1);
    if (i > 0 && __builtin_mul_overflow(expected, size, &expected)) return false;
  }
  return true;
}

}  // namespace

std::string layout_text(const Tensor& tensor) {
  const TensorImpl& impl = defined_impl(tensor);
  std::string result(name(impl.dtype));
  result += bracketed(impl.sizes, '[', ']');
  // The flag won't do: a dimension of size 1 may have any stride in a contiguous tensor.
  if (!has_contiguous_strides(impl.sizes, impl.strides))
    result += bracketed(impl.strides, '{', '}');
  if (impl.storage_offset != 0) result.append("@").append(std::to_string(impl.storage_offset));
  return result;
}

std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  const TensorImpl& impl = *tensor.impl();
  return detail::concat(name(impl.dtype), dims_text(impl.sizes), " strides ",
                        dims_text(impl.strides), impl.is_conj ? " conj" : "",
                        impl.is_neg ? " neg" : "", " ", text(impl.storage->device()));
}

}  // namespace weft
