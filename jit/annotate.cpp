#include "jit/annotate.h"

#include "ir/text.h"

#include <charconv>

namespace weft::jit {
namespace {

constexpr std::string_view indent = "        ; ";

/// The offset at the start of a line of code; false for labels and comments.
bool read_offset(std::string_view line, std::uint32_t& offset) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start == 0 && line[0] == '.') return false;
  if (start == std::string_view::npos || line[start] == ';') return false;
  const auto [end, error] =
      std::from_chars(line.data() + start, line.data() + line.size(), offset, 16);
  return error == std::errc{} && end != line.data() + line.size() && *end == ' ';
}

}  // namespace

std::string annotate(std::string_view assembly, const ir::Kernel& kernel,
                     std::span<const CodeMark> marks) {
  std::string result;
  std::size_t next = 0;
  while (!assembly.empty()) {
    const std::string_view line = assembly.substr(0, assembly.find('\n') + 1);
    assembly.remove_prefix(line.empty() ? assembly.size() : line.size());
    std::uint32_t offset = 0;
    if (read_offset(line, offset)) {
      const CodeMark* mark = nullptr;
      for (; next < marks.size() && marks[next].offset <= offset; ++next) mark = &marks[next];
      if (mark != nullptr) {
        result += indent;
        result +=
            mark->value == ir::no_value ? std::string(mark->part) : ir::print(kernel, mark->value);
        result += '\n';
      }
    }
    result += line;
  }
  return result;
}

}  // namespace weft::jit
