// Errors by whose fault they are, and the one macro that raises them.
#pragma once

#include <initializer_list>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] weft {

/// A text with every byte that is neither a newline nor of a printable character of UTF-8 as
/// "\x1b": messages quote what files and callers hold, which may be anything.
std::string printable(std::string_view text);

/// Base of everything that weft throws.  `kind()` is the stable word that JSON output carries.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  virtual std::string_view kind() const noexcept = 0;
};

#define WEFT_DEFINE_ERROR(Name, text)                                \
  class Name : public Error {                                        \
   public:                                                           \
    using Error::Error;                                              \
    std::string_view kind() const noexcept override { return text; } \
  };

/// The caller asked for something that has no meaning: shapes, dtypes, text, files.
WEFT_DEFINE_ERROR(ArgumentError, "argument")
/// A valid request that nothing in this build can serve.
WEFT_DEFINE_ERROR(UnsupportedError, "unsupported")
/// A backend failed to compile a kernel; carries the backend's log.
WEFT_DEFINE_ERROR(CompileError, "compile")
/// The operating system or a driver refused: memory, files that cannot be written, devices.
WEFT_DEFINE_ERROR(DeviceError, "device")
/// A value made an operation impossible: integer division by zero, a negative integer power.
WEFT_DEFINE_ERROR(ArithmeticError, "arithmetic")
/// A broken invariant of weft itself; carries file and line.
WEFT_DEFINE_ERROR(InternalError, "internal")
#undef WEFT_DEFINE_ERROR

namespace detail {
/// Something that is written to a stream, whatever its type.
struct TextPart {
  const void* value;
  void (*write)(std::ostream& out, const void* value);
};
template <class Part>
TextPart text_part(const Part& part) {
  return {std::addressof(part),
          [](std::ostream& out, const void* value) { out << *static_cast<const Part*>(value); }};
}
/// Text that ends with a zero: one function for literals of all lengths.
inline TextPart text_part(const char* text) {
  return {text,
          [](std::ostream& out, const void* value) { out << static_cast<const char*>(value); }};
}

std::string join(std::initializer_list<TextPart> parts);

/// The parts as text that is the same in every program: a global locale may group digits, and much
/// of what is written here is compiled, parsed or hashed.
template <class... Parts>
std::string concat(const Parts&... parts) {
  return join({text_part(parts)...});
}
}  // namespace detail

}  // namespace weft

/// Throws `ErrorType` with the message made of the remaining arguments, which are evaluated only on
/// failure.
#define WEFT_CHECK(condition, ErrorType, ...)                       \
  do {                                                              \
    if (!(condition)) [[unlikely]]                                  \
      throw ::weft::ErrorType(::weft::detail::concat(__VA_ARGS__)); \
  } while (false)

/// A condition that only a bug in weft can break.
#define WEFT_ASSERT(condition, ...) \
  WEFT_CHECK(condition, InternalError, __FILE__, ":", __LINE__, ": " #condition ": ", __VA_ARGS__)
