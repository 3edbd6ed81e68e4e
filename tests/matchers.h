// EXPECT_THAT and the few matchers that tests need, named after GoogleMock's, whose templates took
// a third of the time in which tests were compiled.  What a failure prints is the matcher as it is
// written, and the value.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#define EXPECT_THAT(value, matcher) EXPECT_PRED_FORMAT2(::weft::matchers::check, value, matcher)
#define ASSERT_THAT(value, matcher) ASSERT_PRED_FORMAT2(::weft::matchers::check, value, matcher)

namespace weft::matchers {

/// What a text is asked for.
using Text = std::function<bool(std::string_view)>;

Text HasSubstr(std::string_view part);
Text StartsWith(std::string_view start);
Text EndsWith(std::string_view end);
/// The whole text; ECMAScript's grammar.
Text MatchesRegex(const std::string& regex);
Text AllOf(std::initializer_list<Text> texts);
Text AnyOf(std::initializer_list<Text> texts);
Text Not(Text text);

template <class... More>
Text AllOf(Text first, Text second, More... more) {
  return AllOf({std::move(first), std::move(second), std::move(more)...});
}
template <class... More>
Text AnyOf(Text first, Text second, More... more) {
  return AnyOf({std::move(first), std::move(second), std::move(more)...});
}

/// Sequences: these elements in this order; every element; at least one.
template <class Value>
struct Elements {
  std::vector<Value> values;
};
template <class Value>
struct Each {
  explicit Each(Value each) : value(std::move(each)) {}
  Value value;
};
struct Contains {
  explicit Contains(Text one) : text(std::move(one)) {}
  explicit Contains(std::string one) : text([one](std::string_view line) { return line == one; }) {}
  explicit Contains(const char* one) : Contains(std::string(one)) {}
  Text text;
};
struct IsEmpty {};
struct IsNotEmpty {};
inline IsNotEmpty Not(IsEmpty) { return {}; }

template <class Value>
Elements<Value> ElementsAreArray(std::initializer_list<Value> values) {
  return {std::vector<Value>(values)};
}
template <class Values>
auto ElementsAreArray(const Values& values) {
  using Value = std::remove_cvref_t<decltype(*std::begin(values))>;
  return Elements<Value>{std::vector<Value>(std::begin(values), std::end(values))};
}
template <class... Values>
auto ElementsAre(Values... values) {
  using Value = std::common_type_t<Values...>;
  return Elements<Value>{{static_cast<Value>(values)...}};
}

/// The answers for EXPECT_THAT: `value_text` and `matcher_text` are both as they stand in the test.
::testing::AssertionResult differs(const char* value_text, const char* matcher_text,
                                   const std::string& value);
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 std::string_view value, const Text& matcher);
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 std::string_view value, IsEmpty matcher);
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 std::string_view value, IsNotEmpty matcher);
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const std::vector<std::string>& values, const Contains& matcher);
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const std::vector<std::string>& values,
                                 const Elements<Text>& matcher);

/// Whether an element is what a test says, numbers by their values whatever their types.
template <class Element, class Value>
bool is_same(const Element& element, const Value& value) {
  constexpr auto is_number = [](auto type) {
    using T = typename decltype(type)::type;
    return std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>;
  };
  if constexpr (!is_number(std::type_identity<Element>()) ||
                !is_number(std::type_identity<Value>()))
    return element == static_cast<Element>(value);
  else if constexpr (std::is_integral_v<Element> && std::is_integral_v<Value>)
    return std::cmp_equal(element, value);
  else
    return element == value;
}

template <class Values, class Value>
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const Values& values, const Elements<Value>& matcher) {
  using Element = std::remove_cvref_t<decltype(*std::begin(values))>;
  const bool same =
      std::equal(std::begin(values), std::end(values), matcher.values.begin(), matcher.values.end(),
                 [](const Element& a, const Value& b) { return a == static_cast<Element>(b); });
  if (same) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, ::testing::PrintToString(values));
}

template <class Values, class Value>
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const Values& values, const Each<Value>& matcher) {
  using Element = std::remove_cvref_t<decltype(*std::begin(values))>;
  const auto each = static_cast<Element>(matcher.value);
  for (const Element& value : values)
    if (!(value == each))
      return differs(value_text, matcher_text, ::testing::PrintToString(values));
  return ::testing::AssertionSuccess();
}

template <class Values>
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const Values& values, IsEmpty) {
  if (std::empty(values)) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, ::testing::PrintToString(values));
}
template <class Values>
::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const Values& values, IsNotEmpty) {
  if (!std::empty(values)) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, ::testing::PrintToString(values));
}

}  // namespace weft::matchers
