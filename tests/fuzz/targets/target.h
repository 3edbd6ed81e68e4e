// What is fuzzed by bytes from outside: one function for each reader of bytes, texts and numbers
// that weft does not trust, and for the planner and the backends.
#pragma once

#include <weft/error.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft::fuzzing {

using Bytes = std::span<const std::byte>;

/// One thing to fuzz.  Ends the process with a message where weft breaks a promise.
struct FuzzTarget {
  std::string_view name;
  void (*run)(Bytes input);
};

std::span<const FuzzTarget> fuzz_targets();

void fuzz_layout(Bytes input);
void fuzz_expression(Bytes input);
void fuzz_ir(Bytes input);
void fuzz_npy(Bytes input);
void fuzz_npz(Bytes input);
void fuzz_cache_entry(Bytes input);
void fuzz_object(Bytes input);
void fuzz_dlpack(Bytes input);
void fuzz_iterator(Bytes input);
void fuzz_kernel(Bytes input);
void fuzz_reduce(Bytes input);

/// Says what is broken and aborts, which keeps the input.
[[noreturn]] void report_broken(std::string_view what);

/// A promise of weft.
inline void require(bool holds, std::string_view what) {
  if (!holds) report_broken(what);
}

/// Runs what may refuse its input.  Whether it did not; errors that are no answer are reported.
template <class Function>
bool is_accepted(const Function& function) {
  try {
    function();
    return true;
  } catch (const InternalError& error) {
    report_broken(error.what());
  } catch (const Error&) {
    return false;
  }
}

inline std::string_view as_text(Bytes input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

/// Choices that an input's bytes make, one after the other; zeros behind its end.
class Choices {
 public:
  explicit Choices(Bytes bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_integral_v<T> T number() {
    T value = 0;
    const Bytes taken = take(sizeof(T));
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  bool flag() { return (byte() & 1) != 0; }
  int below(int limit) { return byte() % limit; }
  /// Small in most cases, and any number in some.
  std::int64_t integer() {
    const std::uint8_t first = byte();
    return first >= 0xf0 ? number<std::int64_t>() : (first & 0x0f) - (first >> 4 == 0xe ? 12 : 0);
  }
  Bytes take(std::size_t count) {
    const Bytes taken = rest_.first(count < rest_.size() ? count : rest_.size());
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
};

}  // namespace weft::fuzzing
