#include "tests/matchers.h"

#include <regex>
#include <utility>

namespace weft::matchers {

Text HasSubstr(std::string_view part) {
  return [part = std::string(part)](std::string_view text) {
    return text.find(part) != std::string_view::npos;
  };
}

Text StartsWith(std::string_view start) {
  return [start = std::string(start)](std::string_view text) { return text.starts_with(start); };
}

Text EndsWith(std::string_view end) {
  return [end = std::string(end)](std::string_view text) { return text.ends_with(end); };
}

Text MatchesRegex(const std::string& regex) {
  return [compiled = std::regex(regex)](std::string_view text) {
    return std::regex_match(text.begin(), text.end(), compiled);
  };
}

Text AllOf(std::initializer_list<Text> texts) {
  return [texts = std::vector<Text>(texts)](std::string_view text) {
    return std::all_of(texts.begin(), texts.end(), [&](const Text& each) { return each(text); });
  };
}

Text AnyOf(std::initializer_list<Text> texts) {
  return [texts = std::vector<Text>(texts)](std::string_view text) {
    return std::any_of(texts.begin(), texts.end(), [&](const Text& each) { return each(text); });
  };
}

Text Not(Text text) {
  return [text = std::move(text)](std::string_view value) { return !text(value); };
}

::testing::AssertionResult differs(const char* value_text, const char* matcher_text,
                                   const std::string& value) {
  return ::testing::AssertionFailure()
         << "Value of: " << value_text << "\nExpected: " << matcher_text << "\n  Actual: " << value;
}

::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 std::string_view value, const Text& matcher) {
  if (matcher(value)) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, std::string(value));
}

::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 std::string_view value, IsEmpty) {
  if (value.empty()) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, std::string(value));
}

::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 std::string_view value, IsNotEmpty) {
  if (!value.empty()) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, std::string(value));
}

::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const std::vector<std::string>& values, const Contains& matcher) {
  if (std::any_of(values.begin(), values.end(), matcher.text)) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, ::testing::PrintToString(values));
}

::testing::AssertionResult check(const char* value_text, const char* matcher_text,
                                 const std::vector<std::string>& values,
                                 const Elements<Text>& matcher) {
  const bool same =
      std::equal(values.begin(), values.end(), matcher.values.begin(), matcher.values.end(),
                 [](const std::string& value, const Text& text) { return text(value); });
  if (same) return ::testing::AssertionSuccess();
  return differs(value_text, matcher_text, ::testing::PrintToString(values));
}

}  // namespace weft::matchers
