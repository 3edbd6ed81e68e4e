// Makes the n-th allocation or system call of weft fail, by functions that the linker puts in front
// of the real ones (--wrap) and by operator new.  Nothing of it is in the library.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace weft::faults {

enum class Kind { memory, system };

/// Fails the n-th call of a kind, or that and all later ones, as long as it lives.
///
/// Threads: calls of all threads count; one object at a time.
class Injection {
 public:
  enum class Span { once, from_then_on };
  Injection(Kind kind, std::int64_t nth, Span span);
  ~Injection();
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;

  /// Whether any call has failed.
  bool has_hit() const;
};

/// The functions that have failed by now.
std::set<std::string> functions_that_failed();
/// Blocks of operator new that live.
std::int64_t num_live_blocks();

}  // namespace weft::faults
