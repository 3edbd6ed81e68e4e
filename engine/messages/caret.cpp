#include "engine/messages/caret.h"

#include <algorithm>

namespace weft {
namespace {

constexpr std::size_t max_shown_before = 50;
constexpr std::size_t max_shown_after = 40;

bool is_continuation_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::size_t count_characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation_byte));
}

// The caret line would drift under tabs, and control characters would break the picture.
std::string in_one_line(std::string_view text) {
  std::string result(text);
  for (char& byte : result) {
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F) byte = ' ';
  }
  return result;
}

}  // namespace

std::string point_at(std::string_view what, std::string_view message, std::string_view text,
                     std::size_t position) {
  position = std::min(position, text.size());
  std::size_t begin = position > max_shown_before ? position - max_shown_before : 0;
  while (begin > 0 && is_continuation_byte(text[begin])) --begin;
  std::size_t end = std::min(text.size(), position + max_shown_after);
  while (end < text.size() && is_continuation_byte(text[end])) ++end;
  const std::string_view before = text.substr(begin, position - begin);
  const std::string_view dots = "...";
  const std::string_view lead = begin > 0 ? dots : "";
  const std::string_view tail = end < text.size() ? dots : "";

  std::string result(what);
  result += ", column ";
  result += std::to_string(count_characters(text.substr(0, position)) + 1);
  result += ": ";
  result += message;
  result += "\n  ";
  result += lead;
  result += in_one_line(text.substr(begin, end - begin));
  result += tail;
  result += "\n  ";
  result += std::string(lead.size() + count_characters(before), ' ');
  result += '^';
  return result;
}

}  // namespace weft
