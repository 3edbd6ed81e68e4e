#include <weft/dispatch_value.h>
#include <weft/error.h>

#include <array>
#include <charconv>
#include <cmath>

namespace weft {
namespace {

constexpr auto base_names = std::to_array<std::string_view>({
    "Tensor",
    "int",
    "float",
    "bool",
    "str",
    "Scalar",
    "ScalarType",
    "MemoryFormat",
    "Device",
});
static_assert(base_names.size() == static_cast<std::size_t>(BaseType::device) + 1);

// The shortest digits that read back as the same number, and recognisably a floating one.
std::string float_text(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (std::isfinite(value) && text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char byte : value) {
    if (byte == '"' || byte == '\\') text += '\\';
    text += byte;
  }
  return text + '"';
}

struct ValueText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(const Tensor& tensor) const {
    return tensor.defined() ? layout_text(tensor) : "undefined";
  }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return float_text(value); }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const Scalar& value) const {
    switch (value.kind()) {
      case Scalar::Kind::boolean: return (*this)(value.as_integer() != 0);
      case Scalar::Kind::floating: return float_text(value.as_double());
      default: return value.text();
    }
  }
  std::string operator()(DType dtype) const { return std::string(name(dtype)); }
  std::string operator()(MemoryFormat format) const { return std::string(name(format)); }
  std::string operator()(Device device) const { return weft::text(device); }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    std::string text = "[";
    for (std::size_t index = 0; index < list.size(); ++index) {
      if (index > 0) text += ", ";
      text += (*this)(static_cast<T>(list[index]));  // vector<bool> has no elements to refer to
    }
    return text + "]";
  }
};

template <class T>
bool holds(const Value& value, bool is_list) {
  return is_list ? std::holds_alternative<std::vector<T>>(value) : std::holds_alternative<T>(value);
}

bool is_number(const Value& value) {
  return std::holds_alternative<Scalar>(value) || std::holds_alternative<std::int64_t>(value) ||
         std::holds_alternative<double>(value) || std::holds_alternative<bool>(value);
}

}  // namespace

std::string value_text(const Value& value) { return std::visit(ValueText(), value); }

std::string type_text(const SchemaType& type) {
  std::string text(base_names[static_cast<std::size_t>(type.base)]);
  if (type.is_list) {
    text += '[';
    if (type.list_size >= 0) text += std::to_string(type.list_size);
    text += ']';
  }
  if (type.is_optional) text += '?';
  return text;
}

bool accepts(const SchemaType& type, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return type.is_optional;
  switch (type.base) {
    case BaseType::tensor: return holds<Tensor>(value, type.is_list);
    case BaseType::integer: return holds<std::int64_t>(value, type.is_list);
    case BaseType::floating:
      return holds<double>(value, type.is_list) ||
             (!type.is_list && holds<std::int64_t>(value, false));
    case BaseType::boolean: return holds<bool>(value, type.is_list);
    case BaseType::string: return std::holds_alternative<std::string>(value);
    case BaseType::scalar: return is_number(value);
    case BaseType::scalar_type: return std::holds_alternative<DType>(value);
    case BaseType::memory_format: return std::holds_alternative<MemoryFormat>(value);
    case BaseType::device: return std::holds_alternative<Device>(value);
  }
  __builtin_unreachable();
}

void detail::throw_wrong_box(const SchemaType& expected, const Value& value) {
  throw InternalError(
      concat("expected a boxed ", type_text(expected), ", got ", value_text(value)));
}

}  // namespace weft
