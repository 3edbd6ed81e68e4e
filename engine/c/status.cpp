// Status codes of weft.h, and the message of the last call that failed in each thread.
#include "engine/c/handles.h"

#include <weft/cancel.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <string_view>

namespace weft::c {
namespace {

thread_local std::string last_message;

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

/// Messages quote what files and callers hold, which may be anything.
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

/// Where there is no memory for a message, the status has to do.
weft_status keep(weft_status status, const char* message) noexcept {
  try {
    last_message = printable(message);
  } catch (...) {
    last_message.clear();
  }
  return status;
}

weft_status status_of(const Error& error) noexcept {
  if (dynamic_cast<const ArgumentError*>(&error) != nullptr) return WEFT_ERROR_ARGUMENT;
  if (dynamic_cast<const UnsupportedError*>(&error) != nullptr) return WEFT_ERROR_UNSUPPORTED;
  if (dynamic_cast<const CompileError*>(&error) != nullptr) return WEFT_ERROR_COMPILE;
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return WEFT_ERROR_DEVICE;
  if (dynamic_cast<const ArithmeticError*>(&error) != nullptr) return WEFT_ERROR_ARITHMETIC;
  if (dynamic_cast<const CancelledError*>(&error) != nullptr) return WEFT_ERROR_CANCELLED;
  return WEFT_ERROR_INTERNAL;
}

}  // namespace

weft_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(status_of(error), error.what());
  } catch (const std::bad_alloc&) {
    return keep(WEFT_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return keep(WEFT_ERROR_INTERNAL, error.what());
  } catch (...) {
    return keep(WEFT_ERROR_INTERNAL, "an exception of unknown type");
  }
}

}  // namespace weft::c

const char* weft_version(void) { return WEFT_VERSION; }

const char* weft_last_error_message(void) { return weft::c::last_message.c_str(); }
