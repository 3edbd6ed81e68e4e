// Reads schema strings by recursive descent.
#include <weft/dispatch_schema.h>
#include <weft/error.h>

#include "engine/messages/caret.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace weft {
namespace {

bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

constexpr auto base_types = std::to_array<std::pair<std::string_view, BaseType>>({
    {"Tensor", BaseType::tensor},
    {"int", BaseType::integer},
    {"float", BaseType::floating},
    {"bool", BaseType::boolean},
    {"str", BaseType::string},
    {"Scalar", BaseType::scalar},
    {"ScalarType", BaseType::scalar_type},
    {"MemoryFormat", BaseType::memory_format},
    {"Device", BaseType::device},
});

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  FunctionSchema schema() {
    FunctionSchema result;
    result.name = operator_name();
    result.arguments = arguments();
    skip_spaces();
    if (text_.substr(position_, 2) != "->") fail("expected '->'");
    position_ += 2;
    result.returns = returns();
    expect_end();
    return result;
  }

  OperatorName whole_name() {
    OperatorName result = operator_name();
    expect_end();
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view message) const { fail_at(position_, message); }
  [[noreturn]] void fail_at(std::size_t position, std::string_view message) const {
    throw ArgumentError(point_at("schema", message, text_, position));
  }

  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  char peek() {
    skip_spaces();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++position_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail(std::string("expected '") + wanted + "'");
  }
  void expect_end() {
    if (peek() != '\0' || position_ < text_.size()) fail("expected the end");
  }
  std::string_view word() {
    if (!is_letter(peek())) return {};
    const std::size_t begin = position_;
    while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_])))
      ++position_;
    return text_.substr(begin, position_ - begin);
  }
  std::string expect_word(std::string_view what) {
    const std::string_view found = word();
    if (found.empty()) fail(detail::concat("expected ", what));
    return std::string(found);
  }

  OperatorName operator_name() {
    OperatorName result;
    result.name_space = expect_word("the operator's namespace");
    if (text_.substr(position_, 2) != "::") fail("expected '::' and the operator's name");
    position_ += 2;
    result.name = expect_word("the operator's name");
    if (position_ < text_.size() && text_[position_] == '.') {
      ++position_;
      result.overload = expect_word("the overload's name");
    }
    return result;
  }

  std::vector<SchemaArgument> arguments() {
    std::vector<SchemaArgument> result;
    bool is_keyword_only = false;
    expect('(');
    if (take(')')) return result;
    const bool has_star = text_.find('*') != text_.npos;
    result.reserve(static_cast<std::size_t>(std::ranges::count(text_, ',') + !has_star));
    do {
      skip_spaces();
      const std::size_t begin = position_;
      if (take('*')) {
        if (is_keyword_only) fail_at(begin, "only one '*' may part the arguments");
        is_keyword_only = true;
        continue;
      }
      SchemaArgument argument = typed_name();
      argument.is_keyword_only = is_keyword_only;
      const auto has_name = [&](const SchemaArgument& other) {
        return other.name == argument.name;
      };
      if (std::ranges::any_of(result, has_name))
        fail_at(begin, detail::concat("a second argument with the name '", argument.name, "'"));
      if (take('=')) argument.default_value = default_value(argument.type);
      if (!argument.default_value && !is_keyword_only && !result.empty() &&
          result.back().default_value) {
        fail_at(begin, "an argument without default follows one with default");
      }
      result.push_back(std::move(argument));
    } while (take(','));
    if (is_keyword_only && (result.empty() || !result.back().is_keyword_only))
      fail("expected an argument after '*'");
    expect(')');
    return result;
  }

  SchemaArgument typed_name() {
    SchemaArgument result;
    result.type = type(result.alias);
    result.name = expect_word("the argument's name");
    return result;
  }

  std::vector<SchemaArgument> returns() {
    std::vector<SchemaArgument> result;
    const bool is_tuple = take('(');
    if (is_tuple && take(')')) return result;
    do {
      SchemaArgument returned;
      returned.type = type(returned.alias);
      if (is_tuple) returned.name = std::string(word());
      result.push_back(std::move(returned));
    } while (is_tuple && take(','));
    if (is_tuple) expect(')');
    return result;
  }

  SchemaType type(std::optional<AliasAnnotation>& alias) {
    skip_spaces();
    const std::size_t begin = position_;
    const std::string base = expect_word("a type");
    const auto known = std::ranges::find(base_types, std::string_view(base),
                                         &std::pair<std::string_view, BaseType>::first);
    if (known == base_types.end()) fail_at(begin, detail::concat("there is no type '", base, "'"));
    SchemaType result{known->second};
    if (result.base == BaseType::tensor && take('(')) alias = annotation();
    if (take('[')) {
      if (result.base > BaseType::boolean)
        fail_at(position_ - 1, detail::concat("there are no lists of ", base));
      result.is_list = true;
      if (peek() != ']') result.list_size = list_size();
      expect(']');
    }
    result.is_optional = take('?');
    if (peek() == '[') fail("lists of optionals and lists of lists are not supported");
    return result;
  }

  AliasAnnotation annotation() {
    AliasAnnotation result;
    result.set = expect_word("the name of an alias set");
    result.is_written = take('!');
    expect(')');
    return result;
  }

  std::int64_t list_size() {
    const std::size_t begin = position_;
    const Value size = number();
    const auto* integer = std::get_if<std::int64_t>(&size);
    // A default is repeated this often, so the size of a typing error must not become one of
    // memory.
    if (integer == nullptr || *integer < 0 || *integer > 64)
      fail_at(begin, "a list has from 0 to 64 elements");
    return *integer;
  }

  Value default_value(const SchemaType& type) {
    skip_spaces();
    const std::size_t begin = position_;
    Value value = literal(type);
    if (type.is_list && type.list_size >= 0) {
      if (const auto* integer = std::get_if<std::int64_t>(&value))
        value = std::vector<std::int64_t>(static_cast<std::size_t>(type.list_size), *integer);
    }
    if (type.base == BaseType::floating && !type.is_list) {
      if (const auto* integer = std::get_if<std::int64_t>(&value))
        value = static_cast<double>(*integer);
    }
    if (!accepts(type, value))
      fail_at(begin, detail::concat("this is no default for ", type_text(type)));
    return value;
  }

  Value literal(const SchemaType& type) {
    const char first = peek();
    if (first == '[' && type.is_list) return list(type);
    if (first == '"' || first == '\'') return string(first);
    if (!is_letter(first)) return number();
    const std::size_t begin = position_;
    const std::string_view name = word();
    if (name == "None") return Value();
    if (name == "True" || name == "true") return true;
    if (name == "False" || name == "false") return false;
    if (std::optional<Value> value = named_value(name, type)) return *value;
    fail_at(begin, detail::concat("'", name, "' is no value of ", type_text(type)));
  }

  static std::optional<Value> named_value(std::string_view name, const SchemaType& type) {
    switch (type.base) {
      case BaseType::floating:
      case BaseType::scalar:
        if (name == "inf" || name == "nan") {
          double value = 0;
          std::from_chars(name.data(), name.data() + name.size(), value);
          return value;
        }
        break;
      case BaseType::scalar_type:
        if (const auto dtype = parse_dtype(name)) return *dtype;
        break;
      case BaseType::memory_format:
        // PyTorch's schemas write contiguous_format.
        if (name.ends_with("_format")) name.remove_suffix(std::string_view("_format").size());
        for (const MemoryFormat format :
             {MemoryFormat::contiguous, MemoryFormat::preserve, MemoryFormat::channels_last,
              MemoryFormat::channels_last_3d}) {
          if (name == weft::name(format)) return format;
        }
        break;
      case BaseType::device:
        for (const DeviceType device : {DeviceType::cpu, DeviceType::meta}) {
          if (name == text(Device{device})) return Device{device};
        }
        if (name == "cuda") return Device{DeviceType::cuda};
        break;
      default: break;
    }
    return std::nullopt;
  }

  Value number() {
    skip_spaces();
    const char* begin = text_.data() + position_;
    const char* end = text_.data() + text_.size();
    std::int64_t integer = 0;
    double floating = 0;
    const auto as_integer = std::from_chars(begin, end, integer);
    const auto as_floating = std::from_chars(begin, end, floating);
    if (as_floating.ec == std::errc::invalid_argument) fail("expected a value");
    position_ += static_cast<std::size_t>(as_floating.ptr - begin);
    // The longer reading is the number that was meant.
    const bool is_integer = as_integer.ptr == as_floating.ptr;
    const std::errc error = is_integer ? as_integer.ec : as_floating.ec;
    if (error != std::errc()) {
      fail_at(static_cast<std::size_t>(begin - text_.data()),
              is_integer ? "this number does not fit into 64 bits" : "this number is too large");
    }
    if (is_integer) return integer;
    return floating;
  }

  Value string(char quote) {
    const std::size_t begin = position_++;
    std::string result;
    for (; position_ < text_.size() && text_[position_] != quote; ++position_) {
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
      result += text_[position_];
    }
    if (position_ >= text_.size()) fail_at(begin, "this string has no end");
    ++position_;
    return result;
  }

  Value list(const SchemaType& type) {
    const std::size_t begin = position_;
    const SchemaType element_type{type.base};
    std::vector<Value> elements;
    expect('[');
    if (!take(']')) {
      do elements.push_back(default_value(element_type));
      while (take(','));
      expect(']');
    }
    if (type.list_size >= 0 && elements.size() != static_cast<std::size_t>(type.list_size))
      fail_at(begin, detail::concat("this is no default for ", type_text(type)));
    switch (type.base) {
      case BaseType::integer: return list_of<std::int64_t>(elements);
      case BaseType::floating: return list_of<double>(elements);
      case BaseType::boolean: return list_of<bool>(elements);
      case BaseType::tensor:
        if (elements.empty()) return std::vector<Tensor>();
        break;
      default: break;
    }
    fail_at(begin, detail::concat("this is no default for ", type_text(type)));
  }

  template <class T>
  static std::vector<T> list_of(const std::vector<Value>& elements) {
    std::vector<T> result;
    result.reserve(elements.size());
    for (const Value& element : elements) result.push_back(std::get<T>(element));
    return result;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

FunctionSchema parse_schema(std::string_view text) { return SchemaParser(text).schema(); }

OperatorName parse_operator_name(std::string_view text) { return SchemaParser(text).whole_name(); }

}  // namespace weft
