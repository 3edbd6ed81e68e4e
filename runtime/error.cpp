#include <weft/error.h>

#include <algorithm>
#include <array>
#include <locale>
#include <sstream>
#include <utility>

namespace weft {
namespace {

/// How many bytes a character of UTF-8 has that can be printed; 0 if there is none.
std::size_t printable_bytes(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first == '\n' || (first >= 0x20 && first != 0x7F) ? 1 : 0;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  char32_t character = first & (0x7Fu >> size);
  for (const char c : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >> 6 != 2) return 0;
    character = character << 6 | (byte & 0x3F);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0xA0, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xD800 && character < 0xE000;
  return character < least[size] || character > 0x10FFFF || is_surrogate ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = printable_bytes(text);
    if (size != 0) {
      result += text.substr(0, size);
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[0]);
      result.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

}  // namespace weft

namespace weft::detail {

std::string join(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  for (const TextPart& part : parts) part.write(out, part.value);
  return std::move(out).str();
}

}  // namespace weft::detail
