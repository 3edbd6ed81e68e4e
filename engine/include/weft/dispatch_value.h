// Boxed values: one type for every argument and result, so that a kernel can serve operators whose
// signatures it doesn't know.  And the types of the schema language, with the C++ types they match.
#pragma once

#include <weft/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

/// An argument or result in a box.  std::monostate is None: an optional that was not given.
using Value = std::variant<std::monostate, Tensor, std::int64_t, double, bool, std::string, Scalar,
                           DType, MemoryFormat, Device, std::vector<Tensor>,
                           std::vector<std::int64_t>, std::vector<double>, std::vector<bool>>;
/// Arguments in the order of the schema; a boxed kernel replaces them by its results.
using ValueStack = std::vector<Value>;

/// As a schema's default: "None", "1", "[2, 3]", "f32"; a tensor by its layout.
std::string value_text(const Value& value);

enum class BaseType : std::uint8_t {
  tensor,
  integer,
  floating,
  boolean,
  string,
  scalar,
  scalar_type,
  memory_format,
  device,
};

/// "Tensor", "int[2]", "ScalarType?".
struct SchemaType {
  BaseType base = BaseType::tensor;
  bool is_list = false;
  bool is_optional = false;
  std::int64_t list_size = -1;  ///< of int[2]; -1 if it is not fixed

  friend bool operator==(const SchemaType&, const SchemaType&) = default;
};
std::string type_text(const SchemaType& type);

/// Whether a kernel argument of this type can take `value`.
bool accepts(const SchemaType& type, const Value& value);

namespace detail {

[[noreturn]] void throw_wrong_box(const SchemaType& expected, const Value& value);

template <class T>
const T& unbox_as(const Value& value, const SchemaType& type) {
  const T* held = std::get_if<T>(&value);
  if (held == nullptr) [[unlikely]]
    throw_wrong_box(type, value);
  return *held;
}

/// How one C++ type, without const and reference, stands for a type of the schema language.
/// A type without a specialisation can't be an argument of a kernel.
template <class T>
struct Boxing;

template <class T, BaseType base>
struct PlainBoxing {
  static constexpr SchemaType type{base};
  static Value box(const T& value) { return value; }
  static const T& unbox(const Value& value) { return unbox_as<T>(value, type); }
};

template <>
struct Boxing<Tensor> : PlainBoxing<Tensor, BaseType::tensor> {};
template <>
struct Boxing<std::int64_t> : PlainBoxing<std::int64_t, BaseType::integer> {};
template <>
struct Boxing<bool> : PlainBoxing<bool, BaseType::boolean> {};
template <>
struct Boxing<DType> : PlainBoxing<DType, BaseType::scalar_type> {};
template <>
struct Boxing<MemoryFormat> : PlainBoxing<MemoryFormat, BaseType::memory_format> {};
template <>
struct Boxing<Device> : PlainBoxing<Device, BaseType::device> {};
template <>
struct Boxing<std::string> : PlainBoxing<std::string, BaseType::string> {};

template <>
struct Boxing<std::string_view> {
  static constexpr SchemaType type{BaseType::string};
  static Value box(std::string_view value) { return std::string(value); }
  static std::string_view unbox(const Value& value) { return unbox_as<std::string>(value, type); }
};

/// Takes an integer too, as a call from a script would write it.
template <>
struct Boxing<double> {
  static constexpr SchemaType type{BaseType::floating};
  static Value box(double value) { return value; }
  static double unbox(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      return static_cast<double>(*integer);
    return unbox_as<double>(value, type);
  }
};

/// Takes a bare number of any kind.
template <>
struct Boxing<Scalar> {
  static constexpr SchemaType type{BaseType::scalar};
  static Value box(const Scalar& value) { return value; }
  static Scalar unbox(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* floating = std::get_if<double>(&value)) return *floating;
    if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
    return unbox_as<Scalar>(value, type);
  }
};

template <class T>
struct Boxing<std::vector<T>> {
  static constexpr SchemaType type{Boxing<T>::type.base, true};
  static Value box(const std::vector<T>& value) { return value; }
  static const std::vector<T>& unbox(const Value& value) {
    return unbox_as<std::vector<T>>(value, type);
  }
};

/// A view into the box: it lives as long as the stack, hence for the call.
template <class T>
struct Boxing<std::span<const T>> {
  static constexpr SchemaType type{Boxing<T>::type.base, true};
  static Value box(std::span<const T> value) { return std::vector<T>(value.begin(), value.end()); }
  static std::span<const T> unbox(const Value& value) {
    return unbox_as<std::vector<T>>(value, type);
  }
};

template <class T>
struct Boxing<std::optional<T>> {
  static constexpr SchemaType type{Boxing<T>::type.base, Boxing<T>::type.is_list, true};
  static Value box(const std::optional<T>& value) {
    return value ? Boxing<T>::box(*value) : Value();
  }
  static std::optional<T> unbox(const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return Boxing<T>::unbox(value);
  }
};

template <class T>
concept Boxable = requires {
  Boxing<std::remove_cvref_t<T>>::type;
};

/// What a kernel may take: a boxable type by value or by const reference.
template <class T>
concept BoxableArgument = Boxable<T> &&
    (!std::is_reference_v<T> ||
     (std::is_lvalue_reference_v<T> && std::is_const_v<std::remove_reference_t<T>>));

/// Types that own nothing: fine as arguments, but a result would outlive what it looks at.
template <class T>
inline constexpr bool is_view = std::is_same_v<T, std::string_view>;
template <class T>
inline constexpr bool is_view<std::span<T>> = true;
template <class T>
inline constexpr bool is_view<std::optional<T>> = is_view<T>;
template <class T>
concept BoxableResult = Boxable<T> && !std::is_reference_v<T> && !is_view<T>;

/// Results: nothing, one value, or a tuple of values.
template <class R>
struct BoxingResult {
  static_assert(BoxableResult<R>, "not a type of the schema language that owns its value");
  static std::vector<SchemaType> types() { return {Boxing<R>::type}; }
  static void push(ValueStack& stack, const R& result) { stack.push_back(Boxing<R>::box(result)); }
  static R pop(const ValueStack& stack) { return R(Boxing<R>::unbox(stack.at(0))); }
};
template <>
struct BoxingResult<void> {
  static std::vector<SchemaType> types() { return {}; }
  static void pop(const ValueStack&) {}
};
template <class... Rs>
struct BoxingResult<std::tuple<Rs...>> {
  static_assert((BoxableResult<Rs> && ...),
                "not types of the schema language that own their values");
  static std::vector<SchemaType> types() { return {Boxing<Rs>::type...}; }
  static void push(ValueStack& stack, const std::tuple<Rs...>& results) {
    std::apply([&](const auto&... result) { (BoxingResult<Rs>::push(stack, result), ...); },
               results);
  }
  static std::tuple<Rs...> pop(const ValueStack& stack) {
    return [&]<std::size_t... index>(std::index_sequence<index...>) {
      return std::tuple<Rs...>(Rs(Boxing<Rs>::unbox(stack.at(index)))...);
    }
    (std::index_sequence_for<Rs...>());
  }
};

}  // namespace detail
}  // namespace weft
