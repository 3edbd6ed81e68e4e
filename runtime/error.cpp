#include <weft/error.h>

#include <locale>
#include <sstream>
#include <utility>

namespace weft::detail {

std::string join(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  for (const TextPart& part : parts) part.write(out, part.value);
  return std::move(out).str();
}

}  // namespace weft::detail
