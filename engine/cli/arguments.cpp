#include "engine/cli/arguments.h"

#include <weft/error.h>
#include <weft/info.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace weft::cli {
namespace {

constexpr auto backend_names =
    std::to_array<std::string_view>({"auto", "interp", "xbyak", "llvm", "nvrtc"});

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, is_part);
}

void define_all(Definitions& known, const std::vector<std::string>& definitions) {
  for (const std::string& word : definitions) {
    const std::size_t split = word.find('=');
    WEFT_CHECK(split != word.npos, ArgumentError, "expected NAME(PARAMETERS)=EXPRESSION, got '",
               word, "'");
    known.define(word.substr(0, split), word.substr(split + 1));
  }
}

}  // namespace

Tensor read_named(const std::string& name, const std::function<Tensor()>& read) {
  const auto named = [&](const Error& error) { return name + ": " + error.what(); };
  try {
    return read();
  } catch (const ArgumentError& error) {
    throw ArgumentError(named(error));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(named(error));
  } catch (const DeviceError& error) {
    throw DeviceError(named(error));
  }
}

NamedTensors read_operands(const std::vector<std::string>& words,
                           const std::function<Tensor(const std::string&)>& make) {
  NamedTensors result;
  for (const std::string& word : words) {
    const std::size_t split = word.find('=');
    const std::string name = word.substr(0, split);
    WEFT_CHECK(split != word.npos && is_name(name), ArgumentError,
               "expected NAME=VALUE with a letter first, got '", word, "'");
    result.emplace_back(name, read_named(name, [&] { return make(word.substr(split + 1)); }));
  }
  return result;
}

Expr read_expression(const std::string& text, const NamedTensors& operands,
                     const std::vector<std::string>& definitions) {
  Definitions known;
  define_all(known, definitions);
  return parse_expr(text, operands, known);
}

std::vector<Expr> read_expressions(const std::string& text, const NamedTensors& operands,
                                   const std::vector<std::string>& definitions) {
  Definitions known;
  define_all(known, definitions);
  return parse_exprs(text, operands, known);
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t first = part.find_first_not_of(' ');
    if (first != part.npos)
      parts.emplace_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return parts;
}

std::vector<std::string> usable_backends() {
  std::vector<std::string> names;
  for (const EngineInfo::Backend& backend : engine_info().backends) {
    if (backend.unavailable_reason.empty()) names.push_back(backend.name);
  }
  return names;
}

void check_backend(std::string_view backend) {
  WEFT_CHECK(std::ranges::find(backend_names, backend) != backend_names.end(), ArgumentError,
             "unknown backend '", backend,
             "'; the backends are auto, interp, xbyak, llvm and nvrtc");
}

Numerics read_numerics(std::string_view text) {
  const std::optional<Numerics> numerics = parse_numerics(text);
  WEFT_CHECK(numerics, ArgumentError, "unknown numerics '", text, "'; expected ", numerics_names());
  return *numerics;
}

std::string text(IntSpan numbers) {
  std::string result = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) result += ", ";
    result += std::to_string(numbers[i]);
  }
  return result + "]";
}

std::string hex16(std::uint64_t value) {
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(value));
  return digits.data();
}

}  // namespace weft::cli
